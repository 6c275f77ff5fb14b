"""A signature holds for one algorithm alone, whatever the header says."""

from __future__ import annotations

import pytest
from joserfc.jwk import OctKey

from assistant.errors import NotAuthenticated
from assistant.transport.auth.forms import Form, Kind, form_of, signed, verified
from tests.transport.auth.making import PORTAL, claims, ec, minted, rsa

SECRET = OctKey.import_key(PORTAL)


@pytest.mark.parametrize("alg", ["HS384", "HS512", "none"])
def test_another_algorithm_of_the_same_key_is_refused(alg: str) -> None:
    with pytest.raises(NotAuthenticated) as refused:
        verified(minted(claims(), SECRET, alg), SECRET, "HS256")
    assert refused.value.data["reason"] == "algorithm"


def test_a_key_of_another_kind_verifies_nothing() -> None:
    for token, key, alg in (
        (minted(claims()), rsa(), "HS256"),
        (minted(claims(), rsa(), "RS256"), SECRET, "RS256"),
        (minted(claims(), ec(), "ES256"), rsa(), "ES256"),
    ):
        with pytest.raises(NotAuthenticated):
            verified(token, key, alg)


@pytest.mark.parametrize(("typ", "kind"), [
    ("JWT", Kind.PORTAL), ("jwt", Kind.PORTAL), ("at+jwt", Kind.OWN), ("AT+JWT", Kind.OWN),
])  # fmt: skip
def test_the_form_alone_says_what_a_token_is(typ: str, kind: Kind) -> None:
    assert form_of(minted(claims(), typ=typ, kid="k")) == Form(kind, "HS256", "k")


def test_what_was_signed_is_read_again() -> None:
    said = {"sub": "王小明", "groups": ["a", "b"], "n": 1.5}
    token = signed(said, SECRET, "at+jwt")
    assert verified(token, SECRET, "HS256") == said
    assert form_of(token).kind is Kind.OWN
