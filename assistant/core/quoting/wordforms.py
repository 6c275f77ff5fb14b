"""Which words are forms of one word, or mean the same, for matching a question to a text."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from assistant.core.comparing.synonyms import same_meaning
from assistant.core.text import CJK, stem

# Forms that a stemmer does not bring together; common verbs and nouns of office English.
_IRREGULAR: Final = """
lose lost loss|pay paid|take took taken|make made|buy bought|write wrote written|send sent|hold held|meet met
choose chose chosen|give gave given|spend spent|keep kept|tell told|sell sold|build built|bring brought|begin began
get got gotten|find found|know knew known|see saw seen|speak spoke spoken|break broke broken|drive drove driven
teach taught|think thought|leave left|lead led|feel felt|say said|run ran|win won|grow grew grown|wear wore worn
steal stole stolen|child children|person people|man men|woman women|die death dead|sick ill illness|approve approval
one 1|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|eleven 11|twelve 12
weekly week|daily day|monthly month|yearly annual year|hourly hour|pregnant pregnancy|marry marriage|deadline due
"""
_FORMS: Final = tuple(
    frozenset(stem(word) for word in group.split()) for group in _IRREGULAR.replace("\n", "|").split("|")
)
_OTHER_FORMS: Final = {word: group - {word} for group in _FORMS for word in group}
_ENDING_LIST: Final = """
s es ed ing er or abl ibl al ment ion ation ati at iv li ness ist ism i e y anc enc ant ent ful less t ee ship ur i'
"""
_ENDINGS: Final = frozenset(_ENDING_LIST.split())
_CHINESE: Final = re.compile(f"[{CJK}]")


def related_words(term: str, vocabulary: Set[str]) -> frozenset[str]:
    """The words of a vocabulary of stems that are other forms of a term, or listed as meaning the same."""
    found = {word for word in vocabulary if word != term and is_form_of(term, word)}
    found.update(_OTHER_FORMS.get(term, frozenset()) & vocabulary)
    if same_meaning((term,), (term,)):
        found.update(word for word in vocabulary if word != term and same_meaning((term,), (word,)))
    return frozenset(found)


def joined_forms(words: Sequence[str]) -> dict[str, frozenset[str]]:
    """The acronyms and closed compounds of neighbouring words, with the words each stands for: "ppl", "timesheet"."""
    found = {}
    for size in range(2, 6):
        for start in range(len(words) - size + 1):
            group = words[start : start + size]
            if all(word[0].isalpha() and word.isascii() for word in group):
                found["".join(word[0] for word in group)] = frozenset(group)
                found["".join(group)] = frozenset(group)
    return found


def is_form_of(one: str, other: str) -> bool:
    """Whether two terms look like forms of one word: "bill" and "billabl", 年假 and 年休假."""
    short, long = sorted((one, other), key=len)
    if len(short) < 2 or short[0] != long[0] or short[0].isdigit():
        return False
    if _CHINESE.match(short):
        return len(long) <= len(short) + 2 and _is_subsequence(short, long)
    return len(short) >= 4 and long.startswith(short) and long[len(short) :] in _ENDINGS


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)
