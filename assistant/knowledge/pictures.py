"""Pictures: judged before they are decoded, cleaned of metadata, made as small as models take them (Pillow).

What is kept is always written anew from the pixels, so that no place, camera, comment or second picture travels along.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageChops, ImageOps

from assistant.core.evidence import Region
from assistant.errors import BadDocument
from assistant.knowledge.documents import MEBIBYTE, Limits, Picture, refuse

LONGEST: Final = 1_568
"""The longest side of a kept picture in pixels: vision models scale down what is larger."""

LEAST: Final = 48
"""Pictures with a shorter side are icons, bullets and spacers."""

Crop = tuple[float, float, float, float]
"""What is cut off at the left, top, right and bottom, as fractions of width and height."""

_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
_LOSSY: Final = frozenset({"JPEG", "MPO", "WEBP"})
_NARROW: Final = 20
_LARGE_PNG: Final = MEBIBYTE
_QUALITY: Final = 85
_DRAWN: Final = 0.4
_FLAT: Final = 3
_WHITE: Final = "white"
_WORK: Final = 600_000_000
"""Pixels that are decoded for one document at most, so that pictures do not eat up the time of its text."""
_FAILED: Final = 10_000_000
_DEEP: Final = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture in grey or RGB; `lossless` says how to keep it, `pixels` how many it had."""

    image: Image.Image
    lossless: bool
    pixels: int


def decoded(data: bytes, limits: Limits, *, longest: int = LONGEST, crop: Crop | None = None) -> Decoded:
    """The first frame of a picture, upright, on white, no side above `longest`.

    Raises BadDocument corrupt, bomb (more pixels than allowed) or empty (too small, a thin line, one colour).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _decoded(data, limits, longest, crop)
    except BadDocument:
        raise
    except Image.DecompressionBombError as error:
        raise refuse("bomb", "a picture of too many pixels") from error
    except Exception as error:  # Pillow's decoders raise whatever comes up in damaged data
        raise refuse("corrupt", f"picture: {type(error).__name__}") from error


def _decoded(data: bytes, limits: Limits, longest: int, crop: Crop | None) -> Decoded:
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        width, height = image.size
        if width * height > limits.pixels:
            raise refuse("bomb", f"a picture of {width} x {height} pixels")
        _judge(width, height)
        lossless = image.format not in _LOSSY
        if crop is None:
            share = longest / max(width, height)
            image.draft(None, (max(1, int(width * share)), max(1, int(height * share))))
        shown = _upright(image)
        shown = _flat(shown if crop is None else _cut(shown, crop))
        shown.thumbnail((longest, longest))
        if _is_blank(shown):
            raise refuse("empty", "a picture of one colour")
        return Decoded(shown, lossless, width * height)


def _judge(width: int, height: int) -> None:
    """Refuse what is furniture by its size alone."""
    if min(width, height) < LEAST or max(width, height) > _NARROW * min(width, height):
        raise refuse("empty", f"a picture of {width} x {height} pixels")


def _upright(image: Image.Image) -> Image.Image:
    """Turned as the camera was held; what cannot be read there turns nothing."""
    image.load()
    try:
        return ImageOps.exif_transpose(image)
    except (ValueError, TypeError, KeyError, SyntaxError, OSError, IndexError):
        return image


def _cut(image: Image.Image, crop: Crop) -> Image.Image:
    """What an office program shows of a picture: the rest is hidden from readers, and from models too."""
    left, top, right, bottom = (min(max(part, 0.0), 1.0) for part in crop)
    width, height = image.size
    box = (round(left * width), round(top * height), round((1 - right) * width), round((1 - bottom) * height))
    _judge(max(1, box[2] - box[0]), max(1, box[3] - box[1]))
    return image.crop(box)


def _flat(image: Image.Image) -> Image.Image:
    """Grey or RGB with eight bits a channel, on white where the picture is transparent."""
    if image.mode in _DEEP:
        return _eight_bits(image)
    if image.mode in {"1", "L"} and "transparency" not in image.info:
        return image.convert("L")
    if image.mode in {"RGBA", "RGBa", "LA", "La", "PA"} or "transparency" in image.info:
        layer = image.convert("RGBA")
        ground = Image.new("RGB", layer.size, _WHITE)
        ground.paste(layer, mask=layer.getchannel("A"))
        return ground
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Deep grey values brought to 0..255: by their format when it has 16 bits, else by the lightest there is."""
    wide = image.convert("F")
    low, high = wide.getextrema()
    if not isinstance(low, float) or not isinstance(high, float):
        raise TypeError("one channel is expected")
    floor, top = (0.0, 65_535.0) if image.mode.startswith("I;16") or (high > 255 and high <= 65_535) else (low, high)
    scale = 255.0 / max(top - floor, 1e-9)
    return wide.point(lambda value: value * scale - floor * scale).convert("L")


def _is_blank(image: Image.Image) -> bool:
    extrema = image.getextrema()
    bands = extrema if isinstance(extrema[0], tuple) else (extrema,)
    return all(high - low <= _FLAT for low, high in bands)


def encode(image: Image.Image, *, lossless: bool, region: Region | None = None) -> Picture:
    """The picture as it is kept: PNG when asked for, drawn and small enough, else JPEG."""
    clean = Image.new(image.mode, image.size)
    clean.paste(image)
    if lossless and _is_drawn(clean) and len(content := _saved(clean, "PNG")) <= _LARGE_PNG:
        return Picture(content, "image/png", region)
    return Picture(_saved(clean, "JPEG"), "image/jpeg", region)


def _is_drawn(image: Image.Image) -> bool:
    """Whether many pixels equal their neighbour, as in drawings and screenshots, and hardly ever in photographs."""
    grey = image.convert("L")
    unlike = ImageChops.difference(grey, ImageChops.offset(grey, 1, 0))
    return unlike.histogram()[0] >= _DRAWN * grey.width * grey.height


def _saved(image: Image.Image, form: str) -> bytes:
    sink = io.BytesIO()
    if form == "PNG":
        image.save(sink, form)
    else:
        image.save(sink, form, quality=_QUALITY)
    return sink.getvalue()


class Gallery:
    """The pictures of one document: takes them as long as the limits allow."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._images = limits.images
        self._bytes = limits.image_bytes
        self._pixels = _WORK * limits.pixels

    @property
    def is_full(self) -> bool:
        """Whether no picture will be taken any more."""
        return self._images <= 0 or self._bytes <= 0 or self._pixels <= 0

    def take(self, data: bytes, *, crop: Crop | None = None, region: Region | None = None) -> Picture | None:
        """The picture in these bytes, None when it is broken, hostile or furniture, or the gallery is full."""
        if self.is_full:
            return None
        try:
            found = decoded(data, self._limits, crop=crop)
        except BadDocument:
            self._pixels -= _FAILED
            return None
        self._pixels -= found.pixels
        return self._keep(encode(found.image, lossless=found.lossless, region=region))

    def hang(self, image: Image.Image, region: Region) -> Picture | None:
        """A picture that was drawn already, None when it is blank or the gallery is full."""
        self._pixels -= image.width * image.height
        if self.is_full or _is_blank(image):
            return None
        return self._keep(encode(image, lossless=True, region=region))

    def _keep(self, picture: Picture) -> Picture | None:
        if len(picture.content) > self._bytes:
            return None
        self._images -= 1
        self._bytes -= len(picture.content)
        return picture
