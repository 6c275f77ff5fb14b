"""Which synthesizer serves which mode: the built-in ones, and those that other packages register."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final

from assistant.core.modes import Mode, mode_named
from assistant.core.preparation import PREPARATIONS, Preparation
from assistant.errors import BadInput, BadSetting
from assistant.interfaces import ChatModel
from assistant.synthesis.accumulate import accumulate, compact_accumulate
from assistant.synthesis.direct import context_only, generation, no_text
from assistant.synthesis.job import Job, SentenceRule, Step, Synthesizer
from assistant.synthesis.structured import structured
from assistant.synthesis.summarize import compact, multi_modal, refine, simple_summarize
from assistant.synthesis.tree import tree_summarize
from assistant.synthesis.verified import verified

GROUP: Final = "assistant.synthesizers"
"""The entry point group of custom modes: the name is the mode's, the object a Synthesizer."""
PREPARATIONS_GROUP: Final = "assistant.preparations"
"""The entry point group of preparation steps: the name is the step's, the object a Preparation."""
RULES: Final = "assistant.rules"
"""The entry point group of rules of compliance: each object a SentenceRule."""

SYNTHESIZERS: Final[Mapping[Mode, Synthesizer]] = {
    Mode.SIMPLE_SUMMARIZE: simple_summarize,
    Mode.REFINE: refine,
    Mode.COMPACT: compact,
    Mode.TREE_SUMMARIZE: tree_summarize,
    Mode.ACCUMULATE: accumulate,
    Mode.COMPACT_ACCUMULATE: compact_accumulate,
    Mode.GENERATION: generation,
    Mode.CONTEXT_ONLY: context_only,
    Mode.NO_TEXT: no_text,
    Mode.MULTI_MODAL: multi_modal,
    Mode.VERIFIED: verified,
}
_UNSTRUCTURED: Final = (Mode.CONTEXT_ONLY, Mode.NO_TEXT, Mode.ACCUMULATE, Mode.COMPACT_ACCUMULATE)


@cache
def custom_synthesizers() -> Mapping[str, Synthesizer]:
    """The registered modes by name; one with the name of a built-in mode is left out."""
    return {name: made for name, made in _loaded(GROUP).items() if name not in set(Mode) | {"auto"}}


@cache
def custom_rules() -> tuple[SentenceRule, ...]:
    """The registered rules of compliance, by their names."""
    rules = _loaded(RULES)
    return tuple(rules[name] for name in sorted(rules))


@cache
def get_preparation(name: str) -> Preparation:
    """The preparation step of this name, built in or registered; BadInput when there is none."""
    found: Preparation | None = PREPARATIONS.get(name) or _loaded(PREPARATIONS_GROUP).get(name)
    if found is None:
        known = sorted([*PREPARATIONS, *_loaded(PREPARATIONS_GROUP)])
        raise BadInput("there is no such preparation", reason="preparation", name=name, known=known)
    return found


def _loaded(group: str) -> dict[str, Any]:
    """What is registered under an entry point group. Raises BadSetting for what cannot be loaded: a rule that is
    silently missing would be worse than a server that does not start."""
    found: dict[str, Any] = {}
    for entry in entry_points(group=group):
        try:
            found[entry.name] = entry.load()
        except Exception as error:
            raise BadSetting(f"{entry.name} cannot be loaded: {type(error).__name__}", group=group) from error
    return found


def get_synthesizer(mode: Mode | str) -> Synthesizer:
    """The synthesizer of a mode, built in or registered; BadInput when there is none.

    With a schema in the job its answer is JSON of that schema; modes that only collect cannot do that (BadInput).
    """
    found = SYNTHESIZERS.get(mode) if isinstance(mode, Mode) else custom_synthesizers().get(mode)
    if found is None:
        raise BadInput("this mode is not available", mode=str(mode), available=available_modes())
    synthesizer = found

    async def run(model: ChatModel, job: Job) -> AsyncGenerator[Step, None]:
        if job.schema is not None and mode in _UNSTRUCTURED:
            raise BadInput("this mode cannot give a structured answer", reason="schema", mode=str(mode))
        steps = synthesizer(model, job) if job.schema is None else structured(synthesizer, model, job)
        try:
            async for step in steps:
                yield step
        finally:
            await steps.aclose()

    return run


def available_modes() -> list[str]:
    """The names of the modes that can be asked for."""
    return sorted([*(mode.value for mode in SYNTHESIZERS), *custom_synthesizers()])


def read_mode(name: str) -> Mode | str | None:
    """The mode of this name; None for auto, where the policy picks. Raises BadInput for a name that is not available."""
    if name == "auto":
        return None
    if name not in available_modes():
        raise BadInput("this mode is not available", reason="mode", available=available_modes())
    return mode_named(name)
