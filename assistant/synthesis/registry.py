"""Which synthesizer serves which mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assistant.core.modes import Mode
from assistant.errors import BadInput
from assistant.synthesis.direct import context_only, generation, no_text
from assistant.synthesis.job import Synthesizer
from assistant.synthesis.summarize import compact, simple_summarize

SYNTHESIZERS: Final[Mapping[Mode, Synthesizer]] = {
    Mode.SIMPLE_SUMMARIZE: simple_summarize,
    Mode.COMPACT: compact,
    Mode.GENERATION: generation,
    Mode.CONTEXT_ONLY: context_only,
    Mode.NO_TEXT: no_text,
}


def get_synthesizer(mode: Mode) -> Synthesizer:
    """The synthesizer of a mode; BadInput when this build has none for it."""
    try:
        return SYNTHESIZERS[mode]
    except KeyError:
        raise BadInput("this mode is not available", mode=mode.value, available=available_modes()) from None


def available_modes() -> list[str]:
    """The names of the modes that can be asked for."""
    return sorted(mode.value for mode in SYNTHESIZERS)
