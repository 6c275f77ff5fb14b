"""Whatever comes, it is let in or refused by name; nothing else is ever raised."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import OctKey

from assistant.errors import NotAuthenticated
from assistant.transport.auth.claims import Holds, Rules, check
from assistant.transport.auth.forms import Form, form_of, verified
from assistant.transport.auth.mapping import ClaimsMap
from assistant.transport.auth.own import OwnTokens
from assistant.transport.auth.sign_in import path_within
from tests.transport.auth.making import ISSUER, PORTAL, START, Clock, claims, minted, own_tokens, raw

NOW = int(START.timestamp())
SECRET = OctKey.import_key(PORTAL)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
headers = st.dictionaries(st.sampled_from(["alg", "typ", "kid", "crit", "b64", "jwk", "zip", "enc"]), values)
algorithms = st.sampled_from(["HS256", "RS256", "none", "EdDSA", "dir"])
names = ["iss", "aud", "sub", "exp", "iat", "nbf", "jti", "groups", "roles", "realm"]
tokens = st.text() | st.text("abcXYZ019-_.=", max_size=200) | st.text().map(lambda text: f"ak_{text}")


def formed(token: str) -> Form | None:
    with suppress(NotAuthenticated):
        return form_of(token)
    return None


@given(tokens)
def test_any_text(token: str) -> None:
    form = formed(token)
    assert form is None or form == form_of(token)


@given(headers, algorithms, st.binary(max_size=40), st.binary(max_size=80))
def test_any_header(header: dict[str, Any], alg: str, payload: bytes, signature: bytes) -> None:
    for head in (header, {**header, "alg": alg}):
        with suppress(ValueError):  # lone surrogates cannot be written
            token = raw(head, payload, signature)
            if (form := formed(token)) is not None and form.alg == "HS256":
                with suppress(NotAuthenticated):
                    raise AssertionError(verified(token, SECRET, form.alg))


@given(st.dictionaries(st.sampled_from(names), values))
def test_any_claims(changed: dict[str, Any]) -> None:
    said = claims() | changed
    rules = Rules("assistant", ISSUER, 600, 10, needs_id=True)
    with suppress(NotAuthenticated):
        holds = check(said, rules, START)
        assert isinstance(holds, Holds)
        assert (said["iss"], said["sub"], said["jti"]) == (ISSUER, holds.user, holds.id)
        assert said["aud"] == "assistant" or "assistant" in said["aud"]
        assert NOW - 10 < said["exp"] <= said["iat"] + 600
        assert said["iat"] <= NOW + 10
    for mapping in (
        ClaimsMap(),
        ClaimsMap(groups={"hr": ["it"]}, roles={"hr": ["admin"]}),
        ClaimsMap("realm.x.y", "exp.z"),
    ):
        with suppress(NotAuthenticated):
            groups, roles = mapping.read(said)
            assert "everyone" in groups
            assert roles <= {"user", "auditor", "exporter", "admin"}


@given(st.data())
def test_a_token_with_any_letter_changed_is_refused(data: st.DataObject) -> None:
    token = data.draw(st.sampled_from(good_tokens()))
    place = data.draw(st.integers(0, len(token) - 2))  # the last letter of a signature holds bits that do not count
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."))
    changed = token[:place] + letter + token[place + 1 :]
    if changed == token or (form := formed(changed)) is None:
        return
    with suppress(NotAuthenticated):
        raise AssertionError(read(changed, form))


@cache
def good_tokens() -> tuple[str, str]:
    """A token of a portal and one of ours; the same ones every time, as the drawing must be."""
    return minted(claims()), own_tokens(Clock()).sign("at+jwt", {"sub": "ann"}, START)


def read(token: str, form: Form) -> dict[str, Any]:
    own: OwnTokens = own_tokens(Clock())
    return own.read("at+jwt", token) if form.kind.value == "own" else verified(token, SECRET, "HS256")


@given(st.text() | st.text("/\\.:@?#%abc\t\n ", max_size=12).map(lambda text: f"/{text}"))
def test_no_path_leads_away(path: str) -> None:
    within = path_within(path)
    assert within == "/" or within == path
    assert within.startswith("/")
    assert within[1:2] not in ("/", "\\")
    assert not any(char in within for char in "\t\r\n\\")
    orjson.dumps(within)
