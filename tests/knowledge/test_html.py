import pytest

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits
from assistant.knowledge.html import too_deep
from assistant.knowledge.parsers import parse


def text_of(body: str) -> str:
    return parse(f"<!doctype html><html><body>{body}</body></html>".encode(), "page.html").text


def test_a_page_without_its_furniture() -> None:
    page = parse(
        b"""<html><head><title>Leave | Site</title><meta name="author" content="People team">
        <meta property="article:modified_time" content="2024-02-03T10:00:00Z"><style>p{}</style></head><body>
        <header><nav><a href="/">Home</a></nav></header><div class="cookie-banner">We use cookies</div>
        <nav>Menu</nav><main><h1>Leave<a class="hash-link" href="#l">#</a></h1>
        <p>Twenty   days.<br>Paid.</p><aside>Related</aside>
        <ul><li>one<ul><li>deeper</li></ul></li><li>two</li></ul>
        <ol start="3"><li>third</li><li>fourth</li></ol></main><footer>Imprint</footer>
        <script>var x = "words"</script></body></html>""",
        "leave.html",
    )
    assert page.text == ("# Leave\n\nTwenty days.\nPaid.\n\n- one\n  - deeper\n- two\n3. third\n4. fourth")
    assert page.title == "Leave"
    assert page.embedded.owner == "People team"
    assert str(page.embedded.date) == "2024-02-03"


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">x</p>',
        '<p style="visibility:hidden">x</p>',
        '<p style="font-size:0">x</p>',
        '<p style="font-size: 0.0px; color: red">x</p>',
        '<p style="opacity:0">x</p>',
        '<p style="position:absolute;left:-9999px">x</p>',
        '<p style="color:transparent">x</p>',
        "<p hidden>x</p>",
        '<p aria-hidden="true">x</p>',
        '<span class="sr-only">x</span>',
        "<template>x</template>",
        "<noscript>x</noscript>",
        "<!-- x -->",
    ],
)
def test_hidden_text_goes(hidden: str) -> None:
    assert text_of(f"<p>Seen</p>{hidden}") == "Seen"


@pytest.mark.parametrize("style", ["font-size: 10px", "opacity: 0.5", "left: 0", "height: 100px", "color: #000"])
def test_visible_text_stays(style: str) -> None:
    assert text_of(f'<p style="{style}">Seen</p>') == "Seen"


def test_a_body_with_a_furniture_like_class_stays() -> None:
    assert parse(b'<html><body class="has-sidebar nav"><p>Seen</p></body></html>', "x.html").text == "Seen"


def test_the_header_that_holds_the_title_stays() -> None:
    assert text_of("<article><header><h1>Title</h1></header><p>Text</p></article>") == "# Title\n\nText"


def test_tables_fill_their_spans() -> None:
    table = (
        "<table><caption>Rates</caption><tr><th>Grade<th colspan=2>Pay</tr>"
        "<tr><td rowspan=2>A<td>10<td>x</tr><tr><td>20<td><ul><li>y</li><li>z</li></ul></tr></table>"
    )
    assert text_of(table) == "| Rates |\n| Grade | Pay |\n| A | 10 | x |\n| A | 20 | - y - z |"


def test_tables_that_arrange_a_page_are_no_tables() -> None:
    assert text_of("<table><tr><td><p>One</p></td></tr><tr><td><p>Two</p></td></tr></table>") == "One\n\nTwo"
    nested = "<table><tr><td>Left</td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    assert text_of(nested) == "Left\n\n| a | b |"


def test_declared_encoding_is_used() -> None:
    page = '<html><head><meta charset="gb18030"></head><body><p>年假</p></body></html>'.encode("gb18030")
    assert parse(page, "x.html").text == "年假"


def test_deep_nesting_is_refused_at_once() -> None:
    with pytest.raises(BadDocument) as caught:
        parse(b"<div>" * 100_000 + b"x", "x.html")
    assert caught.value.data["reason"] == "bomb"


def test_depth_counts_open_elements() -> None:
    assert too_deep("<div>" * 11, 10)
    assert not too_deep("<div></div>" * 1000, 10)
    assert not too_deep("<p>" * 1000, 10)


def test_depth_within_the_limit_is_read() -> None:
    depth = Limits().depth - 5
    assert parse(b"<div>" * depth + b"x", "x.html").text == "x"


def test_huge_spans_are_cut_down() -> None:
    page = parse(b"<table><tr><td rowspan=999999 colspan=999999>a<td>b<tr><td>c<td>d</table>", "x.html")
    assert len(page.text) < 500
    assert [block.kind for block in page.blocks] == [Kind.HEADER, Kind.ROW]
