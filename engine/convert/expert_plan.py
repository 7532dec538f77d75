"""Where the experts of each known family lie in a checkpoint, under the names used on the hub and in re-saved copies.

Families without a row in formats/families.py are asked of transformers' own conversion tables. A checkpoint may hold
one tensor per expert and matrix, or all experts of a layer in one tensor; both are recognized for every family.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.convert.conversion_tables import plan_experts
from engine.convert.pieces import COMPANIONS, ExpertPieces, ExpertPlan, MatrixPiece, piece_shape
from engine.errors import Kind, UnderhillError
from engine.formats.families import (
    EXPERT_COUNT_KEYS,
    FAMILIES,
    PARTS,
    ExpertNames,
    check_quantization,
    dense_model,
    text_config,
)
from engine.formats.source import WeightSource
from engine.limits import EXPERTS
from engine.translatable import msg

_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.(.+)$")
# Layers that predict further tokens, and the eyes and ears of models that have them: chat needs neither.
_UNUSED = re.compile(
    r"(^|\.)(mtp|visual|vision_tower|vision_model|audio_tower|embed_vision|embed_audio"
    r"|mm_projector|multi_modal_projector|patch_merge_mlp|vit_large_projector)(\.|_)"
)


def find_experts(checkpoint: WeightSource) -> ExpertPlan:
    """Where every expert of the checkpoint lies, and which tensors the rest of the model needs.

    Raises UnderhillError: UNSUPPORTED_MODEL for dense models, other quantizations and families that nobody knows,
    MISSING_FILE when an expert is not complete, BROKEN_FILE when shapes contradict each other.
    """
    config = text_config(checkpoint.config)
    check_quantization(checkpoint.config)
    names = FAMILIES.get(str(checkpoint.config["model_type"]))
    if names is None:
        return plan_experts(checkpoint.config, {e.name: e.shape for e in checkpoint.entries.values()})
    found: dict[int, dict[int, ExpertPieces]] = {}
    dense, unused = [], []
    hidden_layers = _layers(config)
    if not isinstance(hidden_layers, int):
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("config.json names no num_hidden_layers."), msg("Download the file again.")
        )
    for name in checkpoint.entries:
        match = _LAYER.search(name)
        if _UNUSED.search(name) or (match and int(match.group(1)) >= hidden_layers):
            unused.append(name)
            continue
        pieces = list(_pieces(checkpoint, name, match.group(2), names)) if match else []
        if match is None or not pieces:
            dense.append(name)
            continue
        experts = found.setdefault(int(match.group(1)), {})
        most = config.get(names.counted, EXPERTS)
        for expert, part, is_bias, piece in pieces:
            if expert >= most:
                continue
            entry = experts.setdefault(expert, ExpertPieces({}, {}))
            (entry.biases if is_bias else entry.matrices)[part] = piece
    if not found:
        raise dense_model(str(checkpoint.config["model_type"]))
    layers = {layer: _complete(layer, found[layer], names, config) for layer in sorted(found)}
    intermediate, hidden = piece_shape(checkpoint, layers[min(layers)][0].matrices["up"])
    return ExpertPlan(hidden, intermediate, names.gated, names.bias, layers, tuple(dense), tuple(unused))


def _layers(config: Mapping[str, Any]) -> object:
    """How many layers there are: a number, a list of what they are, or two for each of num_layers."""
    kinds = config.get("layers_block_type") or config.get("hybrid_override_pattern")
    if isinstance(kinds, str | list):
        return len(kinds)
    return config.get("num_hidden_layers", config.get("num_layers"))


def _pieces(
    checkpoint: WeightSource, name: str, rest: str, names: ExpertNames
) -> Iterator[tuple[int, str, bool, MatrixPiece]]:
    """(expert, part, is a bias, where) for everything in tensor `name`, called `rest` within its layer.

    What decodes a quantized tensor gives pieces too, the same as the tensor itself, so that it counts as an expert's.
    """
    if not rest.startswith(names.module + "."):
        return
    rest = rest.removeprefix(names.module + ".")
    companion = next((c for c in COMPANIONS if rest.endswith(c)), "")
    rest, key = rest.removesuffix(companion), name.removesuffix(companion)
    single = re.fullmatch(r"(\d{1,6})\.(\w+)\.(weight|bias)", rest)
    if single is not None and single.group(2) in names.single:
        part = PARTS[names.single.index(single.group(2))]
        yield int(single.group(1)), part, single.group(3) == "bias", MatrixPiece(key, None)
        return
    if names.stacked and rest.removesuffix(".weight") in names.single and len(checkpoint.entry(name).shape) == 3:
        part = PARTS[names.single.index(rest.removesuffix(".weight"))]
        yield from ((e, part, False, MatrixPiece(key, e)) for e in range(min(EXPERTS, checkpoint.entry(name).shape[0])))
        return
    is_bias = rest.endswith("_bias")
    together = rest.removesuffix("_bias")
    if together not in (names.gate_up, names.down):
        return
    shape = checkpoint.entry(name).shape
    turned = names.transposed and not is_bias
    if len(shape) < (2 if is_bias else 3) or shape[0] > EXPERTS:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{name} has the impossible shape {shape}.", name=name, shape=list(shape)),
            msg("Download the file again."),
        )
    for expert in range(shape[0]):
        if together == names.down or not names.gated:
            yield expert, "down" if together == names.down else "up", is_bias, MatrixPiece(key, expert, turned)
        elif names.interleaved:
            yield expert, "gate", is_bias, MatrixPiece(key, expert, turned, start=0, step=2)
            yield expert, "up", is_bias, MatrixPiece(key, expert, turned, start=1, step=2)
        else:
            half = shape[2 if turned else 1] // 2
            yield expert, "gate", is_bias, MatrixPiece(key, expert, turned, stop=half)
            yield expert, "up", is_bias, MatrixPiece(key, expert, turned, start=half)


def _complete(
    layer: int, experts: dict[int, ExpertPieces], names: ExpertNames, config: Mapping[str, Any]
) -> tuple[ExpertPieces, ...]:
    """The experts of a layer in order, none missing and none incomplete."""
    count = max(max(experts) + 1, _expected(layer, config))
    for expert in range(count):
        pieces = experts.get(expert, ExpertPieces({}, {}))
        wanted = PARTS if names.gated else PARTS[1:]
        parts = [(p, pieces.matrices) for p in wanted] + [(p, pieces.biases) for p in wanted if names.bias]
        for part, held in parts:
            if part not in held:
                raise UnderhillError(
                    Kind.MISSING_FILE,
                    msg(
                        "Expert {expert} of layer {layer} is not complete: its {part} matrix is missing.",
                        expert=expert,
                        layer=layer,
                        part=part,
                    ),
                    msg("A file of the model is missing; download it again."),
                )
    return tuple(experts[e] for e in range(count))


def _expected(layer: int, config: Mapping[str, Any]) -> int:
    """How many experts the config promises in a layer; 0 where it does not say."""
    value = next((config[key] for key in EXPERT_COUNT_KEYS if config.get(key)), 0)
    if isinstance(value, list):
        value = value[layer] if layer < len(value) else 0
    return value if isinstance(value, int) and value <= EXPERTS else 0
