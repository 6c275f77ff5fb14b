"""The prompt files of the product, one folder per language, and how they are read."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from assistant.core.prompt import PromptSet
from assistant.errors import BadSetting

LANGUAGES: Final = ("en", "zh")
PARTS: Final = ("system", "brief", "refine", "generation", "reminder", "refusal")


@lru_cache(maxsize=32)
def load_prompts(language: str, override: Path | None = None) -> PromptSet:
    """Read the prompts of a language; files in `override/<language>/` replace the built-in ones by name.

    Raises BadSetting when the language has no prompts or a reminder lacks its {topics}.
    """
    if language not in LANGUAGES:
        raise BadSetting("there are no prompts for this language", language=language)
    texts = {part: _read(part, language, override) for part in PARTS}
    if "{topics}" not in texts["reminder"]:
        raise BadSetting("the reminder prompt needs a place for {topics}", language=language)
    digest = hashlib.sha256("\0".join(texts[part] for part in PARTS).encode()).hexdigest()
    return PromptSet(language=language, hash=digest[:16], **texts)


def _read(part: str, language: str, override: Path | None) -> str:
    if override is not None and (replaced := override / language / f"{part}.txt").is_file():
        return replaced.read_text("utf-8").strip()
    return (files(__name__) / language / f"{part}.txt").read_text("utf-8").strip()
