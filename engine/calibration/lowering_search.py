"""What fewer bits for a model's weights save and cost: searched once for each tolerance, and kept with the model."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.calibration import robustness
from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey, keys_of
from engine.filesystem import replace_file
from engine.library import library, lowering
from engine.library.entries import LoweringOffer
from engine.models.layers.weight_format import BITS
from engine.session.loaded_model import LoadedModel, keeping
from engine.session.session import Session
from engine.store.fields import DAMAGED
from engine.store.manifest import Lowering, fingerprint
from engine.store.reader import Store
from engine.translatable import Translatable, msg

FILE = "lowering.json"
VERSION = 2  # of lowering.json: another one is searched for anew
LEAST, MOST = 0.0001, 0.5  # rise of perplexity: below, the text's noise; above, little of a model is left
AUTO = "auto"
DENSE = sorted(BITS, key=BITS.__getitem__)  # ways to hold other weights that the search tries, the fewest bits first
Report = Callable[[Translatable, int, int], None]
Opener = Callable[[str], LoadedModel]


@dataclass(frozen=True)
class Found:
    """bits: of the experts to be lowered. lowering: what it costs, on other text, and how other weights are held then.
    dense: bytes of those as they are held before and after.
    """

    bits: dict[ExpertKey, int]
    lowering: Lowering
    dense: tuple[int, int]


def search(
    path: Path,
    open_with: Opener,
    tolerance: float,
    report: Report,
    cancelled: Callable[[], bool] = lambda: False,
    rank: robustness.Ranking = robustness.estimated,
) -> Found:
    """What is found for the store at `path` and this tolerance, or was found before by this ranking.

    Other weights are part of the search: held as by default, and at the fewest bits that alone keep to the tolerance,
    experts are chosen for both (robustness.choose), and the smaller of the two wins. open_with: an Exact session whose
    setting `dense` is this; the one before it may be closed then. Raises UnderhillError: BAD_REQUEST where experts
    cannot be lowered, CANCELLED, DISK_ERROR, what opening and reading raise.
    """
    if not LEAST <= tolerance <= MOST:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A loss of {tolerance}% isn't possible.", tolerance=f"{100 * tolerance:g}"),
            msg("Choose {least}% to {most}%.", least=f"{100 * LEAST:g}", most=f"{100 * MOST:g}"),
        )
    with Store.open(path) as store:
        _check(store)
        name, kept = f"{tolerance:g} {rank.__name__}", _read(path)
        if (known := kept.get(name)) is not None:
            return known
        found = _searched(store, open_with, tolerance, report, cancelled, rank)
    _keep(path, {**kept, name: found})
    return found


def _searched(
    store: Store,
    open_with: Opener,
    tolerance: float,
    report: Report,
    cancelled: Callable[[], bool],
    rank: robustness.Ranking,
) -> Found:
    model = open_with(AUTO)
    with model.measuring(cancelled):
        reference = robustness.reference(model)
        chosen = robustness.choose(model, tolerance, report, rank, reference)
    held = model.plan.dense
    sizes = model.facts.dense_bytes
    best = Found(chosen.bits, chosen.lowering, (sizes[held], sizes[held]))
    for kind in DENSE:
        if kind not in sizes or sizes[kind] >= sizes[held]:
            continue
        report(msg("Testing {bits}-bit shared weights", bits=BITS[kind]), 0, 0)
        model = open_with(kind)
        with model.measuring(cancelled):
            if robustness.cost(model, reference, {}) > tolerance:
                continue
            chosen = robustness.choose(model, tolerance, report, rank, reference)
        found = Found(chosen.bits, replace(chosen.lowering, dense=kind), (sizes[held], sizes[kind]))
        return min(best, found, key=lambda one: expert_bytes(store, one.bits) + one.dense[1])
    return best


@contextmanager
def own_sessions(model: str | Path, report: Report) -> Iterator[Opener]:
    """An opener for programs that have no model open: each session closes the one before it."""
    opened: list[Session] = []

    def open_with(dense: str) -> Session:
        while opened:
            opened.pop().close()
        opened.append(open_calibrated(str(model), {"dial": "exact", "dense": dense}, report))
        return opened[-1]

    try:
        yield open_with
    finally:
        while opened:
            opened.pop().close()


def in_place(model: str, tolerance: float, report: Report) -> Path:
    """Put a copy with as few bits in a model's place, the original in the trash; for programs that have no model open.

    Raises what `search` and writing raise.
    """
    path = library.prepare(model, report)
    with own_sessions(path, report) as open_with:
        found = search(path, open_with, tolerance, report)
    with Store.open(path) as store:
        lowering.write_beside(store, found.bits, found.lowering, report)
    lowering.put_in_place(path)
    return path


def expert_bytes(store: Store, bits: dict[ExpertKey, int]) -> int:
    """Of all experts, these having so many bits."""
    specs = {key: store.spec(*key) for key in keys_of(store)}
    return sum(replace(spec, top=bits.get(key, spec.top)).layout.nbytes for key, spec in specs.items())


def offer(store: Store, found: Found) -> LoweringOffer:
    """What a search found, in figures for a person to decide by."""
    counts = Counter(found.bits.get(key, store.spec(*key).top) for key in keys_of(store))
    after, low = expert_bytes(store, found.bits), found.lowering
    needed = after + (store.path / store.manifest.dense_file).stat().st_size
    dense_before, dense_after = found.dense
    return LoweringOffer(
        tolerance=low.tolerance, loss=low.loss, before=store.expert_bytes(), after=after,
        bits=tuple(sorted(counts.items())), kl=low.kl, tokens=low.tokens, needed=needed,
        free=shutil.disk_usage(store.path.parent).free,
        dense_before=dense_before, dense_after=dense_after, dense_bits=BITS.get(low.dense, 0),  # type: ignore[call-overload]
    )  # fmt: skip


def _check(store: Store) -> None:
    specs, name = {store.spec(*key) for key in keys_of(store)}, store.path.name
    if store.manifest.lowering is not None:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{name} has been shrunk already.", name=name),
            msg("Restore the original first, or import the model again."),
        )
    if any(spec.raw or spec.top == robustness.LEAST for spec in specs):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{name} isn't stored with 4 or 8 bits.", name=name),
            msg("Import the model again with a precision of 4 or 8 bits."),
        )


def _read(store: Path) -> dict[str, Found]:
    """By tolerance; nothing where the file is missing, damaged or of another model."""
    try:
        kept = json.loads((store / FILE).read_text(encoding="utf-8"))
        if kept["version"] != VERSION or kept["fingerprint"] != fingerprint(store):
            return {}
        return {str(tolerance): _found(one) for tolerance, one in kept["found"].items()}
    except (*DAMAGED, UnderhillError):
        return {}


def _found(one: dict[str, Any]) -> Found:
    bits = {ExpertKey(int(layer), int(expert)): int(bits) for layer, expert, bits in one["bits"]}
    before, after = one["dense"]
    if not set(bits.values()) <= set(robustness.LEVELS):
        raise ValueError("bits that no expert is lowered to")
    return Found(bits, Lowering(**one["lowering"]), (int(before), int(after)))


def _keep(store: Path, found: dict[str, Found]) -> None:
    rows = {
        name: {
            "bits": [(*key, bits) for key, bits in sorted(one.bits.items())],
            "lowering": asdict(one.lowering),
            "dense": one.dense,
        }
        for name, one in found.items()
    }
    body = {"version": VERSION, "fingerprint": fingerprint(store), "found": rows}
    with keeping(store):
        replace_file(store / FILE, json.dumps(body).encode())
