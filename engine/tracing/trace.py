"""A recorded trace: who was routed where, token by token, and the file it is kept in."""

from __future__ import annotations

import errno
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.experts.policies import ExpertGrid
from engine.experts.precision import EXACT, Thresholds
from engine.filesystem import replacing
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from engine.store.arrays import arrays
from engine.translatable import msg, system_reason

VERSION = 3  # older ones are read, newer ones refused
UNKNOWN = -1  # token ids in files of version 1
NO_EXPERT = 65535  # among expert ids, where a layer chooses fewer experts than another; its weight is 0


@dataclass(frozen=True, kw_only=True)
class TraceConditions:
    """What a trace was recorded under. tier: bits of full precision; low: of coarse experts, None: the fewest stored.

    spec: of the experts; None: not known. fingerprint: of the model's store; '' where the file does not say.
    """

    model: str = ""
    dial: str = "exact"
    thresholds: Thresholds = EXACT
    tier: int | None = None
    spec: ExpertSpec | None = None
    fingerprint: str = ""
    low: int | None = None


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Routing of a run. layers: the model's own layer indices, in the order they run. experts: per layer.

    ids: [layers, tokens, k] uint16; layers that choose fewer than k end in NO_EXPERT. weights: the same shape, float16,
    gate weights as used.
    passes: tokens of each forward pass, in order (1 while decoding, more while a prompt is read); their sum is tokens.
    token_ids: [tokens] int32, UNKNOWN where the file does not say. positions: [passes] int32, of the first token of
    each pass in its sequence. begins: [passes] bool, whether a sequence begins with it, as the session said; the first
    pass always does, since what was before it is not known.
    """

    layers: tuple[int, ...]
    experts: int
    ids: NDArray[np.uint16]
    weights: NDArray[np.float16]
    passes: NDArray[np.int32]
    token_ids: NDArray[np.int32]
    positions: NDArray[np.int32]
    begins: NDArray[np.bool_]
    conditions: TraceConditions = field(default_factory=TraceConditions)

    @property
    def tokens(self) -> int:
        """Tokens recorded."""
        return int(self.ids.shape[1])

    @property
    def shape(self) -> ExpertGrid:
        """The experts that it speaks of."""
        return ExpertGrid(self.layers, self.experts)

    @property
    def sequences(self) -> int:
        """Sequences begun."""
        return int(self.begins.sum())

    def first(self, tokens: int) -> Trace:
        """The passes that hold the first so many tokens, the last of them whole."""
        count = int(np.searchsorted(self.passes.cumsum(), tokens)) + 1
        passes = self.passes[:count]
        n = int(passes.sum())
        return replace(
            self,
            ids=self.ids[:, :n],
            weights=self.weights[:, :n],
            passes=passes,
            token_ids=self.token_ids[:n],
            positions=self.positions[:count],
            begins=self.begins[:count],
        )

    def one_by_one(self) -> Trace:
        """The same tokens as if each had gone through by itself, as while decoding."""
        begun = np.repeat(self.passes.cumsum() - self.passes, self.passes)
        at = np.arange(self.tokens) - begun
        positions = (np.repeat(self.positions, self.passes) + at).astype(np.int32)
        begins = np.repeat(self.begins, self.passes) & (at == 0)
        return replace(self, passes=np.ones(self.tokens, np.int32), positions=positions, begins=begins)

    def save(self, path: Path) -> None:
        """Write a .npz file, whole or not at all: what stood there before stays until then.

        Raises UnderhillError(DISK_FULL or DISK_ERROR).
        """
        try:
            with replacing(path) as temporary, temporary.open("wb") as file:
                np.savez_compressed(file, **_fields(self))
        except OSError as e:
            full = e.errno == errno.ENOSPC
            raise UnderhillError(
                Kind.DISK_FULL if full else Kind.DISK_ERROR,
                msg("The trace cannot be written to {path} ({strerror}).", path=path, strerror=system_reason(e)),
                msg(
                    "{full}; the chat is not affected.",
                    full=msg("Free some space") if full else msg("Check the folder"),
                ),
            ) from e


def _fields(trace: Trace) -> dict[str, Any]:
    known = trace.conditions
    s = known.spec
    spec = [s.hidden, s.intermediate, s.top, s.group, s.has_gate, s.has_bias] if s else []
    return {
        "version": np.int32(VERSION),
        "layers": np.array(trace.layers, np.int32),
        "experts": np.int32(trace.experts),
        "ids": trace.ids,
        "weights": trace.weights,
        "passes": trace.passes,
        "token_ids": trace.token_ids,
        "positions": trace.positions,
        "begins": trace.begins,
        "model": np.array(known.model),
        "dial": np.array(known.dial),
        "thresholds": np.array([known.thresholds.t1, known.thresholds.t2]),
        "tier": np.int32(known.tier or 0),
        "low": np.int32(known.low or 0),
        "spec": np.array(spec, np.int32),
        "codings": np.array(json.dumps([asdict(coding) for coding in s.codings] if s else [])),
        "fingerprint": np.array(known.fingerprint),
    }


def load(path: Path) -> Trace:
    """Read a trace of this version or of an older one: version 2 took position 0 for the beginning of a sequence,
    version 1 knew no tokens, sequences and sizes.

    Raises UnderhillError(MISSING_FILE or BROKEN_FILE).
    """
    try:
        with arrays(path) as z:
            version = int(z["version"])
            if version not in (1, 2, VERSION):
                raise UnderhillError(
                    Kind.BROKEN_FILE,
                    msg(
                        "{path} is a routing trace of version {version}, which this Underhill does not know.",
                        path=path,
                        version=version,
                    ),
                    msg("Update Underhill, or record again."),
                )
            trace = _read(z, version)
    except FileNotFoundError as e:
        raise UnderhillError(
            Kind.MISSING_FILE, msg("There is no trace {path}.", path=path), msg("Check the path.")
        ) from e
    except UnderhillError as e:
        if e.kind is Kind.BAD_REQUEST:  # thresholds that contradict themselves
            raise _contradiction(path) from e
        raise
    except Exception as e:  # what numpy and zipfile raise on bad files has no end
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("{path} is not a routing trace, or is damaged.", path=path), msg("Record again.")
        ) from e
    if not _consistent(trace):
        raise _contradiction(path)
    return trace


def _contradiction(path: Path) -> UnderhillError:
    return UnderhillError(Kind.BROKEN_FILE, msg("{path} contradicts itself.", path=path), msg("Record again."))


def _read(z: Any, version: int) -> Trace:
    layers, experts = tuple(int(n) for n in z["layers"]), int(z["experts"])
    ids, weights, passes = z["ids"], z["weights"], z["passes"]
    if version == 1:
        token_ids = np.full(ids.shape[1], UNKNOWN, np.int32)
        positions = (passes.cumsum() - passes).astype(np.int32)
        return Trace(
            layers=layers,
            experts=experts,
            ids=ids,
            weights=weights,
            passes=passes,
            token_ids=token_ids,
            positions=positions,
            begins=positions == 0,
        )
    numbers = [int(n) for n in z["spec"]]
    t1, t2 = (float(t) for t in z["thresholds"])
    spec = None
    if numbers:
        hidden, intermediate, top, group, gate, bias = numbers
        codings = tuple(Coding(**found) for found in json.loads(str(z["codings"]))) if "codings" in z else ()
        spec = ExpertSpec(hidden, intermediate, top, group, has_gate=bool(gate), has_bias=bool(bias), codings=codings)
    fingerprint = str(z["fingerprint"]) if "fingerprint" in z else ""
    tier, low = (int(z[name]) or None if name in z else None for name in ("tier", "low"))
    conditions = TraceConditions(
        model=str(z["model"]),
        dial=str(z["dial"]),
        thresholds=Thresholds(t1, t2),
        tier=tier,
        spec=spec,
        fingerprint=fingerprint,
        low=low,
    )
    positions = z["positions"]
    begins = z["begins"] if version == VERSION else (positions == 0) | (np.arange(len(positions)) == 0)
    return Trace(
        layers=layers,
        experts=experts,
        ids=ids,
        weights=weights,
        passes=passes,
        token_ids=z["token_ids"],
        positions=positions,
        begins=begins,
        conditions=conditions,
    )


def _consistent(trace: Trace) -> bool:
    arrays: dict[str, tuple[NDArray[Any], ...]] = {
        "uint16": (trace.ids,),
        "float16": (trace.weights,),
        "int32": (trace.passes, trace.token_ids, trace.positions),
        "bool": (trace.begins,),
    }
    if any(a.dtype.name != name for name, group in arrays.items() for a in group):
        return False
    flat = all(a.ndim == 1 for a in (*arrays["int32"], *arrays["bool"]))
    if not flat or trace.ids.ndim != 3 or not trace.ids.size or trace.ids.shape != trace.weights.shape:
        return False
    return (
        trace.ids.shape[:2] == (len(trace.layers), int(trace.passes.sum()))
        and len(set(trace.layers)) == len(trace.layers)
        and int(trace.passes.min()) >= 1
        and bool(((trace.ids < trace.experts) | (trace.ids == NO_EXPERT)).all())
        and bool((trace.ids[..., 0] != NO_EXPERT).all())
        and trace.token_ids.shape == trace.ids.shape[1:2]
        and trace.positions.shape == trace.passes.shape
        and int(trace.positions.min()) >= 0
        and trace.begins.shape == trace.passes.shape
        and bool(trace.begins[0])
        and bool(np.isfinite(trace.weights).all())
    )
