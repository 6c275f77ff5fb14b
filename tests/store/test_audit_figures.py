"""Figures of the audit log against the same sums in plain Python, on both databases."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from assistant.core.audit import AuditKind
from assistant.core.audit_figures import Aftermath, DayFigures
from assistant.core.audit_filter import AuditFilter
from assistant.core.citations import Verdict
from assistant.errors import BadInput
from assistant.store import Store
from assistant.store.documents import document_id
from tests.store.audit_filling import ANNS, START, ask, turn_draft
from tests.store.filling import ANN, draft, put

DAY = 24 * 60
LEAVE = document_id("acme", "handbook", "leave.md")
ALL = AuditFilter(since=START - timedelta(days=9), until=START + timedelta(days=9))


def body(mode: str, verdict: str | None = None, **more: Any) -> dict[str, Any]:
    items = [{"verdict": verdict, "source": {"document": LEAVE, "version": 1}}] if verdict else []
    return {"mode": mode, "model": "m", "citations": {"items": items}, "finish": "stop"} | more


async def filled(store: Store) -> Store:
    disputed = {"items": [{"topic": "days"}]}
    for made in (
        turn_draft(0, body=body("direct", "supported")),
        turn_draft(1, body=body("direct", "partial", conflicts=disputed)),
        turn_draft(2, body=body("tree", None, finish="no_answer")),
        turn_draft(2, kind=AuditKind.FEEDBACK, turn="t1", body={"rating": "down"}),
        turn_draft(3, kind=AuditKind.FEEDBACK, turn="t0", body={"rating": "down"}),
        turn_draft(4, kind=AuditKind.FEEDBACK, turn="t0", body={"rating": "up"}),
        turn_draft(2 * DAY, body=body("direct", "supported"), subject="ubob"),
        turn_draft(2 * DAY, body=body("direct", "contradicted"), tenant="rival"),
    ):
        await store.audit.append_one(made)
    return store


async def test_days_with_answers_are_counted(store: Store) -> None:
    found = await (await filled(store)).audit.figures("acme", ALL)
    assert found == [
        DayFigures(
            "2025-03-01", 3, refusals=1, conflicts=1, up=1, down=1,
            verdicts={"supported": 1, "partial": 1}, modes={"direct": 2, "tree": 1},
        ),
        DayFigures("2025-03-03", 1, verdicts={"supported": 1}, modes={"direct": 1}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "answers"),
    [
        ({"person": ANNS}, [3]),
        ({"person": "ubob"}, [1]),
        ({"verdict": Verdict.SUPPORTED}, [1, 1]),
        ({"conflict": True}, [1]),
        ({"feedback": "up"}, [1]),
        ({"document": LEAVE}, [2, 1]),
        ({"document": "nothing"}, []),
        ({"mode": "tree", "person": ANNS}, [1]),
        ({"since": START + timedelta(minutes=1)}, [2, 1]),
        ({"until": START + timedelta(minutes=1)}, [1]),
        ({"kind": AuditKind.FEEDBACK}, [3, 1]),
    ],
)
async def test_filters_hold_for_figures_too(store: Store, given: dict[str, Any], answers: list[int]) -> None:
    times = {"since": ALL.since, "until": ALL.until}
    found = await (await filled(store)).audit.figures("acme", AuditFilter(**(times | given)))
    assert [each.answers for each in found] == answers
    assert all(sum(each.modes.values()) == each.answers for each in found)


async def test_tokens_and_cost_come_from_the_turns_that_are_kept(store: Store) -> None:
    await put(store, draft("Employees get 20 days of leave."))
    await ask(store, ANN, "t-1", "zebra")
    await store.audit.append_one(turn_draft(0, turn="gone", body=body("direct")))
    found = await store.audit.figures("acme", AuditFilter(since=START - timedelta(days=1)))
    total = Counter[str]()
    for each in found:
        total.update(answers=each.answers, kept=each.kept, tokens=each.tokens_in + each.tokens_out)
    assert (total["answers"], total["kept"]) == (2, 1)
    assert total["tokens"] > 0
    assert found[0].as_json()["cost"] is None


async def test_a_filter_that_no_database_can_hold_is_refused(store: Store) -> None:
    with pytest.raises(BadInput):
        await store.audit.figures("acme", AuditFilter(document="\0"))


async def test_what_came_after_a_record(store: Store) -> None:
    await put(store, draft("One."))
    first = await store.audit.append_one(turn_draft(0, body=body("direct", "supported")))
    other = await store.audit.append_one(turn_draft(1, body=body("direct")))
    both = [first.seq, other.seq]
    assert await store.audit.aftermath("acme", both) == dict.fromkeys(both, Aftermath())
    await put(store, draft("Two."))
    await store.audit.append_one(turn_draft(2, kind=AuditKind.FEEDBACK, turn="t1", body={"rating": "down"}))
    found = await store.audit.aftermath("acme", both)
    assert found == {first.seq: Aftermath(source_changed=True), other.seq: Aftermath("down")}
    assert await store.audit.aftermath("acme", [other.seq, 999]) == {other.seq: Aftermath("down")}
    assert await store.audit.aftermath("rival", both) == {}
    assert await store.audit.aftermath("acme", []) == {}
