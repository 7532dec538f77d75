"""Decodes a picture to pixels of the size that a model takes. Runs in a sandboxed process: pictures come from anywhere.

Whatever the file says of itself, only the first frame is taken, turned as a camera noted it, on white where it is
transparent.
"""

from __future__ import annotations

import base64
import io
import struct
import warnings
from collections.abc import Iterator

from engine.limits import PICTURE_PIXELS
from engine.models.vision.sizing import Sizing
from engine.sandbox import out_of_memory

FORMATS = ("PNG", "JPEG", "WEBP")
PIXELS, DAMAGED, LARGE, NARROW = "pixels", "damaged", "large", "narrow"


def pixels(data: str, way: str, step: int, most: int, least: int, longest: int) -> Iterator[list[object]]:
    """Yield [PIXELS, width, height, RGB in base64] of a file in base64; or else [LARGE, megapixels], [NARROW] or
    [DAMAGED, why].

    way, step, most, least, longest: of the Sizing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield _decoded(base64.b64decode(data), Sizing(way, step, most, least, longest=longest))
    except (ArithmeticError, AttributeError, EOFError, LookupError, OSError, RecursionError, SyntaxError, TypeError,
            ValueError, struct.error) as e:  # what the library raises on files that keep to no rule  # fmt: skip
        if out_of_memory(e):
            raise
        yield [DAMAGED, f"{type(e).__name__}: {e}"[:1000]]


def _decoded(data: bytes, sizing: Sizing) -> list[object]:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # asked for here, before anything is decoded
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        if picture.width * picture.height > PICTURE_PIXELS:
            return [LARGE, picture.width * picture.height / 1e6]
        upright = ImageOps.exif_transpose(picture)
        if upright.mode.startswith("I;16"):  # 16 bits of grey, which Pillow would cut off instead of scaling
            upright = upright.point(lambda value: value / 256).convert("L")
        tiles = sizing.fitted(upright.width, upright.height)
        if tiles is None:
            return [NARROW]
        size = sizing.resized(upright.width, upright.height, tiles)
        seen_through = "A" in upright.getbands() or "transparency" in upright.info
        mode = "RGBA" if seen_through else "RGB"
        resized = (upright if upright.mode == mode else upright.convert(mode)).resize(size, Image.Resampling.BICUBIC)
        if seen_through:
            resized = Image.alpha_composite(Image.new("RGBA", size, "white"), resized).convert("RGB")
    whole = tiles[0] * sizing.step, tiles[1] * sizing.step
    padded = Image.new("RGB", whole)
    padded.paste(resized)
    return [PIXELS, *whole, base64.b64encode(padded.tobytes()).decode("ascii")]
