"""Answers: which values of a document stand where the answer to a question would stand.

Values of the sort that is asked for are scored by how near they stand to words of the relation asked for; explainable,
and wrong where the relation is only implied.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.core.comparing.claims import TERMS_OF_WORK, Reading, Token, TokenKind, other_groups, read
from assistant.core.comparing.differences import LABELS
from assistant.core.comparing.focus import Expected, Focus
from assistant.core.comparing.pairing import Side, Statement
from assistant.core.comparing.quantities import may_hold_quantity
from assistant.core.comparing.units import Dimension
from assistant.core.comparing.values import same_sort, same_value
from assistant.core.evidence import Evidence
from assistant.core.text import Span, stem, terms

_ENOUGH: Final = 0.5
_REACH: Final = 10
_AROUND: Final = 40
_BY: Final = 4
_BESIDE: Final = 4
_OTHER_UNIT: Final = 0.6
_SHARED_NAMES: Final = 3
_UNNAMED_TERMS, _UNNAMED_SHARE, _UNNAMED_PAIRS = 2, 0.75, 0.6
_TIE: Final = re.compile(r"[\s.'’_-]{0,3}")
_DIGITS: Final = re.compile(r"\d+")
_GENERIC_WORDS: Final = """
county city state states united district school church house street university college wikipedia edit retrieved archived
categories category article articles page pages english american british national international north south east west
new sir mr mrs dr commons read view list history company team department office policy section
"""
# Capitalised words that many unrelated texts share.
_GENERIC: Final = frozenset(stem(word) for word in _GENERIC_WORDS.split())


@dataclass(frozen=True, slots=True)
class Answer:
    """A value that may answer a question: its tokens in a stretch of text, and how firmly it stands there (0 to 1)."""

    reading: Reading
    tokens: tuple[Token, ...]
    statement: Statement
    score: float

    @property
    def words(self) -> str:
        """The value as it is written, on one line."""
        return self.reading.words(self.tokens[0].start, self.tokens[-1].end)


def best_answer(side: Side, asked: Focus) -> Answer | None:
    """The value of a document that most likely answers; None when none stands near words of the relation."""
    if asked.expected in (Expected.ANY, Expected.RULE):
        return None
    found = [answer for first, last in _windows(side, asked) for answer in _answers(side[first : last + 1], asked)]
    best = min(found, key=lambda answer: (-answer.score, answer.statement.span, answer.tokens[0].start), default=None)
    return best if best is not None and best.score >= _ENOUGH else None


def _windows(side: Side, asked: Focus) -> list[tuple[int, int]]:
    """Runs of statements of one piece of evidence: those that may answer, beside a term of the relation."""
    passages = {statement.evidence.id: statement.evidence for statement in side}
    silent = {name for name, evidence in passages.items() if not _speaks_of(evidence, side, asked)}
    wanted = asked.relation | (asked.entity if _asks_for_life(asked) else frozenset())
    found: list[tuple[int, int]] = []
    for place, statement in enumerate(side):
        if statement.evidence.id in silent or not _bears(statement, asked) or not _may_answer(statement, asked):
            continue
        first, last = (at if _beside(side, place, at) else place for at in (place - 1, place + 1))
        if not any(_touches(near, wanted, asked) for near in side[first : last + 1]):
            continue
        if found and found[-1][1] >= first - 1 and side[found[-1][1]].evidence is statement.evidence:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _touches(statement: Statement, wanted: frozenset[str], asked: Focus) -> bool:
    return not wanted.isdisjoint(statement.terms) or any(pair in statement.text for pair in asked.pairs)


def _pairs_in(token: Token, reading: Reading, asked: Focus) -> bool:
    """Whether a pair of Chinese characters of the question begins in a token."""
    return any(reading.text.startswith(pair, at) for pair in asked.pairs for at in range(token.start, token.end))


def _may_answer(statement: Statement, asked: Focus) -> bool:
    """Whether a statement has any sign of the sort of value that is asked for."""
    return asked.expected is Expected.NAME or may_hold_quantity(statement.text)


def _speaks_of(evidence: Evidence, side: Side, asked: Focus) -> bool:
    """Whether a passage, its title or its section names at least half of what the question names.

    A passage of a document without a title may be cut from a page about it, and has the benefit of the doubt.
    """
    names = asked.entity & asked.terms
    if not names or not evidence.source.title:
        return True
    held = frozenset(terms(f"{evidence.source.title} {evidence.section}"))
    held = held.union(*(statement.terms for statement in side if statement.evidence.id == evidence.id))
    return 2 * len(names & held) >= len(names)


def _beside(side: Side, place: int, at: int) -> bool:
    return 0 <= at < len(side) and side[at].evidence is side[place].evidence


def _answers(window: Side, asked: Focus) -> list[Answer]:
    evidence = window[0].evidence
    start = window[0].span.start
    reading = read(evidence.quote(Span(start, window[-1].span.end)), evidence.source.date)
    tokens = reading.tokens
    places = [at for at, token in enumerate(tokens) if token.key in asked.relation or _pairs_in(token, reading, asked)]
    mentions = [place for place, token in enumerate(tokens) if token.key in asked.entity]
    opening = _opening(reading, [statement.span.start - start for statement in window])
    found: list[Answer] = []
    for first, last in _runs(reading, asked):
        if first == last and first in opening and asked.expected is Expected.NAME:
            continue  # a capital at the start of a list item tells nothing
        near = max((_nearness(reading, place, first, last, asked) for place in places), default=0.0)
        near = 1.0 if _is_life_date(reading, first, asked) else near * _in_unit(tokens[first], asked)
        around = {tokens[place].key for place in mentions if abs(place - first) < _AROUND}
        statement = next((s for s in window if s.span.start <= start + tokens[first].start < s.span.end), None)
        if near > 0 and statement is not None and _bears(statement, asked):
            score = 0.75 * near + 0.25 * len(around) / len(asked.entity) if asked.entity else near
            found.append(Answer(reading, tokens[first : last + 1], statement, score))
    return found


def _opening(reading: Reading, starts: Sequence[int]) -> frozenset[int]:
    """The places of the tokens that open a statement."""
    places = [token.start for token in reading.tokens]
    return frozenset(bisect_left(places, start) for start in starts)


def _bears(statement: Statement, asked: Focus) -> bool:
    """Where a question names nothing, its own words have to stand in the statement, two at least and most of them."""
    if asked.entity:
        return True
    if asked.pairs:
        return asked.share(statement.terms, statement.text) >= _UNNAMED_PAIRS
    held = len(asked.asked & statement.terms)
    return held >= _UNNAMED_TERMS and held >= _UNNAMED_SHARE * len(asked.asked)


def _nearness(reading: Reading, place: int, first: int, last: int, asked: Focus) -> float:
    distance = first - place if place < first else place - last
    near = max(0.0, 1 - (distance - 1) / _REACH)
    if asked.expected is not Expected.NAME:
        return near
    if reading.tokens[first - 1].key == "by" and 0 < first - place <= _BY:
        return 1.0  # "directed by NAME"
    return 0.9 if distance == 1 else 0.5 * near  # "artist: NAME", "the NAME album"


def _in_unit(token: Token, asked: Focus) -> float:
    """Asked for days, an amount in days is the likelier answer."""
    return _OTHER_UNIT if asked.unit and token.quantity and not token.quantity.unit.endswith(asked.unit) else 1.0


def _asks_for_life(asked: Focus) -> bool:
    return "born" in asked.relation or "die" in asked.relation


def _is_life_date(reading: Reading, place: int, asked: Focus) -> bool:
    """Whether a date stands in "Name (born – died)" where birth or death is asked for."""
    token = reading.tokens[place]
    if not _asks_for_life(asked) or token.moment is None:
        return False
    before, after = reading.text[max(0, token.start - 4) : token.start], reading.text[token.end : token.end + 4]
    if "born" in asked.relation:
        return before.rstrip().endswith("(") and re.match(r"\s*[-–—]", after) is not None
    return after.lstrip().startswith(")") and re.search(r"[-–—]\s*$", before) is not None


def _runs(reading: Reading, asked: Focus) -> Iterable[tuple[int, int]]:
    """First and last token of every value of the sort that is asked for."""
    if asked.expected is Expected.NAME:
        yield from _name_runs(reading, asked)
        return
    for place, token in enumerate(reading.tokens):
        if (asked.expected is Expected.MOMENT and token.moment is not None and token.moment.year is not None) or (
            asked.expected is Expected.AMOUNT and _measures(reading, place, asked)
        ):
            yield place, place


def _measures(reading: Reading, place: int, asked: Focus) -> bool:
    """Whether a token is a quantity of the dimension asked for, and no ordinal and no footnote mark."""
    token = reading.tokens[place]
    if token.quantity is None or token.quantity.dimension is Dimension.ORDINAL:
        return False
    if place and reading.tokens[place - 1].key in LABELS:
        return False
    if "-" in reading.text[token.start : token.end] and token.quantity.low == token.quantity.high:
        return False  # "a two-week period": an adjective
    if reading.text[: token.start].rstrip().endswith("[") and reading.text[token.end :].lstrip().startswith("]"):
        return False
    if not asked.dimensions:
        return token.quantity.dimension is not Dimension.FREQUENCY
    return token.quantity.dimension in asked.dimensions


def _name_runs(reading: Reading, asked: Focus) -> Iterable[tuple[int, int]]:
    """Runs of names that are neither in the question nor adjectives ("American rock band NAME")."""
    known = asked.entity | asked.relation
    for first, last in _proper_runs(reading):
        inside = [place for place in range(first, last + 1) if reading.tokens[place].key not in known]
        whole = inside and inside[-1] - inside[0] + 1 == len(inside)
        if whole and not (len(inside) == 1 and _is_adjective(reading, inside[0], asked)):
            yield inside[0], inside[-1]


def _proper_runs(reading: Reading) -> Iterable[tuple[int, int]]:
    """First and last token of every run of names that stand side by side, with no punctuation between them."""
    start = -1
    for place, token in enumerate(reading.tokens):
        tied = start >= 0 and _tied(reading, reading.tokens[place - 1], token)
        if start >= 0 and not (token.kind is TokenKind.NAME and tied):
            yield start, place - 1
            start = -1
        if token.kind is TokenKind.NAME and start < 0:
            start = place
    if start >= 0:
        yield start, len(reading.tokens) - 1


def _tied(reading: Reading, one: Token, other: Token) -> bool:
    return _TIE.fullmatch(reading.text, one.end, other.start) is not None


def _is_adjective(reading: Reading, place: int, asked: Focus) -> bool:
    """Whether a single capitalised word goes with the words after it: "American band", "Canadian singer NAME"."""
    tokens = reading.tokens[place : place + 4]
    tied = [_tied(reading, one, other) for one, other in pairwise(tokens)]
    if len(tokens) > 1 and tied[0] and tokens[1].kind is TokenKind.WORD and tokens[1].key not in asked.relation:
        return True
    named = next((at for at, token in enumerate(tokens) if at and token.kind is TokenKind.NAME), 0)
    return named > 1 and all(tied[:named]) and all(token.kind is TokenKind.WORD for token in tokens[1:named])


def holds(side: Side, own: Answer | None, answer: Answer, asked: Focus) -> bool:
    """Whether the value of another document's answer also stands in this one, whose own answer is `own`."""
    if asked.expected is Expected.NAME:
        held = frozenset[str]().union(*(statement.terms for statement in side))
        return 2 * sum(token.key in held for token in answer.tokens) > len(answer.tokens)
    value = answer.tokens[0]
    near = own.reading.tokens if own is not None else ()
    if any(same_sort(value, token) and same_value(value, token) for token in near):
        return True
    digits = set(_DIGITS.findall(answer.words.replace(",", "")))
    return bool(digits) and any(digits <= set(_DIGITS.findall(s.text.replace(",", ""))) for s in side)


def same_thing(one: Answer, other: Answer, asked: Focus) -> bool:
    """Whether two answers are about the same thing under the same conditions, as far as their surroundings tell.

    Groups of people that only one side names, other years, and other names beside the thing asked about tell two things
    apart; three further names in common outweigh the last. Where a name is asked for, the names beside it are answers.
    """
    if not _same_conditions(one.statement, other.statement, asked):
        return False
    here, there = _described(one.reading, asked), _described(other.reading, asked)
    if asked.expected is Expected.NAME or not here or not there or here & there:
        return True
    shared = _names(one.reading) & _names(other.reading) - asked.terms - asked.entity - asked.relation - _GENERIC
    return len(shared) >= _SHARED_NAMES


def _same_conditions(one: Statement, other: Statement, asked: Focus) -> bool:
    left, right = read(one.text, one.evidence.source.date), read(other.text, other.evidence.source.date)
    if (left.groups ^ right.groups) & TERMS_OF_WORK - asked.terms or other_groups(left, right):
        return False
    apart = left.periods - right.periods and right.periods - left.periods
    return asked.once or not apart


def _described(reading: Reading, asked: Focus) -> frozenset[str]:
    """The names that stand directly beside the thing asked about and tell which one it is ("Light (Maine)")."""
    found: set[str] = set()
    known = asked.terms | asked.entity | asked.relation | _GENERIC
    for place, token in enumerate(reading.tokens):
        if token.key not in asked.entity:
            continue
        window = reading.tokens[max(0, place - _BESIDE) : place + 1 + _BESIDE]
        if 2 * len({near.key for near in window} & asked.entity) >= len(asked.entity):
            found.update(near.key for near in window if near.kind is TokenKind.NAME and near.key not in known)
    return frozenset(found)


def _names(reading: Reading) -> frozenset[str]:
    return frozenset(token.key for token in reading.tokens if token.kind is TokenKind.NAME)
