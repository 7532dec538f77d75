"""HOBBIT's preset by name, p = 3 and the low version's bits; EdgeMoE's bits in the app and at import, others' too."""

from __future__ import annotations

import io
import json
import queue
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from engine import client, protocol
from engine.calibration import robustness
from engine.calibration.calibrator import open_calibrated
from engine.cli.main import main
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.library import library
from engine.settings import ALL
from tests.audit.finding import Finding
from tests.audit.unheard import Unheard

OPEN = {"dial": "hobbit", "cache_fraction": 0.3}
TOLERANCES = (0.0005, 0.02)
NAME, IMPORTED = "audited", "audited-import"


def examine() -> Finding:
    """A chat under the preset, with either low version; then the bits that two tolerances give, in the app as well."""
    hobbit, hobbit_ok = _hobbit()
    bits, bits_ok = _bits()
    app, app_ok = _in_the_app()
    at_import, import_ok = _at_import()
    return Finding(
        hobbit_ok and bits_ok and app_ok and import_ok,
        {**hobbit, "bits by tolerance": bits, "in the app": app, "at import": at_import},
    )


def _hobbit() -> tuple[dict[str, Any], bool]:
    question = (Message("user", "Tell me a joke, and then another one."),)
    ran: dict[str, list[str]] = {}
    for low in ("2", "4"):
        with open_calibrated("builtin", {**OPEN, "low": low}) as session:
            stats = session.generate(question, Sampling(temperature=0, max_tokens=60), (), Unheard())
            ran[low] = sorted(bits for bits, uses in stats.precision.items() if uses)
            known = session.card.calibration
            assert known is not None
            cuts = known.dials["hobbit"]
            shares = [round(share, 3) for share in known.shares(cuts.t1, cuts.t2)]
            session.update({"cache_fraction": 0.8})
            session.generate(question, Sampling(temperature=0, max_tokens=60), (), Unheard())
            assert session.runtime.prefetch is not None
            recall = [round(share, 3) for share in session.runtime.prefetch.stats.recall]
    near = all(abs(share - wanted) < 0.03 for share, wanted in zip(shares, (0.67, 0.3, 0.03)))
    named = "HOBBIT 67/30/3" in ALL["dial"].names
    low_acts = "2" in ran["2"] and "4" not in ran["2"] and "4" in ran["4"] and "2" not in ran["4"]
    found = {
        "the preset has its name": named,
        "full, coarse, skipped": shares,
        "bits that ran, by low version": ran,
        "layers looked ahead, unless told otherwise": ALL["prefetch_depth"].default,
        "recall 1, 2 and 3 layers ahead": recall,
    }
    return found, named and near and low_acts and len(recall) == 3 and recall[2] > 0.3


def _bits() -> tuple[dict[str, Any], bool]:
    """Of a copy of the built-in model, experts alone."""
    found: dict[str, Any] = {}
    with open_calibrated("builtin", {"dial": "exact"}) as session:
        for tolerance in TOLERANCES:
            chosen = robustness.choose(session, tolerance)
            tops = [chosen.bits.get(key, 8) for key in chosen.ranked]
            found[f"{100 * tolerance:g} %"] = {
                "bounds": list(chosen.bounds),
                "experts by bits": {str(bits): tops.count(bits) for bits in sorted(set(tops))},
                "KL on other text": round(chosen.lowering.kl, 5),
            }
    return found, all(row["KL on other text"] < 2 * t for row, t in zip(found.values(), TOLERANCES))


class _App:
    """The engine as the window has it."""

    def __init__(self) -> None:
        self._ended: queue.Queue[protocol.Event] = queue.Queue()
        self.engine = client.start(
            lambda event: self._ended.put(event) if isinstance(event, protocol.TERMINAL) else None
        )
        self._sent = 0

    def ask(self, kind: type[protocol.Command], *values: Any) -> Any:
        """Its result. Raises RuntimeError where it ends otherwise."""
        self._sent += 1
        self.engine.send(kind(str(self._sent), *values))
        while (event := self._ended.get(timeout=600)).id != str(self._sent):
            pass
        if not isinstance(event, protocol.Done):
            raise RuntimeError(str(event))
        return event.result


def _in_the_app() -> tuple[dict[str, Any], bool]:
    """What the card of a model offers: how much it saves, smaller, and back again."""
    path = library.location(NAME)
    shutil.copytree(library.prepare("builtin"), path)
    app = _App()
    try:
        tight, wide = (app.ask(protocol.MeasureLowering, NAME, tolerance) for tolerance in TOLERANCES)
        lowered = app.ask(protocol.LowerModel, NAME, TOLERANCES[1])
        app.ask(protocol.LoadModel, NAME, {"dial": "exact"})
        answer = app.ask(
            protocol.Generate, (Message("user", "Tell me a joke."),), {"temperature": 0.0, "max_tokens": 20}
        )
        restored = app.ask(protocol.RestoreOriginal, NAME)
    finally:
        app.engine.close()
        shutil.rmtree(path, ignore_errors=True)
    kept = lowered.expert_bits == wide.bits and lowered.expert_bytes == wide.after and bool(answer.text)
    back = (restored.expert_bits, restored.expert_bytes) == ((), wide.before)
    fewer = wide.after < tight.after < wide.before and 0 < wide.dense_bits <= (tight.dense_bits or 32)
    found = {
        "experts, MB: all bits, then by tolerance": [round(n / 1e6, 2) for n in (wide.before, tight.after, wide.after)],
        "other weights' bits by tolerance": [tight.dense_bits, wide.dense_bits],
        "experts by bits on the card": lowered.expert_bits,
        "KL told before, and on the card": [round(wide.kl, 5), round(lowered.lowered_kl, 5)],
        "the smaller one has the model's place": kept,
        "the original comes back": back,
    }
    return found, kept and back and fewer and wide.kl < 2 * TOLERANCES[1]


def _at_import() -> tuple[dict[str, Any], bool]:
    source, said = Path(library.resources.path("builtin", "model")), io.StringIO()
    try:
        with redirect_stdout(said):
            main(["import", str(source), "--name", IMPORTED, "--tolerance", str(100 * TOLERANCES[1]), "--json"])
    finally:
        shutil.rmtree(library.location(IMPORTED), ignore_errors=True)
    card = json.loads(said.getvalue())
    found = {"experts by bits": card["expert_bits"], "other weights": card["lowered_dense"], "KL": card["lowered_kl"]}
    return found, sum(n for bits, n in card["expert_bits"] if bits < 8) > 0 and card["lowered_kl"] < 2 * TOLERANCES[1]
