"""What size a model wants a picture in."""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST, NEAREST, GROWN, PADDED = "largest", "nearest", "grown", "padded"


@dataclass(frozen=True)
class Sizing:
    """How a picture is resized before a model looks at it. A token stands for a tile of `step` x `step` pixels.

    way: LARGEST: as large as `most` tiles allow (Gemma 4). NEAREST: as large as it is, rounded to tiles, of at least
    `least` and at most `most` (Qwen). GROWN: as NEAREST, what is smaller than a tile first made as large as one (GLM).
    PADDED: as it is, with black at its right and lower edge up to whole tiles; one of more than `most`, or with a side
    of more than `longest`, is made as large as they allow (Kimi). around: tokens that stand around a picture and that
    the template does not write.
    """

    way: str
    step: int
    most: int
    least: int = 1
    around: int = 0
    longest: int = 0

    def fitted(self, width: int, height: int) -> tuple[int, int] | None:
        """(width, height) in tiles; None where there is none near this shape."""
        if self.way == LARGEST:
            return self._largest(width, height)
        if self.way == PADDED:
            return self._padded(width, height)
        if self.way == GROWN and (shorter := min(width, height)) < self.step:
            width, height = (int(side * (self.step / shorter)) for side in (width, height))
        return self._nearest(width, height)

    def resized(self, width: int, height: int, tiles: tuple[int, int]) -> tuple[int, int]:
        """(width, height) in pixels of the picture itself, inside of `tiles` as `fitted` gives them."""
        wide, high = (number * self.step for number in tiles)
        return (min(width, wide), min(height, high)) if self.way == PADDED else (wide, high)

    def tokens(self, width: int, height: int) -> int:
        """Of a picture of this size, with those around it; 0 where there is no size near this shape."""
        tiles = self.fitted(width, height)
        return 0 if tiles is None else tiles[0] * tiles[1] + self.around

    def _largest(self, width: int, height: int) -> tuple[int, int] | None:
        """As transformers' Gemma4ImageProcessor."""
        factor = math.sqrt(self.most * self.step**2 / (width * height))
        wide, high = (math.floor(factor * side / self.step) for side in (width, height))
        if not wide and not high:
            return None
        if not high:
            wide, high = min(width // height, self.most), 1
        elif not wide:
            wide, high = 1, min(height // width, self.most)
        return (wide, high) if wide * high <= self.most else None

    def _nearest(self, width: int, height: int) -> tuple[int, int] | None:
        """As `smart_resize` of transformers' Qwen2VLImageProcessor, and of Glm46VImageProcessor where it has grown."""
        if max(width, height) > 200 * min(width, height):
            return None
        wide, high = (round(side / self.step) for side in (width, height))
        if wide * high > self.most:
            shrunk = math.sqrt(width * height / (self.most * self.step**2))
            wide, high = (max(1, math.floor(side / shrunk / self.step)) for side in (width, height))
        elif wide * high < self.least:
            grown = math.sqrt(self.least * self.step**2 / (width * height))
            wide, high = (math.ceil(side * grown / self.step) for side in (width, height))
        return wide, high

    def _padded(self, width: int, height: int) -> tuple[int, int]:
        """As `navit_resize` of transformers' Kimi_K25ImageProcessor, where nothing has to be made smaller."""
        wide, high = (math.ceil(side / self.step) for side in (width, height))
        if wide * high > self.most or max(wide, high) > self.longest:
            shrunk = math.sqrt(width * height / (self.most * self.step**2))
            shrunk = max(shrunk, max(width, height) / (min(self.longest, self.most) * self.step))
            wide, high = (max(1, math.floor(side / shrunk / self.step)) for side in (width, height))
        return wide, high
