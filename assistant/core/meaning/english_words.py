"""Words and phrases that English questions are brought into one form by. Only what holds in every company's papers stands here."""

from __future__ import annotations

from typing import Final


def _phrases(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """From lines "phrase / phrase = form" the form of each phrase, as words."""
    pairs = (line.split("=") for line in text.strip().splitlines())
    return {tuple(one.split()): tuple(form.split()) for left, form in pairs for one in left.split(" / ")}


SAME: Final = _phrases("""
    annual leave / vacation leave = vacation
    staff members / staff member / members of staff / member of staff / staff = employee
    work from home / wfh = work from home
    telecommute = telework
    human resources = hr
    chief executive officer = ceo
    chief financial officer = cfo
    phone number / telephone number = phone number
    e mail / mail address = email
    maximum number of = most
    minimum number of = fewest
    due date / closing date = deadline
    hand in / turn in = submit
    ask for = request
    purchase / purchases = buy
    receive / receives / obtain / obtains = get
    begin / begins = start
    per cent / percent = %
    dollars / dollar / usd = $
    euros / euro / eur = €
    regarding / concerning / with regard to / with respect to / in regard to = about
    prior to = before
    photo / photograph = picture
    photos / photographs = pictures
    cell phone / mobile phone = mobile
    next to last = penultimate
    in order to = to
    as well as = and
""")
"""What may always stand for one another. (Not: remote work and telework, PTO and vacation, manager and supervisor.)"""

FRAMES: Final = tuple(
    tuple(line.split())
    for line in """
    hi
    hello
    hey
    hi there
    hello there
    please
    quick question
    can you tell me
    could you tell me
    would you tell me
    will you tell me
    can you please tell me
    could you please tell me
    can anyone tell me
    can someone tell me
    please tell me
    tell me
    do you know
    do you happen to know
    i want to know
    i would like to know
    i need to know
    i would like to ask
    i wanted to know
    i wonder
    i am wondering
    i was wondering
    may i ask
    may i know
    """.strip().splitlines()
)
"""Openings that ask nothing themselves."""

CLOSINGS: Final = tuple(
    tuple(line.split()) for line in ("please", "thanks", "thank you", "thanks a lot", "many thanks")
)

TARGETS: Final = _phrases("""
    how many / what number of / what is the number of = many
    how much / what amount of / what is the amount of = much
    how long / for how long = long
    how often / how frequently = often
    how do i / how do we / how do you / how does one / how can i / how can we / how can you / how can one / how to = howto
    what is the process to / what is the procedure to / what are the steps to / what is the way to = howto
    what do i need to do to / what do i have to do to / what must i do to = howto_must
    why / how come / for what reason / what is the reason / what is the reason why = why
    who is in charge of / who is responsible for = responsible
    where can i find / where do i find / where can we find / where do we find / where is = where_is
    where are = where_is
    what is / what are / give me = what_is
    tell me about / what can you tell me about / give me information about / give me information on = about
    who / whom / whose / when / where / what / which / how = WORD
""")
"""Beginnings that say what is asked for; WORD stands for the word itself."""

PROCESS: Final = _phrases("""
    what is the process for / what is the procedure for / what are the steps for / what is the process of = howto
""")
"""Beginnings before a verb in -ing."""

ASPECTS: Final = {
    **dict.fromkeys(("deadline", "policy", "rule", "procedure", "process", "requirement"), ("for", "on", "about")),
    **dict.fromkeys(
        ("cost", "price", "address", "name", "purpose", "definition", "length", "duration", "rate"), ("of",)
    ),
    **dict.fromkeys(("limit", "maximum", "minimum"), ("on", "for", "of")),
}
"""Nouns that may stand before or behind what they belong to, and the prepositions that say no more than that."""

AUXILIARIES: Final = {
    "is": "be", "are": "be", "am": "be", "was": "was", "were": "was", "can": "can", "could": "can", "may": "may",
    "might": "might", "must": "must", "should": "should", "shall": "shall", "will": "will", "would": "would",
}  # fmt: skip
"""Verbs that a question may put before or behind its subject, by their form."""

NEGATIONS: Final = frozenset(
    {"not", "no", "never", "without", "neither", "nor", "none", "nobody", "nothing", "unless", "except"}
)
ARTICLES: Final = frozenset({"a", "an", "the", "please"})
SELF: Final = {"i": "self", "we": "self", "me": "self", "us": "self", "my": "self's", "our": "self's"}
PERIODS: Final = frozenset({"day", "hour", "week", "month", "leave", "vacation", "time"})

NOT_PLURAL: Final = frozenset(
    "customs goods news savings arms terms premises sales means species series papers contents headquarters times damages "
    "earnings proceeds minutes works manners looks glasses spirits lens this its his as us was is has does plus less "
    "thus always perhaps towards besides sometimes various business access process address progress success loss pass "
    "class cross press stress mass gas bus status bonus campus virus census focus analysis basis crisis thesis "
    "physics ethics politics economics mathematics logistics statistics athletics sports benefits".split()
)
"""Words in -s that are no plural, or whose plural has a meaning of its own."""

CONTRACTIONS: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "i'm": "i am", "let's": "let us",
    "what's": "what is", "who's": "who is", "where's": "where is", "when's": "when is", "how's": "how is",
    "why's": "why is", "it's": "it is", "that's": "that is", "there's": "there is",
}  # fmt: skip

NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
    if word != "one"  # also a pronoun
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
