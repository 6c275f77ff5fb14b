"""The prompt files of the product, one folder per language, and how they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from assistant.core.prompt import PROMPT_PARTS, PromptSet
from assistant.errors import BadSetting

LANGUAGES: Final = ("en", "zh")


class Prompts(Protocol):
    """Gives the prompts of a language, for the evidence of one collection where it has its own."""

    def __call__(self, language: str, collection: str | None = None) -> PromptSet:
        """The prompts; reads files at the first call of a language and collection."""
        ...


@lru_cache(maxsize=512)
def load_prompts(
    language: str, collection: str | None = None, *, override: Path | None = None, form: str = ""
) -> PromptSet:
    """Read the prompts of a language.

    Files of `override/collections/<collection>/<language>/` replace by name those of `override/<language>/`, which
    replace the built-in ones. `form` names a few-shot example in `formats/` that fixes the form of answers. Raises
    BadSetting when the language has no prompts, there is no such form, or a prompt lacks a place that it needs.
    """
    if language not in LANGUAGES:
        raise BadSetting("there are no prompts for this language", language=language)
    places = tuple(_places(language, collection, override))
    texts = {part: _read(f"{part}.txt", language, places) for part in PROMPT_PARTS}
    for part, place in (("reminder", "{topics}"), ("structured", "{schema}"), ("repair", "{error}")):
        if place not in texts[part]:
            raise BadSetting(f"the prompt {part} needs a place for {place}", language=language)
    texts["form"] = _form(form, language, places) if form else ""
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()
    return PromptSet(language=language, hash=digest[:16], **texts)


def _places(language: str, collection: str | None, override: Path | None) -> Iterator[Path]:
    """The operator's folders, the most special first. A collection whose name is no plain folder name has none."""
    if override is None:
        return
    if collection and collection not in (".", "..") and collection == Path(collection).name:
        yield override / "collections" / collection / language
    yield override / language


def _form(name: str, language: str, places: tuple[Path, ...]) -> str:
    if name != Path(name).name:
        raise BadSetting("the form of answers is a plain file name", form=name)
    try:
        return _read(f"formats/{name}.txt", language, places)
    except FileNotFoundError:
        raise BadSetting("there is no such form of answers", form=name, language=language) from None


def _read(name: str, language: str, places: tuple[Path, ...]) -> str:
    replaced = next((place / name for place in places if (place / name).is_file()), None)
    if replaced is not None:
        return replaced.read_text("utf-8").strip()
    return (files(__name__) / language / name).read_text("utf-8").strip()
