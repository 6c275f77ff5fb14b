"""The table of attacks: every token that must not let anybody in, and the reason that is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from assistant.core.access import Caller
from assistant.errors import NotAuthenticated, OtherUser, TokenExpired
from assistant.interfaces import Identity
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.claims import Rules
from assistant.transport.auth.forms import LONGEST_TOKEN
from assistant.transport.auth.own import LOGIN, SESSION
from assistant.transport.auth.tokens import TokenAuthenticator
from tests.transport.auth.making import (
    ISSUER,
    START,
    Clock,
    claims,
    ec,
    make_authenticator,
    minted,
    own_tokens,
    raw,
    rsa,
)

NOW = int(START.timestamp())
ANN = Caller("acme", "ann")


def hmac_with_public_key() -> str:
    """RS256's public key as the secret of HS256: the signature is right, if anyone takes the key for a secret."""
    pem = rsa().as_pem(private=False)
    secret = OctKey(pem, pem)
    return minted(claims(), secret, kid="r1")


def own(use: str = "at+jwt", secret: bytes | None = None, tenant: str = "acme", **changed: object) -> str:
    tokens = own_tokens(Clock(), tenant, secret) if secret else own_tokens(Clock(), tenant)
    said = {"sub": "ann", "tenant": tenant, "groups": [], "roles": ["user"], **changed}
    return tokens.sign(use, said, START + timedelta(minutes=5))


def unsigned(token: str) -> str:
    return token.rpartition(".")[0] + "."


def tampered(token: str) -> str:
    head, _, signature = token.split(".")
    other = minted(claims(sub="boss")).split(".")[1]
    return f"{head}.{other}.{signature}"


ATTACKS: dict[str, tuple[Callable[[], str | None], str]] = {
    "none at all": (lambda: None, "missing"),
    "empty": (lambda: "", "missing"),
    "expired": (lambda: minted(claims(iat=NOW - 300, exp=NOW - 11)), "expired"),
    "not yet valid": (lambda: minted(claims(nbf=NOW + 11)), "not_yet_valid"),
    "issued in the future": (lambda: minted(claims(iat=NOW + 11, exp=NOW + 60)), "not_yet_valid"),
    "alg none": (lambda: raw({"alg": "none", "typ": "JWT"}, claims()), "algorithm"),
    "alg None": (lambda: raw({"alg": "None"}, claims()), "algorithm"),
    "alg none, access token": (lambda: raw({"alg": "none", "typ": "at+jwt"}, claims()), "algorithm"),
    "no alg": (lambda: raw({"typ": "JWT"}, claims()), "malformed"),
    "alg is a list": (lambda: raw({"alg": ["HS256"]}, claims()), "malformed"),
    "signature left out": (lambda: unsigned(minted(claims())), "signature"),
    "HMAC by the public key": (hmac_with_public_key, "signature"),
    "HS512": (lambda: minted(claims(), alg="HS512"), "algorithm"),
    "RS512": (lambda: minted(claims(), rsa(), "RS512", kid="r1"), "algorithm"),
    "PS256": (lambda: minted(claims(), rsa(), "PS256", kid="r1"), "algorithm"),
    "ES256 by the name of an RSA key": (lambda: minted(claims(), ec(), "ES256", kid="r1"), "signature"),
    "RS256 by another key": (lambda: minted(claims(), RSAKey.generate_key(2048), "RS256", kid="r1"), "signature"),
    "ES256 by another key": (lambda: minted(claims(), ECKey.generate_key("P-256"), "ES256", kid="e1"), "signature"),
    "EdDSA by another key": (lambda: minted(claims(), OKPKey.generate_key("Ed25519"), "EdDSA", kid="o1"), "signature"),
    "a key in the header": (
        lambda: minted(claims(), k := ECKey.generate_key("P-256"), "ES256", jwk=k.as_dict(private=False)),
        "signature",
    ),
    "keys from elsewhere": (
        lambda: minted(claims(), ECKey.generate_key("P-256"), "ES256", kid="x", jku="https://evil.example/keys"),
        "signature",
    ),
    "kid is a path": (lambda: minted(claims(), ec(), "ES256", kid="../../../../etc/passwd"), "signature"),
    "kid is a query": (lambda: minted(claims(), ec(), "ES256", kid="e1' OR 1=1 --"), "signature"),
    "kid is a number": (lambda: raw({"alg": "ES256", "kid": 1}, claims()), "malformed"),
    "kid of the portal": (lambda: minted(claims(), OctKey.import_key(b"\0" * 32), kid="/dev/null"), "signature"),
    "critical header": (lambda: raw({"alg": "HS256", "crit": ["b64"], "b64": False}, claims()), "malformed"),
    "other typ": (lambda: minted(claims(), typ="logout+jwt"), "malformed"),
    "a logout token of the issuer": (lambda: minted(claims(), rsa(), "RS256", kid="r1", typ="logout+jwt"), "malformed"),
    "changed claims": (lambda: tampered(minted(claims())), "signature"),
    "wrong secret": (lambda: minted(claims(), OctKey.import_key(b"x" * 32)), "signature"),
    "wrong audience": (lambda: minted(claims(aud="payroll")), "audience"),
    "audience in other letters": (lambda: minted(claims(aud="Assistant")), "audience"),
    "audience begins alike": (lambda: minted(claims(aud="assistant.evil")), "audience"),
    "audiences of others": (lambda: minted(claims(aud=["payroll", "assistant2"])), "audience"),
    "no audience": (lambda: minted(claims(aud=None)), "audience"),
    "wrong issuer": (lambda: minted(claims(iss="https://evil.example")), "issuer"),
    "issuer with a slash": (lambda: minted(claims(iss=ISSUER + "/")), "issuer"),
    "no issuer": (lambda: minted(claims(iss=None)), "issuer"),
    "issuers": (lambda: minted(claims(iss=[ISSUER])), "issuer"),
    "no id": (lambda: minted(claims(jti=None)), "malformed"),
    "empty id": (lambda: minted(claims(jti="")), "malformed"),
    "id is a number": (lambda: minted(claims(jti=7)), "malformed"),
    "huge id": (lambda: minted(claims(jti="x" * 256)), "malformed"),
    "overlong": (lambda: minted(claims(exp=NOW + 601)), "lifetime"),
    "ends before it begins": (lambda: minted(claims(iat=NOW + 5, exp=NOW + 2)), "lifetime"),
    "for ever": (lambda: minted(claims(exp=None)), "malformed"),
    "exp is text": (lambda: minted(claims(exp=str(NOW + 60))), "malformed"),
    "exp is true": (lambda: minted(claims(exp=True)), "malformed"),
    "exp is beyond all time": (lambda: minted(claims(exp=1e300)), "malformed"),
    "exp is not a number": (lambda: minted(b'{"aud":"assistant","iss":"https://portal.example","exp":NaN}'), "malformed"),
    "exp is a large integer": (lambda: minted(claims(exp=2**62)), "malformed"),
    "iat is negative": (lambda: minted(claims(iat=-1)), "malformed"),
    "no iat": (lambda: minted(claims(iat=None)), "malformed"),
    "nbf is text": (lambda: minted(claims(nbf="now")), "malformed"),
    "nobody": (lambda: minted(claims(sub=None)), "malformed"),
    "empty name": (lambda: minted(claims(sub="")), "malformed"),
    "blank name": (lambda: minted(claims(sub="  ")), "malformed"),
    "name with a blank": (lambda: minted(claims(sub="ann ")), "malformed"),
    "name is a number": (lambda: minted(claims(sub=1)), "malformed"),
    "name with NUL": (lambda: minted(claims(sub="ann\0")), "malformed"),
    "name with a line": (lambda: minted(claims(sub="ann\nroot")), "malformed"),
    "name with half a character": (
        lambda: minted(b'{"iss":"https://portal.example","aud":"assistant","sub":"\\ud800","iat":%d,"exp":%d,"jti":"j"}' % (NOW, NOW + 60)),
        "malformed",
    ),
    "name of a service": (lambda: minted(claims(sub="service:0011223344556677")), "malformed"),
    "huge name": (lambda: minted(claims(sub="x" * 256)), "malformed"),
    "groups are a map": (lambda: minted(claims(groups={"hr": True})), "malformed"),
    "groups of numbers": (lambda: minted(claims(groups=[1])), "malformed"),
    "empty group": (lambda: minted(claims(groups=[""])), "malformed"),
    "claims are a list": (lambda: minted(b"[1]"), "malformed"),
    "claims are no JSON": (lambda: minted(b"{"), "malformed"),
    "claims without end": (lambda: minted(b"[" * 3000), "malformed"),
    "garbage": (lambda: "garbage", "malformed"),
    "dots": (lambda: "..", "malformed"),
    "blanks around it": (lambda: f" {minted(claims())}", "malformed"),
    "a line behind it": (lambda: f"{minted(claims())}\n", "malformed"),
    "four parts": (lambda: f"{minted(claims())}.x", "malformed"),
    "header is no JSON": (lambda: raw(b"\xff\xfe", claims()), "malformed"),
    "header without end": (lambda: raw(b'{"alg":"HS256","x":' + b"[" * 600, claims()), "malformed"),
    "header is a list": (lambda: raw(["HS256"], claims()), "malformed"),
    "huge header": (lambda: raw({"alg": "HS256", "x": "y" * 2000}, claims()), "malformed"),
    "huge token": (lambda: "a" * (LONGEST_TOKEN + 1), "malformed"),
    "huge and signed": (lambda: minted(claims(x="y" * LONGEST_TOKEN)), "malformed"),
    "other digits": (lambda: minted(claims()).replace("e", "е", 1), "malformed"),
    "lone surrogate": (lambda: "\ud800.\ud800.\ud800", "malformed"),
    "a key that is none": (lambda: "ak_0011223344556677_" + "A" * 43, "signature"),
    "a key in a wrong form": (lambda: "ak_x", "malformed"),
    "a key with NUL": (lambda: "ak_\0_\0", "malformed"),
    "ours by another secret": (lambda: own(secret=b"y" * 32), "signature"),
    "ours by the portal": (lambda: minted(claims(iss="assistant"), typ="at+jwt"), "signature"),
    "ours for a session": (lambda: own(SESSION), "malformed"),
    "ours for a login": (lambda: own(LOGIN), "malformed"),
    "a session said to be for access": (
        lambda: own().split(".")[0] + "." + own(SESSION).partition(".")[2],
        "signature",
    ),
    "ours of another company": (lambda: own(tenant="rival"), "malformed"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_is_refused_with_its_reason(authenticator: TokenAuthenticator, attack: str) -> None:
    token, reason = ATTACKS[attack][0](), ATTACKS[attack][1]
    for ask in (authenticator.authenticate, authenticator.exchange):
        with pytest.raises(NotAuthenticated) as refused:
            await ask(token)
        expected = {reason, "kind"} if ask == authenticator.exchange else {reason}
        assert refused.value.data["reason"] in expected
        assert isinstance(refused.value, TokenExpired) == (refused.value.data["reason"] == "expired")


async def test_a_refusal_repeats_nothing_of_the_token(authenticator: TokenAuthenticator) -> None:
    for token, _ in ATTACKS.values():
        with pytest.raises(NotAuthenticated) as refused:
            await authenticator.authenticate(token())
        assert set(refused.value.data) == {"reason"}
        assert refused.value.detail in (
            "the token has expired",
            f"the token is refused: {refused.value.data['reason']}",
        )
        assert refused.value.__cause__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize("mint", [
    lambda: minted(claims()),
    lambda: minted(claims(), rsa(), "RS256", kid="r1"),
])  # fmt: skip
async def test_a_token_is_taken_once(authenticator: TokenAuthenticator, mint: Callable[[], str]) -> None:
    token = mint()
    await authenticator.authenticate(token)
    for again in (authenticator.authenticate, authenticator.exchange):
        with pytest.raises(NotAuthenticated) as refused:
            await again(token)
        assert refused.value.data["reason"] == "replayed"


async def test_an_exchanged_token_is_taken_too(authenticator: TokenAuthenticator) -> None:
    token = minted(claims())
    await authenticator.exchange(token)
    with pytest.raises(NotAuthenticated) as refused:
        await authenticator.authenticate(token)
    assert refused.value.data["reason"] == "replayed"


async def test_a_new_signature_does_not_make_a_token_new(authenticator: TokenAuthenticator) -> None:
    await authenticator.authenticate(minted(claims(jti="same")))
    with pytest.raises(NotAuthenticated) as refused:
        await authenticator.authenticate(minted(claims(jti="same", exp=NOW + 60)))
    assert refused.value.data["reason"] == "replayed"


async def test_of_two_at_once_one_comes_in(authenticator: TokenAuthenticator) -> None:
    token = minted(claims())
    came = await asyncio.gather(*(authenticator.authenticate(token) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(each, Identity) for each in came) == 1
    assert {each.data["reason"] for each in came if isinstance(each, NotAuthenticated)} == {"replayed"}


async def test_a_refused_token_is_not_spent(authenticator: TokenAuthenticator, clock: Clock) -> None:
    token = minted(claims(nbf=NOW + 60, exp=NOW + 120))
    with pytest.raises(NotAuthenticated):
        await authenticator.authenticate(token)
    clock.move(60)
    assert (await authenticator.authenticate(token)).caller.user == "ann"


@pytest.mark.parametrize("user", ["bob", "Ann", "ann\u200b", "аnn"])
async def test_a_refresh_by_another_person_is_refused(authenticator: TokenAuthenticator, user: str) -> None:
    current = await authenticator.authenticate(minted(claims()))
    with pytest.raises(OtherUser) as refused:
        await authenticator.refresh(current, minted(claims(sub=user)))
    assert refused.value.code == "other_user"


async def test_a_refresh_from_another_company_is_refused(authenticator: TokenAuthenticator) -> None:
    rival = Identity(Caller("rival", "ann"), "t")
    with pytest.raises(OtherUser):
        await authenticator.refresh(rival, minted(claims()))


async def test_a_refresh_by_a_bad_token_is_refused(authenticator: TokenAuthenticator) -> None:
    token = minted(claims())
    current = await authenticator.authenticate(token)
    with pytest.raises(NotAuthenticated):
        await authenticator.refresh(current, token)


async def test_without_a_portal_its_form_means_nothing(identities: SqlIdentity, clock: Clock) -> None:
    alone = make_authenticator(identities, clock, portal=False)
    with pytest.raises(NotAuthenticated) as refused:
        await alone.authenticate(minted(claims()))
    assert refused.value.data["reason"] == "algorithm"


async def test_where_tokens_may_be_used_again_they_need_no_id(identities: SqlIdentity, clock: Clock) -> None:
    lenient = make_authenticator(identities, clock, rules=Rules("assistant", "", 600, 10))
    token = minted(claims(jti=None, iss=None))
    assert (await lenient.authenticate(token)) == (await lenient.authenticate(token))
