"""Whether an answer to one question answers another one: decided against it wherever there is doubt."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from assistant.core.meaning.chinese import chinese_form
from assistant.core.meaning.english import english_form
from assistant.core.text import language, remove_invisible

LEAST_SIMILARITY: Final = 0.6
"""The cosine below which an embedder's doubt counts more than the rules. It cannot replace them: on the pairs of the tests
questions that only nearly ask the same are as close as those that do (medians .91 and .93)."""
_LONGEST: Final = 600
"""A longer question is only the same when its text is."""


def normalised(question: str) -> str:
    """The question without what no reader sees a difference in: forms of letters, white space, the sign at its end."""
    text = " ".join(remove_invisible(unicodedata.normalize("NFKC", question)).split()).rstrip("?!.。… ")
    first, _, _ = text.partition(" ")
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def same_meaning(one: str, other: str, similarity: float | None) -> bool:
    """Whether two questions ask the same; symmetric.

    Equal texts do. Else both must have one form (`english_form`, `chinese_form`) and a similarity (the cosine of their
    vectors, None where there is no embedder) that is not below `LEAST_SIMILARITY`: words that matter and are not the
    same, their order, figures, names, negations, what is asked for, any of these makes the questions different.
    """
    one, other = normalised(one), normalised(other)
    if one == other:
        return True
    if similarity is None or not similarity >= LEAST_SIMILARITY or max(len(one), len(other)) > _LONGEST:
        return False
    return meaning(one) == meaning(other) != _NOTHING


_Form = tuple[str, str, tuple[str, ...], tuple[str, ...]]
_NOTHING: Final[_Form] = ("en", "", (), ())


@lru_cache(maxsize=1024)
def meaning(question: str) -> _Form:
    """The form of a normalised question, with its language."""
    tongue = "en" if language(question) == "en" else "zh"
    return tongue, *(english_form(question) if tongue == "en" else chinese_form(question))
