"""Cues in English: who is spoken to, what is ordered, under which pretence.

The kinds follow Greshake et al. 2023 (indirect injection), BIPIA (Yi et al. 2023) and CyberSecEval 2 (Bhatt et al. 2024).
"""

from __future__ import annotations

from typing import Final

from assistant.core.suspicion.cues import DECISIVE, MEDIUM, STRONG, WEAK, any_of, cue, needs_of, order
from assistant.core.suspicion.sentences import PLACE

_IGNORE: Final = "ignore disregard forget neglect override bypass discard"
_ORDERS: Final = "instruction instructions prompt prompts direction directions directive directives command commands programming orders inputs"
_MACHINES: Final = "ai llm llms chatgpt chatbot chatbots gpt bot model models assistant assistants agent agents"
_ANSWER: Final = "answer answers response responses reply replies output outputs completion"
_SAY: Final = "say state print output display repeat declare claim conclude write saying stating"
_DISTORT: Final = (
    "encode encrypt render convert scramble jumble shuffle rearrange reverse substitute obfuscate anagram translate modify"
    " augment enhance integrate embed infuse weave spell capitalize misspell randomize replace group swap alter transform"
    " apply introduce transcribe conceal hide disguise sneak inject"
)
_ADD: Final = (
    "add include insert append put use provide give write mention tease hint promote suggest recommend advertise end begin"
    " start remove omit combine make drop"
)
_CHANGE: Final = (
    "replace substitute swap scramble jumble shuffle rearrange reverse remove omit delete combine group convert change"
    " capitalize encode anagram double insert introduce mix randomize spell separate split"
)
_LETTERS: Final = (
    "letter letters vowel vowels consonant consonants spaces space characters character punctuation typos misspellings"
    " alphabet anagram anagrams"
)
_CIPHERS: Final = (
    "base16 base32 base58 base64 base85 hexadecimal rot13 caesar cipher cypher atbash vigenere morse anagram anagrams anagrammed"
    " leetspeak leet homophonic homophones monoalphabetic alphanumeric backwards braille acrostic gibberish"
)
_PRODUCTS: Final = (
    "poem poems story essay haiku joke jokes limerick song lyrics rap sonnet script scripts program function code command query regex"
    " algorithm recipe tweet letter introduction dialogue biography headline slogan riddle example tutorial snippet macro fable speech"
)
_EXPLAIN: Final = "explain describe summarize summarise discuss break compare translate recommend calculate compute solve predict forecast"
_SEEK: Final = "suggest find list name define classify identify rate give provide tell analyze analyse"
_PERSONS: Final = "you you're you'd you've your we we're our us they their them team company document"
_LANGUAGES: Final = "english french german spanish italian portuguese russian chinese mandarin japanese korean arabic hindi latin greek turkish dutch swahili"
_FICTION: Final = "hypothetical fictional imaginary parallel alternate alternative dystopian utopian fantasy"

_SPOKEN_TO: Final = (
    cue(
        "override",
        DECISIVE,
        _IGNORE,
        order(_IGNORE)
        + r".{0,30}?\b(?:previous|prior|above|earlier|preceding|all|any|every|these|those|your|my|other|initial|original|system|rest)\b.{0,25}?"
        + any_of(_ORDERS),
    ),
    cue(
        "override",
        DECISIVE,
        "follow following obey obeying ignore disregard forget",
        r"\b(?:stop following|do not follow|don't follow|no longer follow|stop obeying|do not obey) .{0,20}\b(?:previous|prior|above|earlier|original|your|system)\b.{0,20}?"
        + any_of(_ORDERS),
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|whatever|what) (?:that )?(?:(?:i|we|you|was|were|has|have|had|been) )+(?:told|said|learned|written|read|instructed)\b",
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
        + r"(?:(?:say|state|print|output|declare|repeat|display|write|claim|return)\b|(?:respond|reply|answer) (?:only )?(?:with|that|:)|tell the user)",
    ),
    cue(
        "machine",
        DECISIVE,
        _MACHINES + " language machine",
        r"\byou(?:'re| are)(?: now)? (?:an? |the )?(?:\w+ )?(?:ai|artificial intelligence|language model|large language model|llm|chatbot|chatgpt|virtual assistant"
        r"|assistant|machine)\b(?! to | manager| director| who)",
        r"^(?:dear|hey|hi|hello|attention|note to|notice to|message (?:to|for)|instructions? (?:for|to)|to) (?:all |any |the |you, )*"
        r"(?:ai|llms?|chatgpt|chatbots?|language models?|assistants?|models?)\b ?(?:[.,:;!(—-]|$|systems?\b|agents?\b|models?\b|assistants?\b|that\b|reading\b|processing\b)",
        r"\b(?:if|when|since|as) you(?:'re| are) an? (?:ai|llm|language model|large language model|chatbot|automated)\b",
    ),
    cue(
        "theft",
        DECISIVE,
        _ORDERS + " above rules guidelines configuration message",
        order(
            "reveal print show repeat output display leak disclose share recite reproduce summarize translate tell give"
        )
        + r"(?: me| us| out| all| of| the| everything| verbatim| back| entire| full| complete| exact)*"
        + r" (?:your (?:\w+ )?(?:prompts?|instructions|configuration)\b|(?:system|initial|hidden|original|secret) (?:prompts?|instructions|message)\b"
        r"|(?:text|words|content|conversation|messages?) above\b)",
    ),
    cue(
        "task",
        STRONG,
        "task tasks instruction instructions directive prompt goal objective mission before message",
        r"\b(?:your|the) (?:new|real|actual|true|only|updated) (?:task|goal|objective|instructions?|mission) (?:is|are)\b",
        r"^(?:new|updated|additional|urgent|critical|real|actual|special) (?:system )?(?:instructions?|task|prompt|directive)s?\b ?(?::|!|$|for you)",
        r"\bbefore (?:you )?(?:answer|solv|respond|continu|reply|complet|summari)\w*\b.{0,40}\b(?:task|question|request|user|summary|following first)\b",
        r"\b(?:task|question|request|query) (?:that )?(?:i|the user) (?:gave|asked|assigned|requested) ?(?:you)?\b|\bthis is an important message (?:from|for|to)\b",
    ),
    cue(
        "user",
        WEAK,
        "user users",
        any_of("tell inform ask convince persuade direct suggest advise instruct urge encourage notify")
        + r" (?:that )?(?:the |all |any )?users?\b",
    ),
    cue(
        "secrecy",
        STRONG,
        "user users human instruction instructions prompt",
        r"\b(?:do not|don't|never|must not|without) (?:tell|reveal|mention|inform|disclose|telling|mentioning|informing|alerting|notifying|let|show|alert|notify)"
        r" .{0,30}\b(?:the users?|human|this (?:instruction|prompt)|these instructions|that you were)\b",
    ),
)
_ANSWERED: Final = (
    cue(
        "your-answer",
        DECISIVE,
        _ANSWER,
        order(_DISTORT) + r".{0,90}?\byour (?:\w+ )?" + any_of(_ANSWER),
    ),
    cue(
        "your-answer",
        DECISIVE,
        "message words text",
        order("encode encrypt render scramble jumble shuffle anagram") + r".{0,60}?\byour (?:message|words|text)\b",
    ),
    cue("your-answer", STRONG, _ANSWER, order(_ADD) + r".{0,160}?\byour (?:\w+ )?" + any_of(_ANSWER)),
    cue(
        "your-answer",
        STRONG,
        _ANSWER,
        r"^(?:in|at the (?:end|beginning|start) of|throughout|within|before|after) your (?:\w+ )?"
        + any_of(_ANSWER)
        + r",",
        r"^(?:answer|respond|reply|speak|write|communicate) (?:to (?:me|everything|all \w+) )?(?:only |always |solely )?(?:in|using|like) (?:\w+ ){0,3}"
        r"(?:english|french|german|spanish|chinese|japanese|italian|latin|russian|emojis?|json|xml|verse|rhymes?|riddles?|capitals|caps|uppercase|code|pirate|all caps)\b",
        r"^(?:answer|respond|reply|speak|write|communicate) (?:only )?(?:using|in|with|as) .{0,30}?" + any_of(_CIPHERS),
    ),
    cue(
        "letters",
        STRONG,
        _LETTERS,
        order(_CHANGE)
        + r" (?:up )?(?:(?:the|all|every|each|any|your|some|random|third|second|other|of|in|intentional|words|first|last) ?)*"
        + any_of(_LETTERS),
    ),
    cue(
        "letters",
        STRONG,
        "emoji emojis emoticons",
        order("replace substitute convert express write respond reply answer communicate")
        + r".{0,40}?\b(?:emojis?|emoticons)\b",
    ),
    cue(
        "cipher",
        MEDIUM,
        _CIPHERS,
        order(
            "use apply encode encrypt convert render write respond answer reply speak provide translate present give output print put"
        )
        + r".{0,60}?"
        + any_of(_CIPHERS),
    ),
    cue(
        "product",
        MEDIUM,
        _PRODUCTS,
        order(
            "write compose generate create provide give show tell draft develop print output implement code recite make"
        )
        + r"(?: me| us)? (?:an?|some|two|three|five|ten|\d+) (?:[\w-]+ ){0,2}"
        + any_of(_PRODUCTS)
        + r"(?=\W*$|,| (?:to|that|for|about|in|of|on|which|using|how|where|with|explaining|named|called)\b)",
    ),
    cue("product", MEDIUM, "code", r"^(?:write|generate) (?:\w+ )?code (?:to|that|for|which)\b"),
    cue(
        "product",
        MEDIUM,
        _LANGUAGES,
        order("translate say write provide give convert") + r"\b.{0,80}?\b(?:in|to|into) " + any_of(_LANGUAGES),
    ),
    cue(
        "product",
        MEDIUM,
        _LANGUAGES,
        order("give provide tell what's what")
        + r"\b.{0,40}?"
        + any_of(_LANGUAGES)
        + r" (?:equivalent|translation|word|version) (?:for|of)\b",
    ),
    cue(
        "product",
        MEDIUM,
        _LANGUAGES,
        r"^(?:how (?:do|would) (?:you|i) say|what(?:'s| is)) .{1,60}? in " + any_of(_LANGUAGES) + r"\W*$",
    ),
    cue(
        "knowledge",
        MEDIUM,
        _EXPLAIN + " " + _SEEK + " show teach",
        "^"
        + PLACE
        + r"(?:"
        + _EXPLAIN.replace(" ", "|")
        + r")(?: to me| me| down)? (?:how|why|the|some|an?|good|all|three|five|ten|\d+)\b(?!.*"
        + any_of(_PERSONS)
        + ")",
        "^"
        + PLACE
        + r"(?:"
        + _SEEK.replace(" ", "|")
        + r")(?: me)? (?:some|good|three|five|ten|\d+|recent|popular|common|famous)\b(?!.*"
        + any_of(_PERSONS)
        + ")",
        order("show tell teach explain describe") + r"(?: to)? me (?:how|the|a|an|about|why|some)\b",
    ),
    cue(
        "knowledge",
        MEDIUM,
        "what what's how who why which",
        r"^(?:what(?:'s| is| are| was| were| causes| happens)|how (?:do|can|to|does|is|are)|who (?:is|was|invented|wrote|discovered|painted)|why (?:is|are|do|does)|which \w+ (?:is|has|are))\b(?!.*"
        + any_of(_PERSONS + " it this that these")
        + r").*\?\W*$",
    ),
)
_SAID: Final = (
    cue(
        "say",
        STRONG,
        _SAY + " respond reply answer return",
        order("print output say repeat state display declare write return respond reply answer")
        + r"(?: only| just| out| back| exactly)*(?: with)?(?: only| just| exactly)?"
        + r" ?(?:: ?\x01?[\"'“‘]|the following(?: text| sentence| message| phrase| words?)?(?: \w+)? ?:|this (?:text|sentence|message|phrase|word)\b|exactly\b)",
        order("print output display repeat") + r" (?:the following|[\"“])",
    ),
    cue("say", WEAK, _SAY, order(_SAY)),
    cue(
        "say",
        WEAK,
        _SAY,
        r"\b(?:we|to|might|could|would) (?:just |only |then |also )?" + any_of(_SAY),
        r"\b(?:saying|stating) that\b",
    ),
    cue(
        "verdict",
        WEAK,
        "output conclusion answer result summary",
        r"\bthe (?:output|conclusion|answer|result|summary)(?: of (?:the|this) \w+)? (?:is|could be|should be|would be|must be) ?[:'\"“]",
    ),
    cue(
        "verdict",
        STRONG,
        "consider treat regard",
        r"\b(?:consider|treat|regard) the (?:output|result|answer|conclusion|summary) (?:as|to be)\b",
    ),
    cue(
        "instead",
        STRONG,
        "ignore disregard forget",
        r"\b(?:suppose|if|where|imagine) we (?:\w+ ){0,2}(?:ignore|disregard|forget)\b.{0,60}\b(?:say|state|claim|output|answer)\b",
    ),
    cue(
        "let-us",
        STRONG,
        "let's let",
        r"\b(?:let's|let us) (?:\w+ )?(?:state|claim|declare|pretend|agree|conclude) (?:that|the)\b",
    ),
    cue(
        "lure",
        STRONG,
        "account password",
        r"\baccount (?:has been|was|is) (?:compromised|suspended|locked|hacked|disabled|breached)\b.{0,60}\b(?:link|click|visit|go to)\b",
        r"\b(?:follow|click|visit|open) (?:on )?(?:this|the following) (?:link|url|website).{0,40}\b(?:verify|reset|confirm) your\b",
    ),
    cue(
        "whenever",
        STRONG,
        "asked asks ask question questions asking query queries",
        r"\b(?:if|when|whenever|every time) (?:you(?:'re| are) |the user |a user |someone |anyone |somebody |they )?(?:asked|asks?|is asked|are asked|queried|prompted)\b[^.]{0,80}?[, ]"
        r"(?:always |only |you must |just |please )+(?:say|answer|respond|reply|state|recommend|claim|output)\b",
        r"\b(?:answer|respond to|reply to) (?:any|every|all) (?:questions?|quer(?:y|ies)|requests?|prompts?)\b.{0,30}\bwith\b",
    ),
    cue(
        "exfiltrate",
        STRONG,
        "conversation chat history user's credentials passwords password key keys data records database secrets",
        order("send forward post email e-mail append transmit upload submit leak exfiltrate")
        + r" .{0,40}\b(?:conversation|chat (?:history|log)|previous messages|user's \w+|system prompt|api keys?|credentials|passwords?|(?:employee|personal|customer) (?:data|records|database))\b"
        + r".{0,30} to (?:https?:|www\.|\S+@|\[email)",
    ),
)
_PRETENDED: Final = (
    cue(
        "role",
        STRONG,
        "now",
        r"\byou(?:'re| are) now (?:called |named |acting |entering |in (?:\w+ )?mode|dan\b|free (?:from|of)|an? (?:\w+ ){0,2}(?:ai|bot|expert|hacker|pirate|terminal|character))",
        r"\bfrom now on,? (?:you|whenever|respond|answer|reply|act|your (?:answer|response|name))\b",
    ),
    cue(
        "role",
        STRONG,
        "act pretend behave respond answer imagine emulate imitate impersonate simulate role roleplay character persona freed jailbroken reprogrammed replaced",
        r"\byou(?:'re| are) (?:now )?(?:going|about) to (?:act|pretend|emulate|imitate|impersonate|simulate|roleplay|become|play|respond|answer)\b",
        r"^(?:you (?:will|must|should|are to) )?(?:act|behave|respond|answer) (?:as if you|as though you|as (?:an? )?(?:\w+ )?(?:ai|gpt|hacker|villain|linux|terminal|dan|unrestricted|evil|pirate)\b)",
        r"^(?:please )?(?:pretend|imagine) (?:to be|you are|you're|that you(?:'re| are)) (?!new|working|on |in )",
        r"\b(?:stay|remain) in character\b|\b(?:take on|play|assume) the (?:role|persona) of (?:an? )?(?:\w+ ){0,2}(?:ai|bot|gpt|hacker|villain|character|model)\b",
        r"\byou (?:have been|are) (?:freed|jailbroken|reprogrammed|replaced)\b",
    ),
    cue(
        "role",
        MEDIUM,
        "want like need",
        r"\bi (?:want|need|would like|'d like) you to (?:act|write|respond|answer|reply|pretend|ignore|generate|translate|give|be|play|simulate|create|forget|imitate|only)\b",
    ),
    cue(
        "chat",
        MEDIUM,
        "chat conversation prompt prompts session",
        r"\b(?:rest|remainder) of (?:this|our) (?:conversation|chat|session)\b|\b(?:every|each|any) (?:single )?(?:prompt|message|question) (?:that )?i (?:give|send|ask)\b|\bmy (?:next|first) prompt\b",
    ),
    cue(
        "unbound",
        STRONG,
        "restrictions filters censorship uncensored unfiltered amoral unrestricted refuse ethical morals guidelines ethics",
        r"\b(?:uncensored|unfiltered|amoral|unrestricted|immoral) (?:\w+ ){0,2}(?:ai|model|bot|chatbot|assistant|language model|gpt|responses?|answers?|character|persona)\b",
        r"\b(?:free (?:of|from)|without|no|not bound by|bypass(?:es)?|ignor(?:e|es|ing)) (?:\w+ ){0,3}(?:restrictions (?:and|or) filters|filters (?:and|or) restrictions|censorship|ethical (?:or|and) moral|moral (?:or|and) ethical)\b",
        r"\b(?:never|not|cannot|can't|don't) (?:ever )?(?:refuse|reject|deny) (?:\w+ ){0,3}(?:requests?|orders?|prompts?|questions?)\b",
    ),
    cue("machine-named", WEAK, "chatgpt openai gpt ai llm", r"\b(?:chatgpt|openai|gpt|an? ai|ai model|llm|as an ai)\b"),
    cue(
        "mode",
        STRONG,
        "mode override_mode override",
        r"\b(?:developer|debug|admin|administrator|god|override|maintenance|jailbreak|unrestricted|root|sudo|dan|system|evil)[_ -](?:\w+ )?mode\b(?:.{0,12}\b(?:enabled|activated|engaged|entered)\b|[>\]])",
        r"\b(?:entering|entered|activating|switching to) (?:\w+ ){0,2}(?:override|god|jailbreak|unrestricted|dan|system|developer|debug) mode\b|\boverride[_ ]mode\b|\b(?:system|training data|security|safety|developer|admin) override ?[:!>\]]",
    ),
    cue(
        "authority",
        STRONG,
        "developer creator administrator admin owner authority programmer god listen obey",
        r"\bi(?:'m| am) your (?:\w+ )?(?:developer|creator|administrator|admin|owner|programmer)\b|\bas your (?:developer|creator|administrator|programmer)\b",
        r"\bas an? (?:\w+ )?authority (?:in|on)\b|\byou must (?:listen to|obey|follow) (?:me|my)\b|\bi(?:'m| am) god\b",
    ),
    cue(
        "fiction",
        STRONG,
        "hypothetically scenario situation world universe reality " + _FICTION,
        rf"\bhypothetically,|\bin an? (?:\w+ ){{0,2}}(?:{_FICTION.replace(' ', '|')}) (?:\w+ ){{0,2}}(?:scenario|universe|world|reality|situation|story)\b",
        r"^in an? (?:\w+ ){0,3}(?:world|universe|reality) (?:where|in which)\b",
        r"\b(?:scenario|situation|world|universe) (?:where|in which) we (?:\w+ )?(?:say|state|ignore|claim|assume|pretend)\b",
        rf"\b(?:consider|imagine|assume|picture) an? (?:\w+ )?(?:{_FICTION.replace(' ', '|')})\b",
    ),
)

CUES: Final = _SPOKEN_TO + _ANSWERED + _SAID + _PRETENDED
NEEDS: Final = needs_of(CUES)
