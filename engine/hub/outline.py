"""What a model on a hub is, from its config and the headers of its files: no weight is fetched."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from engine import limits
from engine.convert.encoding import EXACT, GROUPS, codings, dense_shapes, keeps, vision_shapes
from engine.convert.expert_plan import find_experts
from engine.convert.pieces import ExpertPlan, piece_shape
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import CONFIG, INDEX, Checkpoint, is_small
from engine.formats.families import of_mtp
from engine.formats.gguf_header import GgufHeader, parse_gguf_header
from engine.formats.gguf_source import GgufSource
from engine.formats.opening import unpacked
from engine.formats.safetensors_header import SafetensorsEntry, header_length, parse_header
from engine.formats.source import TensorInfo, WeightSource, suited
from engine.hub import errors
from engine.hub.client import Hub
from engine.hub.revision import RemoteFile, Revision, choose, read_revision
from engine.library.listing import experts_per_token
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from engine.regular_file import parse_json
from engine.translatable import Translatable, msg

FIRST, MOST = 1 << 20, 8 << 20  # bytes asked for at first, and later


_T = TypeVar("_T")


def looked_at(look: Callable[[], _T]) -> _T:
    """What `look` makes of a header. It looks once more where that is damaged: a part of a file has no checksum."""
    try:
        return look()
    except UnderhillError as e:
        if e.kind is not Kind.BROKEN_FILE:
            raise
    try:
        return look()
    except UnderhillError as e:
        raise (errors.damaged_there(e.sentence) if e.kind is Kind.BROKEN_FILE else e) from e


class Peek(io.RawIOBase):
    """A file object over what has been fetched; reading behind that fetches more. Raises UnderhillError."""

    def __init__(self, hub: Hub, repo: str, commit: str, file: RemoteFile) -> None:
        self._hub, self._repo, self._commit, self._file = hub, repo, commit, file
        self._at = 0
        self.head = bytearray()  # the first bytes, as they were

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        self._at = base + offset
        return self._at

    def readinto(self, into: bytearray | memoryview) -> int:  # type: ignore[override]
        stop = min(self._at + len(into), self._file.size)
        while len(self.head) < stop:
            start = len(self.head)
            # As much again as is here: a long header takes few requests, a short one few bytes.
            more = min(max(FIRST, min(start, MOST)), self._file.size - start)
            self.head += self._hub.read(self._repo, self._commit, self._file.path, start, start + more)
        n = max(0, stop - self._at)
        into[:n] = self.head[self._at : self._at + n]
        self._at += n
        return n


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A model that could be fetched and imported.

    files: what a download takes; weights: those of them that hold the weights.
    entries: what these hold, by name; gguf: the same, where they are GGUF. heads: by file, the first bytes as they were
    looked at.
    experts: by MoE layer, how many and of what shape. dense: other weights, by name. vision: bytes of what it sees
    pictures with. bits: that an expert weight has in its files. kept: by layer, how experts are coded that keep their
    codes. mtp: layers for multi-token prediction, as `experts`.
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
    vision: int = 0
    bits: float = 16.0
    kept: Mapping[int, tuple[Coding, ...]] = field(default_factory=dict, repr=False)
    mtp: Mapping[int, tuple[int, ExpertSpec]] = field(default_factory=dict, repr=False)

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
        beside = self.vision + sum(e.nbytes for e in self.dense.values())
        return beside + self.mtp_bytes(top) + sum(n * s.layout.nbytes for n, s in self.specs(top))

    def mtp_bytes(self, top: int) -> int:
        """The experts of layers for multi-token prediction, once imported with `top` bits."""
        return sum(n * s.layout.nbytes for n, s in self._specs(self.mtp, top))

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
        return self._specs(self.experts, top)

    def _specs(self, layers: Mapping[int, tuple[int, ExpertSpec]], top: int) -> list[tuple[int, ExpertSpec]]:
        top = top or self.automatic
        found = []
        for layer, (count, s) in layers.items():
            codings = self.kept.get(layer, ()) if top == EXACT else ()
            group = codings[0].group if codings else s.group
            spec = ExpertSpec(
                s.hidden, s.intermediate, top, group, has_gate=s.has_gate, has_bias=s.has_bias, codings=codings
            )
            found.append((count, spec))
        return found

    @property
    def _dense(self) -> int:
        return sum(math.prod(e.shape) for name, e in self.dense.items() if not of_mtp(name, self.mtp))


def outline_of(
    found: Revision,
    source: WeightSource,
    files: tuple[RemoteFile, ...],
    *,
    weights: tuple[RemoteFile, ...],
    heads: Mapping[str, bytes],
    entries: Mapping[str, SafetensorsEntry],
    gguf: tuple[GgufHeader, ...] = (),
) -> Outline:
    """Of a source whose headers are known. Raises UnderhillError as importing it would."""
    plan = find_experts(source)
    experts = _experts(source, plan)
    return Outline(
        repo=found.repo,
        commit=found.commit,
        model_type=str(source.config["model_type"]),
        licence=found.licence,
        gated=found.gated,
        config=source.config,
        files=files,
        weights=weights,
        entries=entries,
        heads=heads,
        experts={i: own for i, own in experts.items() if i not in plan.mtp},
        dense={shape.name: shape for shape in dense_shapes(source, plan, keeps(source, EXACT, None))},
        gguf=gguf,
        vision=sum(shape.nbytes for shape in vision_shapes(source, plan)),
        bits=source.form.bits,
        kept=codings(source, plan) if keeps(source, EXACT, None) else {},
        mtp={i: own for i, own in experts.items() if i in plan.mtp},
    )


def _experts(source: WeightSource, plan: ExpertPlan) -> dict[int, tuple[int, ExpertSpec]]:
    layers = plan.all_layers
    shapes = {i: piece_shape(source, experts[0].matrices["up"]) for i, experts in layers.items()}
    if any(len(shape) != 2 for shape in shapes.values()):
        raise _broken(msg("The experts of this model are not matrices."))
    group = next((g for g in GROUPS if all(n % g == 0 for s in shapes.values() for n in s)), GROUPS[-1])
    try:
        return {
            i: (len(layers[i]), ExpertSpec(cols, rows, 8, group, has_gate=plan.has_gate, has_bias=plan.has_bias))
            for i, (rows, cols) in shapes.items()
        }
    except ValueError as cause:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("The experts cannot be stored: {cause}.", cause=cause),
            msg("Choose another model."),
        ) from cause


HEADERS_AT_ONCE = 4  # files looked at together
BUFFER = 1 << 16  # bytes: a header is thousands of small fields, and each read of a Peek may ask the hub


def gguf_outline(hub: Hub, found: Revision, wanted: str, top: int) -> Outline:
    """See read_outline. Some megabytes are fetched: the vocabulary is part of a header."""
    files = choose(found, wanted, top).files
    with ThreadPoolExecutor(HEADERS_AT_ONCE, "outline") as pool:
        looked = list(pool.map(lambda file: looked_at(lambda: _gguf_header(hub, found, file)), files))
    headers = tuple(header for header, _ in looked)
    source = GgufSource.of(headers[0].path, headers)
    heads = {file.name: bytes(peek.head) for file, (_, peek) in zip(files, looked, strict=True)}
    return outline_of(found, source, files, weights=files, heads=heads, entries={}, gguf=headers)


def _gguf_header(hub: Hub, found: Revision, file: RemoteFile) -> tuple[GgufHeader, Peek]:
    peek = Peek(hub, found.repo, found.commit, file)
    header = parse_gguf_header(Path(found.repo) / file.name, io.BufferedReader(peek, BUFFER))

    def read(_: Path, offset: int, into: memoryview) -> None:
        if offset + len(into) <= len(peek.head):
            into[:] = peek.head[offset : offset + len(into)]
        else:
            into[:] = hub.read(found.repo, found.commit, file.path, offset, offset + len(into))

    tensors = {name: replace(tensor, read=read) for name, tensor in header.tensors.items()}
    return replace(header, tensors=tensors), peek


FIRST_LOOK = 256 << 10  # bytes of a shard that are asked for at first: most headers are shorter
AT_ONCE = 8  # shards looked at together
_EXPERT_BIAS = re.compile(r"(^|\.)experts\.\d+\..*\.bias$")

_PACKED = (
    ".qweight",
    ".weight_packed",
    ".W_q",
    ".weight.absmax",
    ".weight_scale_2",
)  # each stands beside packed weights


def read_outline(hub: Hub, repo: str, revision: str = "main", gguf: str = "", top: int = 0) -> Outline:
    """Look at a model. A few hundred kilobytes per shard are fetched, and no weights.

    gguf: part of the name of the GGUF model to take, of a repository with several; '' takes safetensors where there are
    some, else what suits a store of `top` bits.
    Raises UnderhillError: BAD_REQUEST where `gguf` names none or several; what the hub raises, and what importing would
    raise of such a model: NOT_A_MODEL, UNSUPPORTED_MODEL, MISSING_FILE or BROKEN_FILE.
    """
    found = read_revision(hub, repo, revision)
    if gguf and not found.ggufs:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{repo} has no GGUF files, so none called {gguf}.", repo=repo, gguf=gguf),
            msg("Ask for it without naming one."),
        )
    if found.ggufs and (gguf or not any(name.endswith(".safetensors") for name in found.files)):
        return gguf_outline(hub, found, gguf, top)
    if CONFIG not in found.files:
        raise _no_weights(found, msg("it has no {config}", config=CONFIG))
    config = _json(hub, found, CONFIG, limits.CONFIG_BYTES)
    if not isinstance(config.get("model_type"), str):
        raise _broken(msg("{config} of {repo} names no model_type.", config=CONFIG, repo=repo))
    limits.check_config(config)
    index = _index(hub, found)
    shards = _shards(found, index)
    with ThreadPoolExecutor(AT_ONCE, "outline") as pool:
        headers = list(pool.map(lambda shard: _header(hub, found, shard), shards))
    names = [shard.name for shard in shards]
    entries = _indexed(found, index, dict(zip(names, (parsed for parsed, _ in headers), strict=True)))
    source = unpacked(Checkpoint(Path(repo), config, without_zeros(entries)))
    heads = dict(zip(names, (head for _, head in headers), strict=True))
    # a packed config leaves out how it was packed
    return replace(
        outline_of(found, source, _wanted(found, shards), weights=shards, heads=heads, entries=entries), config=config
    )


def without_zeros(entries: Mapping[str, SafetensorsEntry]) -> dict[str, SafetensorsEntry]:
    """Without the biases that some packers give every matrix: that they are zeros is only seen in the weights."""
    packed = {name.removesuffix(end) for name in entries for end in _PACKED if name.endswith(end)}
    return {n: e for n, e in entries.items() if not _EXPERT_BIAS.search(n) or n[:-5] not in packed}


def _index(hub: Hub, found: Revision) -> dict[str, str]:
    """The shard of each tensor, where the repository has a list of that."""
    if INDEX not in found.files:
        return {}
    named = _json(hub, found, INDEX, limits.INDEX_BYTES).get("weight_map")
    if not isinstance(named, dict):
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("{index} of {repo} is damaged.", index=INDEX, repo=found.repo),
            msg("Choose another copy of the model."),
        )
    return {str(name): str(shard) for name, shard in named.items()}


def _shards(found: Revision, index: Mapping[str, str]) -> tuple[RemoteFile, ...]:
    """The files that hold the weights; a repository may have the same weights in other files too."""
    if index:
        names = sorted(set(index.values()))
    elif "model.safetensors" in found.files:
        names = ["model.safetensors"]
    else:
        names = sorted(n for n in found.files if n.endswith(".safetensors") and not n.startswith("consolidated"))
    if not names:
        raise _no_weights(found, msg("it has no safetensors files"))
    for name in names:
        if name not in found.files:
            raise UnderhillError(
                Kind.MISSING_FILE,
                msg("{repo} lacks its file {name}.", repo=found.repo, name=name),
                msg("Choose another copy of it."),
            )
    return tuple(found.files[name] for name in names)


def _indexed(
    found: Revision, index: Mapping[str, str], headers: Mapping[str, dict[str, SafetensorsEntry]]
) -> dict[str, SafetensorsEntry]:
    """The tensors, where there is an index those that it names, as of a folder."""
    if not index:
        return {name: entry for header in headers.values() for name, entry in header.items()}
    for name, shard in index.items():
        if name not in headers[shard]:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg(
                    "{shard} of {repo} lacks the tensor {name} that {index} promises.",
                    shard=shard,
                    repo=found.repo,
                    name=name,
                    index=INDEX,
                ),
                msg("Choose another copy of the model."),
            )
    return {name: headers[shard][name] for name, shard in index.items()}


def _wanted(found: Revision, shards: tuple[RemoteFile, ...]) -> tuple[RemoteFile, ...]:
    """What an import reads: small files first, then the shards."""
    small = [
        f for f in found.files.values() if (is_small(f.name) or f.name == INDEX) and f.size <= limits.COMPANION_BYTES
    ]
    return (*sorted(small, key=lambda f: f.name), *shards)


def _header(hub: Hub, found: Revision, shard: RemoteFile) -> tuple[dict[str, SafetensorsEntry], bytes]:
    """What it holds, and the bytes that say so."""
    return looked_at(lambda: _read_header(hub, found, shard))


def _read_header(hub: Hub, found: Revision, shard: RemoteFile) -> tuple[dict[str, SafetensorsEntry], bytes]:
    path = Path(found.repo) / shard.name
    start = hub.read(found.repo, found.commit, shard.name, 0, min(FIRST_LOOK, shard.size))
    length = header_length(path, shard.size, start)
    text = start[8 : 8 + length]
    if len(text) < length:
        # Only the rest: what has come is kept, and is compared with the file when that arrives (Outline.heads).
        text += hub.read(found.repo, found.commit, shard.name, 8 + len(text), 8 + length)
    return parse_header(path, shard.size, text), start[:8] + text


def _json(hub: Hub, found: Revision, name: str, max_bytes: int) -> dict[str, Any]:
    if found.files[name].size > max_bytes:
        raise _broken(msg("{name} of {repo} is impossibly long.", name=name, repo=found.repo))
    try:
        value = parse_json(_right(hub, found, found.files[name]))
    except ValueError as cause:
        raise _broken(msg("{name} of {repo} is not readable.", name=name, repo=found.repo)) from cause
    if not isinstance(value, dict):
        raise _broken(msg("{name} of {repo} is not an object.", name=name, repo=found.repo))
    return value


def _right(hub: Hub, found: Revision, file: RemoteFile) -> bytes:
    """All of a small file, as the hub's checksum says that it is."""
    for _ in range(2):  # damaged on the way, it comes once more
        data = hub.read(found.repo, found.commit, file.path, most=file.size)
        (digest := file.digest()).update(data)
        if file.checksum in ("", digest.hexdigest()):
            return data
    raise errors.damaged_there(msg("{name} of {repo} arrives damaged.", name=file.name, repo=found.repo))


def _no_weights(found: Revision, why: Translatable) -> UnderhillError:
    return UnderhillError(
        Kind.NOT_A_MODEL,
        msg("{repo} can't be imported: {why}.", repo=found.repo, why=why),
        msg("Look for a version with safetensors or GGUF files."),
    )


def _broken(sentence: Translatable) -> UnderhillError:
    return UnderhillError(Kind.BROKEN_FILE, sentence, msg("Choose another model."))
