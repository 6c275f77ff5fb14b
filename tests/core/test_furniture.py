"""Furniture: whole lines that say nothing of their page, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.evidence import Evidence
from assistant.core.furniture import without_furniture
from assistant.core.text import Span
from tests.making import evidence, source

RULE = "Employees may leave at four on Fridays when their manager agrees."
RULE_ZH = "经部门经理同意，员工周五可以提前下班，并在考勤系统中登记。"
NAVIGATION = """
Skip to main content
Jump directly to navigation
↑ Back to top
Return to the top of the page
Previous | Next
« Previous page | Next page »
Share this page on LinkedIn, Mastodon
Print this article
Edit this page on GitHub
Was this page helpful? Yes No
Sign up for our newsletter
Page 3 of 12
p. 7
– 14 –
© 2024 Example Works Ltd. All rights reserved.
Copyright 2019-2024 Example Works
All rights reserved.
Accept all cookies
Cookie settings
We use cookies to improve this site. By going on you agree to our use of cookies.
This website uses cookies; please accept them to go on.
Home > People > Leave
Homepage » About us
You are here: People / Leave
- Back to top
跳转到主要内容
返回顶部
回到首页
上一页 | 下一页
分享到 微信、微博
打印本页
第 3 页
第3页 共12页
共 12 页，第 3 页
版权所有 © 2024 示例公司
© 2024 示例公司 保留所有权利。
接受所有 Cookie
Cookie 设置
本网站使用 Cookie 改善体验，继续浏览即表示您同意使用。
首页 > 人事 > 假期
当前位置：人事 > 假期
""".strip().splitlines()
CONTENT = """
Page 3 of the form must be signed.
Copyright in what employees write belongs to the company.
版权所有者应当是公司。
We use cookies to keep people signed in for 30 days.
Cookie consent is stored with the date on which it was given, for audits.
Accept all invoices below 500 euros without a second signature.
(c) clean the machine after every use
Previous employers are asked for a reference.
Next steps are agreed in writing.
Home office is allowed.
Home / office: two desks
Share this page with nobody outside the team before it is published.
The way back to the top floor is closed at night.
1. Back up the disk
第 3 页须由本人签字。
返回顶部楼层须刷卡。
员工可以接受合作方的请柬。
本网站使用 Cookie 保存登录状态三十天。
首页由市场部维护。
# Home
| Home | Office |
## Page 2
12 / 24
""".strip().splitlines()


@pytest.mark.parametrize("line", NAVIGATION)
@pytest.mark.parametrize("rule", [RULE, RULE_ZH])
def test_navigation_lines_are_left_out(line: str, rule: str) -> None:
    text = f"{line}\n\n{rule * 3}\n{line}\n{rule * 3}\n\n{line}"
    (item,) = without_furniture([evidence(text)])
    assert item.text == f"{rule * 3}\n[…]\n{rule * 3}"
    assert item.exact == text


@pytest.mark.parametrize("line", CONTENT)
def test_lines_that_only_look_like_navigation_stay(line: str) -> None:
    item = evidence(f"{RULE}\n\n{line}\n\n{RULE_ZH * 3}")
    assert without_furniture([item]) == (item,)


def test_code_is_no_navigation() -> None:
    item = evidence(f"{RULE}\n\n```\nPage 3 of 12\n```\n\n    Back to top\n\n{RULE}")
    assert without_furniture([item]) == (item,)


@pytest.mark.parametrize(
    "line",
    [
        "This handbook belongs to everyone, so please suggest changes where something is out of date.",
        "本手册由全体员工共同维护，如有疑问请联系人力资源部。",
    ],
)
def test_a_line_that_repeats_across_documents_is_shown_once_in_the_best_piece(line: str) -> None:
    rules = [RULE, RULE_ZH, RULE.replace("leave", "come"), RULE.replace("four", "noon")]
    pieces = [evidence(f"{rule * 3}\n\n{line}", f"d{n}") for n, rule in enumerate(rules)]
    assert [line in item.text for item in without_furniture(pieces)] == [True, False, False, False]
    assert [line in item.text for item in without_furniture(pieces[:2])] == [True, True]


def test_editions_of_one_document_are_one_family() -> None:
    line = "This handbook belongs to everyone, so please suggest changes where something is out of date."
    versions = [source(f"v{n}", family="leave.md") for n in range(4)]
    pieces = [evidence(f"{RULE * 3}\n\n{line}", version.document, version=version) for version in versions]
    assert without_furniture(pieces) == tuple(pieces)


@pytest.mark.parametrize(
    "line",
    [
        "Every request is answered within 3 days by the people team.",
        "Every request is answered within two days by the people team.",
        "所有申请由人力资源部在两天内答复处理。",
        "## This part tells who may ask for leave",
        "| Who | May ask for leave | Of whom |",
        "- Those who work here may ask for leave",
        "1. Those who work here may ask for leave",
        "Those who work here may ask for the following:",
        "以下人员可以申请休假，包括但不限于：",
        "Full-time staff",
    ],
)
def test_numbers_headings_items_rows_and_openings_stay_however_often_they_stand(line: str) -> None:
    pieces = [evidence(f"{RULE * n}\n\n{line}\n\n{RULE_ZH * n}", f"d{n}") for n in range(2, 7)]
    assert without_furniture(pieces) == tuple(pieces)


def test_a_piece_that_would_lose_more_than_half_is_left_alone() -> None:
    line = "This handbook belongs to everyone, so please suggest changes where something is out of date."
    pieces = [evidence(f"{line}\n\nShort {chr(97 + n)}.", f"d{n}") for n in range(4)]
    assert without_furniture(pieces) == tuple(pieces)
    lone = evidence("© 2024 Example Works Ltd. All rights reserved.")
    assert without_furniture([lone]) == (lone,)


def test_what_was_left_out_before_stays_out() -> None:
    text = f"{RULE}\n\nBack to top\n\n{RULE_ZH}"
    item = replace(evidence(text), kept=(Span(0, len(RULE)),))
    assert without_furniture([item])[0].kept == (Span(0, len(RULE)),)


LINES = st.sampled_from([*NAVIGATION, *CONTENT, RULE, RULE_ZH, "", "   ", "```", "    indented code"])


@given(st.lists(st.lists(LINES, max_size=8), max_size=5), st.sampled_from(["\n", "\n\n", "\r\n"]), st.integers(0, 50))
def test_only_whole_lines_go_and_no_piece_becomes_empty(pages: list[list[str]], gap: str, at: int) -> None:
    pieces: list[Evidence] = [evidence(gap.join(page), f"d{n}", at=at) for n, page in enumerate(pages)]
    for before, after in zip(pieces, without_furniture(pieces), strict=True):
        assert replace(after, kept=before.kept) == before
        assert bool(after.text) == bool(before.text)
        shown = [line.strip() for span in after.kept for line in after.quote(span).split("\n")]
        assert [line for line in before.exact.split("\n") if line.strip() in shown] or not before.exact.strip()
        ends = [0, *(place + 1 for place, char in enumerate(before.exact) if char == "\n"), len(before.exact)]
        assert all(span.start - at in ends and span.end - at in ends for span in after.kept)
        assert sum(len("".join(after.quote(s).split())) for s in after.kept) * 3 >= len("".join(before.exact.split()))


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "©" * 100_000, "Home > " * 20_000, "\n" * 100_000, "We use cookies " * 7_000, "- " * 50_000]
)
def test_hostile_lines_are_read_in_a_moment(text: str) -> None:
    assert without_furniture([evidence(text)])


def test_the_pieces_of_a_turn_keep_their_order() -> None:
    pieces = [evidence(f"Page {n} of 9\n{RULE * (n + 1)}", f"d{n}") for n in range(4)]
    assert [item.id for item in without_furniture(pieces)] == [item.id for item in pieces]
