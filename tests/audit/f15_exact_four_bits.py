"""A source of 4 bits becomes a store of the same 4 bits: its error against the source, its bits and the source's.

Of experts, and of what lies beside them where that came with 4 bits too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.convert.expert_plan import find_experts
from engine.convert.importer import import_checkpoint
from engine.convert.pieces import read_piece
from engine.formats.opening import open_source
from engine.record.coding import UNIT_LINE
from engine.store.reader import Store
from tests.audit.finding import Finding
from tests.engine.convert import test_kept_dense
from tests.engine.convert.test_kept_codes import KINDS, meant, record
from tests.engine.quantization.reference import decode_expert

MOST_ERROR = 1e-3
MOST_BITS = 0.3  # over those of the source
ROUNDED = ("NF4",)  # whose levels are no whole numbers: its error is told, and not judged
SHAPE = {"hidden": 2048, "intermediate": 768}  # of the experts whose bits are counted, without a tiny model's padding


def examine() -> Finding:
    """Import a tiny model of every kind by default."""
    found: dict[str, Any] = {}
    ok = True
    with tempfile.TemporaryDirectory(prefix="underhill-") as folder:
        for kind, (write, bits, _) in KINDS.items():
            found[kind], good = _of(Path(folder) / kind.replace(" ", "-"), write, bits)
            ok = ok and (good or kind in ROUNDED)
        for kind, (write, bits, _) in test_kept_dense.KINDS.items():
            found[f"{kind}, beside the experts"], good = _beside(Path(folder) / f"dense-{kind}", write, bits)
            ok = ok and good
    return Finding(ok, found)


def _beside(folder: Path, write: Callable[[Path], Any], bits: float) -> tuple[dict[str, float], bool]:
    """Error over all matrices that came coded; bits of those of 4 (of 6: 7.0)."""
    folder.mkdir()
    write(folder / "source")
    source = open_source(folder / "source")
    off = norm = most = 0.0
    count = kept = 0
    with Store.open(import_checkpoint(folder / "source", folder / "store", 0)) as store:
        for name in find_experts(source).dense:
            entry, coded = store.dense.entry(name), source.coded(name)
            if coded is None:
                continue
            wanted = meant(source, name).double()
            off += float((store.dense.get(name) - wanted).square().sum())
            norm += float(wanted.square().sum())
            count, kept = count + 1, kept + (entry.coding is not None)
            if entry.coding is not None and entry.coding.bits == 4:
                most = max(most, 8 * (entry.nbytes - UNIT_LINE) / wanted.numel())
    error = (off / norm) ** 0.5
    told = {
        "relative_error": error,
        "bits_per_weight": round(most, 3),
        "bits_of_source": round(bits, 3),
        "matrices": count,
        "matrices_kept": kept,
    }
    return told, kept == count > 0 and error <= MOST_ERROR and most <= bits + MOST_BITS


def _of(folder: Path, write: Callable[[Path], Any], bits: float) -> tuple[dict[str, float], bool]:
    folder.mkdir()
    write(folder / "source")
    source = open_source(folder / "source")
    experts = find_experts(source).layers
    off = norm = 0.0
    with Store.open(import_checkpoint(folder / "source", folder / "store", 0)) as store:
        quality = {q.tier: q.relative_error for q in store.manifest.quality}
        spec = store.spec(store.layers[0])
        layout = replace(spec, **SHAPE).layout  # type: ignore[arg-type]
        for layer in store.layers:
            decoded = decode_expert(record(store, layer, 1), store.spec(layer, 1), 4)
            for name, piece in experts[layer][1].matrices.items():
                meant = read_piece(source, piece).double()
                off += float((decoded[name] - meant).square().sum())
                norm += float(meant.square().sum())
    error, taken = (off / norm) ** 0.5, layout.bits_per_weight(4)
    good = bool(spec.codings) and max(error, quality[4]) <= MOST_ERROR and taken <= bits + MOST_BITS
    return {
        "relative_error": error,
        "relative_error_as_told": quality[4],
        "bits_per_weight": round(taken, 3),
        "bits_of_source": round(bits, 3),
        "relative_error_at_2_bits": round(quality[2], 3),
        "bits_per_weight_at_2_bits": round(layout.bits_per_weight(2), 3),
        "bits_on_disk": round(8 * layout.nbytes / (3 * SHAPE["hidden"] * SHAPE["intermediate"]), 3),
    }, good
