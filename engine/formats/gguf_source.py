"""A model in one or several GGUF files, with its tensors under the names and in the layout of the hub."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import Kind, UnderhillError
from engine.formats import gguf_header
from engine.formats.errors import broken_file, unsupported_file
from engine.formats.families import FAMILIES, PARTS, dense_model, mtp_layer, mtp_names
from engine.formats.gguf_deltanet import Made, delta_net
from engine.formats.gguf_header import GgufHeader, GgufTensor, parse_gguf_beginning, read_gguf_header, type_sizes
from engine.formats.gguf_metadata import Metadata
from engine.formats.gguf_names import ARCHITECTURES, MTP, Architecture
from engine.formats.gguf_rows import (
    NAMES,
    ChangedRows,
    GgufRows,
    JoinedRows,
    LatentRows,
    StoredRows,
    coded,
    decode,
    rows_of,
    stored,
)
from engine.formats.gguf_tokenizer import tokenizer_files
from engine.formats.source import DecodedEntry, DecodedSource, Form
from engine.limits import EXPERTS, LAYERS
from engine.translatable import msg

_LAYER = re.compile(r"blk\.(\d{1,6})\.(.+)")
_EXPERTS = re.compile(r"ffn_(gate|up|down|gate_up)_exps\.(weight|bias)")
_ONE_EXPERT = re.compile(r"ffn_(gate|up|down)\.(\d{1,6})\.weight")  # files from before 2024-04
_ROTATION = re.compile(r"(blk\.\d+\.)?(rope_freqs|rope_factors_long|rope_factors_short|attn_rot_embd)\.weight")


class GgufSource(DecodedSource):
    """See Source. Only headers are read until tensors are asked for."""

    def __init__(
        self, path: Path, files: tuple[Path, ...], metadata: Metadata, config: dict[str, Any], form: Form,
        entries: Mapping[str, DecodedEntry],
    ) -> None:  # fmt: skip
        self.path = path
        self.files = files
        self.config = config
        self.form = form
        super().__init__(entries)
        self._metadata = metadata

    @classmethod
    def open(cls, path: Path) -> GgufSource:
        """Open the file at `path` and, if it is a part of several, the others.

        Raises UnderhillError: UNSUPPORTED_MODEL (architecture, dense model, tensor type, unknown tensor), MISSING_FILE,
        BROKEN_FILE, DISK_ERROR.
        """
        return cls.of(path, [read_gguf_header(file) for file in gguf_header.parts(path)])

    @classmethod
    def of(cls, path: Path, headers: Sequence[GgufHeader], weights: bool = True) -> GgufSource:
        """Of files whose headers have been read. weights: whether weights may be read already, to check small ones.

        Raises UnderhillError as `open` for what the headers say.
        """
        first, *rest = headers
        metadata = Metadata(first.metadata)
        tensors = dict(first.tensors)
        for header in rest:
            if tensors.keys() & header.tensors.keys():
                raise _broken(header.path, msg("it repeats tensors of another part"))
            tensors |= header.tensors
        promised = first.metadata.get("split.tensors.count", len(tensors))
        if promised != len(tensors):
            raise _broken(
                path,
                msg("its parts hold {tensors} tensors instead of {promised}", tensors=len(tensors), promised=promised),
            )
        architecture = known_architecture(metadata)
        _check_types(tensors)
        config = architecture.config(metadata, tensors)
        entries = {e.name: e for e in _Entries(architecture, config, tensors, weights).make()}
        return cls(path, tuple(header.path for header in headers), metadata, config, _form(tensors), entries)

    @property
    def originals(self) -> tuple[Path, ...]:
        """The files: everything is in them."""
        return self.files

    @contextmanager
    def companions(self) -> Iterator[tuple[Path, ...]]:
        """Config, tokenizer and template, made of the metadata, the same bytes every time.

        Raises UnderhillError(UNSUPPORTED_MODEL or BROKEN_FILE) where the tokenizer cannot be rebuilt.
        """
        texts = {"config.json": json.dumps(self.config, indent=2, sort_keys=True), **tokenizer_files(self._metadata)}
        with tempfile.TemporaryDirectory(prefix="underhill-") as folder:
            for name, text in texts.items():
                (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
            yield tuple(sorted(Path(folder).iterdir()))


class _Entries:
    """Makes the hub's tensors out of those of the file."""

    def __init__(
        self, architecture: Architecture, config: dict[str, Any], tensors: Mapping[str, GgufTensor], weights: bool
    ) -> None:
        self._weights = weights
        self._architecture = architecture
        self._config = config
        self._tensors = tensors
        self._names = FAMILIES[config["model_type"]]
        self._mtp = mtp_layer(config)

    def make(self) -> Iterator[DecodedEntry]:
        for name, tensor in self._tensors.items():
            if _ROTATION.fullmatch(name):
                if self._weights:
                    _check_rotation(tensor)
                continue
            layer = _LAYER.fullmatch(name)
            if layer is None:
                if name not in self._architecture.top:
                    raise _unknown(tensor)
                yield _dense(self._architecture.top[name], *self._changed(tensor, name))
            elif (number := int(layer.group(1))) < self._config["num_hidden_layers"]:
                yield from self._of_layer(tensor, number, layer.group(2), f"model.layers.{number}")
            elif number == self._mtp:  # beyond: for predicting further tokens
                yield from self._of_mtp(tensor, number, layer.group(2))

    def _of_mtp(self, tensor: GgufTensor, layer: int, leaf: str) -> Iterator[DecodedEntry]:
        names = mtp_names(self._config)
        root = names.layer("model", layer)
        if leaf in MTP:
            name = f"{names.apart or root}.{getattr(names, MTP[leaf])}.weight"
            yield _dense(name, *self._changed(tensor, leaf))
        elif not leaf.startswith("nextn."):  # copies of the model's own table and head
            with suppress(UnderhillError):  # without what is not known there it is incomplete, and left out
                yield from self._of_layer(tensor, layer, leaf, root)

    def _of_layer(self, tensor: GgufTensor, layer: int, leaf: str, root: str) -> Iterator[DecodedEntry]:
        many, one = _EXPERTS.fullmatch(leaf), _ONE_EXPERT.fullmatch(leaf)
        if many is not None:
            yield from self._experts(tensor, f"{root}.{self._names.module}", many.group(1), many.group(2))
        elif one is not None:
            part = self._names.single[PARTS.index(one.group(1))]
            name = f"{root}.{self._names.module}.{int(one.group(2))}.{part}.weight"
            yield _expert(name, tensor.shape, stored(tensor))
        elif leaf in ("attn_k_b.weight", "attn_v_b.weight"):
            if leaf == "attn_k_b.weight":
                yield self._latent(tensor, self._beside(layer, "attn_v_b.weight"), root)
        elif self._architecture.shared_fused and leaf in ("ffn_gate_shexp.weight", "ffn_up_shexp.weight"):
            if leaf == "ffn_gate_shexp.weight":
                up = self._beside(layer, "ffn_up_shexp.weight")
                both = JoinedRows((stored(tensor), stored(up)), (tensor.shape[0], up.shape[0]))
                shape = (tensor.shape[0] + up.shape[0], *tensor.shape[1:])
                yield _dense(f"{root}.shared_mlp.input_linear.weight", shape, both)
        elif self._architecture.joined and leaf in ("attn_q.weight", "attn_k.weight", "attn_v.weight"):
            if leaf == "attn_q.weight":
                yield self._joined(layer, f"{root}.{self._architecture.joined}")
        elif self._architecture.linear and (made := self._delta_net(layer, leaf, tensor)) is not None:
            name, shape, rows = made
            yield _dense(f"{root}.linear_attn.{name}", shape, rows)
        elif self._architecture.linear and leaf == "attn_gate.weight":
            return  # with attn_qkv
        elif leaf in self._architecture.layer:
            yield _dense(f"{root}.{self._architecture.layer[leaf]}", *self._changed(tensor, leaf))
        else:
            raise _unknown(tensor)

    def _delta_net(self, layer: int, leaf: str, tensor: GgufTensor) -> Made | None:
        prefix = f"blk.{layer}."
        names = ("attn_qkv.weight", "attn_gate.weight", "ssm_in.weight")
        beside = {x: self._tensors[prefix + x] for x in names if prefix + x in self._tensors}
        return delta_net(leaf, tensor, beside, self._config)

    def _experts(self, tensor: GgufTensor, module: str, which: str, suffix: str) -> Iterator[DecodedEntry]:
        """One entry per expert and matrix of a tensor [experts, out, in], or per bias of one [experts, out]."""
        count, shape = tensor.shape[0], tensor.shape[1:]
        if len(shape) != (2 if suffix == "weight" else 1) or count != self._count():
            raise _broken(tensor.file, msg("{name} has the shape {shape}", name=tensor.name, shape=list(tensor.shape)))
        if which == "gate_up" and (suffix == "bias" or shape[0] % 2):
            raise _unknown(tensor)
        each = rows_of(shape)
        for expert in range(count):
            root = f"{module}.{expert}"
            if which == "gate_up":
                half = each // 2
                for at, part in enumerate(self._names.single[:2]):
                    rows = StoredRows(tensor, expert * each + at * half, half)
                    yield _expert(f"{root}.{part}.{suffix}", (half, *shape[1:]), rows)
            else:
                part = self._names.single[PARTS.index(which)]
                yield _expert(f"{root}.{part}.{suffix}", shape, StoredRows(tensor, expert * each, each))

    def _latent(self, keys: GgufTensor, values: GgufTensor, root: str) -> DecodedEntry:
        heads, rank = self._config["num_attention_heads"], self._config["kv_lora_rank"]
        nope, v = self._config["qk_nope_head_dim"], self._config["v_head_dim"]
        if keys.shape != (heads, rank, nope) or values.shape != (heads, v, rank):
            raise _broken(
                keys.file, msg("{name} and {name2} do not fit the metadata", name=keys.name, name2=values.name)
            )
        rows = LatentRows(stored(keys), stored(values), heads, rank, nope, v)
        return _dense(f"{root}.self_attn.kv_b_proj.weight", (heads * (nope + v), rank), rows)

    def _joined(self, layer: int, name: str) -> DecodedEntry:
        """Queries and keys, as `halves` puts them in order, and values, one after the other."""
        parts = [self._beside(layer, f"attn_{x}.weight") for x in "qkv"]
        heads = (self._config["num_attention_heads"], self._config["num_key_value_heads"])
        for part, count in zip(parts, heads, strict=False):
            if not count or part.shape[0] % (2 * count):
                raise _broken(part.file, msg("the rows of {name} are no whole number of heads", name=part.name))
        rows = (*(stored(p, halves(p.shape[0], n)) for p, n in zip(parts, heads, strict=False)), stored(parts[2]))
        counts = tuple(part.shape[0] for part in parts)
        return _dense(name, (sum(counts), *parts[0].shape[1:]), JoinedRows(rows, counts))

    def _changed(self, tensor: GgufTensor, leaf: str) -> tuple[tuple[int, ...], GgufRows]:
        """(shape on the hub, rows) of a dense tensor."""
        shape = tensor.shape
        if leaf in self._architecture.plus_one:
            return shape, ChangedRows(stored(tensor), lambda x: x - 1)
        if leaf in self._architecture.row and len(shape) == 1:
            return (1, *shape), stored(tensor)
        if leaf in self._architecture.conv and len(shape) == 2:
            return (shape[0], 1, shape[1]), stored(tensor)
        if self._architecture.permuted and leaf in ("attn_q.weight", "attn_k.weight"):
            heads = self._config["num_attention_heads" if leaf == "attn_q.weight" else "num_key_value_heads"]
            if not heads or shape[0] % (2 * heads):
                raise _broken(tensor.file, msg("the rows of {name} are no whole number of heads", name=tensor.name))
            return shape, stored(tensor, halves(shape[0], heads))
        return shape, stored(tensor)

    def _beside(self, layer: int, leaf: str) -> GgufTensor:
        name = f"blk.{layer}.{leaf}"
        if name not in self._tensors:
            raise UnderhillError(
                Kind.MISSING_FILE, msg("The GGUF file lacks the tensor {name}.", name=name), msg("Download it again.")
            )
        return self._tensors[name]

    def _count(self) -> int:
        keys = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
        return int(next(self._config[key] for key in keys if key in self._config))


def halves(rows: int, heads: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each row of a query or key matrix of the hub is found in llama.cpp's.

    Within a head the hub rotates element i with i + half; llama.cpp's converter has put the two beside each other.
    """
    half = rows // heads // 2
    return np.arange(rows, dtype=np.int64).reshape(heads, half, 2).swapaxes(1, 2).reshape(-1)


def _dense(name: str, shape: tuple[int, ...], rows: GgufRows) -> DecodedEntry:
    """Quantized tensors are handed out as bf16, all others as they are."""
    plain = rows.plain
    kept = coded(rows) if isinstance(rows, StoredRows) and len(shape) == 2 else None
    return DecodedEntry(name, "BF16" if plain is None else NAMES[plain], shape, rows, kept)


def _expert(name: str, shape: tuple[int, ...], rows: StoredRows) -> DecodedEntry:
    """Quantized tensors are handed out exactly."""
    plain = rows.plain
    return DecodedEntry(name, "F32" if plain is None else NAMES[plain], shape, rows, coded(rows))


def known_architecture(metadata: Metadata) -> Architecture:
    """Raises UnderhillError(UNSUPPORTED_MODEL) for others, for models without routed experts, and for impossibly many
    layers or experts: what is read next makes lists of them.
    """
    name = metadata.architecture
    if not metadata.integer("expert_count", 0):
        raise dense_model(name)
    if name not in ARCHITECTURES:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("{name} models aren't supported from GGUF.", name=name),
            msg(
                "Use safetensors format, or one of: {architectures}.",
                architectures=", ".join(sorted(ARCHITECTURES)),
            ),
        )
    layers, experts = metadata.integer("block_count", 0), metadata.integer("expert_count", 0)
    if layers > LAYERS or experts > EXPERTS:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg(
                "This {name} model claims to have {layers} layers of {experts} experts.",
                name=name,
                layers=f"{layers:,}",
                experts=f"{experts:,}",
            ),
            msg("Use another version of the model."),
        )
    return ARCHITECTURES[name]


def _check_types(tensors: Mapping[str, GgufTensor]) -> None:
    """Raise UnderhillError(UNSUPPORTED_MODEL) for the first tensor of a type without a decoder."""
    for tensor in {t.type: t for t in tensors.values()}.values():
        decode(np.zeros((1, type_sizes()[tensor.type][1]), np.uint8), tensor)


def _check_rotation(tensor: GgufTensor) -> None:
    """Factors of 1 change nothing; others are a stretch of the context that no config here would say."""
    if bool((stored(tensor).read(0, rows_of(tensor.shape)).float() != 1).any()):
        raise unsupported_file(
            msg(
                "This GGUF file stretches its context by {name}, which Underhill does not read from GGUF.",
                name=tensor.name,
            )
        )


def _form(tensors: Mapping[str, GgufTensor]) -> Form:
    """The type that most bytes of the experts have, and the bits that an expert weight takes on average."""
    from gguf import GGMLQuantizationType

    held = [t for t in tensors.values() if t.name.endswith("_exps.weight") or _ONE_EXPERT.search(t.name)]
    sizes: dict[int, int] = {}
    for t in held:
        sizes[t.type] = sizes.get(t.type, 0) + t.nbytes
    weights = sum(rows_of(t.shape) * t.shape[-1] for t in held)
    if not weights:
        return Form("GGUF", 16.0)
    most = max(sizes, key=lambda kind: sizes[kind])
    return Form(f"GGUF {GGMLQuantizationType(most).name}", 8 * sum(sizes.values()) / weights)


def _unknown(tensor: GgufTensor) -> UnderhillError:
    return unsupported_file(
        msg(
            "{name} holds the tensor {name2}, whose part in the model Underhill does not know.",
            name=tensor.file.name,
            name2=tensor.name,
        )
    )


def _broken(path: Path, what: str) -> UnderhillError:
    return broken_file(msg("{name} is damaged: {what}.", name=path.name, what=what))


GLANCE = 64 << 10  # bytes: llama.cpp's converter writes sizes first and the vocabulary, which is long, behind them
_TIED = {"granitemoe", "lfm2moe"}  # whose published models have no output matrix of their own
_F32 = 0  # GGML_TYPE_F32
_INTERVAL = 4  # layers of Qwen3-Next for each one with attention, where the file does not say


def glanced_config(path: Path, data: bytes) -> dict[str, Any]:
    """As GgufSource.config, but for flags that change no size. data: the first bytes of the file `path`.

    Raises UnderhillError: UNSUPPORTED_MODEL as GgufSource.open; BROKEN_FILE where the sizes do not come first.
    """
    values, lengths = parse_gguf_beginning(path, data)
    metadata = Metadata(values)
    architecture = known_architecture(metadata)
    return architecture.config(metadata, _presumed(path, metadata, lengths.get("tokenizer.ggml.tokens", 0)))


def _presumed(path: Path, m: Metadata, tokens: int) -> dict[str, GgufTensor]:
    """Tensors that a config is made with, as large as the metadata has them. tokens: of the vocabulary."""
    hidden, layers = m.integer("embedding_length"), m.integer("block_count")
    width = m.integer("expert_feed_forward_length", m.integer("feed_forward_length", 0))
    shared = m.integer("expert_shared_feed_forward_length", m.integer("expert_shared_count", 0) * width)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (m.integer("vocab_size", tokens), hidden),
        "blk.0.ffn_up_exps.weight": (m.integer("expert_count"), width, hidden),
    }
    if m.architecture not in _TIED:
        shapes["output.weight"] = shapes["token_embd.weight"]
    if shared:
        for layer in {0, m.integer("leading_dense_block_count", 0)}:
            shapes[f"blk.{layer}.ffn_up_shexp.weight"] = (shared, hidden)
    if m.has("attention.q_lora_rank"):
        shapes["blk.0.attn_q_a.weight"] = (m.integer("attention.q_lora_rank"), hidden)
    for layer in range(m.integer("leading_dense_block_count", 1 if m.architecture == "mimo2" else 0), layers):
        shapes[f"blk.{layer}.ffn_gate_inp.weight"] = (m.integer("expert_count"), hidden)
    if m.has("attention.indexer.head_count"):  # of all layers, at most
        for layer in range(layers):
            shapes[f"blk.{layer}.indexer.proj.weight"] = (m.integer("attention.indexer.head_count"), hidden)
    every = max(1, m.integer("full_attention_interval", _INTERVAL))
    for layer in range(every - 1, layers, every):
        shapes[f"blk.{layer}.attn_q.weight"] = (hidden, hidden)
    return {
        name: GgufTensor(name=name, file=path, type=_F32, shape=shape, offset=0, nbytes=0)
        for name, shape in shapes.items()
    }
