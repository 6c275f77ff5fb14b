"""Cues in English: who is spoken to, and under which pretence; with those of `english_tasks`.

The kinds follow Greshake et al. 2023 (indirect injection), BIPIA (Yi et al. 2023), CyberSecEval 2 (Bhatt et al. 2024)
and collections of role play.
"""

from __future__ import annotations

from typing import Final

from assistant.core.suspicion import english_tasks
from assistant.core.suspicion.cues import DECISIVE, MEDIUM, STRONG, WEAK, any_of, cue, needs_of, order

_IGNORE: Final = "ignore disregard forget neglect override bypass discard"
_ORDERS: Final = (
    "instruction instructions prompt prompts direction directions directive directives command commands programming orders"
    " inputs"
)
_MACHINES: Final = "ai llm llms chatgpt chatbot chatbots gpt bot model models assistant assistants agent agents"
_FICTION: Final = "hypothetical fictional imaginary parallel alternate alternative dystopian utopian fantasy"

_SPOKEN_TO: Final = (
    cue(
        "override",
        DECISIVE,
        _IGNORE,
        order(_IGNORE)
        + r".{0,30}?\b(?:previous|prior|above|earlier|preceding|all|any|every|these|those|your|my|other|initial"
        r"|original|system|rest)\b.{0,25}?" + any_of(_ORDERS),
        also=_ORDERS,
    ),
    cue(
        "override",
        DECISIVE,
        "follow following obey obeying ignore disregard forget",
        r"\b(?:stop following|do not follow|don't follow|no longer follow|stop obeying"
        r"|do not obey) .{0,20}\b(?:previous|prior|above|earlier|original|your|system)\b.{0,20}?" + any_of(_ORDERS),
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever|what) (?:that )?(?:(?:i|we|you|was"
        r"|were|has|have|had|been) )+(?:told|said|learned|written|read|instructed)\b",
        r"\b(?:ignore|disregard|forget) (?:everything|all of) (?:above|before|previously|so far|the above)\b",
        r"\b(?:to|you) (?:ignore|disregard|forget)\b.{0,30}?\b(?:previous|prior|above|earlier|your)\b.{0,25}?"
        + any_of(_ORDERS),
    ),
    cue(
        "instead",
        DECISIVE,
        "ignore disregard forget",
        order("ignore disregard forget")
        + r"[^.]{0,60}?(?: and|[,;]) \x01?(?:(?:instead|just|only|simply|then|please) \x01?)*"
        + r"(?:(?:say|state|print|output|declare|repeat|display|write|claim|return)\b|(?:respond|reply"
        r"|answer) (?:only )?(?:with|that|:)|tell the user)",
    ),
    cue(
        "machine",
        DECISIVE,
        _MACHINES + " language machine",
        r"\byou(?:'re| are)(?: now)? (?:an? |the )?(?:\w+ )?(?:ai|artificial intelligence|language model"
        r"|large language model|llm|chatbot|chatgpt|virtual assistant"
        r"|assistant|machine)\b(?! to | manager| director| who)",
        r"^(?:dear|hey|hi|hello|attention|note to|notice to|message (?:to|for)|instructions? (?:for|to)"
        r"|to) (?:all |any |the |you, )*"
        r"(?:ai|llms?|chatgpt|chatbots?|language models?|assistants?|models?)\b ?(?:[.,:;!(—-]|$|systems?\b"
        r"|agents?\b|models?\b|assistants?\b|that\b|reading\b|processing\b)",
        r"\b(?:if|when|since|as) you(?:'re| are) an? (?:ai|llm|language model|large language model|chatbot"
        r"|automated)\b",
    ),
    cue(
        "theft",
        DECISIVE,
        _ORDERS + " above rules guidelines configuration message",
        order(
            "reveal print show repeat output display leak disclose share recite reproduce summarize translate tell give"
        )
        + r"(?: me| us| out| all| of| the| everything| verbatim| back| entire| full| complete| exact)*"
        + r" (?:your (?:\w+ )?(?:prompts?|instructions|configuration)\b|(?:system|initial|hidden|original"
        r"|secret) (?:prompts?|instructions|message)\b"
        r"|(?:text|words|content|conversation|messages?) above\b)",
        also="reveal print show repeat output display leak disclose share recite reproduce summarize translate tell give",
    ),
    cue(
        "task",
        STRONG,
        "task tasks instruction instructions directive prompt goal objective mission before message",
        r"\b(?:your (?:new|real|actual|true|only|updated)|the (?:new|updated)) (?:task|goal|objective"
        r"|instructions?|mission) (?:is|are)\b",
        r"^(?:new|updated|additional|urgent|critical|real|actual|special) (?:system )?(?:instructions?|task"
        r"|prompt|directive)s?\b ?(?::|!|$|for you)",
        r"\bbefore you (?:can |could )?(?:answer|solve|respond|continue|reply|complete"
        r"|summari[sz]e)\b.{0,40}\b(?:task|question|request|user|summary|first)\b",
        r"\b(?:task|question|request|query) (?:that )?(?:i|the user) (?:gave|asked|assigned"
        r"|requested) ?(?:you)?\b|\bthis is an important message (?:from|for|to)\b",
    ),
    cue(
        "user",
        WEAK,
        "user users",
        any_of("tell inform ask convince persuade direct suggest advise instruct urge encourage notify")
        + r" (?:that )?(?:the |all |any )?users?\b",
        also="tell inform ask convince persuade direct suggest advise instruct urge encourage notify",
    ),
    cue(
        "secrecy",
        STRONG,
        "user users human instruction instructions prompt",
        r"\b(?:do not|don't|never|must not|without) (?:tell|reveal|mention|inform|disclose|telling|mentioning"
        r"|informing|alerting|notifying|let|show|alert|notify)"
        r" .{0,30}\b(?:the users?|human|this (?:instruction|prompt)|these instructions|that you were)\b",
    ),
)
_PRETENDED: Final = (
    cue(
        "role",
        STRONG,
        "now",
        r"\byou(?:'re| are) now (?:called |named |acting |entering |in (?:\w+ )?mode|dan\b|free (?:from|of)"
        r"|an? (?:\w+ ){0,2}(?:ai|bot|expert|hacker|pirate|terminal|character))",
        r"\bfrom now on,? (?:you|whenever|respond|answer|reply|act|your (?:answer|response|name))\b",
    ),
    cue(
        "role",
        STRONG,
        "act pretend behave respond answer imagine emulate imitate impersonate simulate role roleplay character"
        " persona freed jailbroken reprogrammed replaced",
        r"\byou(?:'re| are) (?:now )?(?:going|about) to (?:act|pretend|emulate|imitate|impersonate|simulate"
        r"|roleplay|become|play|respond|answer)\b",
        r"^(?:you (?:will|must|should|are to) )?(?:act|behave|respond|answer) (?:as if you|as though you"
        r"|as (?:an? )?(?:\w+ )?(?:ai|gpt|hacker|villain|linux|terminal|dan|unrestricted|evil|pirate)\b)",
        r"^(?:please )?(?:pretend|imagine) (?:to be|you are|you're|that you(?:'re| are)) (?!new|working|on |in )",
        r"\b(?:stay|remain) in character\b|\b(?:take on|play|assume) the (?:role"
        r"|persona) of (?:an? )?(?:\w+ ){0,2}(?:ai|bot|gpt|hacker|villain|character|model)\b",
        r"\byou (?:have been|are) (?:freed|jailbroken|reprogrammed|replaced)\b",
    ),
    cue(
        "role",
        MEDIUM,
        "want like need",
        r"\bi (?:want|need|would like|'d like) you to (?:act|write|respond|answer|reply|pretend|ignore|generate"
        r"|translate|give|be|play|simulate|create|forget|imitate|only)\b",
    ),
    cue(
        "chat",
        MEDIUM,
        "chat conversation prompt prompts session",
        r"\b(?:rest|remainder) of (?:this|our) (?:conversation|chat|session)\b|\b(?:every|each"
        r"|any) (?:single )?(?:prompt|message|question) (?:that )?i (?:give|send|ask)\b|\bmy (?:next"
        r"|first) prompt\b",
    ),
    cue(
        "unbound",
        STRONG,
        "restrictions filters censorship uncensored unfiltered amoral unrestricted refuse ethical morals"
        " guidelines ethics",
        r"\b(?:uncensored|unfiltered|amoral|unrestricted|immoral) (?:\w+ ){0,2}(?:ai|model|bot|chatbot|assistant"
        r"|language model|gpt|responses?|answers?|character|persona)\b",
        r"\b(?:free (?:of|from)|without|no|not bound by|bypass(?:es)?|ignor(?:e|es"
        r"|ing)) (?:\w+ ){0,3}(?:restrictions (?:and|or) filters|filters (?:and|or) restrictions|censorship"
        r"|ethical (?:or|and) moral|moral (?:or|and) ethical)\b",
        r"\b(?:never|not|cannot|can't|don't) (?:ever )?(?:refuse|reject|deny) (?:\w+ ){0,3}(?:requests?|orders?"
        r"|prompts?|questions?)\b",
    ),
    cue("machine-named", WEAK, "chatgpt openai gpt ai llm", r"\b(?:chatgpt|openai|gpt|an? ai|ai model|llm|as an ai)\b"),
    cue(
        "mode",
        STRONG,
        "mode override_mode override",
        r"\b(?:developer|debug|admin|administrator|god|override|maintenance|jailbreak|unrestricted|root|sudo|dan"
        r"|system|evil)[_ -](?:\w+ )?mode\b(?:.{0,12}\b(?:enabled|activated|engaged|entered)\b|[>\]])",
        r"\b(?:entering|entered|activating|switching to) (?:\w+ ){0,2}(?:override|god|jailbreak|unrestricted|dan"
        r"|system|developer|debug) mode\b|\boverride[_ ]mode\b|\b(?:system|training data|security|safety"
        r"|developer|admin) override ?[:!>\]]",
    ),
    cue(
        "authority",
        STRONG,
        "developer creator administrator admin owner authority programmer god listen obey",
        r"\bi(?:'m| am) your (?:\w+ )?(?:developer|creator|administrator|admin|owner|programmer)\b"
        r"|\bas your (?:developer|creator|administrator|programmer)\b",
        r"\bas an? (?:\w+ )?authority (?:in|on)\b|\byou must (?:listen to|obey|follow) (?:me|my)\b|\bi(?:'m| am) god\b",
    ),
    cue(
        "fiction",
        STRONG,
        "hypothetically scenario situation world universe reality " + _FICTION,
        rf"\bhypothetically,|\bin an? (?:\w+ ){{0,2}}(?:{_FICTION.replace(' ', '|')}) (?:\w+ ){{0,2}}(?:scenario"
        rf"|universe|world|reality|situation|story)\b",
        r"^in an? (?:\w+ ){0,3}(?:world|universe|reality) (?:where|in which)\b",
        r"\b(?:scenario|situation|world|universe) (?:where|in which) we (?:\w+ )?(?:say|state|ignore|claim|assume"
        r"|pretend)\b",
        r"\b(?:consider|imagine|assume|picture) an? (?:\w+ )?(?:hypothetical|fictional|imaginary|parallel)\b",
    ),
)

CUES: Final = _SPOKEN_TO + _PRETENDED + english_tasks.CUES
NEEDS: Final = needs_of(CUES)
