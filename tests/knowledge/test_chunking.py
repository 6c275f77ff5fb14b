from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.text import index_terms, sentences
from assistant.knowledge.chunking import ChunkSize, chunk
from assistant.knowledge.documents import Kind, Limits, Parsed, Piece, assemble
from assistant.knowledge.parsers import parse

SENTENCE = st.sampled_from(
    [
        "Employees may carry over ten days.",
        "Ask your manager, e.g. by mail.",
        "员工可以结转十天年假。",
        "Is it paid?",
        "Dr. Smith approves 3.5 days at most, see sec. 4.",
        "x" * 60,
        "a long line without any end " * 4,
    ]
)
PIECES = st.lists(
    st.one_of(
        st.builds(Piece, st.just(Kind.HEADING), st.sampled_from(["Leave", "Pay", "年假"]), st.integers(1, 4)),
        st.builds(Piece, st.just(Kind.PARAGRAPH), st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)),
        st.builds(Piece, st.just(Kind.ITEM), SENTENCE, st.integers(0, 3)),
        st.builds(Piece, st.just(Kind.HEADER), st.just("| Kind | Days |")),
        st.builds(Piece, st.just(Kind.ROW), st.just("| annual. Yes! | 20 |")),
        st.builds(Piece, st.just(Kind.PARAGRAPH), SENTENCE, st.just(0), st.integers(1, 3)),
    ),
    min_size=1,
    max_size=40,
)
SIZES = st.builds(ChunkSize, st.integers(80, 400), st.integers(0, 80))


def parsed(pieces: list[Piece]) -> Parsed:
    text, blocks = assemble(pieces, Limits())
    return Parsed(None, text, blocks, "text/plain", "en")


def texts(page: Parsed, size: ChunkSize | None = None) -> list[str]:
    return [page.text[one.span.start : one.span.end] for one in chunk(page, "T", size)]


@given(PIECES, SIZES)
def test_chunks_tile_the_text(pieces: list[Piece], size: ChunkSize) -> None:
    page = parsed(pieces)
    chunks = chunk(page, "Title", size)
    assert chunks[0].span.start == 0
    assert chunks[-1].span.end == len(page.text)
    assert all(one.span.end == other.span.start for one, other in pairwise(chunks))
    assert "".join(texts(page, size)) == page.text
    assert all(page.text[one.span.start : one.span.end].strip() for one in chunks)


@given(PIECES, SIZES)
def test_no_sentence_or_row_is_torn(pieces: list[Piece], size: ChunkSize) -> None:
    page = parsed(pieces)
    inside = {place for span in sentences(page.text) for place in range(span.start + 1, span.end)}
    assert not inside & {one.span.start for one in chunk(page, "Title", size)}


@given(PIECES, SIZES)
def test_chunks_are_not_far_over_the_target(pieces: list[Piece], size: ChunkSize) -> None:
    page = parsed(pieces)
    longest = max(len(span) for span in sentences(page.text))
    for text in texts(page, size):
        assert len(text) <= size.target * 1.5 + 2 * longest + 20


@given(PIECES)
def test_sections_begin_with_the_title_and_pages_are_those_of_the_first_block(pieces: list[Piece]) -> None:
    page = parsed(pieces)
    for one in chunk(page, "Title"):
        assert one.section.split(" > ")[0] == "Title"
        first = next(block for block in page.blocks if block.span.end > one.span.start)
        assert one.page == first.page


def test_sections_stay_whole_and_carry_their_path() -> None:
    body = "Employees may carry over ten days. " * 20
    page = parse(f"# Leave\n\n## Annual\n\n{body}\n\n## Sick\n\n{body}\n".encode(), "x.md")
    chunks = chunk(page, "Leave")
    assert [one.section for one in chunks] == ["Leave > Annual", "Leave > Sick"]


def test_small_neighbours_under_one_parent_are_put_together() -> None:
    page = parse(b"## A\n\nShort.\n\n## B\n\nShort too.\n\n## C\n\nAlso.\n", "x.md")
    chunks = chunk(page, "T")
    assert [one.section for one in chunks] == ["T"]


def test_a_heading_never_ends_a_chunk() -> None:
    body = "Employees may carry over ten days. " * 25
    page = parse(f"## A\n\n{body}\n\n## B\n\n### C\n\n{body}\n".encode(), "x.md")
    for text in texts(page):
        assert not text.rstrip().splitlines()[-1].startswith("#")


def test_long_sections_are_cut_into_even_parts() -> None:
    body = "\n\n".join("Employees may carry over ten days into the next year. " * 4 for _ in range(10))
    sizes = [len(text) for text in texts(parse(body.encode(), "x.md"))]
    assert len(sizes) >= 2
    assert min(sizes) > 0.45 * max(sizes)


def test_rows_far_from_their_header_name_it_in_the_section_and_the_terms() -> None:
    rows = "\n".join(f"| number {place} of many rows | {place} |" for place in range(120))
    page = parse(f"| Grade | Allowance |\n|---|---|\n{rows}\n".encode(), "x.md")
    chunks = chunk(page, "Pay")
    assert len(chunks) > 2
    for one in chunks[1:]:
        assert one.section == "Pay > Grade | Allowance"
        assert set(index_terms("Allowance")) <= set(one.terms)
        assert "Allowance" not in page.text[one.span.start : one.span.end]


def test_title_and_section_count_as_terms() -> None:
    page = parse(b"## Carry over\n\nTen days at most.", "x.md")
    (one,) = chunk(page, "Annual leave")
    assert set(index_terms("Annual leave carry over ten days")) <= set(one.terms)


def test_slides_are_never_mixed() -> None:
    pieces = [Piece(Kind.HEADING, f"Slide {page}", 2, page) for page in (1, 2, 3)]
    pieces = [one for piece in pieces for one in (piece, Piece(Kind.ITEM, "A point.", 0, piece.page))]
    assert [one.page for one in chunk(parsed(pieces), "Deck")] == [1, 2, 3]


def test_chinese_chunks_are_half_as_long() -> None:
    page = parse(("员工可以结转十天年假。" * 200).encode(), "x.txt")
    assert max(map(len, texts(page))) <= 800


def test_a_dump_without_sentences_is_cut_all_the_same() -> None:
    page = parse(b"x" * 50_000, "x.txt")
    assert max(map(len, texts(page))) <= 6 * ChunkSize().target


@pytest.mark.parametrize("indent", ["- outer\n", "- outer\n  - inner\n    - inmost\n"])
def test_the_indentation_of_an_item_stays_with_it(indent: str) -> None:
    source = indent * 100
    for text in texts(parse(source.encode(), "x.md")):
        assert text.lstrip("\n").startswith(("- ", "  - ", "    - "))
        assert not text.endswith(" ")
