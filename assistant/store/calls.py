"""The calls of models in a turn: prompts, texts, usage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from assistant.codec import storable
from assistant.core.access import Caller
from assistant.core.calls import ModelCall
from assistant.core.messages import Message, Role, Usage
from assistant.core.text import without_unstorable
from assistant.store.rows import AnyRow
from assistant.store.tables import model_calls, turns
from assistant.store.withholding import is_withheld

WITHHELD = "[withheld: a source of this turn may no longer be read]"


async def write_calls(connection: AsyncConnection, turn: str, calls: Sequence[ModelCall]) -> None:
    """Keep the calls of a turn in order; a second time replaces the first."""
    await connection.execute(select(turns.c.id).where(turns.c.id == turn).with_for_update())  # one after the other
    await connection.execute(delete(model_calls).where(model_calls.c.turn == turn))
    if calls:
        await connection.execute(insert(model_calls), [_row(turn, place, call) for place, call in enumerate(calls)])


def _row(turn: str, position: int, call: ModelCall) -> dict[str, Any]:
    usage = call.usage
    return {
        "turn": turn,
        "position": position,
        "purpose": call.purpose,
        "model": storable(call.model),
        "messages": [[message.role.value, without_unstorable(message.text)] for message in call.messages],
        "text": without_unstorable(call.text),
        "ended": call.ended,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "tokens_cached": usage.tokens_cached,
        "cost": usage.cost,
        "ms": call.ms,
    }


async def read_calls(connection: AsyncConnection, caller: Caller, turn: str) -> list[ModelCall]:
    """The calls of a turn in the order in which they ended.

    Prompts hold the text of the evidence: when the caller may no longer read one of its sources, prompts and texts are
    withheld.
    """
    rows = (await connection.execute(select(model_calls).where(model_calls.c.turn == turn))).all()
    hidden = await is_withheld(connection, caller, turn)
    return [_call(row, shown=not hidden) for row in sorted(rows, key=lambda row: row.position)]


def _call(row: AnyRow, *, shown: bool) -> ModelCall:
    messages = tuple(Message(Role(role), text if shown else WITHHELD) for role, text in row.messages)
    usage = Usage(1, row.tokens_in, row.tokens_out, row.tokens_cached, row.cost)
    return ModelCall(row.purpose, row.model, messages, row.text if shown else WITHHELD, row.ended, usage, row.ms)
