"""What the settings say of turns, as values of the core."""

from __future__ import annotations

import structlog

from assistant.config import DatabaseSettings, LimitSettings, Settings
from assistant.conversation.answering import TurnPolicy
from assistant.core.allowance import DayLimits
from assistant.core.budget import BudgetPolicy
from assistant.core.modes import Mode, mode_named
from assistant.core.preparation import Preparation
from assistant.core.selection import SelectionPolicy
from assistant.errors import BadInput, BadSetting
from assistant.interfaces import Embedder
from assistant.retrieval.floors import floor_for, load_floors
from assistant.store import Store
from assistant.store.engine import Reach
from assistant.synthesis.registry import available_modes, get_preparation

log = structlog.get_logger(__name__)


def chosen_floor(settings: Settings, embedder: Embedder | None, *, complete: bool) -> float:
    """The least score of evidence, as a share of the best: the setting, or what was calibrated for the embedder in use.

    While vectors are still to be made (not `complete`) the ranking is that of the words, for some or all passages, so the
    lower of the two floors holds.
    """
    chosen = settings.retrieval
    if chosen.floor is not None:
        return chosen.floor
    floors = load_floors(chosen.floors)
    floor = floor_for(embedder.name if embedder else None, floors)
    return floor if complete else min(floor, floor_for(None, floors))


async def has_all_vectors(store: Store, embedder: Embedder | None) -> bool:
    """Whether there are chunks and each has its vector; nothing is missing where search is by words only."""
    if embedder is None:
        return True
    waiting = await store.documents.chunks_without_vectors(embedder.name, 1)
    return not waiting and (await store.state())["chunks"] > 0


def turn_policy(settings: Settings, embedder: Embedder | None = None, *, complete: bool = True) -> TurnPolicy:
    """The settings that steer a turn, as core values. Reads the file of floors."""
    budget, model, answers = settings.budget, settings.model, settings.answers
    return TurnPolicy(
        selection=SelectionPolicy(
            floor=chosen_floor(settings, embedder, complete=complete), limit=settings.retrieval.evidence
        ),
        budget=BudgetPolicy(
            min_output=budget.min_output,
            max_output=budget.max_output,
            output_share=budget.output_share,
            margin_share=budget.margin_share,
            history_share=budget.history_share,
        ),
        window_days=budget.conflict_window_days,
        mode=None if answers.mode == "auto" else known_mode(answers.mode),
        modes={collection: known_mode(name) for collection, name in answers.modes.items()},
        filtered=answers.filter,
        judged=answers.judge,
        most_calls=answers.most_calls,
        most_cost=answers.most_cost or None,
        deadline_s=answers.deadline_s,
        preparations=tuple(known_preparation(name) for name in answers.prepare),
        search_limit=settings.retrieval.limit,
        temperature=model.temperature,
        top_p=model.top_p,
        frequency_penalty=model.frequency_penalty,
        presence_penalty=model.presence_penalty,
    )


def day_limits(chosen: LimitSettings) -> DayLimits:
    """What may be used in a day, by the settings."""
    return DayLimits(
        chosen.user_turns,
        chosen.user_tokens,
        chosen.user_cost,
        chosen.tenant_turns,
        chosen.tenant_tokens,
        chosen.tenant_cost,
    )


def reach_of(chosen: DatabaseSettings) -> Reach:
    """How the database is reached beside its URL."""
    return Reach(chosen.pool_size, chosen.replica_url, chosen.direct_url, chosen.prepared)


def judges_citations(settings: Settings) -> bool:
    """Whether a model has a say in what the answer's sentences rest on; one without weights has none."""
    return settings.answers.judge_citations and settings.model.kind != "extractive"


def known_mode(name: str) -> Mode | str:
    """The mode of this name; BadSetting when there is none."""
    if name not in available_modes():
        raise BadSetting("there is no such mode", mode=name, known=available_modes())
    return mode_named(name)


def known_preparation(name: str) -> Preparation:
    """The preparation step of this name; BadSetting when there is none."""
    try:
        return get_preparation(name)
    except BadInput as error:
        raise BadSetting(error.detail, **error.data) from None
