"""How the weights beside the routed experts are held in memory, and what multiplies with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Self

from engine.kernels.native import NativeKernel
from engine.native.memory import Arena

Kind = Literal["f32", "bf16", "int8", "int4"]
BITS: dict[Kind, int] = {"int8": 8, "int4": 4}
KINDS: tuple[Kind, ...] = ("f32", "bf16", "int8", "int4")


@dataclass(frozen=True)
class WeightKinds:
    """kind: of linear layers. head and table follow it unless they are given.

    head: of the matrix that makes logits, also where the embedding is tied to it. table: of rows that are only looked
    up: an untied embedding, Gemma 4's per-layer inputs; another kind than the head's holds a tied embedding twice.
    """

    kind: Kind = "f32"
    head: Kind | None = None
    table: Kind | None = None

    @property
    def exact(self) -> Self:
        """For the few small matrices that are always held in float32."""
        return replace(self, kind="f32")

    @property
    def for_head(self) -> Self:
        """For the matrix that makes logits."""
        return self if self.head is None else replace(self, kind=self.head)

    @property
    def for_table(self) -> Self:
        """For rows that are only looked up: they cost next to no time, and bf16 is what checkpoints store."""
        return replace(self, kind=self.table or ("f32" if self.kind == "f32" else "bf16"))


@dataclass(frozen=True, kw_only=True)
class WeightFormat(WeightKinds):
    """Also what multiplies with the weights, and where they lie. arena: of weights for native calls."""

    kernel: NativeKernel
    arena: Arena = field(default_factory=Arena)


def weight_kinds(setting: Kind) -> WeightKinds:
    """What the setting `dense` means.

    At 8 bits nothing is lost that bf16 would keep. At 4 bits the head alone costs twice what all the rest does, and
    rows that are only looked up save no time: both stay at 8 (docs/quantization.md).
    """
    return WeightKinds(setting, head="int8", table="int8") if setting in BITS else WeightKinds(setting)


def holding(setting: Kind, kernel: NativeKernel) -> WeightFormat:
    """The weights as the setting `dense` has them held, for this kernel."""
    kinds = weight_kinds(setting)
    return WeightFormat(kinds.kind, kinds.head, kinds.table, kernel=kernel)
