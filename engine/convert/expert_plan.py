"""Where the experts lie in a checkpoint: by formats/families.py, else by transformers' own conversion tables.

A checkpoint may hold one tensor per expert and matrix, or all experts of a layer in one tensor; both are recognized for
every family. The tables say how checkpoint tensors are renamed and merged into the parameters of transformers' modules;
turned around, they say where in the checkpoint one expert's matrices lie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from engine.convert.pieces import COMPANIONS, ExpertPieces, ExpertPlan, MatrixPiece, piece_shape
from engine.convert.skeleton import ExpertsModule, Skeleton, build_skeleton, expert_sizes, routed_experts
from engine.errors import Kind, UnderhillError
from engine.formats.errors import broken_file
from engine.formats.families import (
    EXPERT_COUNT_KEYS,
    FAMILIES,
    PARTS,
    ExpertNames,
    check_quantization,
    dense_model,
    mtp_layer,
    mtp_names,
    text_config,
    vision_prefixes,
)
from engine.formats.source import WeightSource
from engine.import_lock import ALONE
from engine.limits import EXPERTS
from engine.translatable import Translatable, msg

# Digits are bounded in names that others wrote: int() refuses more than 4300 of them, with an error of its own.
_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.(.+)$")
# Vision and audio towers, and what predicts further tokens, unless these are of use here.
_UNUSED = re.compile(
    r"(^|\.)(mtp|visual|vision_tower|vision_model|audio_tower|embed_vision|embed_audio"
    r"|mm_projector|multi_modal_projector|patch_merge_mlp|vit_large_projector)(\.|_)"
)


def find_experts(checkpoint: WeightSource) -> ExpertPlan:
    """Where every expert of the checkpoint lies, and which tensors the rest of the model needs.

    Raises UnderhillError: UNSUPPORTED_MODEL for dense models, other quantizations and unknown families,
    MISSING_FILE when an expert is not complete, BROKEN_FILE when shapes contradict each other.
    """
    config = text_config(checkpoint.config)
    check_quantization(checkpoint.config)
    names = FAMILIES.get(str(checkpoint.config["model_type"]))
    if names is None:
        return plan_experts(checkpoint.config, {e.name: e.shape for e in checkpoint.entries.values()})
    found: dict[int, dict[int, ExpertPieces]] = {}
    dense, unused, sees = [], [], []
    seeing = vision_prefixes(checkpoint.config)
    hidden_layers, mtp = _layers(config), mtp_layer(checkpoint.config)
    beside: dict[str, tuple[int, str]] = {}  # what is dense in a layer, and what it is called there
    if not isinstance(hidden_layers, int):
        raise broken_file(msg("config.json names no num_hidden_layers."))
    for name in checkpoint.entries:
        if name.startswith(seeing):
            sees.append(name)
            continue
        place = _place(name, checkpoint.config, mtp)
        if _UNUSED.search(name) if place is None else hidden_layers <= place[0] != mtp:
            unused.append(name)
            continue
        pieces = [] if place is None else list(_pieces(checkpoint, name, place[1], names))
        if place is None or not pieces:
            dense.append(name)
            beside |= {} if place is None else {name: place}
            continue
        experts = found.setdefault(place[0], {})
        most = config.get(names.counted, EXPERTS)
        for expert, part, is_bias, piece in pieces:
            if expert >= most:
                continue
            entry = experts.setdefault(expert, ExpertPieces({}, {}))
            (entry.biases if is_bias else entry.matrices)[part] = piece
    mtp_experts = {} if mtp is None else _mtp_experts(checkpoint, mtp, found.pop(mtp, {}), beside, dense, unused)
    if not found:
        raise dense_model(str(checkpoint.config["model_type"]))
    layers = {layer: _complete(layer, found[layer], names, config) for layer in sorted(found)}
    intermediate, hidden = piece_shape(checkpoint, layers[min(layers)][0].matrices["up"])
    return ExpertPlan(
        hidden=hidden,
        intermediate=intermediate,
        has_gate=names.gated,
        has_bias=names.bias,
        layers=layers,
        dense=tuple(dense),
        unused=tuple(unused),
        vision=tuple(sees),
        mtp=mtp_experts,
    )


def _place(name: str, config: Mapping[str, Any], mtp: int | None) -> tuple[int, str] | None:
    """The number of the layer that a tensor belongs to, and what it is called there; None: it is in none.

    mtp: the layer for multi-token prediction, which has what joins it as well.
    """
    apart = None if mtp is None else mtp_names(config).place(name)
    if mtp is not None and apart is not None:
        return mtp, apart
    match = None if _UNUSED.search(name) else _LAYER.search(name)
    return (int(match.group(1)), match.group(2)) if match else None


# Copies of the model's own table and head, which serve in their place (DeepSeek-V3, section 2.2).
_COPIED = ("embed_tokens.weight", "shared_head.head.weight")


def _mtp_experts(
    checkpoint: WeightSource, layer: int, experts: dict[int, ExpertPieces], beside: Mapping[str, tuple[int, str]],
    dense: list[str], unused: list[str],
) -> dict[int, tuple[ExpertPieces, ...]]:  # fmt: skip
    """The layer for multi-token prediction, with all its experts; none where the checkpoint does not hold it whole.

    Quantized copies often leave some of it out: it is only drafted with, so that the model is complete without it.
    beside: of `dense`, what is in a layer. What is of no use there goes to `unused`.
    """
    names = FAMILIES[str(checkpoint.config["model_type"])]
    own = {name: rest for name, (number, rest) in beside.items() if number == layer}
    # It has what the last layer with attention has, which is the last one but in hybrids.
    attending = (number for number, rest in beside.values() if number < layer and rest.startswith("self_attn."))
    like = max(attending, default=layer - 1)
    last = {rest for number, rest in beside.values() if number == like and not rest.endswith(COMPANIONS)}
    wanted = last | {f"{name}.weight" for name in mtp_names(checkpoint.config).joining}
    found: dict[int, tuple[ExpertPieces, ...]] = {}
    if experts and wanted <= set(own.values()):
        with suppress(UnderhillError):
            found = {layer: _complete(layer, experts, names, text_config(checkpoint.config))}
    useless = {name for name, rest in own.items() if not found or rest.startswith(_COPIED)}
    unused += [name for name in dense if name in useless]
    if not found:
        unused += [piece.key for expert in experts.values() for piece in expert.matrices.values()]
    dense[:] = [name for name in dense if name not in useless]
    return found


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
    turned = not is_bias and _transposed(checkpoint, key, names)
    if len(shape) < (2 if is_bias else 3) or shape[0] > EXPERTS:
        raise broken_file(msg("{name} has the impossible shape {shape}.", name=name, shape=list(shape)))
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


def _transposed(checkpoint: WeightSource, key: str, names: ExpertNames) -> bool:
    """Whether the matrices in this tensor are [in, out].

    Qwen3-VL is published so, and transformers saves it the other way round. One shape alone may fit both; those of
    gate_up and down together do not: [E, H, 2I] and [E, I, H], or [E, 2I, H] and [E, H, I].
    """
    if not names.either_way:
        return names.transposed
    root = key.removesuffix(names.gate_up).removesuffix(names.down)
    beside = [f"{root}{name}" for name in (names.gate_up, names.down)]
    shapes = [checkpoint.entry(name).shape for name in beside if name in checkpoint.entries]
    return len(shapes) == 2 and all(len(shape) == 3 for shape in shapes) and shapes[0][1] == shapes[1][2]


def _complete(
    layer: int, experts: dict[int, ExpertPieces], names: ExpertNames, config: Mapping[str, Any]
) -> tuple[ExpertPieces, ...]:
    """The experts of a layer in order, none missing and none incomplete."""
    # The config's number too: a shard that is missing would else make a model with fewer experts, of which none is
    # incomplete.
    count = max(max(experts) + 1, _expected(layer, config))
    for expert in range(count):
        pieces = experts.get(expert, ExpertPieces({}, {}))
        wanted = PARTS if names.gated else PARTS[1:]
        parts = [(p, pieces.matrices) for p in wanted] + [(p, pieces.biases) for p in wanted if names.bias]
        for part, held in parts:
            if part not in held:
                raise _incomplete(
                    msg(
                        "Expert {expert} of layer {layer} is not complete: its {part} matrix is missing.",
                        expert=expert,
                        layer=layer,
                        part=part,
                    )
                )
    return tuple(experts[e] for e in range(count))


def _expected(layer: int, config: Mapping[str, Any]) -> int:
    """How many experts the config promises in a layer; 0 where it does not say."""
    value = next((config[key] for key in EXPERT_COUNT_KEYS if config.get(key)), 0)
    if isinstance(value, list):
        value = value[layer] if layer < len(value) else 0
    return value if isinstance(value, int) and value <= EXPERTS else 0


_EXPERT_NUMBER = re.compile(r"\.experts\.(\d+)\.")


@dataclass
class SortedKeys:
    """Checkpoint tensors by whose they are.

    experts, parameters: name of transformers' parameter -> [(tensor, pattern of its converter)], in order, for the
    routed experts and for the rest. dense: the tensors behind `parameters`, with what decodes them. unused: others.
    """

    experts: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict)
    parameters: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict)
    dense: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


class KeyMap:
    """Checkpoint names to the names of transformers' parameters, for one model."""

    def __init__(self, model: Any) -> None:
        """model: as `build_skeleton` makes it."""
        with ALONE:
            from transformers.conversion_mapping import get_model_conversion_mapping
            from transformers.core_model_loading import WeightConverter, WeightRenaming

        transforms = get_model_conversion_mapping(model)
        self._renamings = [t for t in transforms if isinstance(t, WeightRenaming)]
        self._converters = [t for t in transforms if isinstance(t, WeightConverter)]
        self._by_pattern = {pattern: c for c in self._converters for pattern in c.source_patterns}
        self._prefix = str(model.base_model_prefix)
        self._state = model.state_dict()

    def target(self, key: str) -> tuple[str | None, str | None]:
        """(parameter that the tensor becomes part of, pattern of the converter that makes it so or None).

        None as parameter: the model has no use for the tensor. Ask in the order of `in_order`.
        """
        from transformers.core_model_loading import rename_source_key

        renamed, pattern = rename_source_key(key, self._renamings, self._converters, self._prefix, self._state)
        if renamed not in self._state and key in self._state:  # already named as in the model
            renamed, pattern = key, None
        return (renamed if renamed in self._state else None), pattern

    def converter(self, pattern: str) -> Any:
        """transformers' WeightConverter with this source pattern."""
        return self._by_pattern[pattern]

    def operations(self, pattern: str | None) -> tuple[list[Any], int]:
        """What is done to a tensor that matched `pattern`, and its place among those it is merged with."""
        if pattern is None:
            return [], 0
        converter = self._by_pattern[pattern]
        return converter.operations, converter.source_patterns.index(pattern)


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys as the conversion wants them: numbers by value, so that expert 2 comes before expert 10."""
    from transformers.core_model_loading import dot_natural_key

    return sorted(keys, key=dot_natural_key)


def plan_experts(config: dict[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> ExpertPlan:
    """Where every routed expert of a checkpoint lies. config: its config.json. shapes: tensor name -> shape.

    Raises UnderhillError: UNSUPPORTED_MODEL where the family cannot be opened or its experts are stored in a way that
    is not known, MISSING_FILE where an expert's tensor is not there.
    """
    skeleton = build_skeleton(config)
    keymap = KeyMap(skeleton.model)
    keys = sort_keys(skeleton, keymap, shapes)
    layers = {found.layer: _layer(found, keymap, keys.experts, shapes) for found in skeleton.experts}
    first = routed_experts(skeleton.experts[0])  # refuses what no kernel could run before hours go into quantizing it
    return ExpertPlan(
        hidden=first.hidden,
        intermediate=first.intermediate,
        has_gate=first.has_gate,
        has_bias=first.has_bias,
        layers=layers,
        dense=tuple(keys.dense),
        unused=tuple(keys.unused),
    )


def sort_keys(skeleton: Skeleton, keymap: KeyMap, keys: Iterable[str]) -> SortedKeys:
    """Whose each checkpoint tensor is."""
    found = SortedKeys()
    owned = {f"{experts.name}.{name}" for experts in skeleton.experts for name in projections(experts.module)}
    for key in in_order(keys):
        # Scales go where their tensor goes: transformers' tables do not know them.
        companion = next((end for end in COMPANIONS if key.endswith(end)), "")
        target, pattern = keymap.target(key.removesuffix(companion))
        if target is None or not skeleton.needs(target):
            found.unused.append(key)
        elif target not in owned:
            found.dense.append(key)
            if not companion:
                found.parameters.setdefault(target, []).append((key, pattern))
        elif not companion:
            found.experts.setdefault(target, []).append((key, pattern))
    return found


def projections(module: Any) -> list[str]:
    """Names of the parameters of an experts module that are cut into experts."""
    first = "gate_up_proj" if module.has_gate else "up_proj"
    biases = [f"{first}_bias", "down_proj_bias"] if module.has_bias else []
    return [first, "down_proj", *biases]


def _layer(
    found: ExpertsModule,
    keymap: KeyMap,
    sources: Mapping[str, list[tuple[str, str | None]]],
    shapes: Mapping[str, tuple[int, ...]],
) -> tuple[ExpertPieces, ...]:
    module = found.module
    count = int(module.down_proj.shape[0])
    experts = [ExpertPieces({}, {}) for _ in range(count)]
    for name in projections(module):
        target = f"{found.name}.{name}"
        if target not in sources:
            raise _incomplete(
                msg(
                    "The experts of layer {layer} are not in this checkpoint ({target}).",
                    layer=found.layer,
                    target=target,
                )
            )
        for key, pattern in sources[target]:
            for number, part, piece in _pieces_by_table(module, name, key, pattern, keymap, shapes[key]):
                into = experts[number].biases if name.endswith("_bias") else experts[number].matrices
                into[part] = piece
    wanted = {"gate", "up", "down"} if module.has_gate else {"up", "down"}
    for number, expert in enumerate(experts):
        missing = wanted - set(expert.matrices)
        if missing or (module.has_bias and wanted - set(expert.biases)):
            raise _incomplete(
                msg(
                    "Expert {number} of layer {layer} is not complete in this checkpoint.",
                    number=number,
                    layer=found.layer,
                )
            )
    return tuple(experts)


def _pieces_by_table(
    module: Any, name: str, key: str, pattern: str | None, keymap: KeyMap, shape: tuple[int, ...]
) -> list[tuple[int, str, MatrixPiece]]:
    """(expert, 'gate' | 'up' | 'down', where) for all that one checkpoint tensor holds."""
    operations, position = keymap.operations(pattern)
    steps = [type(operation).__name__ for operation in operations]
    if steps[:1] == ["MergeModulelist"]:  # one tensor per expert
        number = _EXPERT_NUMBER.search(key)
        if number is None or len(shape) != 2 or steps[1:] not in ([], ["Concatenate"]):
            raise _unknown(key)
        merged = "up" if name.startswith("up") else "down"
        return [(int(number.group(1)), ("gate", "up")[position] if steps[1:] else merged, MatrixPiece(key, None))]
    expected = tuple(getattr(module, name).shape)
    transpose = bool(module.is_transposed) and not name.endswith("_bias")
    interleaved = not module.is_concatenated
    if steps == ["Transpose"]:
        transpose = shape != expected or not operations[0].check_dims
        shape = (shape[0], *reversed(shape[1:])) if transpose else shape
    elif steps == ["Interleave"]:
        interleaved = True
    elif steps:
        raise _unknown(key)
    if shape != expected:
        raise _unknown(key)
    whole = [(number, MatrixPiece(key, number, transpose)) for number in range(expected[0])]
    if not name.startswith("gate_up"):
        return [(number, "up" if name.startswith("up") else "down", piece) for number, piece in whole]
    if interleaved:
        return [
            (number, part, replace(piece, start=first, step=2))
            for number, piece in whole
            for part, first in (("gate", 0), ("up", 1))
        ]
    half = expert_sizes(module)[1]
    return [
        item
        for number, piece in whole
        for item in ((number, "gate", replace(piece, stop=half)), (number, "up", replace(piece, start=half)))
    ]


def _unknown(key: str) -> UnderhillError:
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("The experts of this model are stored in a way that Underhill does not know ({key}).", key=key),
        msg("Look for the same model in its original format."),
    )


def _incomplete(sentence: Translatable) -> UnderhillError:
    return UnderhillError(Kind.MISSING_FILE, sentence, msg("A file of the model is missing; download it again."))
