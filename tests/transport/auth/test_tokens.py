"""Tokens that let their callers in, what they may then do, and when that ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from assistant.core.access import Caller
from assistant.errors import BadInput, NotAuthenticated, TokenExpired
from assistant.store.identity import SqlIdentity
from assistant.transport.auth.mapping import ClaimsMap
from assistant.transport.auth.own import OwnTokens
from assistant.transport.auth.service_keys import new_key
from assistant.transport.auth.tokens import TokenAuthenticator
from tests.transport.auth.making import (
    OWN,
    START,
    TENANT,
    Clock,
    Issuer,
    claims,
    ec,
    make_authenticator,
    minted,
    okp,
    own_tokens,
    rsa,
)

ANN = Caller("acme", "ann", frozenset({"everyone", "hr"}), frozenset({"user", "auditor"}))

KINDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "HS256": minted,
    "RS256": lambda said: minted(said, rsa(), "RS256", kid="r1"),
    "RS256 as access token (RFC 9068)": lambda said: minted(said, rsa(), "RS256", kid="r1", typ="at+jwt"),
    "RS256 without kid": lambda said: minted(said, rsa(), "RS256"),
    "RS256 with more in the header": lambda said: minted(said, rsa(), "RS256", kid="r1", x5t="abc", other="x"),
    "ES256": lambda said: minted(said, ec(), "ES256", kid="e1"),
    "EdDSA": lambda said: minted(said, okp(), "EdDSA", kid="o1"),
    "Ed25519": lambda said: minted(said, okp(), "Ed25519", kid="o1"),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_good_token_lets_its_person_in(authenticator: TokenAuthenticator, kind: str) -> None:
    identity = await authenticator.authenticate(KINDS[kind](claims(jti="j1")))
    assert identity.caller == ANN
    assert (identity.token, identity.issued_at, identity.expires_at) == ("j1", START, START + timedelta(seconds=120))


@pytest.mark.parametrize("user", ["王小明", "ann@example.com", "José O'Neill", "a" * 255, "ann\u0301", "🦊"])
async def test_names_of_all_scripts_stay_as_they_are(authenticator: TokenAuthenticator, user: str) -> None:
    identity = await authenticator.authenticate(minted(claims(sub=user, groups=["人事", "Größe"])))
    assert identity.caller.user == user
    assert identity.caller.groups == {"everyone", "人事", "Größe"}


@pytest.mark.parametrize(("changed", "moved"), [
    ({"nbf": int(START.timestamp()) + 10}, 0),
    ({"iat": int(START.timestamp()) + 10}, 0),
    ({}, 129),
    ({"aud": ["other", "assistant"]}, 0),
    ({"exp": START.timestamp() + 599.5}, 0),
])  # fmt: skip
async def test_clocks_may_differ_a_little(
    authenticator: TokenAuthenticator, clock: Clock, changed: dict[str, Any], moved: float
) -> None:
    token = minted(claims(**changed))
    clock.move(moved)
    assert (await authenticator.authenticate(token)).caller.user == "ann"


async def test_a_page_exchanges_its_token_and_uses_the_new_one_often(
    authenticator: TokenAuthenticator, clock: Clock
) -> None:
    access = await authenticator.exchange(minted(claims()))
    assert access.expires_at == START + timedelta(minutes=15)
    assert access.roles == {"user", "auditor"}
    assert access.token not in repr(access)
    clock.move(14 * 60)
    first, second = [await authenticator.authenticate(access.token) for _ in range(2)]
    assert first == second
    assert first.caller == ANN
    assert first.expires_at == access.expires_at
    clock.move(60)
    with pytest.raises(TokenExpired):
        await authenticator.authenticate(access.token)


async def test_our_own_tokens_and_keys_are_not_exchanged(
    authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
) -> None:
    access = await authenticator.exchange(minted(claims()))
    key, secret = new_key("acme", "batch", ["hr"], ["user"], now=clock.at)
    await identities.add_key(key)
    for token in (access.token, secret):
        with pytest.raises(NotAuthenticated) as refused:
            await authenticator.exchange(token)
        assert refused.value.data["reason"] == "kind"


async def test_a_newer_token_goes_on_for_the_same_person(authenticator: TokenAuthenticator, clock: Clock) -> None:
    current = await authenticator.authenticate(minted(claims()))
    clock.move(100)
    newer = await authenticator.refresh(current, minted(claims(clock, groups=["board"])))
    assert newer.caller.groups == {"everyone", "board"}
    assert newer.expires_at == clock.at + timedelta(seconds=120)


async def test_more_groups_than_a_token_holds_are_refused_with_words(identities: SqlIdentity, clock: Clock) -> None:
    many = ClaimsMap(groups={"hr": [f"group-number-{n}" for n in range(600)]})
    authenticator = make_authenticator(identities, clock, mapping=many)
    with pytest.raises(BadInput) as refused:
        await authenticator.exchange(minted(claims()))
    assert refused.value.data["reason"] == "groups"


class TestPeople:
    async def test_groups_that_an_administrator_set_stand_in_place_of_those_of_the_token(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        current = await authenticator.authenticate(minted(claims()))
        access = await authenticator.exchange(minted(claims()))
        await identities.put_groups("acme", "ann", frozenset({"board"}), clock.at)
        assert (await authenticator.recheck(current)).caller.groups == {"everyone", "board"}
        for token in (minted(claims()), access.token):
            assert (await authenticator.authenticate(token)).caller.groups == {"everyone", "board"}
        later = await authenticator.exchange(minted(claims()))
        await identities.put_groups("acme", "ann", frozenset(), clock.at)
        assert (await authenticator.recheck(current)).caller.groups == {"everyone"}
        await identities.put_groups("acme", "ann", None, clock.at)
        assert (await authenticator.recheck(current)).caller == ANN
        assert (await authenticator.authenticate(later.token)).caller == ANN

    async def test_tokens_from_before_a_revocation_are_refused(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        current = await authenticator.authenticate(minted(claims()))
        access = await authenticator.exchange(minted(claims()))
        unused = minted(claims())
        clock.move(0.5)
        await identities.revoke_person("acme", "ann", clock.at)
        for refusing in (
            authenticator.recheck(current),
            authenticator.authenticate(access.token),
            authenticator.exchange(unused),
        ):
            with pytest.raises(NotAuthenticated) as refused:
                await refusing
            assert refused.value.data["reason"] == "revoked"
        clock.move(1)
        assert (await authenticator.authenticate(minted(claims(clock)))).caller == ANN
        assert (await authenticator.authenticate(minted(claims(sub="bob")))).caller.user == "bob"

    async def test_an_open_identity_ends_with_its_token(self, authenticator: TokenAuthenticator, clock: Clock) -> None:
        current = await authenticator.authenticate(minted(claims()))
        clock.move(129)
        await authenticator.recheck(current)
        clock.move(1)
        with pytest.raises(TokenExpired):
            await authenticator.recheck(current)


class TestServiceKeys:
    async def test_a_key_is_its_service(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        key, secret = new_key("acme", "batch", ["hr"], ["user"], now=clock.at, life=timedelta(days=30))
        await identities.add_key(key)
        identity = await authenticator.authenticate(secret)
        assert identity.caller == Caller("acme", f"service:{key.id}", frozenset({"everyone", "hr"}))
        assert identity.expires_at == START + timedelta(days=30)
        assert await authenticator.authenticate(secret) == identity
        stored = await identities.key_by_id("acme", key.id)
        assert stored is not None
        assert stored.last_used == START.date()
        assert secret.rpartition("_")[2] not in repr(stored)
        assert stored.digest not in secret

    async def test_a_revoked_key_ends_at_once_and_open_sockets_hear_of_it(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        key, secret = new_key("acme", "batch", [], ["user"], now=clock.at)
        await identities.add_key(key)
        open_ = await authenticator.authenticate(secret)
        clock.move(1)
        await identities.revoke_key("acme", key.id, clock.at)
        for refusing in (authenticator.authenticate(secret), authenticator.recheck(open_)):
            with pytest.raises(NotAuthenticated) as refused:
                await refusing
            assert refused.value.data["reason"] == "revoked"
        assert [person.user for person in await identities.changed_since(clock.at)] == [open_.caller.user]

    async def test_a_revoked_key_stays_out_whatever_is_said_of_its_service(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        key, secret = new_key("acme", "batch", [], ["user"], now=clock.at)
        await identities.add_key(replace(key, revoked_at=clock.at))
        with pytest.raises(NotAuthenticated) as refused:
            await authenticator.authenticate(secret)
        assert refused.value.data["reason"] == "revoked"

    async def test_a_key_ends_with_its_time(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        key, secret = new_key("acme", "batch", [], ["user"], now=clock.at, life=timedelta(days=1))
        await identities.add_key(key)
        clock.move(86_400)
        with pytest.raises(TokenExpired):
            await authenticator.authenticate(secret)

    async def test_another_secret_or_company_is_refused(
        self, authenticator: TokenAuthenticator, identities: SqlIdentity, clock: Clock
    ) -> None:
        key, secret = new_key("acme", "batch", [], ["user"], now=clock.at)
        rival, of_rival = new_key("rival", "batch", [], ["user"], now=clock.at)
        await identities.add_key(key)
        await identities.add_key(rival)
        wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
        for token in (wrong, secret + "A", of_rival, secret.replace("ak_", "AK_")):
            with pytest.raises(NotAuthenticated):
                await authenticator.authenticate(token)

    def test_a_key_has_roles_of_here(self) -> None:
        with pytest.raises(BadInput):
            new_key("acme", "batch", [], ["root"], now=START)


@pytest.mark.parametrize(("mapping", "changed", "groups", "roles"), [
    (ClaimsMap(), {"roles": ["user", "root", "admin"]}, {"hr"}, {"user", "admin"}),
    (ClaimsMap(), {"roles": None}, {"hr"}, {"user"}),
    (ClaimsMap(), {"roles": []}, {"hr"}, set()),
    (ClaimsMap(), {"groups": None}, set(), {"user", "auditor"}),
    (ClaimsMap(), {"groups": "hr"}, {"hr"}, {"user", "auditor"}),
    (ClaimsMap(groups={"hr": ["people", "all-hr"]}), {"groups": ["hr", "other"]}, {"people", "all-hr"}, {"user", "auditor"}),
    (ClaimsMap(roles={"chiefs": ["admin"], "auditor": ["exporter"]}), {"groups": ["chiefs"]}, {"chiefs"}, {"admin", "exporter"}),
    (ClaimsMap(roles={"chiefs": ["admin"]}), {"roles": None}, {"hr"}, set()),
    (ClaimsMap("memberOf", "realm.roles"), {"memberOf": ["it"], "realm": {"roles": ["admin"]}}, {"it"}, {"admin"}),
    (ClaimsMap(roles_claim="https://a.example/roles"), {"https://a.example/roles": ["admin"]}, {"hr"}, {"admin"}),
])  # fmt: skip
async def test_claims_become_groups_and_roles(
    identities: SqlIdentity,
    clock: Clock,
    mapping: ClaimsMap,
    changed: dict[str, Any],
    groups: set[str],
    roles: set[str],
) -> None:
    mapped = make_authenticator(identities, clock, mapping=mapping)
    identity = await mapped.authenticate(minted(claims(**changed)))
    assert identity.caller.groups == groups | {"everyone"}
    assert identity.caller.roles == roles


async def test_a_key_that_is_new_is_known_after_a_rotation(
    identities: SqlIdentity, clock: Clock, issuer: Issuer
) -> None:
    issuer.keys = {"keys": []}
    authenticator = make_authenticator(identities, clock, issuer=issuer)
    with pytest.raises(NotAuthenticated):
        await authenticator.authenticate(minted(claims(), ec(), "ES256", kid="e1"))
    issuer.keys = Issuer().keys
    clock.move(31)
    await authenticator.authenticate(minted(claims(), ec(), "ES256", kid="e1"))


def test_the_secret_of_each_use_is_another(clock: Clock) -> None:
    one, other = own_tokens(clock), own_tokens(clock, secret=b"z" * 32)
    token = one.access(ANN, timedelta(minutes=1)).token
    assert one.read("at+jwt", token)["sub"] == "ann"
    for reader, use in ((one, "session+jwt"), (one, "login+jwt"), (other, "at+jwt")):
        with pytest.raises(NotAuthenticated):
            reader.read(use, token)


def test_a_token_of_a_worker_whose_clock_is_ahead_is_good(clock: Clock) -> None:
    ahead = Clock(START + timedelta(seconds=5))
    token = own_tokens(ahead).access(ANN, timedelta(minutes=1)).token
    lenient = OwnTokens(OWN, TENANT, "assistant", now=clock.now, new_id=str, leeway_s=10)
    assert lenient.identity("at+jwt", token).caller == ANN
    with pytest.raises(NotAuthenticated):
        own_tokens(clock).identity("at+jwt", token)


def test_an_access_token_ends_when_told(clock: Clock) -> None:
    until = START + timedelta(minutes=3)
    assert own_tokens(clock).access(ANN, timedelta(minutes=15), until).expires_at == until
