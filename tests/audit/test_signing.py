from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.signing import (
    Signer,
    key_id_of,
    known_keys,
    public_key_of,
    read_public_key,
    signer_at,
    verify_signature,
)
from assistant.errors import BadInput, BadSetting

SIGNER = Signer(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def pem_of(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, password: bytes | None = None) -> bytes:
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def secret(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


@given(st.binary(max_size=200), st.integers(0, 63), st.integers(1, 255))
def test_a_signature_holds_for_its_message_and_key_only(message: bytes, at: int, flip: int) -> None:
    signature = SIGNER.sign(message)
    bent = signature[:at] + bytes([signature[at] ^ flip]) + signature[at + 1 :]
    assert verify_signature(SIGNER.public, message, signature)
    assert not verify_signature(SIGNER.public, message, bent)
    assert not verify_signature(SIGNER.public, message + b"\0", signature)
    assert not verify_signature(bytes(32), message, signature)


@given(st.binary(max_size=70), st.binary(max_size=10), st.binary(max_size=70))
def test_anything_gets_an_answer(public: bytes, message: bytes, signature: bytes) -> None:
    assert not verify_signature(public, message, signature)


def test_signatures_are_those_of_the_standard() -> None:
    """RFC 8032, 7.1, the first test: an empty message."""
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    signer = Signer(ed25519.Ed25519PrivateKey.from_private_bytes(private))
    assert signer.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert signer.sign(b"").hex().startswith("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8")


def test_a_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "audit.pem"
    made = signer_at(path)
    assert signer_at(path).public == made.public
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert sorted(file.name for file in path.parent.iterdir()) == [f"audit-{made.key_id}.pub", "audit.pem"]


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: signer_at(tmp_path / "keys" / "audit.pem").key_id, range(16)))
    assert len(set(made)) == 1
    assert len(list((tmp_path / "keys").iterdir())) == 2


def test_what_an_older_key_signed_can_still_be_checked(tmp_path: Path) -> None:
    old = signer_at(tmp_path / "audit.pem")
    (tmp_path / "audit.pem").unlink()
    new = signer_at(tmp_path / "audit.pem")
    assert known_keys(tmp_path, new) == {old.key_id: old.public, new.key_id: new.public}
    assert known_keys(tmp_path / "nowhere", new) == {new.key_id: new.public}


def test_the_public_file_says_what_the_signer_says(tmp_path: Path) -> None:
    signer = signer_at(tmp_path / "audit.pem")
    assert read_public_key(tmp_path / f"audit-{signer.key_id}.pub") == (signer.key_id, signer.public)
    assert public_key_of(signer.public_pem()) == (key_id_of(signer.public), signer.public)
    assert len(signer.key_id) == 16


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o666, 0o601])
def test_a_key_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "audit.pem"
    signer_at(path)
    path.chmod(mode)
    with pytest.raises(BadSetting, match="chmod 600"):
        signer_at(path)


def test_a_secret_mounted_by_a_link_for_the_group_is_read(tmp_path: Path) -> None:
    (tmp_path / "audit.pem").symlink_to(
        secret(tmp_path / "real", pem_of(ed25519.Ed25519PrivateKey.generate()), mode=0o440)
    )
    assert signer_at(tmp_path / "audit.pem", make=False).public


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\xff" * 100,
        pem_of(ed25519.Ed25519PrivateKey.generate())[:60],
        pem_of(ed25519.Ed25519PrivateKey.generate(), password=b"secret"),
        pem_of(ec.generate_private_key(ec.SECP256R1())),
        SIGNER.public_pem(),
        b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 200_000,
    ],
    ids=["empty", "noise", "cut", "password", "other curve", "public", "endless"],
)
def test_a_broken_key_file_is_a_bad_setting(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadSetting) as caught:
        signer_at(secret(tmp_path / "audit.pem", content))
    assert caught.value.data["setting"] == "audit.key"


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(BadSetting):
            signer_at(path)


def test_a_missing_key_is_refused_where_none_may_be_made(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        signer_at(tmp_path / "audit.pem", make=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSetting):
        signer_at(tmp_path / "file" / "audit.pem")


@pytest.mark.parametrize("content", [b"", b"noise", pem_of(ec.generate_private_key(ec.SECP256R1()))])
def test_a_broken_public_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "audit-0.pub").write_bytes(content)
    with pytest.raises(BadSetting, match=r"audit-0\.pub"):
        known_keys(tmp_path)
    with pytest.raises(BadInput):
        public_key_of(content)
