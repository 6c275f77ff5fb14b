"""Captions: which line of a text stands for a picture, and what the line that stands for the picture says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from assistant.knowledge.documents import Block, Illustration, Kind, Limits, Piece, fold, readable

LONGEST_CAPTION: Final = 300
"""In code points; what is longer is text, not a caption."""

_NUMBER: Final = r"(?:[A-Z]{0,2}\d{1,4}(?:[.\-–‑]\d{1,4}){0,3}[a-z]?|[IVX]{1,6}|[A-Z])"
_CAPTION_EN: Final = re.compile(
    r"(?i:fig(?:ure|\.)?|table|tab\.|chart|diagram|exhibit|illustration|plate|scheme|photo|map|screenshot)"
    rf"\s?{_NUMBER}(?:\s*$|\s*[.:|–—]|\s+-\s|\s+[^a-z\s]|\))"
)
_BODY_ZH: Final = (
    r"(?:所示|显示|顯示|中(?=[的，,可所显顯给給列])|是|为|為|表明|说明了|說明了|展示|给出|給出|可以|可见|可見|描述|列出|的"
    r"|[和与與及、，,]\s*(?=[图圖表\d]))"
)
_CAPTION_ZH: Final = re.compile(
    r"(?:附?[图圖表]表?|图片|圖片|照片|示意[图圖])\s*"
    rf"(?:[A-Z]?\d{{1,4}}(?:[.．\-–—]\d{{1,4}}){{0,3}}|[一二三四五六七八九十]{{1,3}})\s*+(?!{_BODY_ZH})(?=$|[^\d])"
)
_GENERATED: Final = re.compile(
    r"[\s.]*(?:description (?:automatically )?generated.*|ai-generated content may be incorrect\.?|"
    r"(?:已生成|自动生成的?)(?:高可信度|中可信度|低可信度)?(?:的?说明|描述).*|ai\s*生成的内容可能不正确。?)$",
    re.IGNORECASE | re.DOTALL,
)
_NO_CAPTION: Final = re.compile(
    r"(?:.*\.(?:png|jpe?g|gif|bmp|tiff?|webp|emf|wmf|svg)"
    r"|(?:a |an |the )?(?:picture|image|graphic|photo|screenshot|logo|icon|grafik|bild|图片|圖片|图像|图形|徽标)\s*\d*"
    r"|https?://\S*|\W*)",
    re.IGNORECASE | re.DOTALL,
)


def is_caption(text: str) -> bool:
    """Whether a line is the caption of a figure or table: its kind and number, then something that is not a sentence."""
    line = text.strip()
    return len(line) <= LONGEST_CAPTION and bool(_CAPTION_EN.match(line) or _CAPTION_ZH.match(line))


def written(alternative: str | None) -> str:
    """The alternative text of a picture as a person wrote it: empty for file names and what programs put there."""
    text = fold(readable(_GENERATED.sub("", readable(alternative or "").strip())))
    return "" if _NO_CAPTION.fullmatch(text) else text[:LONGEST_CAPTION]


def captioned(pieces: Sequence[Piece], limits: Limits, *, chinese: bool) -> list[Piece]:
    """The pieces with the line of each image in place: its caption, or its number where there is none.

    A picture beyond the limits is left out, and so is an image that has neither picture nor caption.
    """
    done: list[Piece] = []
    number, room = 0, limits.image_bytes
    for piece in pieces:
        if piece.kind is not Kind.IMAGE:
            done.append(piece)
            continue
        size = len(piece.picture.content) if piece.picture else 0
        fits = piece.picture is not None and number < limits.images and size <= room
        number, room = (number + 1, room - size) if fits else (number, room)
        caption = fold(readable(piece.text))[:LONGEST_CAPTION]
        if fits or caption:
            line = _line(caption, number, chinese=chinese)
            done.append(replace(piece, text=line, picture=piece.picture if fits else None))
    return done


def _line(caption: str, number: int, *, chinese: bool) -> str:
    if caption:
        return f"[图片：{caption}]" if chinese else f"[Image: {caption}]"
    return f"[图片 {number}]" if chinese else f"[Image {number}]"


_LINE: Final = re.compile(r"\[(?:Image: |图片：)?(.*)\]", re.DOTALL)


def illustrations(pieces: Iterable[Piece], blocks: Iterable[Block], text: str) -> tuple[Illustration, ...]:
    """The pictures of a text that was assembled from these pieces, each with the span of its line."""
    images = [piece for piece in pieces if piece.kind is Kind.IMAGE]
    places = [block for block in blocks if block.kind is Kind.IMAGE]
    return tuple(
        Illustration(piece.picture, _said(text[place.span.start : place.span.end]), place.span, place.page)
        for piece, place in zip(images, places, strict=True)
        if piece.picture is not None
    )


def _said(line: str) -> str:
    found = _LINE.fullmatch(line)
    return found[1] if found else line
