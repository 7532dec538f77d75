"""A decoded picture."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Pixels:
    """A picture that was resized. rgb: three bytes a pixel, row by row from the top left."""

    width: int
    height: int
    rgb: bytes

    def values(self) -> Tensor:
        """[height, width, 3] float32, 0 to 1."""
        values = torch.frombuffer(bytearray(self.rgb), dtype=torch.uint8).double().mul(1 / 255).float()
        return values.view(self.height, self.width, 3)
