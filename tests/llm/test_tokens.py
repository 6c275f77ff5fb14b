import socket
import time
from typing import Any, NoReturn

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.errors import BadSetting
from assistant.llm import tokens
from assistant.llm.tokens import (
    DEFAULT_WINDOW,
    CachedCounter,
    CorrectedCounter,
    NaiveCounter,
    TiktokenCounter,
    bounded_factor,
    counter_for,
    encoding_of,
    learn_factor,
    load_encoding,
    window_for,
)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_tables_load_without_network(encoding: str) -> None:
    assert load_encoding.__wrapped__(encoding).name == encoding
    assert TiktokenCounter(encoding).count("hello world") == 2


@pytest.mark.usefixtures("no_network")
def test_a_missing_or_wrong_table_is_refused_and_never_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(tokens, "_litellm_folder", lambda: tmp_path)
    with pytest.raises(BadSetting, match="missing"):
        load_encoding.__wrapped__("o200k_base")
    folder = tmp_path / "litellm_core_utils" / "tokenizers"
    folder.mkdir(parents=True)
    (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(b"forged")
    with pytest.raises(BadSetting, match="not the published"):
        load_encoding.__wrapped__("o200k_base")
    with pytest.raises(BadSetting, match="no table"):
        load_encoding("r50k_base")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("azure/gpt-5-mini", "o200k_base"),
        ("openrouter/openai/gpt-oss-20b", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("text-davinci-003", None),
        ("qwen2.5-7b", None),
        ("", None),
    ],
)
def test_encoding_by_name(model: str, encoding: str | None) -> None:
    assert encoding_of(model) == encoding
    assert counter_for(model).name == (encoding or "o200k_base")


def test_chinese_is_counted_by_the_real_table() -> None:
    text = "员工每周至少应有三十二小时用于可计费项目。" * 20
    modern, older = counter_for("gpt-4o").count(text), counter_for("gpt-4").count(text)
    assert modern < older
    assert len(text) * 0.5 < modern < len(text) * 1.2


def test_special_tokens_in_a_text_are_plain_text() -> None:
    assert counter_for("gpt-4o").count("<|endoftext|>") > 1
    assert counter_for("gpt-4o").count("\ud800 lone surrogate") > 0


@given(st.text(alphabet=st.sampled_from("ab 。中,\n\t<|>1é🙂'"), max_size=60), st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_long_texts_count_as_tiktoken_does_but_for_the_cuts(unit: str, times: int) -> None:
    text = unit * times
    exact = len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))
    counted = counter_for("gpt-4o").count(text)
    cuts = len(text) // 3500
    assert exact - 2 * cuts <= counted <= exact + 2 * cuts


def test_prose_is_counted_exactly() -> None:
    text = "The weekly report is due on Friday, by five o'clock; late reports go to the team lead. " * 400
    assert counter_for("gpt-4o").count(text) == len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("char", ["a", " ", "\n", "。", "=", "🙂", "A1"])
def test_long_runs_take_linear_time(char: str) -> None:
    counter = TiktokenCounter("o200k_base")
    before = time.perf_counter()
    assert counter.count(char * 200_000) > 0
    assert time.perf_counter() - before < 3


class Counting:
    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def count(self, text: str) -> int:
        self.calls += 1
        return len(text)


def test_the_cache_counts_once_and_stays_bounded() -> None:
    inner = Counting()
    cached = CachedCounter(inner, size=2)
    assert [cached.count(text) for text in ("a", "bb", "a", "ccc", "a", "bb")] == [1, 2, 1, 3, 1, 2]
    assert inner.calls == 4
    assert cached.count("") == 0
    assert cached.name == "counting"


def test_correction_rounds_up_and_keeps_empty_empty() -> None:
    corrected = CorrectedCounter(Counting(), 1.25)
    assert [corrected.count(text) for text in ("", "abc", "abcd")] == [0, 4, 5]
    assert corrected.name == "counting x1.25"


def test_a_learnt_factor_is_used_at_once() -> None:
    factors = [2.0]
    corrected = CorrectedCounter(Counting(), lambda: factors[-1])
    assert corrected.count("abc") == 6
    factors.append(1.0)
    assert corrected.count("abc") == 3


@given(st.floats(), st.integers(-5, 10**6), st.integers(-5, 10**6))
def test_a_factor_stays_in_its_bounds(factor: float, counted: int, reported: int) -> None:
    assert 0.5 <= learn_factor(factor, counted=counted, reported=reported) <= 3.0
    assert 0.5 <= bounded_factor(factor) <= 3.0


def test_learning_approaches_the_reported_ratio_and_ignores_small_prompts() -> None:
    factor = 1.0
    for _ in range(30):
        factor = learn_factor(factor, counted=1000, reported=1400)
    assert abs(factor - 1.4) < 0.01
    assert learn_factor(factor, counted=20, reported=400) == factor


def test_naive_counter_is_additive_over_lines() -> None:
    counter = NaiveCounter()
    assert counter.count("年假 has 12 days.") == 6
    assert counter.count("one two\nthree") == counter.count("one two") + counter.count("three")


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("openai/gpt-4o", 128_000),
        ("gpt-4", 8192),
        ("nobody/knows-this", DEFAULT_WINDOW),
        ("", 8192),
    ],
)
@pytest.mark.usefixtures("no_network")
def test_windows_are_input_limits(model: str, window: int) -> None:
    assert window_for(model) == window


def test_a_window_can_be_set() -> None:
    assert window_for("gpt-4o", 4000) == 4000
    assert window_for("nobody/knows-this", default=2048) == 2048
