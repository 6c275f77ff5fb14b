"""English follow-ups: what a question lacks, and how it reads when the lack is filled."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.stopwords import STOPWORDS
from assistant.core.text import terms

_LEAD: Final = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|thanks|thank you|i see|well|now|so|oh|ah|hm+|right|cool|and|but|then|also"
    r"|one last thing)\b[\s,.!:;-]*)+",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"^(?:(?:no|nope|sorry|excuse me|actually|wait|oh|not that|not really|that'?s not (?:it|what i (?:meant|asked)))"
    r"\b[\s,.!-]*)*"
    r"(?:i (?:only |just )?(?:mean|meant|was asking about|am asking about|was talking about|wanted to say)"
    r"|i'm asking about|what i meant (?:was|is)|rather)\b[\s,:]*(?:to ask |to say )?(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_PREPOSITIONS: Final = "for|in|on|at|with|without|to|from|by|of|as|if"
_ABOUT: Final = re.compile(
    r"^(?:(?:and|but|so|then|now|also)[\s,]+)*(?:what|how) (?:about|if it(?:'s| is))\s+(?P<about>.+)$"
    rf"|^(?:(?:and|or|but|also|same|same question|the same)[\s,]+)+(?P<phrase>(?:{_PREPOSITIONS})\s.+)$"
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
    re.compile(r"\b(?:v|version )?\d+(?:\.\d+)+\b", re.IGNORECASE),
    _ROLES,
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_PREPOSITION: Final = re.compile(rf"^(?:{_PREPOSITIONS})\s+", re.IGNORECASE)
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
        return "correction", re.sub(r"[,\s]+(?:rather|instead)$", "", found["rest"].strip())
    if (found := _ABOUT.match(core)) and not _FINITE.search(rest := found["about"] or found["phrase"] or found["name"]):
        return "fragment", rest.strip()
    core = _LEAD.sub("", core)
    if len(core.split()) <= 4 and not _FINITE.search(core):
        return "fragment", core
    if _refers_back(core):
        return "pronoun", core
    return ("ellipsis" if _is_elliptic(core) else "complete"), core


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
    content = terms(core)
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
    bare = _ARTICLE.sub("", _PREPOSITION.sub("", rest))
    for kind in _KINDS:
        if kind.fullmatch(bare) and (old := list(kind.finditer(previous))):
            return previous[: old[0].start()] + bare + previous[old[0].end() :] if len(old) == 1 else ""
    known = names(previous)
    if len(known) == 1 and names(f"x {bare}") == [bare] and previous.count(known[0]) == 1:
        return previous.replace(known[0], bare)
    if (same := _same_head(bare, previous)) and previous.count(same) == 1:
        return previous.replace(same, bare)
    added = f"in {bare}" if _PERIOD.fullmatch(rest) else rest if _PREPOSITION.match(rest) else ""
    return f"{previous.rstrip('?!. ')} {added}?" if added else ""


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
    return text[:1].upper() + text[1:] + ("" if text[-1:] in "?.!" else "?")
