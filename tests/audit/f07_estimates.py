"""Speed estimates made beside two busy programs are those of a quiet computer, and every place shows the same one."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.calibration.calibrator import open_calibrated
from engine.cli.main import main
from engine.errors import UnderhillError
from engine.hardware import probe
from engine.hardware.full_probe import probe_fully
from engine.hardware.load import wait_for_quiet
from engine.hardware.machine import Machine
from engine.hardware.rates import Rates
from engine.library import catalogue, computer, library
from engine.library.config_facts import catalogue_facts
from engine.library.fit_estimates import FitEstimates
from engine.native.library import isas
from engine.planning.plan import make_plan
from engine.settings import ENGINE
from tests.audit.finding import Finding

NEAR = 0.25  # by which an estimate made beside two busy programs may differ from the quiet one
STEADY = 0.15  # by which two quiet ones may
TRIES = 3
PROGRAMS = 2
PATIENCE = 15.0  # seconds that quiet is waited for before it is given up
SAME = 0.01  # by which figures in two places may differ
COMPUTES = "while True: sum(i * i for i in range(100_000))"


def examine() -> Finding:
    """A full probe alone, one beside two programs that compute without end, one alone again, and what plans make of
    them. Where the two alone differ, the computer itself was faster at one time than at another, as one that shares its
    memory with others is, and they are made again.
    """
    for _ in range(TRIES):
        before = wait_for_quiet(PATIENCE)
        if before.busy:
            why = "this computer is busy already, so there is no quiet probe to compare with; run it on a quiet one"
            return Finding(ok=False, found={"refused": why, "others": round(before.others, 2)})
        with tempfile.TemporaryDirectory() as folder:
            quiet = probe_fully(Path(folder))
            after = wait_for_quiet(0.0)
            with busy():
                beside = wait_for_quiet(0.0)
                loaded = probe_fully(Path(folder))
            wait_for_quiet(PATIENCE)
            again = probe_fully(Path(folder))
        own = _off(estimates(quiet), estimates(again))
        if max(own.values()) <= STEADY:
            break
    off = _off(estimates(quiet), estimates(loaded))
    places = same_everywhere()
    found = {
        "quiet_memory_gb_s": [round(rates.memory_rate / 1e9, 1) for rates in (quiet, again)],
        "busy_memory_gb_s": round(loaded.memory_rate / 1e9, 1),
        "others_meanwhile": round(beside.others, 2),
        "quiet_marked_busy": round(quiet.busy, 2),
        "busy_marked_busy": round(loaded.busy, 2),
        "estimates": len(off),
        "quiet_ones_apart": max(own.values()),
        "worst_off": max(off.values()),
        "worst": max(off, key=lambda name: off[name]),
        "shown": places,
    }
    if quiet.busy or after.busy:
        return Finding(ok=False, found={**found, "refused": "other programs began while the quiet probe ran"})
    if max(own.values()) > STEADY:
        return Finding(ok=False, found={**found, "refused": "this computer's own speed changed from probe to probe"})
    same = max(places.values()) <= (1 + SAME) * min(places.values())
    marked = beside.busy and loaded.busy > 0
    return Finding(ok=bool(off) and max(off.values()) <= NEAR and marked and same, found=found)


def _off(expected: dict[str, tuple[float, float]], seen: dict[str, tuple[float, float]]) -> dict[str, float]:
    """By which share each estimate is off, the worse of its two figures."""
    pairs = {name: zip(seen[name], expected[name], strict=True) for name in seen}
    return {name: round(max(abs(found / wanted - 1) for found, wanted in both), 3) for name, both in pairs.items()}


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Two programs that compute all the time."""
    programs = [subprocess.Popen([sys.executable, "-c", COMPUTES]) for _ in range(PROGRAMS)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def estimates(rates: Rates) -> dict[str, tuple[float, float]]:
    """Tokens a second, and seconds until an answer begins, of every model of the catalogue that would run here."""
    memory = probe.memory()
    bare = Machine(
        cores=rates.threads,
        memory=memory,
        memory_rate=rates.memory_rate,
        disk_rate=1e9,
        disk_free=10**13,
        isa=isas()[-1],
    )
    machine = replace(probe.with_rates(bare, rates), memory=replace(memory, limit=10**11, free=6 * 10**10))
    machine = replace(machine, memory=replace(machine.memory, group_free=None))
    chosen = {s.name: s.default for s in ENGINE}
    found: dict[str, tuple[float, float]] = {}
    for entry in catalogue.load():
        for top in (8, 4):
            with contextlib.suppress(UnderhillError):  # one that does not fit there
                plan = make_plan(machine, catalogue_facts(entry, top), chosen, 4 * 10**8)
                found[f"{entry.name}, {top} bits, decode"] = plan.speed
                found[f"{entry.name}, {top} bits, prompt"] = plan.first_token
    return found


def same_everywhere() -> dict[str, float]:
    """Tokens a second of the built-in model, wherever they are shown; two programs are busy for some of it."""
    shown: dict[str, float] = {}
    with open_calibrated("builtin", {"cache_fraction": 0.4}) as session:
        shown["plan"] = session.plan.speed[1]
        shown["open model's badge"] = session.card.fit.speed[1] if session.card.fit and session.card.fit.speed else 0.0
        with busy():
            cards = FitEstimates(session.settings).library(library.listing())
            fits = [card.fit for card in cards if card.path == session.card.path]
            shown["library's badge"] = fits[0].speed[1] if fits and fits[0] and fits[0].speed else 0.0
            computer.computer()  # the first run's page
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                main(["plan", "builtin", "--json", "--cache-fraction", "0.4"])
            shown["terminal"] = json.loads(said.getvalue())["speed"][1]
    return {place: round(speed, 2) for place, speed in shown.items()}
