"""The manifest of a store: what it holds, where, and the checksums that prove it; to JSON and back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.limits import EXPERTS, LAYERS, MANIFEST_BYTES, WIDTH
from engine.record.coding import Coding
from engine.record.layout import ALIGN, ExpertSpec
from engine.regular_file import read_regular
from engine.store import dtypes
from engine.store.datafile import TensorShape, tensor_bytes
from engine.store.fields import Fields, parse, whole
from engine.store.problems import broken
from engine.translatable import msg

NAME = "manifest.json"
FORMAT = "underhill-store"
# 4 had no layers for multi-token prediction; 3 had no codes beside the experts; 2 knew no codings; 1 had what decodes a
# tier behind every part of the codes.
VERSION = 5
OLDEST = 2  # that is still read
_NEWER = msg("Update the app or import it again.")


@dataclass(frozen=True)
class FileHash:
    """A file beside the data (or of the source): its length and SHA-256, in hexadecimal."""

    name: str
    nbytes: int
    sha256: str


@dataclass(frozen=True)
class Source:
    """Where the weights came from. repo and revision are empty when they are not known.

    form, bits: the format of the source, and about how many bits an expert weight took in it.
    """

    path: str
    repo: str
    revision: str
    files: tuple[FileHash, ...]
    form: str = "safetensors"
    bits: float = 16.0


@dataclass(frozen=True)
class Record:
    """One expert: index into Manifest.specs, offset in the layer's file, CRC-32 of each part."""

    spec: int
    offset: int
    crcs: tuple[int, ...]


@dataclass(frozen=True)
class StoredLayer:
    """One MoE layer: the model's own layer index, its data file, a record per expert."""

    index: int
    file: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class DenseTensor:
    """One tensor of the dense file. dtype as in safetensors ('BF16'); offset from the start of the file.

    coding: of a matrix that keeps the codes of its source, and is 'F32' when it is decoded.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int
    crc: int
    _: KW_ONLY
    coding: Coding | None = None

    @property
    def outline(self) -> TensorShape:
        """What it was planned as."""
        return TensorShape(self.name, self.dtype, self.shape, self.coding)


@dataclass(frozen=True)
class TierQuality:
    """What a tier costs over all experts: bits to read per weight, and |w - stored| / |w| (Frobenius norms)."""

    tier: int
    bits_per_weight: float
    relative_error: float


@dataclass(frozen=True)
class Lowering:
    """Of a store whose most robust experts keep 2 or 4 bits (edgemoe, section III-B): what that cost, as measured.

    tolerance, perplexity_rise: 0.02 is 2 %; the rise is over `tokens` of other text than the experts were chosen on.
    dense: how the other weights were held for these figures, and are by default: 'int8' or 'int4'; '': as ever.
    """

    tolerance: float
    perplexity_rise: float
    kl: float
    tokens: int
    dense: str = ""

    @property
    def loss(self) -> float:
        """What a tolerance bounds: the rise of perplexity on this text, or on what the model would write itself."""
        return max(self.perplexity_rise, math.expm1(self.kl))


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Everything about a store but its bytes. config: the model's config.json as it was.

    mtp: layers for multi-token prediction, which follow the model's own.
    """

    source: Source
    architecture: str
    config: dict[str, Any]
    specs: tuple[ExpertSpec, ...]
    layers: tuple[StoredLayer, ...]
    dense_file: str
    dense: tuple[DenseTensor, ...]
    files: tuple[FileHash, ...]
    quality: tuple[TierQuality, ...]
    lowering: Lowering | None = None
    mtp: tuple[StoredLayer, ...] = ()

    @property
    def all_layers(self) -> tuple[StoredLayer, ...]:
        """Every layer of experts that is stored."""
        return (*self.layers, *self.mtp)


def fingerprint(store: Path) -> str:
    """Of the store in this folder: the same wherever it is moved, another for any other store. '' where there is none.

    What is learnt of a model is kept beside it under this name, so that another model's is told apart.
    """
    try:
        # 128 bits: enough that no two models of one library are ever alike, short enough for every note that names it.
        return hashlib.sha256(read_regular(store / NAME, MANIFEST_BYTES)).hexdigest()[:32]
    except OSError:
        return ""


def dumps(manifest: Manifest) -> bytes:
    """The manifest as JSON, one line per record, with its own checksum at the end."""
    body: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    for name, layers in (("layers", manifest.layers), ("mtp", manifest.mtp)):
        body[name] = [
            {"index": x.index, "file": x.file, "records": [[r.spec, r.offset, *r.crcs] for r in x.records]}
            for x in layers
        ]
    body["checksum"] = checksum(body)
    return json.dumps(body, separators=(",", ":")).encode()  # in ASCII: a config may hold what UTF-8 cannot


def loads(text: bytes) -> Manifest:
    """The manifest in `text`, every number checked. Raises UnderhillError(BROKEN_FILE or UNSUPPORTED_MODEL)."""
    body = parse(text, msg("its manifest"))
    top = Fields(body, msg("its manifest"))
    if top.text("format") != FORMAT:
        raise broken(msg("its manifest is not one of an expert store"))
    version = top.integer("version", 1)
    if not OLDEST <= version <= VERSION:
        made, action = (msg("an older"), msg("Import it again.")) if version < OLDEST else (msg("a newer"), _NEWER)
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg(
                "This model was made by {made} version of the app (format {version}, not {version2}).",
                made=made,
                version=version,
                version2=VERSION,
            ),
            action,
        )
    # After the version, before all else: another version may compute its checksum otherwise, and what follows may rely
    # on fields being those that were written.
    if top.text("checksum") != checksum({k: v for k, v in body.items() if k != "checksum"}):
        raise broken(msg("its manifest does not match its own checksum"))
    specs = tuple(_spec(Fields(x, msg("spec {i}", i=i))) for i, x in enumerate(top.array("specs")))
    layers = _layers(top, "layers", specs)
    mtp = _layers(top, "mtp", specs) if top.has("mtp") else ()  # not in stores of the versions before
    dense = tuple(_dense(Fields(x, msg("dense tensor {i}", i=i))) for i, x in enumerate(top.array("dense")))
    files = tuple(_file(Fields(x, msg("file entry {i}", i=i))) for i, x in enumerate(top.array("files")))
    if not layers:
        raise broken(msg("its manifest lists no layer of experts"))
    for what, names in (
        ("layer", [x.index for x in (*layers, *mtp)]),
        ("tensor", [x.name for x in dense]),
        # Across kinds: copied files keep the names that they came with, and one of these could be that of a data file.
        ("file", [*(x.file for x in (*layers, *mtp)), *(x.name for x in files), top.file_name("dense_file")]),
    ):
        if len(set(names)) != len(names):
            raise broken(msg("its manifest names a {what} twice", what=what))
    _no_overlap(
        ((x.offset, x.nbytes, at) for at, x in enumerate(dense)),
        lambda at: msg("tensor {name}", name=dense[at].name),
        msg("dense weights"),
    )
    return Manifest(
        source=_source(Fields(top.mapping("source"), msg("its source"))),
        architecture=top.text("architecture"),
        config=top.mapping("config"),
        specs=specs,
        layers=layers,
        dense_file=top.file_name("dense_file"),
        dense=dense,
        files=files,
        quality=tuple(_quality(Fields(x, msg("its quality table"))) for x in top.array("quality")),
        lowering=_lowering(body.get("lowering")),
        mtp=mtp,
    )


def checksum(body: dict[str, Any]) -> str:
    """Return the SHA-256 of a manifest's fields, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _spec(f: Fields) -> ExpertSpec:
    values = {n: f.integer(n, 1, WIDTH) for n in ("hidden", "intermediate", "top", "group")}
    try:
        codings = (
            tuple(_coding(Fields(x, msg("a coding of {where}", where=f.where))) for x in f.array("codings", 3))
            if f.has("codings")
            else ()
        )
        hidden, intermediate, top, group = values.values()
        return ExpertSpec(
            hidden, intermediate, top, group,
            has_gate=f.flag("has_gate"), has_bias=f.flag("has_bias"), codings=codings,
        )  # fmt: skip
    except ValueError as cause:
        raise broken(msg("{where} is impossible ({cause})", where=f.where, cause=cause)) from cause


def _coding(f: Fields) -> Coding:
    return Coding(f.integer("bits"), f.integer("group"), f.text("form"), f.text("levels"))


def _layers(top: Fields, name: str, specs: tuple[ExpertSpec, ...]) -> tuple[StoredLayer, ...]:
    entries = enumerate(top.array(name, LAYERS))
    return tuple(_layer(Fields(x, msg("layer entry {i}", i=i)), specs) for i, x in entries)


def _layer(f: Fields, specs: tuple[ExpertSpec, ...]) -> StoredLayer:
    index = f.integer("index", 0, LAYERS)
    records = tuple(_record(x, specs, partial(_expert_of, e, index)) for e, x in enumerate(f.array("records", EXPERTS)))
    if not records:
        raise broken(msg("its manifest lists no expert of layer {index}", index=index))
    _no_overlap(
        ((r.offset, specs[r.spec].layout.nbytes, e) for e, r in enumerate(records)),
        lambda e: msg("expert {e}", e=e),
        msg("layer {index}", index=index),
    )
    return StoredLayer(index, f.file_name("file"), records)


def _expert_of(expert: int, layer: int) -> str:
    return msg("expert {e} of layer {index}", e=expert, index=layer)


def _record(value: Any, specs: tuple[ExpertSpec, ...], where: Callable[[], str]) -> Record:
    """where: which expert's, for what is wrong with it."""
    if not isinstance(value, list) or len(value) < 2:
        raise broken(msg("the entry of {where} is not a list", where=where()))
    spec = whole(value[0], lambda: msg("the spec of {where}", where=where()), 0, len(specs) - 1)
    offset = whole(value[1], lambda: msg("the offset of {where}", where=where()))
    crcs = tuple(whole(x, lambda: msg("a checksum of {where}", where=where()), 0, 2**32 - 1) for x in value[2:])
    if offset % ALIGN or len(crcs) != len(specs[spec].layout.parts):
        raise broken(msg("the entry of {where} is impossible", where=where()))
    return Record(spec, offset, crcs)


def _dense(f: Fields) -> DenseTensor:
    name, dtype = f.text("name"), f.text("dtype")
    shape = tuple(whole(n, lambda: msg("a dimension of {name}", name=name), 0, 2**40) for n in f.array("shape", 16))
    try:
        coding = (
            _coding(Fields(found, msg("the coding of {name}", name=name)))
            if (found := f.optional("coding")) is not None
            else None
        )
        possible = dtype in dtypes.TORCH and tensor_bytes(dtype, shape, coding) == f.integer("nbytes")
    except ValueError as cause:
        raise broken(msg("tensor {name} is impossible ({cause})", name=name, cause=cause)) from cause
    if not possible:
        raise broken(msg("the size of tensor {name} is impossible", name=name))
    offset, nbytes, crc = f.integer("offset"), f.integer("nbytes"), f.integer("crc", 0, 2**32 - 1)
    return DenseTensor(name, dtype, shape, offset, nbytes, crc, coding=coding)


def _file(f: Fields) -> FileHash:
    return FileHash(f.file_name("name"), f.integer("nbytes"), f.text("sha256"))


def _source(f: Fields) -> Source:
    files = tuple(_file(Fields(x, msg("source file {i}", i=i))) for i, x in enumerate(f.array("files")))
    where = Source(f.text("path"), f.text("repo"), f.text("revision"), files)
    if not f.has("form"):  # in stores from before other formats were read
        return where
    return replace(where, form=f.text("form"), bits=f.number("bits"))


def _quality(f: Fields) -> TierQuality:
    return TierQuality(f.integer("tier", 1, 64), f.number("bits_per_weight"), f.number("relative_error"))


def _lowering(value: Any) -> Lowering | None:
    if value is None:  # also in stores from before there was such a thing
        return None
    f = Fields(value, msg("its note on lowered experts"))
    rise = f.number("perplexity_rise", -1.0)
    dense = f.text("dense") if f.has("dense") else ""  # not in stores of the version before
    return Lowering(f.number("tolerance"), rise, f.number("kl", -1.0), f.integer("tokens"), dense)


def _no_overlap(spans: Iterable[tuple[int, int, int]], named: Callable[[int], str], where: str) -> None:
    """spans: offset, bytes and number of each; named: what the one of a number is called."""
    end, before = 0, 0
    for offset, size, at in sorted(spans):
        if offset < end:
            raise broken(
                msg("{before} and {name} overlap in {where}", before=named(before), name=named(at), where=where)
            )
        end, before = offset + size, at
