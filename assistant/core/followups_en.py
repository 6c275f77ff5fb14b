"""English follow-ups: what a question lacks, and how it reads when the lack is filled."""

from __future__ import annotations

import re
from typing import Final

from assistant.core.text import terms

_LEAD: Final = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|thanks|thank you|i see|well|now|so|oh|ah|hm+|right|cool|and|but|then|also|one last thing)"
    r"\b[\s,.!:;-]*)+",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"^(?:(?:no|nope|sorry|excuse me|actually|wait|oh|not that|not really|that'?s not (?:it|what i (?:meant|asked)))\b[\s,.!-]*)*"
    r"(?:i (?:only |just )?(?:mean|meant|was asking about|am asking about|was talking about|wanted to say)"
    r"|i'm asking about|what i meant (?:was|is)|rather)\b[\s,:]*(?:to ask |to say )?(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT: Final = re.compile(
    r"^(?:(?:and|but|so|then|now|also)[\s,]+)*(?:what|how) (?:about|if it(?:'s| is))\s+(?P<rest>.+)$"
    r"|^(?:(?:and|or|but|also|same|same question|the same)[\s,]+)+(?P<more>(?:for|in|on|at|with|without|to|from|by|of|as|if)\s.+)$"
    r"|^(?:and|or)[\s,]+(?P<name>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORD: Final = (
    r"what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|can|could|will|would|should|shall|may"
    r"|might|must|has|have|had|isn't|aren't|don't|doesn't|can't|won't"
)
_FINITE: Final = re.compile(
    rf"\b(?:{_QUESTION_WORD}|tell|explain|show|list|give|describe|find|need|want|compare|summari[sz]e|i'm|i've|i'd|let)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;.?!:]+|\b(?:and|or|but|if|when|because|while|since|after|before|so)\b", re.IGNORECASE)
_TIME: Final = (
    r"year|month|week|quarter|time|morning|afternoon|evening|weekend|spring|summer|autumn|winter|company|chat|assistant"
)
_ANAPHOR: Final = re.compile(
    r"\b(?:it|its|it's|they|they're|them|their|theirs|he|he's|him|his|she|she's|her|hers|itself|themselves)\b"
    rf"|\b(?:this|these|those)\b(?!\s+(?:{_TIME}|days)\b)"
    r"|\bthat(?=\s*$|\s+(?:is|was|does|did|will|would|can|could|should|mean|means|apply|applies|include|work|change|happen)\b)"
    rf"|\b(?:about|for|of|with|like|from|in|on|to|is|was|does|do|did|if|than|by)\s+that\b(?!\s+(?:{_TIME})\b)"
    r"|\b(?:the|that|this|which|another|other|new|first|second|last)\s+ones?\b|\bthe (?:same|latter|former|others?)\b"
    r"|(?<!is )(?<!are )\bthere\s*$",
    re.IGNORECASE,
)
_EXPLETIVE: Final = re.compile(
    r"\b(?:is|was|would|will|be|isn't|can|does|did)\s+it\s+(?:still |really |ever |also )?(?:be )?"
    r"(?:possible|true|worth|necessary|required|allowed|mandatory|legal|better|best|safe|ok|okay|important|easy|hard|normal"
    r"|common|advisable|correct|likely|permitted|acceptable|matter|take|make sense)\b"
    r"|\bit(?:'s| is| was) (?:possible|true|worth|necessary|required|allowed|mandatory|legal|important)\b|\bit takes?\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"\b(?:others?|another|else|additional|further|as well|too|instead|again|next|similar|examples?|more)\b",
    re.IGNORECASE,
)
_BARE_DEFINITE: Final = re.compile(r"\bthe\s+\w+", re.IGNORECASE)
_NAME: Final = re.compile(r"\b[A-Z][\w’'&.-]*(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)?[A-Z0-9][\w’'&.-]*)*")
_ROLES: Final = re.compile(
    r"\b(?:(?:full|part)-?\s?time |temporary |permanent |new |senior |junior |external |internal |regular |hourly |salaried )*"
    r"(?:employees?|staff|contractors?|freelancers?|interns?|managers?|supervisors?|directors?|executives?|consultants?"
    r"|trainees?|apprentices?|temps?|part-?timers?|full-?timers?|workers?|vendors?|suppliers?|customers?|clients?|visitors?"
    r"|students?|volunteers?|new hires?|new joiners?|team leads?|engineers?|developers?|hr|dependents?|spouses?|retirees?"
    r"|teammates?|probationers?|agency workers?)\b",
    re.IGNORECASE,
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
# Kinds of things that take each other's place: when a fragment is one and the last question holds exactly one of its kind.
_KINDS: Final = (
    re.compile(r"\b(?:19|20)\d\d\b"),
    re.compile(r"\bq[1-4]\b", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\b(?!\s+\w+\s+(?:i|we|you)\b)", re.IGNORECASE),
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE),
    re.compile(r"[$€£¥]\s?\d[\d,.]*\d|[$€£¥]\s?\d"),
    re.compile(
        r"\b\d+(?:[.,]\d+)*\s?(?:%|percent|days?|weeks?|months?|years?|hours?|people|users?|km|kg|gb|tb)(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:v|version )?\d+(?:\.\d+)+\b", re.IGNORECASE),
    _ROLES,
)
_PREPOSITION: Final = re.compile(r"^(?:for|in|on|at|with|without|to|from|by|of|as|if|the|a|an)\s+", re.IGNORECASE)
_FOLLOWING: Final = re.compile(r"\s*\(following “(.*)”\)\s*$", re.DOTALL)


def depends(question: str) -> tuple[str, str]:
    """What a question lacks without its conversation: (rule, the part that says something new).

    Rules: correction, fragment, pronoun, ellipsis; ("complete", question) when it stands alone.
    """
    core = question.strip().rstrip("?!. ")
    if found := _CORRECTION.match(core):
        return "correction", re.sub(r"[,\s]+(?:rather|instead)$", "", found["rest"].strip())
    if (found := _ABOUT.match(core)) and not _FINITE.search(rest := found["rest"] or found["more"] or found["name"]):
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
        text = core[start:stop].strip()
        if len(terms(core[:start])) < 2 and _ANAPHOR.search(_EXPLETIVE.sub(" ", text)):
            return True
        start = clause.end() if clause else stop
    return False


def _is_elliptic(core: str) -> bool:
    content = terms(core)
    if not content:
        return True
    if names(core):
        return False
    if len(content) <= 3 and _MORE.search(core):
        return True
    return len(content) == 1 and _BARE_DEFINITE.search(core) is not None


def names(text: str) -> list[str]:
    """Proper names of a text in order: capitalised runs, not the first word of a sentence alone."""
    found = []
    for match in _NAME.finditer(text):
        opening = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".?!:"
        name = (
            re.sub(rf"^(?:{_QUESTION_WORD}|in|for|the|and)\s+", "", match.group(), flags=re.IGNORECASE)
            if opening
            else match.group()
        )
        if (not opening or " " in name or name.isupper()) and name.lower() not in {"i", "i'm", "i’m", "i've", "i'd"}:
            found.append(re.sub(r"[’']s$", "", name.rstrip(".")))
    return found


def fill(rule: str, rest: str, question: str, previous: str) -> tuple[str, bool]:
    """The question with its lack filled from the previous question, and whether that is certain."""
    if rule in {"correction", "fragment"}:
        if rule == "correction" and _FINITE.search(rest) and depends(rest)[0] == "complete":
            return _sentence(rest), True
        if swapped := _swap(rest, _innermost(previous)):
            return swapped, True
    if rule == "pronoun" and (named := _name_for_pronoun(question, previous)):
        return named, True
    return f"{_sentence(question)} (following “{_shortened(previous)}”)", False


def _swap(rest: str, previous: str) -> str:
    """The previous question with the one part of the same kind replaced; "" when there is none or more than one."""
    bare = _PREPOSITION.sub("", rest)
    for kind in _KINDS:
        new, old = list(kind.finditer(bare)), list(kind.finditer(previous))
        if len(new) == 1 and len(old) == 1 and new[0].group() == bare:
            return previous[: old[0].start()] + bare + previous[old[0].end() :]
    known = names(previous)
    if len(known) == 1 and bare != bare.lower() and names(f"x {bare}") == [bare] and previous.count(known[0]) == 1:
        return previous.replace(known[0], bare)
    if rest != bare and _PREPOSITION.match(rest) and not re.match(r"(?:the|a|an)\s", rest, re.IGNORECASE):
        return f"{previous.rstrip('?!. ')} {rest}?"
    return ""


_SUBJECT: Final = re.compile(r"\b(?:it|he|she|they)\b(?!['’])", re.IGNORECASE)


def _name_for_pronoun(question: str, previous: str) -> str:
    """The question with its one pronoun replaced by the one name of the previous question; "" when that is not certain."""
    known, pronouns = names(_innermost(previous)), list(_SUBJECT.finditer(question))
    others = _ANAPHOR.findall(_SUBJECT.sub(" ", question))
    if len(known) != 1 or len(pronouns) != 1 or others or pronouns[0].group().lower() == "they":
        return ""
    start, end = pronouns[0].span()
    return _sentence(question[:start] + known[0] + question[end:])


def _innermost(previous: str) -> str:
    """The question without its note about the one before, or the one before when that is the fuller question."""
    found = _FOLLOWING.search(previous)
    return found[1] if found else previous


def _shortened(previous: str, longest: int = 240) -> str:
    found = _FOLLOWING.search(previous)
    text = f"{previous[: found.start()].rstrip()} {found[1]}" if found else previous
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text[-1:] in "?.!" else "?")
