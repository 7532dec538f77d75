"""Decodes a picture to pixels of the size that a model takes. Runs in a sandboxed process: pictures come from anywhere.

Whatever the file says of itself, only the first frame is taken, turned as a camera noted it, on white where it is
transparent.
"""

from __future__ import annotations

import base64
import io
import math
import struct
import warnings
from collections.abc import Iterator

from engine.limits import PICTURE_PIXELS
from engine.sandbox import out_of_memory

FORMATS = ("PNG", "JPEG", "WEBP")
PIXELS, DAMAGED, LARGE, NARROW = "pixels", "damaged", "large", "narrow"


def pixels(data: str, step: int, most: int) -> Iterator[list[object]]:
    """Yield [PIXELS, width, height, RGB in base64] of a file in base64; or else [LARGE, megapixels], [NARROW] or
    [DAMAGED, why].

    step, most: as of `fitted`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield _decoded(base64.b64decode(data), step, most)
    except (ArithmeticError, AttributeError, EOFError, LookupError, OSError, RecursionError, SyntaxError, TypeError,
            ValueError, struct.error) as e:  # what the library raises on files that keep to no rule  # fmt: skip
        if out_of_memory(e):
            raise
        yield [DAMAGED, f"{type(e).__name__}: {e}"[:1000]]


def _decoded(data: bytes, step: int, most: int) -> list[object]:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # asked for here, before anything is decoded
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        if picture.width * picture.height > PICTURE_PIXELS:
            return [LARGE, picture.width * picture.height / 1e6]
        upright = ImageOps.exif_transpose(picture)
        if upright.mode.startswith("I;16"):  # 16 bits of grey, which Pillow would cut off instead of scaling
            upright = upright.point(lambda value: value / 256).convert("L")
        size = fitted(upright.width, upright.height, step, most)
        if size is None:
            return [NARROW]
        seen_through = "A" in upright.getbands() or "transparency" in upright.info
        mode = "RGBA" if seen_through else "RGB"
        resized = (upright if upright.mode == mode else upright.convert(mode)).resize(size, Image.Resampling.BICUBIC)
        if seen_through:
            resized = Image.alpha_composite(Image.new("RGBA", size, "white"), resized).convert("RGB")
    return [PIXELS, *size, base64.b64encode(resized.tobytes()).decode("ascii")]


def fitted(width: int, height: int, step: int, most: int) -> tuple[int, int] | None:
    """The largest (width, height) of about this shape whose sides are multiples of `step`, and of at most `most` tiles.

    A tile has `step` x `step` pixels. None where no such size is near the shape. As transformers' Gemma4ImageProcessor.
    """
    factor = math.sqrt(most * step**2 / (width * height))
    wide, high = (math.floor(factor * side / step) for side in (width, height))
    if not wide and not high:
        return None
    if not high:
        wide, high = min(width // height, most), 1
    elif not wide:
        wide, high = 1, min(height // width, most)
    return (wide * step, high * step) if wide * high <= most else None
