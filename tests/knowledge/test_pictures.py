"""Pictures: what is kept of them, and what hostile ones do."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from assistant.errors import BadDocument
from assistant.knowledge.documents import Limits, Picture
from assistant.knowledge.pictures import LONGEST, Gallery, decoded, encode
from tests.knowledge.picture_files import drawn, jpeg, opened, png, png_header, saved


def kept(data: bytes, **options: object) -> Picture:
    found = decoded(data, Limits(**options))  # type: ignore[arg-type]
    return encode(found.image, lossless=found.lossless)


def refusal(data: bytes, **options: object) -> str:
    with pytest.raises(BadDocument) as caught:
        kept(data, **options)
    return str(caught.value.data["reason"])


def test_a_drawing_keeps_its_pixels_and_a_photograph_becomes_a_jpeg() -> None:
    drawing = kept(png(1))
    assert drawing.media_type == "image/png"
    assert opened(drawing.content).tobytes() == drawn(1).tobytes()
    noise = Image.effect_noise((300, 300), 90)
    colours = Image.merge("RGB", (noise, noise.rotate(90), noise.rotate(180)))
    assert kept(saved(colours)).media_type == "image/jpeg"
    assert kept(saved(noise)).media_type == "image/jpeg"
    assert kept(jpeg(1)).media_type == "image/jpeg"


@pytest.mark.parametrize(
    ("size", "expected"), [((4000, 1000), (1568, 392)), ((900, 3136), (450, 1568)), ((160, 120), (160, 120))]
)
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_the_longest_side_fits_a_model(form: str, size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert opened(kept(saved(drawn(1, size), form)).content).size == expected


def test_camera_place_and_comment_are_gone_and_the_picture_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[2] = (48.0, 51.0, 29.0)
    source = jpeg(1, exif=exif, comment=b"SecretComment", icc_profile=b"SecretProfile" * 20)
    assert b"SecretCamera" in source
    picture = kept(source)
    assert b"Secret" not in picture.content
    assert not opened(picture.content).getexif()
    assert opened(picture.content).size == (120, 160)


def test_text_parts_of_a_png_are_gone() -> None:
    from PIL.PngImagePlugin import PngInfo

    said = PngInfo()
    said.add_text("Author", "SecretAuthor")
    assert b"SecretAuthor" not in kept(saved(drawn(1), "PNG", pnginfo=said)).content


def test_the_first_frame_of_an_animation() -> None:
    frames = [drawn(1), drawn(2), drawn(3)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=10)
    image = opened(kept(data).content)
    assert getattr(image, "n_frames", 1) == 1
    assert image.getpixel((0, 0)) == (255, 255, 255)


def test_four_inks_sixteen_bits_and_transparency_become_plain_colours() -> None:
    assert opened(kept(saved(drawn(1, mode="CMYK"), "JPEG")).content).mode == "RGB"
    ramp = Image.new("I;16", (1024, 64))
    ramp.putdata([x // 4 * 257 for _ in range(64) for x in range(1024)])
    grey = opened(kept(saved(ramp)).content)
    assert (grey.mode, grey.getpixel((0, 0)), grey.getpixel((512, 9)), grey.getpixel((1023, 9))) == ("L", 0, 128, 255)
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    clear.paste((200, 0, 0, 255), (20, 20, 80, 80))
    image = opened(kept(saved(clear)).content)
    assert (image.getpixel((0, 0)), image.getpixel((50, 50))) == ((255, 255, 255), (200, 0, 0))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_every_form_becomes_one_that_models_take(form: str, mode: str) -> None:
    image = drawn(1, mode=mode)
    picture = kept(saved(image.convert("RGB") if form in {"JPEG", "WEBP"} and mode == "P" else image, form))
    assert opened(picture.content).format in {"PNG", "JPEG"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (png(1, (1, 1)), "empty"),
        (png(1, (32, 32)), "empty"),
        (png(1, (400, 47)), "empty"),
        (png(1, (2000, 60)), "empty"),
        (saved(Image.new("RGB", (200, 200), "navy")), "empty"),
        (png_header(50_000, 50_000), "bomb"),
        (png_header(9_000, 9_000), "bomb"),
        (png_header(300, 300), "corrupt"),
        (jpeg(1, (900, 900))[:3000], "corrupt"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "corrupt"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n", "corrupt"),
        (b"", "corrupt"),
    ],
)
def test_hostile_and_empty_pictures(data: bytes, reason: str) -> None:
    assert refusal(data) == reason


def test_a_damaged_turn_mark_turns_nothing() -> None:
    data = jpeg(1, exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\xff\xff")
    assert opened(kept(data).content).size == (160, 120)


def test_what_an_office_program_cuts_off_is_not_there() -> None:
    halves = Image.new("RGB", (200, 100), "white")
    halves.paste((255, 0, 0), (0, 0, 100, 50))
    halves.paste((0, 0, 255), (100, 0, 200, 50))
    picture = Gallery(Limits()).take(saved(halves), crop=(0.5, 0.0, 0.0, 0.0))
    assert picture is not None
    image = opened(picture.content)
    assert image.size == (100, 100)
    assert {colour for _, colour in image.getcolors() or []} == {(0, 0, 255), (255, 255, 255)}
    assert Gallery(Limits()).take(saved(halves), crop=(0.9, 0.0, 0.2, 0.0)) is None


def test_a_gallery_is_bounded() -> None:
    few = Gallery(Limits(images=2))
    assert [few.take(png(n)) is not None for n in range(4)] == [True, True, False, False]
    size = len(kept(png(1)).content)
    small = Gallery(Limits(image_bytes=size + 10))
    assert small.take(png(1)) is not None
    assert small.take(png(1)) is None
    assert Gallery(Limits(images=0)).is_full


@given(st.binary(max_size=300), st.integers(0, 2_000), st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"]))
@settings(max_examples=60)
def test_damaged_pictures_are_kept_or_refused_and_nothing_else(noise: bytes, place: int, form: str) -> None:
    data = bytearray(saved(drawn(1, (80, 64)), form))
    at = place % len(data)
    data[at : at + len(noise)] = noise
    try:
        found = decoded(bytes(data), Limits(pixels=4_000_000))
    except BadDocument as error:
        assert error.data["reason"] in {"corrupt", "bomb", "empty"}
    else:
        assert found.image.mode in {"L", "RGB"}
        assert max(found.image.size) <= LONGEST
        Image.open(io.BytesIO(encode(found.image, lossless=found.lossless).content)).verify()
