"""HTML to pieces: the content a reader sees, without navigation, banners, scripts and hidden text.

Parsing is Lexbor's (selectolax), which follows the HTML standard; what is furniture is told by element, role, class
and inline style. The walk keeps its own stack, so depth is no danger to it; Lexbor itself takes quadratic time on deep
nesting, which `too_deep` refuses beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from assistant.knowledge.dates import parse_date
from assistant.knowledge.documents import Kind, Limits, Piece, fold, refuse, table
from assistant.knowledge.metadata import Properties

_BLOCKS: Final = frozenset(
    str.split(
        "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure "
        "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary "
        "table tbody td tfoot th thead tr ul caption"
    )
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_NEVER: Final = frozenset(
    str.split(
        "script style noscript template iframe object embed svg canvas audio video map head select datalist "
        "textarea input meta link annotation title -comment -doctype"
    )
)
_FURNITURE: Final = frozenset(str.split("nav aside footer menu dialog button"))
_ROLES: Final = frozenset(
    str.split("navigation banner contentinfo complementary search dialog alertdialog menu menubar")
)
_CLASS: Final = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|breadcrumbs?|menu|sidebar|side-bar|footer|cookies?|consent|gdpr|social|share|"
    r"sharing|newsletter|subscribe|advert|advertisement|ads|promo|popup|modal|toc|table-of-contents|pagination|pager|"
    r"skip-link|skiplink|skip-to-content|skip|editsection|related-posts|comments-area|onetrust|banner)(?:$|[\s_-])",
    re.IGNORECASE,
)
_UNSEEN_CLASS: Final = re.compile(
    r"(?:^|\s)(?:usa-)?(?:sr-only|visually-?hidden|screen-reader-text)(?:\s|$)", re.IGNORECASE
)
_UNSEEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0+\s*(?:;|!|$)|mso-hide\s*:\s*all"
    r"|font-size\s*:\s*(?:0|1)(?:\.\d+)?\s*(?:px|pt)?\s*(?:;|!|$)|(?:^|;)\s*color\s*:\s*transparent"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*(?:0|1px)"
    r"|(?:^|[;\s])(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|!|$)",
    re.IGNORECASE,
)
_ANCHOR_TEXT: Final = re.compile("^[\\s#¶§🔗\u200b]*$")


def parse_html(markup: str, limits: Limits) -> tuple[list[Piece], Properties]:
    """The pieces of a page without its furniture, and what its head says (title, date, author).

    Raises BadDocument bomb when elements nest deeper than the limit.
    """
    tree = _tree(markup, limits)
    body = tree.body
    if body is None:
        return [], Properties()
    pieces = list(to_pieces(_main(body), page=True))
    return pieces, _head(tree, pieces)


def fragment(markup: str, limits: Limits) -> list[Piece]:
    """The pieces of a fragment in which nothing is furniture but scripts and hidden text. Raises as `parse_html`."""
    body = _tree(markup, limits).body
    return [] if body is None else list(to_pieces(body, page=False))


def _tree(markup: str, limits: Limits) -> LexborHTMLParser:
    if too_deep(markup, limits.depth):
        raise refuse("bomb", f"elements nest deeper than {limits.depth}")
    return LexborHTMLParser(markup)


_NESTING: Final = re.compile(
    r"<(/?)(?:div|span|section|article|main|aside|table|ul|ol|dl|b|i|u|s|em|strong|font|a|blockquote|center|small|big|"
    r"code|sup|sub|svg|g|form|fieldset|details|nav|header|footer|label|figure|button|object|tt|strike|nobr|ins|del)\b",
    re.IGNORECASE,
)


def too_deep(markup: str, depth: int) -> bool:
    """Whether more than `depth` elements are open at once; end tags that are optional are not counted."""
    open_now = 0
    for found in _NESTING.finditer(markup):
        open_now = max(0, open_now - 1) if found.group(1) else open_now + 1
        if open_now > depth:
            return True
    return False


def _main(body: LexborNode) -> LexborNode:
    """The element that holds the page's content: main, or the only article, when it holds a fair part of the text."""
    everything = len(body.text(deep=True))
    for selector in ("main", "[role=main]", "article"):
        found = body.css(selector)
        if len(found) == 1 and len(found[0].text(deep=True)) * 5 >= everything:
            return found[0]
    return body


def _hidden(attributes: Mapping[str, str | None]) -> bool:
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    if style and _UNSEEN_STYLE.search(style):
        return True
    return bool(_UNSEEN_CLASS.search(attributes.get("class") or ""))


def _furniture(node: LexborNode, tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Whether an element of a page belongs to the site and not to the text."""
    if tag in {"html", "body", "main", "article"} | set(_HEADINGS):
        return False
    if tag == "header" or (attributes.get("role") or "") == "banner":
        return node.css_first("h1") is None
    if tag == "button":
        return node.parent is None or node.parent.tag not in _HEADINGS
    if tag in _FURNITURE or (attributes.get("role") or "") in _ROLES:
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    return bool(names.strip()) and bool(_CLASS.search(names)) and node.css_first("h1, main, article") is None


def _permalink(node: LexborNode) -> bool:
    """A mark beside a heading that links to itself."""
    return node.tag == "a" and bool(_ANCHOR_TEXT.match(node.text(deep=True))) and node.css_first("img") is None


def to_pieces(root: LexborNode, *, page: bool) -> Iterator[Piece]:
    """Walk an element and give its pieces in reading order; `page` says whether furniture is dropped."""
    writer = _Writer()
    stack: list[LexborNode | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            writer.close(node)
        elif node.tag == "-text":
            writer.text(node.text_content or "")
        elif _shown(node, page=page):
            if node.tag == "table" and (rows := list(_rows(node, page=page))):
                writer.table(rows)
                continue
            writer.open(str(node.tag), node.attributes)
            stack.append(str(node.tag))
            stack.extend(reversed(list(node.iter(include_text=True))))
        yield from writer.take()
    writer.close("body")
    yield from writer.take()


def _shown(node: LexborNode, *, page: bool) -> bool:
    tag = str(node.tag)
    if tag in _NEVER:
        return False
    attributes = node.attributes
    return not (_hidden(attributes) or _permalink(node) or (page and _furniture(node, tag, attributes)))


class _Writer:
    """Collects inline text and turns it into pieces at the borders of blocks."""

    def __init__(self) -> None:
        self._done: list[Piece] = []
        self._inline: list[str] = []
        self._lists: list[tuple[str, int]] = []
        self._heading = 0
        self._mark = ""
        self._code = 0

    def take(self) -> list[Piece]:
        """The pieces that are complete, in order; they are forgotten here."""
        done, self._done = self._done, []
        return done

    def text(self, text: str) -> None:
        self._inline.append(text if self._code else _soft(text))

    def table(self, rows: list[list[str]]) -> None:
        self._flush()
        self._done += table(rows)

    def open(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        """Begin an element: blocks end the text before them, some inline elements are text themselves."""
        if tag == "br":
            self._inline.append("\n" if self._code else "\v")
        elif tag == "img" and _says_something(alt := attributes.get("alt") or ""):
            self._picture(alt)
        elif tag in _BLOCKS:
            self._flush()
            self._begin(tag, attributes)

    def _picture(self, alt: str) -> None:
        """The words for a picture stand on a line of their own; inside a sentence they would become part of it."""
        if not "".join(self._inline).strip():
            self._inline = [fold(alt), "\v"]

    def _begin(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        self._heading = _HEADINGS.get(tag, self._heading)
        if tag in {"ul", "ol"}:
            start = attributes.get("start") or "1"
            self._lists.append((tag, int(start) if tag == "ol" and start.isdigit() and len(start) < 9 else 1))
        elif tag == "li":
            self._mark = self._next_mark()
        elif tag == "pre":
            self._code += 1

    def _next_mark(self) -> str:
        if not self._lists or self._lists[-1][0] == "ul":
            return "-"
        kind, number = self._lists[-1]
        self._lists[-1] = (kind, number + 1)
        return f"{number}."

    def close(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        self._flush()
        if tag in _HEADINGS:
            self._heading = 0
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._mark = ""
        elif tag == "pre":
            self._code = max(0, self._code - 1)

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline = []
        if not text.strip():
            return
        depth = max(0, len(self._lists) - 1)
        if self._heading:
            self._done.append(Piece(Kind.HEADING, text, self._heading))
        elif self._code:
            self._done.append(Piece(Kind.CODE, text.strip("\n")))
        elif self._mark:
            self._done.append(Piece(Kind.ITEM, text.replace("\v", "\n"), depth, mark=self._mark))
            self._mark = ""
        else:
            self._done.append(Piece(Kind.PARAGRAPH, "\n".join(fold(line) for line in text.split("\v"))))


def _soft(text: str) -> str:
    """White space of the source is no line end; \\v stays free to mean <br>."""
    return text.replace("\v", " ") if text.isspace() or "\n" not in text else fold_edges(text)


def fold_edges(text: str) -> str:
    """Fold the white space inside a text and keep one space or line end at each edge, where neighbours join."""
    inner = fold(text)
    before = "\n" if "\n" in text[: len(text) - len(text.lstrip())] else " " if text[:1].isspace() else ""
    after = "\n" if "\n" in text[len(text.rstrip()) :] else " " if text[-1:].isspace() else ""
    return before + inner + after


def _says_something(alt: str) -> bool:
    """Whether the text for a picture is a description and not a name."""
    return len(alt.split()) >= 4 or (not alt.isascii() and len(alt) >= 8)


def _rows(node: LexborNode, *, page: bool) -> Iterator[list[str]]:
    """The rows of a table of data, spans filled in; nothing for a table that only arranges a page."""
    if (node.attributes.get("role") or "") in {"presentation", "none"} or len(node.css("table")) > 1:
        return
    lines = [[cell for cell in line.iter() if cell.tag in {"td", "th"}] for line in node.css("tr")]
    if max((len(line) for line in lines), default=0) < 2:
        return
    caption = node.css_first("caption")
    if caption is not None and (said := _cell(caption, page=page)):
        yield [said]
    hanging: dict[int, tuple[int, str]] = {}
    for line in lines:
        cells, hanging = _filled(line, hanging, page=page)
        yield cells


def _filled(
    line: list[LexborNode], hanging: dict[int, tuple[int, str]], *, page: bool
) -> tuple[list[str], dict[int, tuple[int, str]]]:
    """One row with the cells that hang down from rows above, and what hangs down below it."""
    cells: list[str] = []
    below: dict[int, tuple[int, str]] = {}
    for cell in line:
        while len(cells) in hanging:
            _hang(cells, hanging, below)
        text = _cell(cell, page=page) if _shown(cell, page=page) else ""
        depth = _number(cell.attributes.get("rowspan"))
        for extra in range(_number(cell.attributes.get("colspan"))):
            shown = "" if extra else text
            if depth > 1:
                below[len(cells)] = (depth - 1, shown)
            cells.append(shown)
    while len(cells) in hanging:
        _hang(cells, hanging, below)
    return cells, below


def _hang(cells: list[str], hanging: dict[int, tuple[int, str]], below: dict[int, tuple[int, str]]) -> None:
    left, text = hanging[len(cells)]
    if left > 1:
        below[len(cells)] = (left - 1, text)
    cells.append(text)


def _number(value: str | None) -> int:
    """A span of cells, within reason."""
    return min(int(value), 50) if value and value.strip().isdecimal() and len(value) < 9 and int(value) else 1


def _cell(node: LexborNode, *, page: bool) -> str:
    pieces = to_pieces(node, page=page)
    return " ".join(f"{one.mark} {fold(one.text)}" if one.kind is Kind.ITEM else fold(one.text) for one in pieces)


def _head(tree: LexborHTMLParser, pieces: list[Piece]) -> Properties:
    """What the head and the first heading say."""
    named: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        named.setdefault(name, attributes.get("content") or "")
    top = next((piece.text for piece in pieces if piece.kind is Kind.HEADING and piece.level == 1), "")
    title = tree.css_first("title")
    dates = (
        *("article:modified_time", "last-modified", "dcterms.modified", "article:published_time"),
        "date",
        "dc.date",
    )
    return Properties(
        title=fold(top) or (fold(title.text(deep=True)) if title else "") or None,
        date=next((found for key in dates if (found := parse_date(named.get(key, "")))), None),
        owner=fold(named.get("author", "")) or None,
    )
