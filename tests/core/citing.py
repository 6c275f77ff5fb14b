"""Evidence made from plain text, and texts that are hard to handle, for the tests of citations and support."""

from __future__ import annotations

import hashlib
from datetime import date

from hypothesis import strategies as st

from assistant.core.evidence import Evidence, Passage, SourceVersion, admit
from assistant.core.text import Span


def made(text: str, *, name: str = "doc", title: str = "", at: int = 0, day: date | None = None) -> Evidence:
    """Evidence that shows all of `text`, which stands at offset `at` of its document."""
    source = SourceVersion(name, 1, hashlib.sha256(text.encode()).hexdigest(), title, f"kb://{name}", "kb", date=day)
    return admit(Passage(name, text, source, Span(at, at + len(text))))


SENTENCES = [
    "Full-time employees receive 25 days of annual leave per year.",
    "Unused leave expires on 31 March of the following year.",
    "Contractors are not eligible for the bonus scheme.",
    "员工每年享有15天带薪年假。",
    "未休的年假须在次年3月31日前使用！",
    "| Grade | Limit |\n|---|---|\n| A | 200 EUR |",
    "## Heading\r\n- a point: 3.5 % of pay\r\n- another",
    "<b>Bold</b> &amp; [linked](https://example.org) text\u200b with furniture.",
    "e\u0301te\u0301 \u05e9\u05dc\u05d5\u05dd \u202eabc\u202c 👩‍👩‍👧 12",
    "Here is what I found:",
    "```\nx = a[1]\n```",
    "The documents do not answer this.",
]
HOSTILE = st.one_of(
    st.lists(st.sampled_from([*SENTENCES, " ", "\n", "\r\n", "。", ". ", "5", "not "]), max_size=8).map(" ".join),
    st.text(max_size=80),
)
EVIDENCE = st.lists(st.tuples(HOSTILE, st.integers(0, 1000)), max_size=4).map(
    lambda texts: [made(text, name=f"doc{at}", title=f"Title {at}", at=start) for at, (text, start) in enumerate(texts)]
)
