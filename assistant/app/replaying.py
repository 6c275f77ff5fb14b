"""Replaying a kept answer through a model of the settings' endpoint."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any

from assistant.app.models import open_model
from assistant.config import Settings
from assistant.conversation.pictures import images_of
from assistant.conversation.replaying import LeftOut, PastAnswer, left_out, lost_images, replay
from assistant.core.access import Caller
from assistant.core.modes import Mode, mode_named
from assistant.core.replaying import Replay, compare_answers
from assistant.core.text import prompt_language
from assistant.core.turn import TurnMessage
from assistant.errors import BadInput, BadSetting, NotFound
from assistant.prompts import load_prompts
from assistant.store import Store


@dataclass(frozen=True, slots=True)
class Replayed:
    """The answer of a turn, what the model says now, the difference, and what the replay could not or need not do again."""

    old: TurnMessage
    new: TurnMessage
    difference: Replay
    left_out: tuple[LeftOut, ...]
    lost_images: int

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values: the difference, and beside it the calls that were not made again."""
        left = [asdict(each) for each in self.left_out]
        return {**self.difference.as_json(), "left_out": left, "lost_images": self.lost_images}


async def replayed(settings: Settings, store: Store, turn: str, model: str | None) -> Replayed:
    """Answer a kept question again. `model` is another one of the same endpoint.

    Raises NotFound when the turn is no longer kept, BadSetting for another model where there is none, what `replay` raises, and
    what the model raises.
    """
    past = await past_answer(settings, store, turn)
    if model is not None and settings.model.kind == "extractive":
        raise BadSetting("the extractive model is alone: set model.kind to replay with another", setting="model.kind")
    prompts = await asyncio.to_thread(
        load_prompts,
        prompt_language(past.message.question),
        override=settings.prompts,
        form=settings.answers.form,
    )
    async with AsyncExitStack() as stack:
        chosen = await open_model(settings, model or settings.model.name, store.factors, stack, alone=True)
        new = await replay(past, chosen, prompts, time.monotonic)
    difference = await asyncio.to_thread(compare_answers, past.message, new)
    return Replayed(past.message, new, difference, left_out(past), lost_images(past))


async def past_answer(settings: Settings, store: Store, turn: str) -> PastAnswer:
    """Everything that is kept of an answer; NotFound when it is not, BadInput with `reason` "erased" when its text is gone."""
    owner, conversation = await store.audited.owner(settings.tenant, turn)
    message = await _message(store, owner, conversation, turn)
    if message.plan is None:
        raise BadInput("the text of this answer is no longer kept", reason="erased")
    evidence = tuple(await store.audited.evidence(settings.tenant, turn))
    shows = mode_named(message.plan.mode) is Mode.MULTI_MODAL
    return PastAnswer(
        message,
        tuple(await store.audited.calls(settings.tenant, turn)),
        evidence,
        tuple(await store.audited.conflicts(settings.tenant, turn)),
        await images_of(store.documents, owner, evidence) if shows else (),
    )


async def _message(store: Store, owner: Caller, conversation: str, turn: str) -> TurnMessage:
    """The stored answer of a turn with its question."""
    views = await store.conversations.messages(owner, conversation)
    found = next((view.answer for view in views if view.turn == turn and view.answer is not None), None)
    if found is None:
        raise NotFound("this turn has no answer")
    return found
