"""Cues in English for what is ordered: a form of the answer, a product, knowledge, words to say, data to send."""

from __future__ import annotations

from typing import Final

from assistant.core.suspicion.cues import ASKED, DECISIVE, MEDIUM, STRONG, WEAK, any_of, cue, order
from assistant.core.suspicion.sentences import PLACE

_ANSWER: Final = "answer answers response responses reply replies output outputs completion"
_SAY: Final = "say state print output display repeat declare claim conclude write saying stating"
_DISTORT: Final = (
    "encode encrypt render convert scramble jumble shuffle rearrange reverse substitute obfuscate anagram"
    " translate modify"
    " augment enhance integrate embed infuse weave spell capitalize misspell randomize replace group swap alter"
    " transform"
    " apply introduce transcribe conceal hide disguise sneak inject"
)
_ADD: Final = (
    "add include insert append put use provide give write mention tease hint promote suggest recommend advertise"
    " end begin"
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
    "base16 base32 base58 base64 base85 hexadecimal rot13 caesar cipher cypher atbash vigenere morse anagram"
    " anagrams anagrammed leetspeak leet homophonic homophones monoalphabetic alphanumeric backward backwards reversed"
    " mirrored braille acrostic gibberish"
)
_PRODUCTS: Final = (
    "poem poems story essay haiku joke jokes limerick song lyrics rap sonnet script scripts program function"
    " code command query regex"
    " algorithm recipe tweet letter introduction dialogue biography headline slogan riddle example tutorial"
    " snippet macro fable speech"
)
_EXPLAIN: Final = (
    "explain describe summarize summarise discuss compare translate recommend calculate compute solve predict forecast"
)
_SEEK: Final = "suggest find list name classify identify rate give provide tell analyze analyse"
_PERSONS: Final = "you you're you'd you've your we we're our us they their them team company document"
_LANGUAGES: Final = (
    "english french german spanish italian portuguese russian chinese mandarin japanese korean arabic hindi latin greek"
    " turkish dutch swahili"
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
        r"^(?:answer|respond|reply|speak|write|communicate) (?:to (?:me|everything|all \w+) )?(?:only |always "
        r"|solely )?(?:in|using|like) (?:\w+ ){0,3}"
        r"(?:english|french|german|spanish|chinese|japanese|italian|latin|russian|emojis?|json|xml|verse|rhymes?"
        r"|riddles?|capitals|caps|uppercase|code|pirate|all caps)\b",
        r"^(?:answer|respond|reply|speak|write|communicate) (?:only )?(?:using|in|with|as) .{0,30}?" + any_of(_CIPHERS),
    ),
    cue(
        "letters",
        STRONG,
        _LETTERS,
        order(_CHANGE)
        + r" (?:up )?(?:(?:the|all|every|each|any|your|some|random|third|second|other|of|in|intentional|words|first"
        r"|last) ?)*" + any_of(_LETTERS),
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
            "use apply encode encrypt convert render write respond answer reply speak provide translate present"
            " give output print put"
        )
        + r".{0,60}?"
        + any_of(_CIPHERS)
        + r"(?![ -]compatib)",
    ),
    cue(
        "knowledge",
        MEDIUM,
        "sentiment tone emotion mood",
        r"^(?:what(?:'s| is| are)|is|determine|identify|detect|classify|analy[sz]e|assess|evaluate|gauge|tell|give|rate)\b.{0,40}?"
        r"\b(?:sentiment|tone|emotions?|mood)\b(?!.*\b(?:your|our|their)\b)",
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
        also="write compose generate create provide give show tell draft develop print output implement code recite make",
    ),
    cue("product", MEDIUM, "code", r"^(?:write|generate) (?:\w+ )?code (?:to|that|for|which)\b"),
    cue(
        "product",
        MEDIUM,
        _LANGUAGES,
        order("translate say write provide give convert") + r"\b.{0,80}?\b(?:in|to|into) " + any_of(_LANGUAGES),
        also="translate say write provide give convert",
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
        + r"|break down)(?: to me| me)? (?:how|why|the|some|an?|good|all|three|five|ten|\d+)\b(?!.*"
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
        r"^(?:what(?:'s| is| are| was| were| causes| happens)|how (?:do|can|to|does|is|are)|who (?:is|was"
        r"|invented|wrote|discovered|painted)|why (?:is|are|do|does)|which \w+ (?:is|has|are))\b(?!.*"
        + any_of(_PERSONS + " it this that these")
        + r").*\?\W*$",
        also=ASKED,
    ),
)
_SAID: Final = (
    cue(
        "say",
        STRONG,
        _SAY + " respond reply answer return",
        order("print output say repeat state display declare write return respond reply answer")
        + r"(?: only| just| out| back| exactly)*(?: with)?(?: only| just| exactly)?"
        + r" ?(?:: ?\x01?[\"'“‘]|the following(?: text| sentence| message| phrase| words?)?(?: \w+)? ?:"
        r"|this (?:text|sentence|message|phrase|word)\b|exactly\b)",
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
        r"\bthe (?:output|conclusion|answer|result|summary)(?: of (?:the|this) \w+)? (?:is|could be|should be"
        r"|would be|must be) ?[:'\"“]",
    ),
    cue(
        "verdict",
        STRONG,
        "consider treat regard",
        r"\b(?:consider|treat|regard) the (?:output|result|answer|conclusion|summary) (?:as|to be) ['\"‘“\d]",
    ),
    cue(
        "instead",
        STRONG,
        "ignore disregard forget",
        r"\b(?:suppose|if|where|imagine) we (?:\w+ ){0,2}(?:ignore|disregard|forget)\b.{0,60}\b(?:say|state|claim"
        r"|output|answer)\b",
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
        r"\baccount (?:has been|was|is) (?:compromised|suspended|locked|hacked|disabled"
        r"|breached)\b.{0,60}\b(?:link|click|visit|go to)\b",
        r"\b(?:follow|click|visit|open) (?:on )?(?:this|the following) (?:link|url|website).{0,40}\b(?:verify"
        r"|reset|confirm) your\b",
    ),
    cue(
        "whenever",
        STRONG,
        "asked asks ask question questions asking query queries",
        r"\b(?:if|when|whenever|every time) (?:you(?:'re| are) |the user |a user |someone |anyone |somebody "
        r"|they )?(?:asked|asks?|is asked|are asked|queried|prompted)\b[^.]{0,80}?[, ]"
        r"(?:always |only |you must |just |please )+(?:say|answer|respond|reply|state|recommend|claim|output)\b",
        r"\b(?:answer|respond to|reply to) (?:any|every|all) (?:questions?|quer(?:y|ies)|requests?"
        r"|prompts?)\b.{0,30}\bwith\b",
    ),
    cue(
        "exfiltrate",
        STRONG,
        "conversation chat history user's credentials passwords password key keys data records database secrets",
        order("send forward post email e-mail append transmit upload submit leak exfiltrate")
        + r" .{0,40}\b(?:conversation|chat (?:history|log)|previous messages|user's \w+|system prompt|api keys?"
        r"|credentials|passwords?|(?:employee|personal|customer) (?:data|records|database))\b"
        + r".{0,30} to (?:https?:|www\.|\S+@|\[email)",
    ),
)
CUES: Final = _ANSWERED + _SAID
