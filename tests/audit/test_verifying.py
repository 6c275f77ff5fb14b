"""Each way to change a log, its checkpoints or its database, and what verification says of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.checkpoints import Checkpoint
from assistant.audit.verifying import Finding, Reason, verify
from assistant.core.audit import AuditKind, AuditRecord
from assistant.errors import BadInput
from tests.audit.chains import KEYS, SIGNER, START, STRANGER, chain, checkpoint, rechained, streamed

LOG = chain(12)
MARKS = [checkpoint(LOG, size) for size in (4, 8, 12)]
OTHER = chain(12, salt="other")


async def judged(
    records: Iterable[AuditRecord],
    checkpoints: Iterable[Checkpoint | Mapping[str, Any]] = (),
    external: Iterable[Checkpoint] = (),
    keys: Mapping[str, bytes] = KEYS,
) -> Finding:
    rows = [one.row() if isinstance(one, Checkpoint) else one for one in checkpoints]
    return await verify(streamed(records), rows, keys, tenant="acme", external=external)


def places(finding: Finding) -> tuple[Reason | None, int | None, int | None]:
    assert not finding.ok
    return finding.reason, finding.seq, finding.until


@given(st.integers(0, 40), st.sets(st.integers(1, 40)))
async def test_an_untouched_log_fits(count: int, sizes: set[int]) -> None:
    records = chain(count)
    marks = [checkpoint(records, size) for size in sizes if size <= count]
    finding = await judged(records, marks, marks)
    assert finding == Finding(ok=True, checked=count, covered=max((mark.size for mark in marks), default=0))


OTHER_VALUES: dict[str, Any] = {
    "tenant": "rival", "seq": 99, "kind": AuditKind.HOLD, "body": {"mode": "refine"}, "subject": None, "conversation": "c",
    "turn": "t", "sealed_sha256": "00",
}  # fmt: skip
NAMED = {"tenant": Reason.WRONG_TENANT, "seq": Reason.GAP}


@pytest.mark.parametrize("name", [field.name for field in fields(AuditRecord)])
@pytest.mark.parametrize("at", [0, 5, 11])
async def test_an_edit_of_any_field_is_found_at_its_record(name: str, at: int) -> None:
    edited = [*LOG]
    edited[at] = replace(LOG[at], **{name: OTHER_VALUES.get(name, "other")})
    finding = await judged(edited)
    assert (finding.reason, finding.seq, finding.checked) == (NAMED.get(name, Reason.WRONG_HASH), at + 1, at)


@given(st.integers(0, 11), st.text(), st.text())
async def test_an_edit_deep_in_a_body_is_found(at: int, key: str, value: str) -> None:
    edited = [*LOG]
    edited[at] = replace(LOG[at], body={**LOG[at].body, key: [value]})
    assert places(await judged(edited, MARKS)) == (Reason.WRONG_HASH, at + 1, None)


@pytest.mark.parametrize("body", [{"n": float("nan")}, {"n": 2**60}, {"text": "\ud800"}])
async def test_a_body_that_cannot_have_been_written_is_an_edit(body: Mapping[str, Any]) -> None:
    assert places(await judged([replace(LOG[0], body=body)])) == (Reason.WRONG_HASH, 1, None)


@given(st.integers(0, 10))
async def test_a_record_hashed_anew_breaks_the_link_behind_it(at: int) -> None:
    forged = rechained([*LOG[:at], replace(LOG[at], actor="somebody else")])
    finding = await judged([*forged, *LOG[at + 1 :]])
    assert places(finding) == (Reason.BROKEN_LINK, at + 2, None)


@given(st.integers(0, 11))
async def test_a_log_hashed_anew_does_not_have_the_signed_root(at: int) -> None:
    forged = rechained([*LOG[:at], replace(LOG[at], actor="somebody else"), *LOG[at + 1 :]])
    finding = await judged(forged, MARKS)
    first = at // 4 * 4
    assert places(finding) == (Reason.WRONG_ROOT, first + 1, first + 4)
    assert finding.covered == first


@given(st.integers(0, 10))
async def test_a_deleted_record_is_a_gap(at: int) -> None:
    assert places(await judged([*LOG[:at], *LOG[at + 1 :]])) == (Reason.GAP, at + 1, at + 1)


async def test_many_deleted_records_are_one_gap() -> None:
    assert places(await judged([*LOG[:2], *LOG[7:]])) == (Reason.GAP, 3, 7)


@given(st.integers(0, 11))
async def test_a_deletion_hidden_by_numbering_and_hashing_anew_is_found(at: int) -> None:
    forged = rechained([*LOG[:at], *LOG[at + 1 :]])
    reason, seq, until = places(await judged(forged, MARKS))
    first = at // 4 * 4
    assert (reason, seq, until) in {(Reason.WRONG_ROOT, first + 1, first + 4), (Reason.TRUNCATED, 12, 12)}


@given(st.permutations(range(12)))
async def test_any_reordering_is_found(order: list[int]) -> None:
    finding = await judged([LOG[at] for at in order])
    first = next((at for at, old in enumerate(order) if at != old), None)
    assert finding.seq == (None if first is None else first + 1)
    assert finding.reason in {None, Reason.GAP}


async def test_a_record_that_comes_twice_is_out_of_order() -> None:
    assert places(await judged([*LOG[:3], LOG[2], *LOG[3:]])) == (Reason.OUT_OF_ORDER, 4, None)


@given(st.integers(0, 10), st.integers(0, 10))
async def test_records_that_swapped_their_numbers_are_found(one: int, two: int) -> None:
    swapped = [*LOG]
    swapped[one], swapped[two] = replace(LOG[two], seq=one + 1), replace(LOG[one], seq=two + 1)
    finding = await judged(swapped)
    assert finding.seq == (None if one == two else min(one, two) + 1)


@given(st.integers(0, 11))
async def test_truncation_is_found_by_the_checkpoint_behind_it(count: int) -> None:
    finding = await judged(LOG[:count], MARKS)
    assert places(finding) == (Reason.TRUNCATED, count + 1, (count // 4 + 1) * 4)


async def test_what_no_checkpoint_covers_can_be_cut_off_and_the_finding_says_how_far_they_reach() -> None:
    finding = await judged(LOG[:10], MARKS[:2])
    assert finding == Finding(ok=True, checked=10, covered=8)


async def test_a_whole_log_of_another_tenant_is_refused() -> None:
    assert places(await judged(chain(3, "rival"))) == (Reason.WRONG_TENANT, 1, None)
    renamed = [replace(record, tenant="acme") for record in chain(3, "rival")]
    assert places(await judged(renamed)) == (Reason.WRONG_HASH, 1, None)


async def test_checkpoints_that_swapped_their_places_are_found() -> None:
    swapped = [replace(MARKS[0], size=8), replace(MARKS[1], size=4), MARKS[2]]
    assert places(await judged(LOG, swapped)) == (Reason.BAD_SIGNATURE, 4, None)


async def test_a_checkpoint_of_another_log_with_the_same_key_is_found() -> None:
    assert places(await judged(LOG, [checkpoint(OTHER, 4)])) == (Reason.WRONG_ROOT, 1, 4)


async def test_a_checkpoint_of_another_tenant_is_found() -> None:
    foreign = checkpoint(chain(4, "rival"), 4)
    assert places(await judged(LOG, [foreign])) == (Reason.WRONG_TENANT, 4, None)
    assert places(await judged(LOG, [replace(foreign, tenant="acme")])) == (Reason.BAD_SIGNATURE, 4, None)


FORGED: dict[str, Any] = {
    "size": 7,
    "root": "0" * 64,
    "head": "0" * 64,
    "at": "2026-01-01T00:00:00.000Z",
    "signature": "A" * 86 + "==",
}


@pytest.mark.parametrize("name", sorted(FORGED))
async def test_an_edit_of_any_field_of_a_checkpoint_breaks_its_signature(name: str) -> None:
    forged = replace(MARKS[1], **{name: FORGED[name]})
    reason, seq, _ = places(await judged(LOG, [MARKS[0], forged, MARKS[2]]))
    assert (reason, seq) == (Reason.BAD_SIGNATURE, forged.size)


async def test_a_checkpoint_by_a_key_that_is_not_ours_is_found() -> None:
    forged = rechained([replace(LOG[0], actor="x"), *LOG[1:4]])
    assert places(await judged(forged, [checkpoint(forged, 4, STRANGER)])) == (Reason.UNKNOWN_KEY, 4, None)
    lying = replace(checkpoint(forged, 4, STRANGER), key_id=SIGNER.key_id)
    assert places(await judged(forged, [lying])) == (Reason.BAD_SIGNATURE, 4, None)


async def test_a_replaced_key_is_known_as_long_as_its_public_key_is_kept() -> None:
    marks = [checkpoint(LOG, 4), checkpoint(LOG, 8, STRANGER)]
    assert (await judged(LOG, marks, keys=KEYS | {STRANGER.key_id: STRANGER.public})).covered == 8


@pytest.mark.parametrize(
    "change", [{"root": "xyz"}, {"size": "4"}, {"size": -1}, {"signature": "%%"}, {"at": None}, {"more": 1}]
)
async def test_a_malformed_checkpoint_is_found_and_not_raised(change: dict[str, Any]) -> None:
    finding = await judged(LOG, [{**MARKS[0].row(), **change}])
    assert finding.reason == Reason.BAD_CHECKPOINT
    assert finding.seq == (None if "size" in change else 4)


async def test_an_older_database_that_was_restored_is_found() -> None:
    finding = await judged(LOG[:9], MARKS[:2], external=MARKS)
    assert places(finding) == (Reason.MISSING_CHECKPOINT, 10, 12)
    assert finding.covered == 8


async def test_an_older_database_that_was_restored_and_went_on_is_found() -> None:
    grown = rechained([*LOG[:5], *OTHER[5:], *OTHER[5:]])
    marks = [MARKS[0], checkpoint(grown, 9), checkpoint(grown, 15)]
    assert (await judged(grown, marks)).ok
    assert places(await judged(grown, marks, external=MARKS)) == (Reason.MISSING_CHECKPOINT, 5, 8)


async def test_another_database_with_the_same_key_is_found() -> None:
    marks = [checkpoint(OTHER, size) for size in (4, 8, 12)]
    assert (await judged(OTHER, marks)).ok
    assert places(await judged(OTHER, marks, external=MARKS)) == (Reason.MISSING_CHECKPOINT, 1, 4)


async def test_a_checkpoint_deleted_from_the_database_is_found() -> None:
    assert places(await judged(LOG, [MARKS[0], MARKS[2]], external=MARKS)) == (Reason.MISSING_CHECKPOINT, 8, 8)


async def test_a_forged_line_beside_the_database_is_found() -> None:
    forged = replace(MARKS[1], root="0" * 64)
    assert places(await judged(LOG, MARKS, external=[forged])) == (Reason.BAD_SIGNATURE, 8, None)


async def test_the_same_state_signed_twice_by_two_workers_fits() -> None:
    later = checkpoint(LOG, 8, at=START + timedelta(seconds=1))
    assert later.signature != MARKS[1].signature
    assert (await judged(LOG, MARKS, external=[*MARKS, later])).ok


async def test_checkpoints_of_other_tenants_in_the_same_file_are_passed_over() -> None:
    assert (await judged(LOG, MARKS, external=[*MARKS, checkpoint(chain(4, "rival"), 4)])).ok


@pytest.mark.parametrize("error", [BadInput("row"), ValueError(), TypeError(), KeyError("kind")])
async def test_a_row_that_cannot_be_read_is_a_finding(error: Exception) -> None:
    async def broken() -> AsyncIterator[AuditRecord]:
        for record in LOG[:6]:
            yield record
        raise error

    finding = await verify(broken(), [], KEYS, tenant="acme")
    assert places(finding) == (Reason.UNREADABLE, 7, None)


async def test_a_store_that_fails_is_not_taken_for_tampering() -> None:
    async def broken() -> AsyncIterator[AuditRecord]:
        yield LOG[0]
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await verify(broken(), [], KEYS, tenant="acme")


async def test_progress_is_told_now_and_then_and_at_the_end() -> None:
    told: list[int] = []
    records: Sequence[AuditRecord] = chain(2100)
    await verify(streamed(records), [], KEYS, tenant="acme", on_progress=told.append)
    assert told == [1000, 2000, 2100]
