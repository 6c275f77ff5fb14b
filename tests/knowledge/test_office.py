import io
import zipfile

import docx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind, Limits
from assistant.knowledge.office import is_generated_title, open_container
from assistant.knowledge.parsers import parse
from tests.knowledge.files import archive, office, rewritten, slide_with_table, slides, word

W = nsdecls("w")


def saved(document: object) -> bytes:
    sink = io.BytesIO()
    document.save(sink)  # type: ignore[attr-defined]
    return sink.getvalue()


def test_word_structure() -> None:
    page = parse(
        word(
            [("Title", "Leave"), ("Heading 1", "Kinds"), ("Normal", "Two kinds."), ("List Bullet", "annual")],
            rows=[["Kind", "Days"], ["annual", "20"]],
        ),
        "x.docx",
    )
    assert page.text == "# Leave\n\n# Kinds\n\nTwo kinds.\n\n- annual\n\n| Kind | Days |\n| annual | 20 |"
    assert page.title == "Leave"


def test_word_reads_what_others_skip_and_leaves_out_what_is_not_there() -> None:
    document = docx.Document()
    body = document.element.body
    inserted = "<w:ins><w:r><w:t>inserted</w:t></w:r></w:ins><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>vanished</w:t></w:r>"
    hyphen = "<w:r><w:t>day</w:t><w:noBreakHyphen/><w:t>night</w:t></w:r>"
    box = "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>"
    for xml in (
        f"<w:p {W}>{inserted}{hidden}{hyphen}</w:p>",
        f"<w:p {W}>{box}</w:p>",
        f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>",
    ):
        body.insert(0, parse_xml(xml))
    text = parse(saved(document), "x.docx").text
    for seen in ("inserted", "controlled", "day-night", "boxed"):
        assert text.count(seen) == 1
    for unseen in ("deleted", "vanished"):
        assert unseen not in text


def test_word_comments_headers_and_footers_stand_at_the_end() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Body.")
    document.add_comment(paragraph.runs, "A remark", author="A")
    document.sections[0].header.paragraphs[0].text = "Above"
    document.sections[0].footer.paragraphs[0].text = "Below"
    assert parse(saved(document), "x.docx").text.split("\n\n") == ["Body.", "Above", "Below", "A remark"]


def test_word_heading_by_outline_level() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Scope")
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "1")
    paragraph._p.get_or_add_pPr().append(level)
    assert parse(saved(document), "x.docx").text == "## Scope"


def test_merged_cells_repeat_downwards() -> None:
    document = docx.Document()
    table = document.add_table(2, 2)
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Grade A"
    table.cell(0, 1).text, table.cell(1, 1).text = "10", "20"
    assert parse(saved(document), "x.docx").text == "| Grade A | 10 |\n| Grade A | 20 |"


def test_real_word_files() -> None:
    text = parse(office("docx-hdrftr.docx"), "x.docx").text
    assert all(seen in text for seen in ("Main document", "First header para", "Last header para", "para1", "para2"))
    tables = parse(office("docx-tables.docx"), "x.docx")
    assert "| Header Col 1 | Header Col 2 |\n| Lorem ipsum | A link example |" in tables.text
    assert sum(block.kind is Kind.HEADER for block in tables.blocks) == 3


def test_slides_are_pages() -> None:
    page = parse(slides([("Leave", ["annual", "sick"], "Say it slowly."), ("Pay", ["monthly"], "")]), "x.pptx")
    assert page.text == "## Leave\n\n- annual\n- sick\n\nSay it slowly.\n\n## Pay\n\nmonthly"
    assert [block.page for block in page.blocks] == [1, 1, 1, 1, 2, 2]


def test_slide_tables_and_real_slides() -> None:
    assert (
        parse(slide_with_table([["Kind", "Days"], ["annual", "20"]]), "x.pptx").text
        == "| Kind | Days |\n| annual | 20 |"
    )
    page = parse(office("sample-presentation.pptx"), "x.pptx")
    assert "    - This one is a sub-sub-bullet" in page.text
    assert "| 2 | A2 | B2 | C2 |" in page.text
    assert max(block.page or 0 for block in page.blocks) == 4


@pytest.mark.parametrize("title", ["PowerPoint Presentation", "Microsoft Word - leave.doc", "leave.docx", "Untitled 1"])
def test_titles_that_programs_set(title: str) -> None:
    assert is_generated_title(title)
    page = parse(word([("Normal", "Text")], title=title), "x.docx")
    assert page.title is None


def test_a_title_that_a_person_set() -> None:
    assert parse(word([("Normal", "Text")], title="Leave policy"), "x.docx").title == "Leave policy"


BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><w:document>&i;</w:document>"
)


@pytest.mark.parametrize("original", ["x.docx", "x.pptx", "x.xlsx"])
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"../../etc/passwd": "x"}, "corrupt"),
        ({"/etc/passwd": "x"}, "corrupt"),
        ({"C:\\x": "x"}, "corrupt"),
        ({"bomb.xml": b"\0" * 30_000_000}, "bomb"),
        ({"word/document.xml": BILLION_LAUGHS, "ppt/presentation.xml": BILLION_LAUGHS}, "bomb"),
    ],
)
def test_hostile_containers(original: str, changes: dict[str, bytes], reason: str) -> None:
    source = {
        "x.docx": word([("Normal", "Text")]),
        "x.pptx": office("sample-presentation.pptx"),
        "x.xlsx": office("stanley-cups.xlsx"),
    }[original]
    with pytest.raises(BadDocument) as caught:
        parse(rewritten(source, changes), original)
    assert caught.value.data["reason"] == reason


def test_total_size_and_number_of_parts_are_bounded() -> None:
    many = archive({f"{place}.xml": "x" for place in range(60)})
    with pytest.raises(BadDocument) as caught:
        open_container(many, Limits(members=50))
    assert caught.value.data["reason"] == "bomb"
    with pytest.raises(BadDocument) as caught:
        open_container(many, Limits(unpacked=50))
    assert caught.value.data["reason"] == "bomb"


def test_a_part_that_lies_about_its_size_is_corrupt() -> None:
    data = bytearray(archive({"word/document.xml": "x" * 1000}))
    place = data.rindex(b"PK\x01\x02") + 24
    data[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(BadDocument) as caught:
        open_container(bytes(data), Limits())
    assert caught.value.data["reason"] == "corrupt"


def test_encrypted_parts() -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as out:
        out.writestr("word/document.xml", "x")
    data = bytearray(sink.getvalue())
    data[6] |= 1
    place = data.rindex(b"PK\x01\x02") + 8
    data[place] |= 1
    with pytest.raises(BadDocument) as caught:
        open_container(bytes(data), Limits())
    assert caught.value.data["reason"] == "encrypted"
