from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.audit.checking import verify_log
from assistant.audit.seals import Seals, in_batches
from assistant.audit.targets import Targets
from assistant.audit.verifying import Finding, Reason, verify
from assistant.core.audit import AuditDraft, AuditKind, AuditRecord, place
from tests.audit.chains import KEYS, START, MemoryLog, chain, checkpoint, streamed

TEXTS = {2: b"question", 3: b"", 5: "问题".encode(), 20: bytes(1000)}


def log(texts: Mapping[int, bytes] = TEXTS, removed: list[Any] | None = None) -> MemoryLog:
    """A log whose records were written with TEXTS, the texts being these now; the last record may tell of removed ones."""
    records = chain(21, sealed=TEXTS)
    if removed is not None:
        body = {"what": "sealed", "sealed": removed}
        draft = AuditDraft("acme", AuditKind.RETENTION, "policy", START, body=body)
        records.append(place(draft, id_="r", seq=22, previous=records[-1].hash, sealed_sha256=None))
    return MemoryLog(records, texts=dict(texts))


async def found(source: MemoryLog) -> Finding:
    return (await verify_log("acme", source, Targets(), KEYS)).finding


async def test_sealed_texts_that_fit_are_fine() -> None:
    assert await found(log()) == Finding(ok=True, checked=21, covered=0)


@pytest.mark.parametrize("seq", sorted(TEXTS))
async def test_a_changed_text_is_found_at_its_record(seq: int) -> None:
    finding = await found(log({**TEXTS, seq: b"changed"}))
    assert (finding.reason, finding.seq, finding.checked) == (Reason.WRONG_SEAL, seq, seq - 1)


async def test_texts_that_swapped_their_records_are_found() -> None:
    assert (await found(log({**TEXTS, 2: TEXTS[5], 5: TEXTS[2]}))).seq == 2


async def test_a_text_at_a_record_that_had_none_is_found() -> None:
    finding = await found(log({**TEXTS, 7: b"added"}))
    assert (finding.reason, finding.seq) == (Reason.WRONG_SEAL, 7)


@given(st.sets(st.sampled_from(sorted(TEXTS)), min_size=1))
async def test_the_first_text_that_is_gone_is_named(gone: set[int]) -> None:
    finding = await found(log({seq: text for seq, text in TEXTS.items() if seq not in gone}))
    assert (finding.ok, finding.reason, finding.seq) == (False, Reason.MISSING_SEAL, min(gone))


@given(st.sets(st.sampled_from(sorted(TEXTS))), st.sets(st.integers(1, 22)))
async def test_a_text_may_be_gone_where_a_later_record_of_retention_says_so(gone: set[int], listed: set[int]) -> None:
    kept = {seq: text for seq, text in TEXTS.items() if seq not in gone}
    finding = await found(log(kept, sorted(listed)))
    assert finding.ok == (gone <= listed)
    assert finding.seq == min(gone - listed, default=None)


@pytest.mark.parametrize("listed", [["2"], [True, None], [-2, 0, 10**30], [[2]], [{}]])
async def test_a_list_that_names_no_record_excuses_nothing(listed: list[Any]) -> None:
    kept = {seq: text for seq, text in TEXTS.items() if seq != 2}
    if listed == [-2, 0, 10**30]:
        listed = [-2, 0, 2**53 - 1]
    assert (await found(log(kept, listed))).seq == 2


async def test_a_text_gone_before_its_removal_was_written_down_cannot_be_excused_in_advance() -> None:
    records = chain(1)
    body = {"what": "sealed", "sealed": [3]}
    early = AuditDraft("acme", AuditKind.RETENTION, "policy", START, body=body)
    records.append(place(early, id_="r", seq=2, previous=records[-1].hash, sealed_sha256=None))
    late = AuditDraft("acme", AuditKind.TURN, "u", START)
    records.append(place(late, id_="t", seq=3, previous=records[-1].hash, sealed_sha256="00"))
    assert (await found(MemoryLog(records))).seq == 3


async def test_a_record_that_came_while_texts_were_read_is_not_accused() -> None:
    async def nothing() -> AsyncIterator[tuple[int, bytes]]:
        for one in sorted(MemoryLog().texts.items()):
            yield one

    records = chain(3, sealed={3: b"late"})
    assert (await verify(streamed(records), [], KEYS, tenant="acme", sealed=Seals(nothing(), 2))).ok
    assert not (await verify(streamed(records), [], KEYS, tenant="acme", sealed=Seals(nothing(), 3))).ok


async def test_a_column_that_does_not_hold_bytes_is_a_finding() -> None:
    spoilt: dict[int, Any] = {**TEXTS, 5: "text"}
    assert (await found(log(spoilt))).seq == 5


async def test_texts_come_in_batches_in_order() -> None:
    source = log()

    async def read(after: int, limit: int) -> list[tuple[int, bytes]]:
        assert limit == 3
        return await source.ciphertexts("acme", after, limit)

    assert [one async for one in in_batches(read, 3)] == sorted(TEXTS.items())


@given(st.integers(0, 70))
async def test_the_state_of_a_log_is_told_with_what_it_was_held_against(count: int) -> None:
    texts = dict.fromkeys(range(1, count + 1), b"x")
    records: list[AuditRecord] = chain(count, sealed=texts)
    source = MemoryLog(records, [checkpoint(records, count).row()] if count else [], texts)
    verified = await verify_log("acme", source, Targets(), KEYS)
    assert verified.finding == Finding(ok=True, checked=count, covered=count)
    assert (verified.targets, verified.external, verified.damaged) == (0, 0, 0)
    if count:
        del source.texts[count]
        assert (await found(source)).seq == count
