"""English follow-ups: what a question lacks, and how it reads when the lack is filled."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.stopwords import STOPWORDS
from assistant.core.text import terms

_LEAD: Final = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|thanks|thank you|i see|well|now|so|oh|ah|hm+|right|cool|and|but|then|also"
    r"|one last thing|actually)\b[\s,.!:;-]*|(?:sorry|wait|no|nope|yes|yeah)\s*[,.!;:-]+\s*)+",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"^(?:(?:no|nope|sorry|excuse me|actually|wait|oh|not that|not really|that'?s not (?:it|what i (?:meant|asked)))"
    r"\b[\s,.!-]*)*"
    r"(?:i (?:only |just )?(?:mean|meant|was asking about|am asking about|was talking about|wanted to say)"
    r"|i'm asking about|what i meant (?:was|is)|rather)\b[\s,:]*(?:to ask |to say )?(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
# What is put right without saying so: "no, contractors", "not employees, contractors", "France, not Germany".
_CONTRAST: Final = re.compile(
    r"^(?:(?:no|nope|sorry|wait)[\s,.!-]+)?not\s+(?P<wrong>[^,;]{2,40}?)(?:\s*[,;-]+\s*(?:but\s+)?|\s+but\s+)(?P<right>[^,;]{2,60})$"
    r"|^(?:(?:no|nope|sorry|wait)[\s,.!-]+)?(?P<instead>[^,;]{2,60}?)[\s,;]+(?:not|instead of|rather than)\s+(?P<of>[^,;]{2,40})$"
    r"|^(?:no|nope|sorry)\s*[,.!;-]+\s*(?:the\s+)?(?P<plain>[^,;]{2,40})$",
    re.IGNORECASE,
)
_PREPOSITIONS: Final = "for|in|on|at|with|without|to|from|by|of|as|if|over|under|above|below|during|after|before|between|until|within|outside"
_SUBORDINATE: Final = re.compile(
    r"^(?:(?:and|but|or|so)[\s,]+)*(?P<clause>(?:if|when|while|once|unless|until|after|before)\s+"
    r"(?:i|we|you|he|she|they|it|someone|somebody|(?:an?|the|my|our|your|their)\s+\w+)\s.+)$",
    re.IGNORECASE | re.DOTALL,
)
_INVERTED: Final = re.compile(
    r"\s(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|what|who|how|which)\s+"
    r"(?:i|we|you|he|she|they|it|there|the|an?|my|our|many|much|long)\b|[,;]",
    re.IGNORECASE,
)
"""Tells that a subordinate clause is followed by a question of its own."""
_ALSO_BEFORE: Final = re.compile(r"^(?:even|also|just)\s+", re.IGNORECASE)
_ALSO_AFTER: Final = re.compile(r"[\s,]+(?:too|as well|also|either|then|instead|rather|please)$", re.IGNORECASE)
_ABOUT: Final = re.compile(
    r"^(?:(?:and|but|so|then|now|also|ok|okay|no|sorry|actually|wait|thanks|well)[\s,.!]+)*(?:what|how) (?:about|if it(?:'s| is))\s+(?P<about>.+)$"
    rf"|^(?:(?:and|or|but|also|same|same question|the same|even)[\s,]+)+(?P<phrase>(?:{_PREPOSITIONS})\s.+)$"
    r"|^(?:and|or)[\s,]+(?P<name>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORD: Final = (
    r"what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|can|could|will|would|should|shall"
    r"|may|might|must|has|have|had|isn't|aren't|don't|doesn't|can't|won't"
)
_FINITE: Final = re.compile(
    rf"\b(?:{_QUESTION_WORD}|tell|explain|show|list|give|describe|find|need|want|compare|summari[sz]e|i'm|i've|i'd"
    r"|let)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;.?!:]+|\b(?:and|or|but|if|when|because|while|since|after|before|so)\b", re.IGNORECASE)
_TIME: Final = (
    "year|month|week|quarter|time|morning|afternoon|evening|weekend|spring|summer|autumn|winter|company|chat|assistant"
)
_VERB_AFTER_THAT: Final = (
    "is|was|does|did|will|would|can|could|should|mean|means|apply|applies|include|work|change|happen"
)
_ANAPHOR: Final = re.compile(
    r"\b(?:it|its|it's|they|they're|them|their|theirs|he|he's|him|his|she|she's|her|hers|itself|themselves)\b"
    rf"|\b(?:this|these|those)\b(?!\s+(?:{_TIME}|days)\b)"
    rf"|\bthat(?=\s*$|\s+(?:{_VERB_AFTER_THAT})\b)"
    rf"|\b(?:{_PREPOSITIONS}|about|like|is|was|does|do|did|than)\s+that\b(?!\s+(?:{_TIME})\b)"
    r"|\b(?:the|that|this|which|another|other|new|first|second|last)\s+ones?\b|\bthe (?:same|latter|former|others?)\b"
    r"|(?<!is )(?<!are )\bthere\s*$",
    re.IGNORECASE,
)
_GENERIC: Final = frozenset(terms("long much many often far take mean sure come happen thing matter"))
"""Terms that say nothing about a subject."""
_IMPERSONAL: Final = (
    "possible|true|worth|necessary|required|allowed|mandatory|legal|better|best|safe|ok|okay|important|easy|hard"
    "|normal|common|advisable|correct|likely|permitted|acceptable"
)
_EXPLETIVE: Final = re.compile(
    rf"\b(?:is|was|would|will|be|isn't|can|does|did)\s+it\s+(?:(?:still|really|ever|also|be)\s+)*"
    rf"(?:{_IMPERSONAL}|matter|take|make sense)\b|\bit(?:'s| is| was) (?:{_IMPERSONAL})\b|\bit takes?\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"\b(?:others?|another|else|additional|further|as well|too|instead|again|next|similar|examples?|more)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"\bthe\s+\w+", re.IGNORECASE)
_NAME: Final = re.compile(r"\b[A-Z][\w’'&.-]*(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)?[A-Z0-9][\w’'&.-]*)*")
_ROLES: Final = re.compile(
    r"\b(?:(?:full|part)-?\s?time |temporary |permanent |new |senior |junior |external |internal |regular |hourly )?"
    r"(?:employees?|staff|contractors?|freelancers?|interns?|managers?|supervisors?|directors?|executives?"
    r"|consultants?|trainees?|apprentices?|temps?|part-?timers?|full-?timers?|workers?|vendors?|suppliers?|customers?"
    r"|clients?|visitors?|students?|volunteers?|hires?|joiners?|team leads?|engineers?|developers?|dependents?"
    r"|spouses?|retirees?|teammates?|probationers?)\b",
    re.IGNORECASE,
)
_MONTHS: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|march|april|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?"
)
# Kinds of things that take each other's place: a fragment of one kind replaces the one of its kind in the last question.
_KINDS: Final = (
    re.compile(r"\b(?:19|20)\d\d\b"),
    re.compile(r"\bq[1-4]\b", re.IGNORECASE),
    re.compile(rf"\b(?:{_MONTHS})\b", re.IGNORECASE),
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE),
    re.compile(r"[$€£¥]\s?\d[\d,.]*\d|[$€£¥]\s?\d"),
    re.compile(
        r"\b\d+(?:[.,]\d+)*\s?(?:%|percent|days?|weeks?|months?|years?|hours?|people|users?|km|kg|gb|tb)(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:full|part)-?\s?time\b|\b(?:temporary|permanent|internal|external|junior|senior)\b", re.IGNORECASE
    ),
    re.compile(r"\b(?:v|version )?\d+(?:\.\d+)+\b", re.IGNORECASE),
    _ROLES,
)
_YEAR, _QUARTER, _MONTH, *_ = _KINDS
_YEAR_BESIDE: Final = re.compile(
    r"(?:the )?(?:(?P<earlier>year before|previous year|prior year|preceding year)|(?:year after|following year|next year))(?: that)?",
    re.IGNORECASE,
)
_RELATIVE: Final = re.compile(r"(?:this|last|next) (?:year|month|quarter|week)|today|tomorrow|yesterday", re.IGNORECASE)
_DATED: Final = re.compile(r"(?:\b(?:in|for|of|during)\s+)?\b(?:19|20)\d\d\b", re.IGNORECASE)
_BARE_QUESTION: Final = re.compile(
    rf"(?:(?:{_PREPOSITIONS}|since)\s+)?(?:how (?:long|much|many|often|far|soon|come|so|exactly)|why not|since when|(?:what|which) \w+"
    r"|are you (?:sure|certain)|is (?:that|it) (?:so|true|right|correct)|what do you mean|says who|what happens(?: then| next)?)"
    r"|(?:how (?:much|many|long|often)|when|where|why|who|what|which) (?:is|are|was|were|gets?) (?:\w+ed|spent|paid|sold|lost|done"
    r"|sent|kept|held|built|left|made|due|eligible|exempt|responsible)",
    re.IGNORECASE,
)
_NO_CORRECTION: Final = frozenset(
    ("thanks", "thank you", "problem", "worries", "idea", "way", "more", "need", "that's all", "that is all")
)
_ONWARD: Final = re.compile(
    r"(?:please )?(?:tell|explain|give|show|list|describe|continue|go on|go ahead|more|elaborate|expand|repeat|say|yes|no|ok)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_PREPOSITION: Final = re.compile(rf"^(?:{_PREPOSITIONS})\s+", re.IGNORECASE)
_SMALL: Final = frozenset(_PREPOSITIONS.split("|")) | frozenset(
    "even also when while once unless the a an this last next full part sick annual unpaid paid parental".split()
)
_FOLLOWING: Final = re.compile(r"\s*\(following “(.*)”\)\s*$", re.DOTALL)
_SUBJECT: Final = re.compile(r"\b(?:it|he|she)\b(?!['’])", re.IGNORECASE)
_PERIOD: Final = re.compile(r"(?:19|20)\d\d|q[1-4]", re.IGNORECASE)
# Questions that are about the name they end with: there "it" is the name, elsewhere a name may be a mere detail.
_ABOUT_NAME: Final = re.compile(r"(?:what|who) (?:is|are|was|were) (?:the )?$|\babout (?:the )?$", re.IGNORECASE)


def depends(question: str) -> tuple[str, str]:
    """What a question lacks without its conversation: (rule, the part that says something new).

    Rules: correction, fragment, pronoun, ellipsis; ("complete", question) when it stands alone.
    """
    core = question.strip().rstrip("?!. ")
    if found := _CORRECTION.match(core):
        return "correction", _contrasted(_ALSO_AFTER.sub("", found["rest"].strip()))
    if not _FINITE.search(core) and (right := _contrasted(core)) != core:
        return "correction", right
    if (found := _SUBORDINATE.match(core)) and not _INVERTED.search(found["clause"]) and not _ANAPHOR.search(core):
        return "fragment", found["clause"]
    if (found := _ABOUT.match(core)) and not _FINITE.search(rest := found["about"] or found["phrase"] or found["name"]):
        return "fragment", rest.strip()
    core = _LEAD.sub("", core)
    if len(core.split()) <= 4 and not _FINITE.search(core):
        return "fragment", core
    if _refers_back(core):
        return "pronoun", core
    return ("ellipsis" if _is_elliptic(core) else "complete"), core


def _contrasted(text: str) -> str:
    """What is meant where a text names what is not meant, too; else the text."""
    found = _CONTRAST.match(text)
    right = (found["right"] or found["instead"] or found["plain"]) if found else text
    return right if right and right.lower() not in _NO_CORRECTION else text


def _refers_back(core: str) -> bool:
    """Whether a pronoun or demonstrative has no antecedent in an earlier clause of the same question."""
    start = 0
    for clause in (*_CLAUSE.finditer(core), None):
        stop = clause.start() if clause else len(core)
        if len(terms(core[:start])) < 2 and _ANAPHOR.search(_EXPLETIVE.sub(" ", core[start:stop].strip())):
            return True
        start = clause.end() if clause else stop
    return False


def _is_elliptic(core: str) -> bool:
    """Whether something is missing without a word that points at it: "any other?", "what is the deadline"."""
    content = terms(_EXPLETIVE.sub(" ", core))
    if _BARE_QUESTION.fullmatch(core) or set(content) <= _GENERIC:
        return True
    if content and names(core):
        return False
    more = len(content) <= 3 and _MORE.search(core) is not None
    return not content or more or (len(content) == 1 and _DEFINITE.search(core) is not None)


def names(text: str) -> list[str]:
    """Proper names of a text in order: capitalised runs, except one ordinary word that opens a sentence."""
    found = []
    for match in _NAME.finditer(text):
        before, name = text[: match.start()].rstrip(), match.group()
        if opening := not before or before[-1] in ".?!:":
            name = re.sub(rf"^(?:{_QUESTION_WORD}|{_PREPOSITIONS}|the|and)\s+", "", name, flags=re.IGNORECASE)
        if (not opening or " " in name or name.isupper()) and not re.fullmatch(r"I(?:['’]\w+)?", name):
            found.append(re.sub(r"[’']s$", "", name.rstrip(".")))
    return found


def fill(rule: str, rest: str, question: str, previous: str) -> tuple[str, bool]:
    """The question with its lack filled from the previous question, and whether that is certain.

    Where it is not certain, the question is kept and what it follows is added in brackets.
    """
    if rule == "correction" and _FINITE.search(rest) and depends(rest)[0] == "complete":
        return _sentence(rest), True
    if rule in {"correction", "fragment"} and (swapped := _swap(rest, _fuller(previous))):
        return swapped, True
    if rule == "pronoun" and (named := _name_for_pronoun(question, _fuller(previous))):
        return named, True
    return f"{_sentence(question)} (following “{_shortened(previous)}”)", False


def _swap(rest: str, previous: str) -> str:
    """The previous question with the one part that the rest takes the place of; "" when that is not certain."""
    rest = _ALSO_AFTER.sub("", rest)
    if _SUBORDINATE.match(rest):
        return _with(previous, _opened(rest))
    asked = _ALSO_BEFORE.sub("", rest)
    bare = _ARTICLE.sub("", _PREPOSITION.sub("", asked))
    if (exchanged := _exchanged(asked, bare, previous)) is not None:
        return exchanged
    if old := _name_like(bare, previous):
        return previous.replace(old, bare)
    if (same := _same_head(bare, previous)) and previous.count(same) == 1:
        return previous.replace(same, _opened(bare))
    return _with(previous, added) if (added := _addition(asked, rest, bare)) else ""


def _exchanged(asked: str, bare: str, previous: str) -> str | None:
    """The previous question with a part of the same kind exchanged; "" when several are, None when none is."""
    if dated := _redated(asked, bare, previous):
        return dated
    for kind in _KINDS:
        if not _is_list_of(kind, bare) or not (old := list(kind.finditer(previous))):
            continue
        if len(old) != 1:
            return ""
        start, stop = old[0].span()
        own = _PREPOSITION.match(asked)
        before = re.search(rf"\b(?:{_PREPOSITIONS})\s+$", previous[:start], re.IGNORECASE)
        if own and before:
            return previous[: before.start()] + _opened(own.group()) + bare + previous[stop:]
        return previous[:start] + (_opened(bare) if start else bare[:1].upper() + bare[1:]) + previous[stop:]
    return None


def _redated(asked: str, bare: str, previous: str) -> str:
    """The previous question with its one year moved, made relative, or narrowed to a quarter or month; "" if none is."""
    years = list(_DATED.finditer(previous))
    if len(years) != 1:
        return ""
    year = _YEAR.findall(previous)[0]
    start, stop = years[0].span()
    if beside := _YEAR_BESIDE.fullmatch(asked):
        moved = int(year) + (-1 if beside["earlier"] else 1)
        return previous[: stop - 4] + str(moved) + previous[stop:]
    if _RELATIVE.fullmatch(bare):
        return previous[:start] + _opened(bare) + previous[stop:]
    if any(kind.fullmatch(bare) and not kind.search(previous) for kind in (_QUARTER, _MONTH)):
        return f"{previous[: stop - 4]}{bare} {year}{previous[stop:]}"
    return ""


def _is_list_of(kind: re.Pattern[str], text: str) -> bool:
    """Whether a text is one thing of a kind or several, joined by commas, "and" and "or"."""
    parts = re.split(r"\s*,\s+(?:(?:and|or)\s+)?|\s+(?:and|or|to)\s+", text)
    return all(kind.fullmatch(part) for part in parts)


def _name_like(bare: str, previous: str) -> str:
    """The name of the previous question that a name takes the place of: the only one, or the only one of several words."""
    if names(f"x {bare}") != [bare]:
        return ""
    known = names(previous)
    fitting = known if len(known) == 1 else [name for name in known if " " in name and " " in bare]
    return fitting[0] if len(fitting) == 1 and previous.count(fitting[0]) == 1 else ""


def _addition(asked: str, rest: str, bare: str) -> str:
    """How a rest that takes no other part's place is added to the previous question; "" when that is not certain."""
    if _PERIOD.fullmatch(asked) or _MONTH.fullmatch(asked):
        return f"in {bare}"
    if _PREPOSITION.match(asked) and not _ANAPHOR.search(asked):
        return _opened(rest)
    return f"for {_opened(bare)}" if _ROLES.fullmatch(bare) else ""


def _with(previous: str, added: str) -> str:
    return f"{previous.rstrip('?!. ')} {added}?"


def _opened(text: str) -> str:
    """A text as it stands inside a sentence: without the capital that opened it, unless it is a name or "I"."""
    first = text.split(" ", 1)[0]
    ordinary = first[:1].isupper() and first[1:].islower() and (first.lower() in _SMALL or _ROLES.match(text))
    return text[:1].lower() + text[1:] if ordinary else text


def _same_head(bare: str, previous: str) -> str:
    """The phrase of the previous question with the same last word and as many words: "sick leave", "annual leave"."""
    *modifiers, head = bare.split() or [""]
    if not 1 <= len(modifiers) <= 2:
        return ""
    pattern = r"\b" + r"[\w-]+ " * len(modifiers) + re.escape(head) + r"\b"
    found = [match.group() for match in re.finditer(pattern, previous, re.IGNORECASE)]
    fits = len(found) == 1 and STOPWORDS.isdisjoint(found[0].lower().split())
    return found[0] if fits else ""


def _name_for_pronoun(question: str, previous: str) -> str:
    """The question with its one pronoun replaced by the one name of the previous question; "" when not certain."""
    known, pronouns = names(previous), list(_SUBJECT.finditer(question))
    if pronouns and pronouns[0].group().lower() != "it" and len(known) > 1:
        known = [name for name in known if " " in name]
    if len(known) != 1 or len(pronouns) != 1 or _ANAPHOR.search(_SUBJECT.sub(" ", question)):
        return ""
    before, _, after = previous.partition(known[0])
    if pronouns[0].group().lower() == "it" and (after.strip(" ?.!") or not _ABOUT_NAME.search(before)):
        return ""
    start, end = pronouns[0].span()
    return _sentence(question[:start] + known[0] + question[end:])


def _fuller(previous: str) -> str:
    """The question that a note "(following …)" quotes, for that is the complete one; else the question itself."""
    found = _FOLLOWING.search(previous)
    return found[1] if found else previous


def _shortened(previous: str, longest: int = 240) -> str:
    """The previous question on one line with its note opened, cut at a word."""
    found = _FOLLOWING.search(previous)
    text = " ".join((f"{previous[: found.start()]} {found[1]}" if found else previous).split())
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"


def _sentence(text: str) -> str:
    text = text.strip()
    end = "" if text[-1:] in "?.!？。！" else "." if _ONWARD.fullmatch(text) else "?"
    return text[:1].upper() + text[1:] + end
