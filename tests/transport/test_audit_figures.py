"""Figures over REST, the badge of a changed source in the list, and the plan of an opened record."""

from __future__ import annotations

import httpx
import pytest

from assistant.store import Store
from tests.conversation.answering import LEAVE
from tests.store.filling import draft, put
from tests.transport.test_audit import WHY, answering, as_, asked, http, opened, signer  # noqa: F401 - fixtures of fixtures

__all__ = ("http", "opened", "signer")


async def test_figures_of_the_last_days(opened: Store, http: httpx.AsyncClient) -> None:
    await asked(opened)
    found = (await http.get("/api/audit/figures", headers=as_("ida"))).json()
    (day,) = found["days"]
    assert found["since"] < day["day"] < found["until"]
    assert (day["answers"], day["verdicts"], day["modes"]) == (1, {"supported": 1}, {"simple_summarize": 1})
    assert (day["refusals"], day["kept"], day["priced"], day["cost"]) == (0, 1, 0, None)
    none = (await http.get("/api/audit/figures", headers=as_("ida"), params={"verdict": "contradicted"})).json()
    assert none["days"] == []
    assert (await http.get("/api/audit/figures", headers=as_("eve"))).json()["days"] == []


@pytest.mark.parametrize("since", ["0001-01-01", "1990-01-01", "2026-01-01T00:00:00+14:00"])
async def test_a_long_time_is_refused(http: httpx.AsyncClient, since: str) -> None:
    answer = await http.get("/api/audit/figures", headers=as_("ida"), params={"since": since, "until": "2990-01-01"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_input")
    lone = await http.get("/api/audit/figures", headers=as_("ida"), params={"until": "0001-01-02"})
    assert (lone.status_code, lone.json()["error"]["code"]) == (422, "bad_input")


async def test_those_without_the_role_get_no_figures(http: httpx.AsyncClient) -> None:
    for path in ("figures", "figures?since=never"):
        assert (await http.get(f"/api/audit/{path}", headers=as_("ann"))).status_code == 404


async def test_the_list_says_whose_source_has_changed(opened: Store, http: httpx.AsyncClient) -> None:
    await asked(opened)

    async def changed() -> list[bool]:
        found = await http.get("/api/audit/records", headers=as_("ida"))
        return [record["source_changed"] for record in found.json()["records"]]

    assert await changed() == [False]
    await put(opened, draft(LEAVE.replace("20 days", "30 days"), "leave.md"))
    assert await changed() == [True]


async def test_an_opened_record_has_the_plan_of_its_turn(opened: Store, http: httpx.AsyncClient) -> None:
    id_ = await asked(opened)
    shown = (await http.get(f"/api/audit/records/{id_}", headers=as_("ida", **WHY))).json()
    assert shown["plan"]["mode"] == "simple_summarize"
    assert shown["plan"]["budget"]["window"] > 0
    assert {each["id"] for each in shown["plan"]["evidence"]} == {each["id"] for each in shown["evidence"]}
    views = (await http.get("/api/audit/records", headers=as_("ida"), params={"kind": "view"})).json()["records"]
    view = (await http.get(f"/api/audit/records/{views[0]['id']}", headers=as_("ida", **WHY))).json()
    assert (view["plan"], view["evidence"]) == (None, [])
