"""Pictures from anywhere: decoded as they should look, prepared as transformers does it, or refused by a sentence."""

from __future__ import annotations

import ast
import base64
import io
import math
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from transformers.models.gemma4.image_processing_pil_gemma4 import get_aspect_ratio_preserving_size
from transformers.models.glm46v.image_processing_pil_glm46v import smart_resize as grown_resize
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from engine.errors import Kind, UnderhillError
from engine.limits import PICTURE_BYTES
from engine.models.vision import decoding, pictures
from engine.models.vision.encoders import gemma4_patches, merging_patches
from engine.models.vision.kimi import kimi_patches
from engine.models.vision.pixels import Pixels
from engine.models.vision.preparation import CLIP, HALVES
from engine.models.vision.sizing import GROWN, LARGEST, NEAREST, PADDED, Sizing
from tests.engine.models.vision import seeing_gemma as gemma
from tests.engine.models.vision import seeing_glm as glm
from tests.engine.models.vision import seeing_kimi as kimi
from tests.engine.models.vision import seeing_qwen as qwen

SIZE = Sizing(LARGEST, 8, 70)


def decoded(image: bytes, size: Sizing = SIZE) -> Pixels:
    """In this process: the sandbox has tests of its own."""
    data = base64.b64encode(image).decode("ascii")
    given = (size.step, size.most, size.least, size.longest)
    (kind, width, height, rgb), *rest = decoding.pixels(data, size.way, *given)
    assert kind == decoding.PIXELS
    assert not rest
    return Pixels(width, height, base64.b64decode(str(rgb)))


def saved(image: Image.Image, kind: str = "PNG", **how: object) -> bytes:
    into = io.BytesIO()
    image.save(into, kind, **how)
    return into.getvalue()


def corner(pixels: Pixels, x: int = 0, y: int = 0) -> tuple[int, ...]:
    at = 3 * (y * pixels.width + x)
    return tuple(pixels.rgb[at : at + 3])


@pytest.mark.parametrize(
    "image",
    [
        gemma.picture(1),
        gemma.picture(2, 90, 40, "JPEG"),
        gemma.picture(3, 400, 30, "WEBP"),
        gemma.picture(4, 64, 72),
        gemma.picture(5, 40, 5),
    ],
    ids=["PNG", "JPEG", "WebP, wide", "of the right size", "low"],
)
def test_prepared_as_transformers_does_it(image: bytes) -> None:
    found = gemma.prepared([image])
    patches, positions = gemma4_patches(decoded(image), 4)
    assert torch.equal(patches, found["pixel_values"][0, : len(patches)])
    assert torch.equal(positions, found["image_position_ids"][0, : len(patches)])
    assert bool((found["image_position_ids"][0, len(patches) :] == -1).all())

    size = Sizing(NEAREST, 8, 40, 4)
    wanted = qwen.prepared([image])
    assert torch.equal(merging_patches(decoded(image, size), 4, 2, 2, HALVES), wanted["pixel_values"])

    wanted = glm.prepared([image])
    found = merging_patches(decoded(image, Sizing(GROWN, 8, 40, 4)), 4, 2, 2, CLIP)
    assert torch.equal(found, wanted["pixel_values"])

    wanted = kimi.prepared([image])
    assert torch.equal(kimi_patches(decoded(image, Sizing(PADDED, 8, 1000, longest=70)), 4), wanted["pixel_values"])


SIDES = st.integers(1, 70_000)


@given(SIDES, SIDES, st.sampled_from([70, 140, 280, 560, 1120]))
def test_the_largest_size_is_that_of_transformers(width: int, height: int, most: int) -> None:
    try:
        wanted = get_aspect_ratio_preserving_size(height, width, 16, 9 * most, 3)
    except ValueError:
        wanted = None
    found = Sizing(LARGEST, 48, most).fitted(width, height)
    assert (found and (found[1] * 48, found[0] * 48)) == wanted


@given(SIDES, SIDES, st.integers(16, 1024), st.integers(1, 15))
def test_the_nearest_size_is_that_of_transformers(width: int, height: int, most: int, least: int) -> None:
    try:
        wanted = smart_resize(height, width, 32, least * 32**2, most * 32**2)
    except ValueError:
        wanted = None
    found = Sizing(NEAREST, 32, most, least).fitted(width, height)
    assert (found and (found[1] * 32, found[0] * 32)) == wanted


@given(SIDES, SIDES, st.integers(16, 1024), st.integers(1, 15))
def test_the_nearest_size_of_one_that_has_grown_is_that_of_transformers(
    width: int, height: int, most: int, least: int
) -> None:
    try:
        wanted = grown_resize(2, height, width, 2, 28, 2 * least * 28**2, 2 * most * 28**2)
    except ValueError:
        wanted = None
    found = Sizing(GROWN, 28, most, least).fitted(width, height)
    assert (found and (found[1] * 28, found[0] * 28)) == wanted


def transformers_function(module: str, name: str) -> Callable[..., Any]:
    """One function of a module that cannot be imported without torchvision."""
    file = Path(transformers.__file__).parent / "models" / f"{module}.py"
    parsed = ast.parse(file.read_text(encoding="utf-8"))
    parsed.body = [part for part in parsed.body if isinstance(part, ast.FunctionDef) and part.name == name]
    found: dict[str, Any] = {"math": math}
    exec(compile(parsed, str(file), "exec"), found)
    function: Callable[..., Any] = found[name]
    return function


@given(SIDES, SIDES)
def test_the_padded_size_is_that_of_transformers(width: int, height: int) -> None:
    size = Sizing(PADDED, 28, 1024, longest=256)
    wide, high = size.fitted(width, height) or (0, 0)
    assert 0 < wide * high <= 1024
    assert max(wide, high) <= 256
    if size.resized(width, height, (wide, high)) == (width, height):
        resize = transformers_function("kimi_k25/image_processing_kimi_k25", "navit_resize")
        assert resize(height, width, 14, 2, 16384, 512) == ((height, width), (high * 28, wide * 28))
    else:
        assert math.ceil(width / 28) * math.ceil(height / 28) > 1024 or max(width, height) > 256 * 28


@pytest.mark.parametrize("way", [NEAREST, PADDED])
def test_what_is_seen_through_is_on_white_and_the_edge_is_black(way: str) -> None:
    clear = saved(Image.new("RGBA", (12, 20), (255, 0, 0, 0)))
    found = decoded(clear, Sizing(way, 8, 40, longest=40))
    assert (found.width, found.height) == (16, 24 if way == PADDED else 16)
    edge = (0, 0, 0) if way == PADDED else (255, 255, 255)
    assert corner(found) == corner(found, 11, 15) == (255, 255, 255)
    assert corner(found, 15, 0) == corner(found, 0, found.height - 1) == edge


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_kind_of_pixel(mode: str) -> None:
    white = Image.new(mode, (40, 40), {"I;16": 65535, "CMYK": (0, 0, 0, 0)}.get(mode, "white"))
    assert corner(decoded(saved(white, "JPEG" if mode == "CMYK" else "PNG"))) == (255, 255, 255)


def test_it_is_turned_as_the_camera_noted() -> None:
    image = Image.new("RGB", (80, 40), "black")
    image.paste("white", (0, 0, 40, 40))
    exif = image.getexif()
    exif[0x0112] = 6  # to be turned by 90 degrees: what was left is on top
    found = decoded(saved(image, "JPEG", exif=exif, quality=100))
    assert found.width < found.height
    assert corner(found) == (255, 255, 255)
    assert corner(found, found.width - 1, found.height - 1) == (0, 0, 0)


def test_what_is_seen_through_is_on_white() -> None:
    assert corner(decoded(saved(Image.new("RGBA", (40, 40), (255, 0, 0, 0))))) == (255, 255, 255)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_the_first_of_moving_pictures(kind: str) -> None:
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue")]
    red = corner(decoded(saved(frames[0], kind, save_all=True, append_images=frames[1:], lossless=True)))
    assert red == (255, 0, 0)


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is so large and holds next to nothing."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")


@pytest.mark.long
@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (b"", "can't be read"),
        (b"\x89PNG\r\n\x1a\n", "can't be read"),
        (gemma.picture(1)[:3000], "can't be read"),
        (gemma.picture(1, kind="JPEG")[:900], "can't be read"),
        (saved(Image.new("L", (40, 40)), "GIF"), "can't be read"),
        (saved(Image.new("L", (40, 40)), "TIFF"), "can't be read"),
        (bomb(60_000, 60_000), "3,600 megapixels"),
        (bomb(2**31 - 1, 2**31 - 1), "megapixels"),
        (bomb(7_000, 7_000), "can't be read"),
        (bytes(PICTURE_BYTES + 1), "34 MB, the limit is 34 MB"),
    ],
    ids=[
        "nothing",
        "a beginning",
        "half a PNG",
        "half a JPEG",
        "GIF",
        "TIFF",
        "a bomb",
        "a larger bomb",
        "hollow",
        "long",
    ],
)
def test_hostile_pictures_are_refused_by_a_sentence(image: bytes, sentence: str) -> None:
    with pytest.raises(UnderhillError, match=sentence) as refused:
        pictures.decode(image, SIZE)
    assert refused.value.kind is Kind.BAD_REQUEST
    assert refused.value.action


@pytest.mark.long
def test_what_takes_too_long_or_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as short:
        short.setattr(pictures, "DECODING_MEMORY", 20_000_000)
        with pytest.raises(UnderhillError, match="too much memory"):
            pictures.decode(saved(Image.new("RGB", (7_000, 7_000))), SIZE)
    monkeypatch.setattr(pictures, "PICTURE_SECONDS", 0.0)
    with pytest.raises(UnderhillError, match="too long"):
        pictures.decode(saved(Image.new("RGB", (7_000, 7_000))), SIZE)
