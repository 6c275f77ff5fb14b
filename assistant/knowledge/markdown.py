"""Markdown to pieces: CommonMark with tables (markdown-it-py), embedded HTML included, template tags taken out.

Markdown is rendered to HTML and read by the HTML walk, so that a table written as HTML and one written as Markdown
come out the same. Jekyll, Eleventy and Hugo put tags of their templates among the words; those go before parsing.
"""

from __future__ import annotations

import re
from typing import Final

from frontmatter.default_handlers import YAMLHandler
from markdown_it import MarkdownIt

from assistant.knowledge.documents import Limits, Piece
from assistant.knowledge.html import fragment
from assistant.knowledge.metadata import Properties, load_yaml, properties_of

_HANDLER: Final = YAMLHandler()
_GUARDED_KEY: Final = re.compile(r"^\s*(?:access|access_groups|groups|authority)\s*:", re.MULTILINE | re.IGNORECASE)
_KEY_LINE: Final = re.compile(r"^([A-Za-z_-]+):[ \t]*(\S.*)$", re.MULTILINE)


def parse_markdown(text: str, limits: Limits) -> tuple[list[Piece], Properties]:
    """The pieces of a Markdown text and the properties of its front matter.

    Raises BadDocument bad_metadata when the front matter is broken where it speaks of access or authority, bomb when
    HTML in it nests too deep.
    """
    front, body = split_front_matter(text)
    markup = _MARKDOWN.render(_own_blocks(without_templates(body)))
    return fragment(markup, limits), front


def split_front_matter(text: str) -> tuple[Properties, str]:
    """Take YAML front matter off a text; a text that only begins with a rule keeps all of it."""
    if not _HANDLER.detect(text):
        return Properties(), text
    try:
        head, body = _HANDLER.split(text)
    except ValueError:
        return Properties(), text
    if not head.strip() or ":" not in head:
        return Properties(), text
    return properties_of(_keys(head)), body


def _keys(head: str) -> dict[str, object]:
    """The keys of a front matter; a broken one still gives the plain ones, unless it speaks of access."""
    try:
        return dict(load_yaml(head))
    except Exception:
        if _GUARDED_KEY.search(head):
            raise
        return {key.lower(): value.strip("\"' ") for key, value in _KEY_LINE.findall(head)}


# Every repetition is bounded or stops at the next opening mark, so that no input makes matching quadratic.
_APART: Final = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z)|\{%-?\s*comment\s*-?%\}.{0,4000}?\{%-?\s*endcomment\s*-?%\}|\{#\s.{0,2000}?#\})"
    r"|^(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^(?P=fence)[^\n]*$|\Z)|`[^`\n]{1,2000}+`",
    re.MULTILINE | re.DOTALL,
)
_CONTENTS: Final = re.compile(
    r"^[ \t]*(?:[*-] .*\n[ \t]*\{:\s*toc\b[^}\n]*\}|\[\[?_?TOC_?\]?\])[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_TEMPLATE: Final = re.compile(
    r"\{%(?P<tag>(?:[^{%]|\{(?!%)|%(?!\}))*)%\}|\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}|\{:[^}\n]{0,300}\}"
    r"|\{(?:[#.][\w-]{1,100}\s?){1,9}\}"
)
_BLANK_TARGET: Final = re.compile(r"(\[[^\[\]\n]{0,300}\])\(((?:[/#.]|https?:)[^()<>\"\s]{0,300} [^()<>\"\n]{0,300})\)")
_LABEL_TAG: Final = re.compile(r"^-?\s*(?P<name>\w+)(?P<args>(?:\s+(?:\"[^\"]*\"|'[^']*'))+)\s*-?$")
# Bold that CommonMark does not see (its flanking rule): beside full-width marks, as Chinese writers set it, or with a
# blank before the closing mark, as word processors export it.
_BOLD: Final = re.compile(r"(?<![*/A-Za-z0-9])\*\*(?![\s#>+*\d-])([^*\n]{1,300})\*\*(?![*/])")
_QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_LIQUID: Final = frozenset(
    str.split(
        "include include_relative render layout extends import block assign capture if unless case when for "
        "raw link post_url highlight cycle section"
    )
)


def without_templates(text: str) -> str:
    """Drop comments, tags and outputs of templates and the attribute lists of kramdown, outside of code.

    A tag that stands for a name (`{% slack_channel "admins" %}`) leaves the name; one that stands for an address or a
    file leaves nothing.
    """
    parts: list[str] = []
    place = 0
    for found in _APART.finditer(text):
        parts += [_untagged(text[place : found.start()]), "" if found["comment"] else found.group()]
        place = found.end()
    return "".join([*parts, _untagged(text[place:])])


def _untagged(text: str) -> str:
    text = _TEMPLATE.sub(_tag_words, _CONTENTS.sub("", text))
    return _BLANK_TARGET.sub(r"\1(<\2>)", _BOLD.sub(r"\1", text))


def _tag_words(found: re.Match[str]) -> str:
    label = _LABEL_TAG.match(found["tag"] or "")
    if label is None or label["name"] in _LIQUID:
        return ""
    last = [one or other for one, other in _QUOTED.findall(label["args"])][-1]
    return "" if "/" in last or re.search(r"\.\w{2,4}$", last) else last


_LONE_TAG: Final = re.compile(r"^[ \t]*(?:</?[a-zA-Z][\w-]*\b[^<>\n]*>\s*)+$")
_TABLE_TAG: Final = re.compile(r"<(/?)(?:table|pre|ul|ol|script|style)\b", re.IGNORECASE)


def _own_blocks(text: str) -> str:
    """Set lone tags apart, so that what stands between them is read as Markdown (as kramdown's markdown="1" does).

    The indentation of the first line after such a tag is the tag's and no code.
    """
    lines: list[str] = []
    inside, fence, margin = 0, "", -1
    for line in text.split("\n"):
        bare = line.lstrip()
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        if not fence:
            inside = max(0, inside + sum(-1 if found.group(1) else 1 for found in _TABLE_TAG.finditer(line)))
            if not inside and "<" in line and _LONE_TAG.match(line):
                lines += ["", bare, ""]
                margin = 0
                continue
        margin = -1 if not bare or inside or fence else len(line) - len(bare) if margin == 0 else margin
        lines.append(line[min(margin, len(line) - len(bare)) :] if margin > 0 else line)
    return "\n".join(lines)


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
