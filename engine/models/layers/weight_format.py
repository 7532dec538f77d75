"""How the weights beside the routed experts are held in memory, and who multiplies with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from engine.kernels.native import NativeKernel
from engine.native.memory import Arena

Kind = Literal["f32", "bf16", "int8", "int4"]
BITS: dict[Kind, int] = {"int8": 8, "int4": 4}
KINDS: tuple[Kind, ...] = ("f32", "bf16", "int8", "int4")


@dataclass(frozen=True)
class WeightFormat:
    """kind: of linear layers. kernel: None where torch multiplies, which it does with f32 and bf16 alone.

    head and table follow `kind` unless they are given. head: of the matrix that makes logits, also where the embedding
    is tied to it. table: of rows that are only looked up: an untied embedding, Gemma 4's per-layer inputs; another kind
    than the head's holds a tied embedding twice. arena: where weights for native calls lie.
    """

    kind: Kind = "f32"
    kernel: NativeKernel | None = None
    head: Kind | None = None
    table: Kind | None = None
    arena: Arena = field(default_factory=Arena)

    @property
    def exact(self) -> WeightFormat:
        """For the few small matrices that are always held in float32."""
        return replace(self, kind="f32")

    @property
    def for_head(self) -> WeightFormat:
        """For the matrix that makes logits."""
        return self if self.head is None else replace(self, kind=self.head)

    @property
    def for_table(self) -> WeightFormat:
        """For rows that are only looked up: they cost next to no time, and bf16 is what checkpoints store."""
        return replace(self, kind=self.table or ("f32" if self.kind == "f32" else "bf16"))


F32 = WeightFormat()


def holding(kind: Kind, kernel: NativeKernel | None = None) -> WeightFormat:
    """What the setting `dense` means. kernel: None where only the bytes are asked for.

    At 8 bits nothing is lost that bf16 would keep. At 4 bits the head alone costs twice what all the rest does, and
    rows that are only looked up save no time: both stay at 8 (docs/quantization.md).
    """
    if kind in BITS:
        return WeightFormat(kind, kernel, head="int8", table="int8")
    return WeightFormat(kind, kernel)
