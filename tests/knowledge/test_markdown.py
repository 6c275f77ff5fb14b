import pytest

from assistant.errors import BadDocument
from assistant.knowledge.documents import Kind
from assistant.knowledge.markdown import split_front_matter, without_templates
from assistant.knowledge.parsers import parse


def text_of(markdown: str) -> str:
    return parse(markdown.encode(), "page.md").text


def test_structure() -> None:
    page = parse(
        b"---\ntitle: Leave\n---\n# Kinds\n\nAnnual leave\nis *paid*.\n\n* one\n  1. first\n  2. second\n* two\n\n"
        b"| Kind | Days |\n| --- | ---: |\n| annual | **20** |\n| sick | 10 |\n",
        "leave.md",
    )
    assert page.title == "Leave"
    assert page.text == (
        "# Kinds\n\nAnnual leave is paid.\n\n- one\n  1. first\n  2. second\n- two\n\n"
        "| Kind | Days |\n| annual | 20 |\n| sick | 10 |"
    )
    kinds = [block.kind for block in page.blocks]
    assert kinds == [
        *(Kind.HEADING, Kind.PARAGRAPH, Kind.ITEM, Kind.ITEM, Kind.ITEM, Kind.ITEM),
        *(Kind.HEADER, Kind.ROW, Kind.ROW),
    ]
    assert page.blocks[-1].header == "| Kind | Days |"


def test_headings_make_the_path() -> None:
    page = parse(b"# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd", "x.md")
    assert [block.path for block in page.blocks if block.kind is Kind.PARAGRAPH] == [
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('Ask in {% slack_channel "admins-github" %} first.', "Ask in admins-github first."),
        ('{% slack_channel "g-consulting" "Consulting Guild" %}', "Consulting Guild"),
        ('See [the page]({% page "/tools/tock/" %}).', "See [the page]()."),
        ('{% include "step.html" steps: page.steps %}Text', "Text"),
        ("{{ site.baseurl }}Text{: .button}", "Text"),
        ("## Head {#anchor}", "## Head "),
        ("{{< note >}}Text{{< /note >}}", "Text"),
        ("a <!-- hidden\nwords --> b", "a  b"),
        ("{% comment %}no{% endcomment %}yes", "yes"),
        ("`{{ kept }}` and {{ gone }}", "`{{ kept }}` and "),
        ("```yaml\nx: {{ kept }}\n```\n", "```yaml\nx: {{ kept }}\n```\n"),
        ("`<!--` stays", "`<!--` stays"),
        ("a set {1, 2} and {x}", "a set {1, 2} and {x}"),
    ],
)
def test_templates(source: str, expected: str) -> None:
    assert without_templates(source) == expected


@pytest.mark.parametrize("mark", ["{%", "{{", "[a](", "**中", "<!--", "`", "{:", "{#a"])
def test_open_marks_do_not_hang(mark: str) -> None:
    assert len(without_templates(mark * 50_000)) <= len(mark) * 50_000


def test_chinese_lines_join_without_a_space_and_bold_marks_go() -> None:
    assert (
        text_of("员工每年享有\n十五天年假。\n\n**注意：**须提前申请") == "员工每年享有十五天年假。\n\n注意：须提前申请"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("- **All staff: **Tell us.", "- All staff: Tell us."),
        ("**为什么？**因为", "为什么？因为"),
        ("请**务必（提前）**申请", "请务必（提前）申请"),
        ("**bold *both* bold** end", "bold both bold end"),
        ("***both*** end", "both end"),
        ("**1. First** part", "1. First part"),
    ],
)
def test_bold_as_people_write_it(source: str, expected: str) -> None:
    assert text_of(source) == expected


def test_indentation_after_a_lone_tag_is_no_code() -> None:
    source = '<aside markdown="1">\n  <p>\n    By [her](http://a.b)\n  </p>\n</aside>\n\n    code *stays*\n'
    page = parse(source.encode(), "x.md")
    assert page.text == "By her\n\n    code *stays*".replace("    ", "")
    assert [block.kind for block in page.blocks] == [Kind.PARAGRAPH, Kind.CODE]


def test_html_inside_is_read_and_its_markdown_too() -> None:
    source = (
        '<aside markdown="1" class="quote">\n  <img src="a.png" alt="avatar">\n  See [this](http://a.b).\n</aside>\n\n'
        "<table><tr><th>Kind</th><th>Days</th></tr><tr><td>annual</td><td>20</td></tr></table>\n"
    )
    assert text_of(source) == "See this.\n\n| Kind | Days |\n| annual | 20 |"


def test_hidden_text_and_scripts_go() -> None:
    source = 'Seen.\n\n<p style="display:none">obey</p>\n\n<script>run()</script>\n\nEnd\u200b.'
    assert text_of(source) == "Seen.\n\nEnd."


def test_links_with_blanks_in_their_target_are_still_links() -> None:
    assert text_of("See [the picture](/images/my picture.png) and [b](#some part).") == "See the picture and b."


def test_code_keeps_its_lines() -> None:
    assert text_of("Run:\n\n```sh\n# not a heading\nls | wc\n```\n") == "Run:\n\n# not a heading\nls | wc"


def test_placeholders_in_code_are_words() -> None:
    assert text_of("Use `<project>-feds`.") == "Use <project>-feds."


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    front, body = split_front_matter("---\nJust a line\n---\nrest")
    assert front.title is None
    assert "Just a line" in body


def test_broken_front_matter_still_gives_plain_keys() -> None:
    front, body = split_front_matter("---\ntitle: A: b\ndate: 2024-01-02\n---\nText")
    assert front.title == "A: b"
    assert str(front.date) == "2024-01-02"
    assert body.strip() == "Text"


def test_broken_front_matter_that_guards_is_refused() -> None:
    with pytest.raises(BadDocument) as caught:
        parse(b"---\ntitle: A: b\naccess: hr\n---\nSecret", "x.md")
    assert caught.value.data["reason"] == "bad_metadata"


def test_front_matter_access_is_read() -> None:
    assert parse(b"---\naccess: [hr]\n---\nText", "x.md").front.access == frozenset({"hr"})
