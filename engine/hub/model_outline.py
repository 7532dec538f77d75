"""What is known of a model on a hub before any weight is fetched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.convert.expert_plan import find_experts
from engine.convert.kept_codes import EXACT, GROUPS, codings, dense_shapes, keeps
from engine.convert.pieces import ExpertPlan, piece_shape
from engine.errors import Kind, UnderhillError
from engine.formats.gguf_header import GgufHeader
from engine.formats.safetensors_header import SafetensorsEntry
from engine.formats.source import TensorInfo, WeightSource, suited
from engine.hub.revision import RemoteFile, Revision
from engine.library.cards import experts_per_token
from engine.store.coding import Coding
from engine.store.layout import ExpertSpec
from engine.translatable import msg


@dataclass(frozen=True)
class Outline:
    """A model that could be fetched and imported.

    files: what a download takes; weights: those of them that hold the weights.
    entries: what these hold, by name; gguf: the same, where they are GGUF. heads: by file, the first bytes as they were
    looked at.
    experts: by MoE layer, how many and of what shape. dense: other weights, by name. bits: that an expert weight has in
    its files. kept: by layer, how experts are coded that keep their codes.
    """

    repo: str
    commit: str
    model_type: str
    licence: str
    gated: bool
    config: dict[str, Any] = field(repr=False)
    files: tuple[RemoteFile, ...] = field(repr=False)
    weights: tuple[RemoteFile, ...] = field(repr=False)
    entries: Mapping[str, SafetensorsEntry] = field(repr=False)
    heads: Mapping[str, bytes] = field(repr=False)
    experts: dict[int, tuple[int, ExpertSpec]] = field(repr=False)
    dense: Mapping[str, TensorInfo] = field(repr=False)
    gguf: tuple[GgufHeader, ...] = field(default=(), repr=False)
    bits: float = 16.0
    kept: Mapping[int, tuple[Coding, ...]] = field(default_factory=dict, repr=False)

    @property
    def download_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def parameters(self) -> int:
        """Weights of the language model."""
        return self._dense + sum(count * spec.parameters for count, spec in self.experts.values())

    @property
    def active_parameters(self) -> int:
        """Weights that one token uses."""
        top_k = experts_per_token(self.config)
        return self._dense + sum(min(top_k, count) * spec.parameters for count, spec in self.experts.values())

    def store_bytes(self, top: int) -> int:
        """About how large the model is once imported with `top` bits."""
        return sum(e.nbytes for e in self.dense.values()) + sum(n * s.layout.nbytes for n, s in self.specs(top))

    @property
    def automatic(self) -> int:
        """Bits that suit it where none were chosen: 4 of a source of about 4, else 8."""
        return EXACT if self.kept else suited(self.bits)

    @property
    def tops(self) -> tuple[int, ...]:
        """Bits that are worth storing, the preferred first: more than a source of 4 has add nothing to it."""
        return (EXACT,) if self.automatic == EXACT else (8, 4)

    def specs(self, top: int) -> list[tuple[int, ExpertSpec]]:
        """Of every MoE layer how many experts, and of what spec once imported with `top` bits; 0: `automatic`."""
        top = top or self.automatic
        found = []
        for layer, (count, s) in self.experts.items():
            codings = self.kept.get(layer, ()) if top == EXACT else ()
            group = codings[0].group if codings else s.group
            found.append((count, ExpertSpec(s.hidden, s.intermediate, top, group, s.has_gate, s.has_bias, codings)))
        return found

    @property
    def _dense(self) -> int:
        return sum(math.prod(e.shape) for e in self.dense.values())


def outline_of(
    found: Revision,
    source: WeightSource,
    files: tuple[RemoteFile, ...],
    weights: tuple[RemoteFile, ...],
    heads: Mapping[str, bytes],
    entries: Mapping[str, SafetensorsEntry],
    gguf: tuple[GgufHeader, ...] = (),
) -> Outline:
    """Of a source whose headers are known. Raises UnderhillError as importing it would."""
    plan = find_experts(source)
    return Outline(
        found.repo,
        found.commit,
        str(source.config["model_type"]),
        found.licence,
        found.gated,
        source.config,
        files,
        weights,
        entries,
        heads,
        _experts(source, plan),
        {shape.name: shape for shape in dense_shapes(source, plan, keeps(source, EXACT, None))},
        gguf,
        source.form.bits,
        codings(source, plan) if keeps(source, EXACT, None) else {},
    )


def _experts(source: WeightSource, plan: ExpertPlan) -> dict[int, tuple[int, ExpertSpec]]:
    shapes = {i: piece_shape(source, experts[0].matrices["up"]) for i, experts in plan.layers.items()}
    if any(len(shape) != 2 for shape in shapes.values()):
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("The experts of this model are not matrices."), msg("Choose another model.")
        )
    group = next((g for g in GROUPS if all(n % g == 0 for s in shapes.values() for n in s)), GROUPS[-1])
    try:
        return {
            i: (len(plan.layers[i]), ExpertSpec(cols, rows, 8, group, plan.has_gate, plan.has_bias))
            for i, (rows, cols) in shapes.items()
        }
    except ValueError as cause:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("The experts cannot be stored: {cause}.", cause=cause),
            msg("Choose another model."),
        ) from cause
