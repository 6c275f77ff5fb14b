"""The form of an English question: what it asks for, its auxiliaries in order, and every other word in order.

Only what certainly changes nothing is evened out: politeness, articles, number of nouns, a few synonyms, the place of
auxiliaries and of a phrase before a comma. Any other difference makes another form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from assistant.core.meaning.english_words import (
    ARTICLES,
    ASPECTS,
    AUXILIARIES,
    CLOSINGS,
    CONTRACTIONS,
    FRAMES,
    NEGATIONS,
    NOT_PLURAL,
    NUMBERS,
    PERIODS,
    PROCESS,
    SAME,
    SELF,
    TARGETS,
)
from assistant.core.text import stem

Form = tuple[str, tuple[str, ...], tuple[str, ...]]
"""What is asked for, the auxiliaries, the other words."""

_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|\S")
_SILENT: Final = frozenset("?!.,;:\"'()[]“”‘«»…")
_ENDS: Final = frozenset("?!.:")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])[-‐‑](?=[^\W\d_])")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_FRONTED: Final = re.compile(
    r"((?:for|in|on|at|under|during|when|if|after|before|according to)\s[^,?.!]{2,100}),\s*([^,]+?)[\s?.!]*",
    re.IGNORECASE,
)
_CLOSED: Final = (
    ARTICLES | AUXILIARIES.keys() | SELF.keys() | NEGATIONS | {"it", "who", "in", "on", "or", "do", "so", "at", "as"}
)
"""Words of grammar that are also written like an abbreviation."""
_POSSESSIVE: Final = "'s"


def english_form(question: str) -> Form:
    """The form of an English question; equal forms ask the same."""
    words = _replaced(_unframed(_expanded(_words(_unfronted(question)))), SAME)
    target, words = _target(words)
    words, auxiliaries = _auxiliaries(target, words)
    words = [word for word in words if word not in ARTICLES]
    words = _settled([SELF.get(word, singular(word)) for word in words], target)
    return _evened(target, auxiliaries, words)


def singular(word: str) -> str:
    """The singular of a plural in -s, by rule; the third person of a verb loses its -s in the same way."""
    if (
        len(word) < 4
        or not word.endswith("s")
        or word in NOT_PLURAL
        or word.endswith(("ss", "us", "is"))
        or "=" in word
    ):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zes")) else word[:-1]


def _unfronted(question: str) -> str:
    """The question with a phrase that stands before its comma put at its end."""
    text = question.replace("’", "'").strip()
    match = _FRONTED.fullmatch(text)
    if match is None:
        return text
    phrase = match.group(1)
    return f"{match.group(2)} {phrase[0].lower()}{phrase[1:]}"


def _words(text: str) -> list[str]:
    """The words and signs in order. What is written like a name (Will, Teams, US) stays apart from the word (will, teams, us)."""
    text = _HYPHEN.sub(" ", text)
    found: list[str] = []
    first, shouted = True, text.upper() == text
    for token in _TOKEN.findall(text):
        lower = token.lower()
        named = not shouted and _is_name(token, lower, first=first)
        if token in _SILENT:
            first = first or token in _ENDS
            continue
        found.append(f"={token}" if named else _number(lower))
        first = False
    return found


def _is_name(token: str, lower: str, *, first: bool) -> bool:
    if token in (lower, "I") or token.startswith("I'"):
        return False
    return lower in _CLOSED if token.isupper() and len(token) > 1 else not first


def _number(token: str) -> str:
    return token.replace(",", "") if _THOUSANDS.fullmatch(token) else NUMBERS.get(token, token)


def _expanded(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word in CONTRACTIONS:
            found += CONTRACTIONS[word].split()
        elif word.endswith("n't"):
            found += [word[:-3], "not"]
        elif word.endswith(("'re", "'ve", "'ll", "'m", "'d")):
            stem_, _, end = word.partition("'")
            found += [stem_, {"re": "are", "ve": "have", "ll": "will", "m": "am", "d": "would"}[end]]
        else:
            found.append(word.removesuffix(_POSSESSIVE))
    return found


def _unframed(words: list[str]) -> list[str]:
    """Without politeness at both ends; an indirect yes-or-no question keeps its "if" as "whether"."""
    while frame := next((one for one in FRAMES if _begins(words, one) and len(words) > len(one)), None):
        if words[len(frame)] == "about":  # tell me about: that is what is asked for
            break
        words = words[len(frame) :]
        if frame[-2:] == ("tell", "me") and words[0] in ("the", "our"):
            return ["what", "is", *_unclosed(words)]
        if words[0] in ("if", "whether"):
            return ["whether", *_unclosed(words[1:])]
    return _unclosed(words)


def _unclosed(words: list[str]) -> list[str]:
    while end := next((one for one in CLOSINGS if tuple(words[-len(one) :]) == one and len(words) > len(one)), None):
        words = words[: -len(end)]
    return words


def _begins(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return tuple(words[: len(phrase)]) == tuple(phrase)


def _replaced(words: Sequence[str], forms: Mapping[tuple[str, ...], tuple[str, ...]]) -> list[str]:
    """The words with each known phrase in its form, the longest phrase first."""
    found: list[str] = []
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST, len(words) - place), 0, -1):
            form = forms.get(tuple(words[place : place + length]))
            if form is not None:
                found += form
                place += length
                break
        else:
            found.append(words[place])
            place += 1
    return found


_LONGEST: Final = max(map(len, SAME))


def _target(words: list[str]) -> tuple[str, list[str]]:
    """What is asked for, and the words behind it."""
    for phrase, form in PROCESS.items():
        if _begins(words, phrase) and len(words) > len(phrase) and words[len(phrase)].endswith("ing"):
            return form[0], words[len(phrase) :]
    if words[:1] == ["what"] and words[-1] in ("is", "are") and AUXILIARIES.keys().isdisjoint(words[1:-1]):
        return "what_is", words[1:-1]  # (I would like to know) what the dress code is
    for phrase, form in sorted(TARGETS.items(), key=lambda pair: -len(pair[0])):
        if _begins(words, phrase):
            return (phrase[0] if form == ("WORD",) else form[0]), words[len(phrase) :]
    if words and words[0] in ("whether", "do", "does"):
        return "whether", words[1:]
    if words and (words[0] in AUXILIARIES or words[0] == "did"):
        return "whether", words
    return "", words


def _auxiliaries(target: str, words: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words without the auxiliary that a question puts before its subject, and this.

    Behind the subject it is looked for only where there is one clause with one auxiliary; else each says more by its place.
    """
    if target in ("many", "much"):
        words = _counted(words)
    elif target and words and words[0] in ("do", "does"):
        words = words[1:]
    elif words and words[0] == "did":
        words = ["was", *words[1:]]
    words = _replaced(words, _MUST)
    places = [place for place, word in enumerate(words) if word in AUXILIARIES or word == NEED]
    simple = CLAUSES.isdisjoint(words) and len(places) == 1
    if not places or not (simple or places[0] == 0):
        return words, ()
    found = AUXILIARIES.get(words[places[0]], "need")
    rest = [word for place, word in enumerate(words) if place != places[0]]
    if simple and found == "be":
        found, rest = _granted(rest)
    return rest, _unified(target, found, affirmed=NEGATIONS.isdisjoint(words), simple=simple)


def _granted(words: list[str]) -> tuple[str, list[str]]:
    """ "is allowed to" as an auxiliary, "is entitled to" and "is given" as "gets"; words behind an "is"."""
    for place, word in enumerate(words):
        to = words[place + 1 : place + 2] == ["to"]
        if word in ("allowed", "permitted") and to:
            return "allowed", [*words[:place], *words[place + 2 :]]
        if (word == "entitled" and to) or (word in ("given", "granted") and place == len(words) - 1):
            return "", [*words[:place], "get", *words[place + 1 + to :]]
    return "be", words


NEED: Final = "=need"
CLAUSES: Final = frozenset(
    "who that which whom whose where when while if whether because since until before after unless and or but so than as".split()
)
"""Words that begin another clause, or may."""
_MUST: Final = {
    tuple(phrase.split()): (NEED,)
    for phrase in ("have to", "has to", "need to", "needs to", "are required to", "is required to")
}


def _unified(target: str, found: str, *, affirmed: bool, simple: bool) -> tuple[str, ...]:
    """Permission is can, duty is must, but not beside a negation, where they part (need not, must not)."""
    same = {"need": "must", "allowed": "can"} | ({"may": "can"} if target == "whether" else {})
    word = same.get(found, found) if affirmed and simple else found
    return (word,) if word else ()


def _counted(words: list[str]) -> list[str]:
    """ "days of leave do employees get" as "leave days employees get"."""
    verbs = {*AUXILIARIES, "do", "does", "did", "have", "has"}
    end = next((place for place, word in enumerate(words) if word in verbs), len(words))
    what, rest = words[:end], words[end:]
    if "of" in what:
        at = what.index("of")
        what = [*what[at + 1 :], *what[:at]]
    if rest and rest[0] in ("do", "does"):
        rest = rest[1:]
    elif rest and rest[0] == "did":
        rest = ["was", *rest[1:]]
    counts_time = bool(what) and singular(what[-1]) in PERIODS
    return [
        *what,
        *("get" if counts_time and word in ("have", "has") and nxt != "to" else word for word, nxt in _pairs(rest)),
    ]


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(words, [*words[1:], ""], strict=False))


def _settled(words: list[str], target: str) -> list[str]:
    """The stem of the verb that a procedure is about, which may stand as "request" or "requesting"."""
    return [stem(words[0]), *words[1:]] if target == "howto" and words else words


def _evened(target: str, auxiliaries: tuple[str, ...], words: list[str]) -> Form:
    """Nouns such as deadline behind what they belong to; a price that is asked by "how much" or "what"."""
    if target == "what_is" and len(words) > 2 and words[1] in ASPECTS.get(words[0], ()):
        words = [*words[2:], words[0]]
    if target in ("much", "what") and not auxiliaries and len(words) > 1 and words[-1] == "cost":
        target = "what_is"
    if target == "when" and auxiliaries == ("be",) and "deadline" in words[:1]:
        return _evened("what_is", (), words)
    return target, auxiliaries, tuple(words)
