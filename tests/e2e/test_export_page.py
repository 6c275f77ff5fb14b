"""The page of an audit export in a real browser, opened as a file."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from assistant.core.audit import AuditKind
from tests.audit.export_cases import Log, a_log

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module")]

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<!--<script>\u2028\u2029\u202etxet\u202c\u0000\r\n]]>&lt;\\u003c\ufeff\u0301 עברית 😀 {policy} {style}"
)


async def opened(browser: Browser, page_file: Path, complaints: list[str], script: str = "", **more: Any) -> Page:
    """The page once its verdict stands; complaints are errors of the page and whatever it asks the network for."""
    context = await browser.new_context(**({"locale": "en-GB"} | more))
    page = await context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda sent: None if sent.url == page_file.as_uri() else complaints.append(sent.url))
    if script:
        await page.add_init_script(script)
    await page.goto(page_file.as_uri())
    await expect(page.locator(".verdict:not(.busy)")).to_be_visible(timeout=30_000)
    return page


async def state(page: Page) -> str | None:
    return await page.locator(".verdict").get_attribute("data-state")


async def not_fitting(page: Page) -> list[str | None]:
    found = await page.locator(".check:not(.true)").all()
    return [await each.get_attribute("data-check") for each in found]


def alter(page_file: Path, old: str, new: str) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert old in text
    page_file.write_text(text.replace(old, new, 1), encoding="utf-8")


async def test_it_says_that_the_package_is_verified(browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    log = a_log(5)
    log.add({"of": "t1"}, {"reason": "不对"}, kind=AuditKind.FEEDBACK)
    log.add({}, erased=True)
    await log.export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", complaints)
    await expect(page.locator(".verdict")).to_contain_text("Verified: every check passed.")
    assert await not_fitting(page) == []
    await expect(page.locator(".list .row")).to_have_count(7)
    await expect(page.locator(".answer")).to_contain_text("Every lamp must be tested twice a year.")
    await expect(page.locator(".said.supported")).to_have_text("Every lamp must be tested twice a year.")
    await expect(page.locator(".said.unsupported")).to_contain_text("green cheese")
    await expect(page.locator(".passage mark")).to_have_text("😀 Every lamp must be tested twice a year.")
    await expect(page.locator(".conflict")).to_contain_text("one says so")
    await page.locator(".number").first.click()
    assert await page.evaluate("document.activeElement.id") == "source-1"
    await page.locator(".list .row").nth(6).click()
    await expect(page.locator(".erased")).to_have_text("The personal text of this record has been erased.")
    assert complaints == []


async def test_a_part_of_a_log_is_verified_by_its_proof(browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    log = a_log(11)
    await log.export(tmp_path / "out", 9, only=lambda record: record.seq in (2, 3, 7, 10))
    page = await opened(browser, tmp_path / "out" / "audit.html", complaints)
    assert await state(page) == "good"
    await expect(page.locator("[data-check=tree]")).to_contain_text("1 newer than the checkpoint")
    assert complaints == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\"actor\":\"p-1\"", r"\"actor\":\"p-2\""),
        (r"\"mode\":\"brief\"", r"\"mode\":\"grief\""),
        (r"\"at\":\"2031", r"\"at\":\"2032"),
        (r"\"sealed_sha256\":\"0", r"\"sealed_sha256\":\"1"),
        (r"\"actor\":", r"\"actor\": "),
        (r"\"seq\":3", r"\"seq\":4"),
    ],
)
async def test_one_changed_character_names_its_record(browser: Browser, tmp_path: Path, old: str, new: str) -> None:
    await a_log(5).export(tmp_path / "out")
    file = tmp_path / "out" / "audit.html"
    (line,) = [line for line in file.read_text(encoding="utf-8").split("\n") if r"\"id\":\"r3\"" in line]
    alter(file, line, line.replace(old, new, 1))
    page = await opened(browser, file, [])
    assert await state(page) == "bad"
    await expect(page.locator(".verdict")).to_contain_text("(r3)")
    assert {"records", "files"} <= set(await not_fitting(page))
    await expect(page.locator(".problem")).to_have_attribute("data-record", "r3")
    await expect(page.locator(".list .row[aria-current]")).to_contain_text("✗")


@pytest.mark.parametrize(
    ("old", "new", "checks"),
    [
        (r"\"answer\":\"Every lamp", r"\"answer\":\"Every camp", ["files"]),
        (r"\"cited\":[[", r"\"cited\":[[1,2],[", ["files"]),
        (r"\"by\":\"auditor-7\"", r"\"by\":\"auditor-8\"", ["manifest"]),
        (r"\"count\":5", r"\"count\":6", ["manifest", "extent"]),
        (r"\"root\":\"", r"\"root\":\"0", ["manifest", "tree", "checkpoints"]),
    ],
)
async def test_a_change_beside_the_records_is_found(
    browser: Browser, tmp_path: Path, old: str, new: str, checks: list[str]
) -> None:
    await a_log(5).export(tmp_path / "out")
    alter(tmp_path / "out" / "audit.html", old, new)
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    assert await state(page) == "bad"
    assert await not_fitting(page) == checks


async def test_a_passage_without_the_cited_text_is_found(browser: Browser, tmp_path: Path) -> None:
    await a_log(3).export(tmp_path / "out")
    file = tmp_path / "out" / "audit.html"
    start, end = (file.read_text(encoding="utf-8").index(f'id="{name}.jsonl"') for name in ("passages", "proof"))
    text = file.read_text(encoding="utf-8")
    changed = text[start:end].replace("Every lamp", "Every camp", 1)
    file.write_text(text[:start] + changed + text[end:], encoding="utf-8")
    page = await opened(browser, file, [])
    assert await not_fitting(page) == ["files", "passages"]
    await expect(page.locator(".verdict")).to_contain_text("(r1)")


async def test_a_log_that_was_written_anew_does_not_have_the_signed_root(browser: Browser, tmp_path: Path) -> None:
    log, other = a_log(4), a_log(3)
    other.add({"mode": "another"})
    await other.export(tmp_path / "out", trust=log.trust(None))
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    assert await not_fitting(page) == ["tree"]


async def test_hostile_texts_are_only_text(browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    log = Log()
    log.turn(
        question=HOSTILE,
        answer=f"Every lamp must be tested twice a year. {HOSTILE}",
        source=f"😀 {HOSTILE} Every lamp must be tested twice a year.",
    )
    log.add(
        {HOSTILE: HOSTILE, "__proto__": {"x": 1}, "mode": {"a": HOSTILE}, "citations": HOSTILE},
        {HOSTILE: HOSTILE, "__proto__": "x"},
    )
    log.add(
        {"citations": {"items": [{"source": {"start": "x", "exact": 7}, "n": HOSTILE, "start": -1, "end": 10**15}]}},
        {"answer": HOSTILE},
    )
    await log.export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", complaints)
    for at in range(3):
        await page.locator(".list .row").nth(at).click()
        assert await page.locator("img, body script, iframe, a").count() == 0
        assert await page.title() == "Audit export"
    await page.locator(".list .row").nth(0).click()
    shown = await page.locator(".text").first.evaluate("element => element.textContent")
    assert shown == HOSTILE
    assert await not_fitting(page) == ["passages"]  # of the third record, which cites nothing that can be read
    assert complaints == []


def invented(random_: random.Random, depth: int = 0) -> Any:
    """A JSON value of the kind on which writers of canonical JSON differ."""
    letters = [
        *string.printable,
        "\u2028",
        "\u007f",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "😀",
        "é",
        "e\u0301",
        "中",
        "\\",
        '"',
        "/",
        "\u0000",
    ]

    def text() -> str:
        return "".join(random_.choices(letters, k=random_.randrange(6)))

    whole = random_.choice([0, -1, 2**53 - 1, -(2**53) + 1, random_.randrange(10**9)])
    real = random_.choice(
        [
            1e21,
            1e20,
            1e-6,
            1e-7,
            -0.0,
            0.1,
            5e-324,
            1.7976931348623157e308,
            4.5,
            random_.random(),
            10.0 ** random_.randint(-300, 300),
        ]
    )
    if depth < 3 and random_.random() < 0.6:
        parts = [invented(random_, depth + 1) for _ in range(random_.randrange(5))]
        return parts if random_.random() < 0.4 else {text(): part for part in parts}
    return random_.choice([None, True, False, whole, real, real, text()])


async def test_the_browser_writes_canonical_json_as_the_server_does(browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    log, random_ = Log(), random.Random(8785)
    for _ in range(600):
        log.add({"held": invented(random_), "\ue000": 1, "😀": 2, "10": 3, "9": 4, "": 5})
    await log.export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", complaints)
    assert await state(page) == "good"
    await expect(page.locator(".list .row")).to_have_count(200)
    await page.get_by_role("button", name="Show more").click()
    await expect(page.locator(".list .row")).to_have_count(400)
    assert complaints == []


async def test_a_browser_without_ed25519_says_so(browser: Browser, tmp_path: Path) -> None:
    await a_log(3).export(tmp_path / "out")
    without = "crypto.subtle.importKey = () => { throw new DOMException('no', 'NotSupportedError'); }"
    page = await opened(browser, tmp_path / "out" / "audit.html", [], without)
    assert await state(page) == "unsure"
    assert await not_fitting(page) == ["manifest", "checkpoints"]
    await expect(page.locator("[data-check=checkpoints]")).to_contain_text("this browser has no Ed25519")


async def test_a_browser_without_web_crypto_shows_but_does_not_verify(browser: Browser, tmp_path: Path) -> None:
    await a_log(3).export(tmp_path / "out")
    without = "Object.defineProperty(globalThis, 'crypto', {value: undefined})"
    page = await opened(browser, tmp_path / "out" / "audit.html", [], without)
    assert await state(page) == "unsure"
    await expect(page.locator(".verdict")).to_contain_text("nothing was verified")
    await expect(page.locator(".answer")).to_contain_text("Every lamp")


async def test_what_is_not_signed_is_not_called_verified(browser: Browser, tmp_path: Path) -> None:
    log = a_log(3)
    await log.export(tmp_path / "out", trust=log.trust(signed=False))
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    assert await state(page) == "unsure"
    assert await not_fitting(page) == ["manifest", "tree", "checkpoints"]


async def test_a_package_too_large_for_the_page_is_chosen_by_its_reader(browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    await a_log(4).export(tmp_path / "out", shown=3)
    out = tmp_path / "out"
    assert "Every lamp" not in (out / "audit.html").read_text(encoding="utf-8")
    context = await browser.new_context(locale="en-GB")
    page = await context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto((out / "audit.html").as_uri())
    names = ("records.jsonl", "texts.jsonl", "passages.jsonl", "proof.jsonl")
    await page.locator("input[type=file]").set_input_files([out / name for name in names])
    await expect(page.locator(".verdict.good")).to_be_visible()
    await expect(page.locator(".answer")).to_contain_text("Every lamp")
    assert complaints == []


async def test_files_that_were_not_chosen_are_missed(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "out"
    await a_log(4).export(out, shown=0)
    page = await (await browser.new_context(locale="en-GB")).new_page()
    await page.goto((out / "audit.html").as_uri())
    await page.locator("input[type=file]").set_input_files([out / "records.jsonl"])
    await expect(page.locator(".verdict.bad")).to_be_visible()
    assert {"files", "texts", "passages"} <= set(await not_fitting(page))


async def test_damaged_data_are_told(browser: Browser, tmp_path: Path) -> None:
    await a_log(2).export(tmp_path / "out")
    alter(tmp_path / "out" / "audit.html", 'id="records.jsonl">[', 'id="records.jsonl">[[')
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    assert await state(page) == "bad"
    await expect(page.locator(".verdict")).to_contain_text("nothing was verified")


async def test_it_speaks_chinese(browser: Browser, tmp_path: Path) -> None:
    log = Log()
    log.turn(question="多久检测一次灯？", answer="每盏灯每年必须检测两次。")
    await log.export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", [], locale="zh-CN")
    await expect(page.locator(".verdict")).to_contain_text("已验证")
    await expect(page.locator(".said.supported")).to_have_text("每盏灯每年必须检测两次。")
    await expect(page.locator(".passage mark")).to_have_text("每盏灯每年必须检测两次。")
    await page.get_by_role("button", name="English").click()
    await expect(page.locator(".verdict")).to_contain_text("Verified")


async def test_finding_a_record(browser: Browser, tmp_path: Path) -> None:
    log = a_log(2)
    log.turn(question="Where is the depot?")
    await log.export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    await page.locator("#find").fill("DEPOT?")
    await expect(page.locator(".list .row")).to_have_count(1)


async def test_the_policy_allows_no_network_and_no_other_script(browser: Browser, tmp_path: Path) -> None:
    await a_log(1).export(tmp_path / "out")
    page = await opened(browser, tmp_path / "out" / "audit.html", [])
    policy = await page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    tried = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert await page.evaluate(tried) == "refused"
    assert (
        await page.evaluate(
            "(() => { try { document.body.innerHTML = '<b>x'; return 'set' } catch { return 'refused' } })()"
        )
        == "refused"
    )


async def test_the_data_blocks_hold_the_files(tmp_path: Path) -> None:
    log = Log()
    log.turn(question=HOSTILE)
    await log.export(tmp_path / "out")
    text = (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
    for name in ("records.jsonl", "texts.jsonl", "passages.jsonl", "proof.jsonl"):
        _, _, after = text.partition(f'<script type="application/json" id="{name}">')
        block, _, _ = after.partition("</script>")
        assert "<" not in block
        written = "".join(line + "\n" for line in json.loads(block))
        assert written == (tmp_path / "out" / name).read_text(encoding="utf-8")
