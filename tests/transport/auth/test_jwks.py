"""Keys of an issuer: rotation, bounds on asking, and keys that are not taken."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from assistant.errors import NotAuthenticated
from assistant.transport.auth.fetching import MOST_BYTES, Unavailable
from assistant.transport.auth.forms import Form, Kind
from assistant.transport.auth.jwks import Jwks, load_file
from tests.transport.auth.making import Clock, Issuer, ec, key_set, okp, rsa


def wants(alg: str, kid: str | None) -> Form:
    return Form(Kind.PUBLIC, alg, kid)


async def reason(keys: Jwks, form: Form) -> Any:
    with pytest.raises(NotAuthenticated) as refused:
        await keys.key_for(form)
    return refused.value.data["reason"]


async def test_keys_are_asked_for_once(clock: Clock, issuer: Issuer) -> None:
    keys = Jwks(issuer.load, clock.monotonic)
    assert issuer.asked == 0
    for alg, kid in (("RS256", "r1"), ("ES256", "e1"), ("EdDSA", "o1"), ("Ed25519", "o1")):
        assert (await keys.key_for(wants(alg, kid))).kid is None  # nothing but the key itself is kept
    assert issuer.asked == 1


async def test_a_new_key_is_found_by_asking_again_but_not_often(clock: Clock, issuer: Issuer) -> None:
    issuer.keys = key_set(rsa())
    keys = Jwks(issuer.load, clock.monotonic)
    await keys.key_for(wants("RS256", "r1"))
    issuer.keys = key_set(rsa(), ec())
    for _ in range(50):
        clock.move(0.5)
        assert await reason(keys, wants("ES256", "e1")) == "signature"
    assert issuer.asked == 1
    clock.move(5)
    await keys.key_for(wants("ES256", "e1"))
    for number in range(50):
        clock.move(0.5)
        assert await reason(keys, wants("ES256", f"x{number}")) == "signature"
    assert issuer.asked == 2


async def test_a_key_that_was_withdrawn_goes_within_an_hour(clock: Clock, issuer: Issuer) -> None:
    keys = Jwks(issuer.load, clock.monotonic)
    await keys.key_for(wants("RS256", "r1"))
    issuer.keys = key_set(ec())
    clock.move(3601)
    assert await reason(keys, wants("RS256", "r1")) == "signature"


async def test_while_the_issuer_is_away_its_keys_stay(clock: Clock, issuer: Issuer) -> None:
    away = False

    async def load() -> dict[str, Any]:
        if away:
            raise Unavailable("away")
        return await issuer.load()

    keys = Jwks(load, clock.monotonic)
    await keys.key_for(wants("RS256", "r1"))
    away = True
    clock.move(3601)
    await keys.key_for(wants("RS256", "r1"))


async def test_without_any_keys_it_says_so_and_asks_again_later(clock: Clock, issuer: Issuer) -> None:
    tried = 0

    async def load() -> dict[str, Any]:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise Unavailable("away")
        return await issuer.load()

    keys = Jwks(load, clock.monotonic)
    for _ in range(3):
        assert await reason(keys, wants("RS256", "r1")) == "keys_unavailable"
    assert tried == 1
    clock.move(30)
    await keys.key_for(wants("RS256", "r1"))


async def test_many_who_come_at_once_ask_once(clock: Clock, issuer: Issuer) -> None:
    gate = asyncio.Event()

    async def load() -> dict[str, Any]:
        await gate.wait()
        return await issuer.load()

    keys = Jwks(load, clock.monotonic)
    waiting = [asyncio.create_task(keys.key_for(wants("RS256", "r1"))) for _ in range(10)]
    await asyncio.sleep(0)
    gate.set()
    assert len({id(key) for key in await asyncio.gather(*waiting)}) == 1
    assert issuer.asked == 1


async def test_who_gives_up_waiting_does_not_keep_the_others_out(clock: Clock, issuer: Issuer) -> None:
    begun = asyncio.Event()

    async def load() -> dict[str, Any]:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return await issuer.load()

    keys = Jwks(load, clock.monotonic)
    first = asyncio.create_task(keys.key_for(wants("RS256", "r1")))
    second = asyncio.create_task(keys.key_for(wants("RS256", "r1")))
    await begun.wait()
    first.cancel()
    assert await second
    assert issuer.asked == 1


WEAK = RSAKey.generate_key(1024, {"kid": "r1"})


@pytest.mark.parametrize(("listed", "alg"), [
    (OctKey.generate_key(256, {"kid": "k"}).as_dict(), "HS256"),
    (WEAK.as_dict(private=False), "RS256"),
    (rsa().as_dict(private=False) | {"use": "enc"}, "RS256"),
    (rsa().as_dict(private=False) | {"alg": "RS512"}, "RS256"),
    (rsa().as_dict(private=False) | {"alg": ["RS256"]} , "RS256"),
    (ECKey.generate_key("P-384", {"kid": "k"}).as_dict(private=False), "ES256"),
    (ec().as_dict(private=False) | {"x": "AA"}, "ES256"),
    (ec().as_dict(private=False) | {"x": 5}, "ES256"),
    (OKPKey.generate_key("X25519", {"kid": "k"}).as_dict(private=False), "EdDSA"),
    ({"kty": "RSA", "kid": "k"}, "RS256"),
    ({"kty": ["RSA"]}, "RS256"),
    ({}, "RS256"),
])  # fmt: skip
async def test_keys_that_are_not_for_this_are_passed_over(clock: Clock, listed: dict[str, Any], alg: str) -> None:
    issuer = Issuer({"keys": [listed, "text", None, okp().as_dict(private=False)]})
    keys = Jwks(issuer.load, clock.monotonic)
    kid = listed.get("kid")
    assert await reason(keys, wants(alg, kid if isinstance(kid, str) else "k")) == "signature"
    assert await keys.key_for(wants("EdDSA", "o1"))


async def test_of_a_private_key_only_the_public_part_is_kept(clock: Clock) -> None:
    keys = Jwks(Issuer({"keys": [ec().as_dict(private=True)]}).load, clock.monotonic)
    key = await keys.key_for(wants("ES256", "e1"))
    assert not key.is_private


async def test_without_a_name_only_a_single_key_fits(clock: Clock) -> None:
    keys = Jwks(Issuer(key_set(ec(), rsa())).load, clock.monotonic)
    assert await keys.key_for(wants("ES256", None))
    two = Jwks(Issuer(key_set(ec(), ECKey.generate_key("P-256", {"kid": "e2"}))).load, clock.monotonic)
    assert await reason(two, wants("ES256", None)) == "signature"


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {"kid": "e1"}}])
async def test_a_document_without_keys_is_none(clock: Clock, document: dict[str, Any]) -> None:
    keys = Jwks(Issuer(document).load, clock.monotonic)
    assert await reason(keys, wants("ES256", "e1")) == "keys_unavailable"


async def test_keys_lie_in_a_file(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(orjson.dumps(key_set(ec())))
    assert await load_file(path) == key_set(ec())
    for content in (b"{", b"[]", b" " * MOST_BYTES + b"{}"):
        path.write_bytes(content)
        with pytest.raises(Unavailable):
            await load_file(path)
    with pytest.raises(Unavailable):
        await load_file(tmp_path / "none.json")
