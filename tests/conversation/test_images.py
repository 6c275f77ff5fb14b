"""Images among the evidence go to a model that sees, and are cited with page and region."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.conversation.answering import Answering, Route
from assistant.core.modes import Mode
from assistant.core.text import Span
from assistant.interfaces import ImageDraft
from assistant.llm.completion import messages_of
from assistant.llm.scripted import ScriptedModel
from assistant.prompts import load_prompts
from assistant.store import Store
from tests.conversation.answering import Desk, beside
from tests.store.filling import draft, put

LINE = "[Image: Floor plan of the second floor with the emergency exits]"
TEXT = f"Fire safety in the building.\n\n{LINE}\n\nWalk to the exits calmly."
PNG = b"\x89PNG\r\n\x1a\nnot really"


async def desk(store: Store, model: ScriptedModel, *, sees: bool) -> Desk:
    start = TEXT.index(LINE)
    image = ImageDraft(PNG, "image/png", LINE[8:-1], Span(start, start + len(LINE)), 3, (0.1, 0.2, 0.6, 0.7))
    await put(store, replace(draft(TEXT, "fire.pdf", title="Fire"), images=(image,)))
    made = await beside(store, model)
    made.live._manager._answering = Answering(main=Route(model, sees=sees), prompts=load_prompts)
    made.live._manager._images = store.documents
    return made


@pytest.mark.parametrize(
    "question", ["What does the floor plan show?", "Where are the emergency exits of the second floor?"]
)
async def test_a_model_that_sees_gets_the_image_with_its_place(store: Store, question: str) -> None:
    model = ScriptedModel(["The floor plan of the second floor shows the emergency exits."])
    at = await desk(store, model, sees=True)
    message = await at.answer(question)
    assert message.plan is not None
    assert (message.plan.mode, message.plan.reason_code) == ("multi_modal", "images")
    request = model.calls[0].request
    (image,) = request.messages[-1].images
    assert image.content == PNG
    text, label, picture = messages_of(request)[-1]["content"]
    assert LINE in text["text"]
    assert message.plan.evidence[0].id in label["text"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert message.citations is not None
    source = message.citations.items[0].source
    assert (source.exact, source.page, source.region) == (LINE, 3, (0.1, 0.2, 0.6, 0.7))
    found = await store.documents.images(at.caller, source.document, source.version, [source.image or ""])
    assert [one.content for one in found.values()] == [PNG]
    (*_, answer) = await store.conversations.messages(at.caller, at.conversation)
    assert answer.answer is not None
    assert answer.answer.citations == message.citations


async def test_a_model_that_does_not_see_gets_the_caption(store: Store) -> None:
    model = ScriptedModel(["The floor plan of the second floor shows the emergency exits."])
    message = await (await desk(store, model, sees=False)).answer("What does the floor plan show?")
    assert message.plan is not None
    assert message.plan.mode == Mode.SIMPLE_SUMMARIZE
    assert model.calls[0].request.messages[-1].images == ()
    assert LINE in model.calls[0].request.messages[-1].text
