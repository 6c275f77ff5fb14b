import pytest

from assistant.core.evidence import Passage, SourceVersion, admit
from assistant.core.messages import ModelDelta, ModelFinish, Usage
from assistant.core.prompt import ModelRequest, Sampling
from assistant.core.quoting.phrases import refusal
from assistant.core.text import Span
from assistant.llm.extractive import ExtractiveModel, pieces
from assistant.llm.tokens import NaiveCounter

TEXT = "The weekly report is due on Friday at five o'clock. 年假每年十二天。"


def request(question: str, *, language: str = "en", purpose: str = "answer", draft: str = "") -> ModelRequest:
    source = SourceVersion("d", 1, "0" * 64, "Handbook", "h.md", "c")
    item = admit(Passage("p", TEXT, source, Span(0, len(TEXT)), score=1.0))
    shown = () if purpose == "generation" else (item,)
    return ModelRequest((), Sampling(max_tokens=500), question, shown, (), language, draft, purpose)


async def collect(asked: ModelRequest) -> tuple[list[str], ModelFinish]:
    chunks = [chunk async for chunk in ExtractiveModel(counter=NaiveCounter()).stream(asked)]
    *deltas, finish = chunks
    assert isinstance(finish, ModelFinish)
    return [delta.text for delta in deltas if isinstance(delta, ModelDelta)], finish


async def test_quotes_in_pieces_that_are_the_text() -> None:
    parts, finish = await collect(request("When is the weekly report due?"))
    assert "".join(parts) == "The weekly report is due on Friday at five o'clock."
    assert len(parts) > 1
    assert finish == ModelFinish("stop", Usage(calls=1))


async def test_says_when_there_is_no_answer() -> None:
    parts, finish = await collect(request("What is the capital of France?"))
    assert ("".join(parts), finish.reason) == (refusal("en"), "no_answer")
    parts, finish = await collect(request("股价是多少？", language="zh"))
    assert ("".join(parts), finish.reason) == (refusal("zh"), "no_answer")


async def test_a_language_left_open_is_that_of_the_question() -> None:
    parts, _ = await collect(request("股价 stock 是多少？", language="mixed"))
    assert "".join(parts) == refusal("zh")


async def test_small_talk_needs_no_evidence() -> None:
    parts, finish = await collect(request("hello", purpose="generation"))
    assert "".join(parts).startswith("Hello!")
    assert finish.reason == "stop"


@pytest.mark.parametrize("draft", [refusal("en"), "The weekly report is due on Friday at five o'clock."])
async def test_a_draft_is_improved(draft: str) -> None:
    parts, _ = await collect(request("When is the weekly report due?", purpose="refine", draft=draft))
    assert "".join(parts) == "The weekly report is due on Friday at five o'clock."


@pytest.mark.parametrize("text", ["", "  two\n\nlines here ", "没有空格的中文句子，也会被切成几段。" * 5, "a" * 500])
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert all(len(piece) < 300 for piece in pieces(text))
