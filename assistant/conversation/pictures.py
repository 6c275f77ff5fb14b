"""The images of evidence for a model: the best pieces first, as many as a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.core.access import Caller
from assistant.core.evidence import Evidence
from assistant.core.messages import Image
from assistant.core.prompt import image_label
from assistant.interfaces import ImageSource

MOST_IMAGES: Final = 8
"""Images that are shown to a model at once."""


async def images_of(source: ImageSource, caller: Caller, evidence: Sequence[Evidence]) -> tuple[Image, ...]:
    """The images in the order in which a turn shows them, each with its label; those that are gone, or not the caller's, are left out."""
    found: dict[str, Image] = {}
    for item in sorted(evidence, key=lambda item: -item.score):
        ids = [image.id for image in item.images if image.id not in found][: MOST_IMAGES - len(found)]
        if ids:
            loaded = await source.images(caller, item.source.document, item.source.number, ids)
            captions = {image.id: image.caption for image in item.images}
            found |= {key: replace(image, label=image_label(item.id, captions[key])) for key, image in loaded.items()}
    return tuple(found.values())
