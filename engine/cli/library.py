"""`underhill-cli` list, folders, found, mv, rename, rm, restore, trash, verify, import: models on this computer.

What only some of them need is imported late: the session, a fifth of a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from engine import settings
from engine.cli.output import ProgressBar, experts_by_bits, gb, millions, pill, say, speed, table
from engine.cli.parser import given
from engine.library import external_models, folders, library, relocation, trash, verification
from engine.library.entries import AdoptedModel, FoundModel, ModelCard, ModelFolder
from engine.library.home import BUILTIN
from engine.library.listing import model_folders

_LIST_HEADER = ("NAME", "HERE", "TOKENS/S", "FAMILY", "PARAMETERS", "ON DISK", "BITS", "BACKEND", "BALANCED COSTS")


def run_list(args: argparse.Namespace) -> int:
    """Print the library; the built-in model is in it before anything has been made of it."""
    from engine.library import builtin
    from engine.library.fit_estimates import FitEstimates

    estimates = FitEstimates()
    cards = estimates.library(library.listing())
    if not any(card.name == BUILTIN and card.usable for card in cards):
        cards = (builtin.card(estimates), *(card for card in cards if card.name != BUILTIN))
    if args.json:
        print(json.dumps([asdict(card) for card in cards]))
        return 0
    usable = [card for card in cards if card.usable]
    print(table(map(_list_row, usable), _LIST_HEADER))
    for card in cards:
        if card.problem:
            size = "" if card.usable else f" ({gb(card.disk_bytes)})"
            print(f"\n{card.name}{size}: {card.problem} {card.action}".rstrip())
    return 0


def _list_row(c: ModelCard) -> tuple[str, ...]:
    bits = "/".join(map(str, c.tiers))
    own = _called(c), pill(c.fit), speed(c.fit), c.family, millions(c.parameters), gb(c.disk_bytes), bits
    return *own, c.backend, _cost(c)


def _called(card: ModelCard) -> str:
    """What to ask for it by, and how it is shown, where a person gave it another name."""
    given = card.name not in (BUILTIN, card.title)
    return f"{card.name} ({card.title})" if given else card.name


def _cost(card: ModelCard) -> str:
    """At the most, as KL divergence from Exact."""
    worst = None if card.calibration is None else card.calibration.dials["balanced"].worst
    return "not measured" if worst is None else f"KL {worst.kl:.4f}"


def run_folders(args: argparse.Namespace) -> int:
    """Change what is to be changed, then print all folders, the one for new models first."""
    if args.add is not None:
        folders.add(args.add)
    if args.first is not None:
        folders.add(args.first, first=True)
    if args.forget is not None:
        folders.forget(args.forget)
    found = model_folders()
    if args.json:
        print(json.dumps([asdict(folder) for folder in found]))
    else:
        print(table(map(_folder_row, found), ("FOLDER", "MODELS", "TRASH", "FREE", "")))
    return 0


def _folder_row(f: ModelFolder) -> tuple[str, ...]:
    note = f.problem or ("new models go here" if f.first else "") + ("" if f.writable else ", cannot be written")
    if not f.there:
        return f.path, "-", "-", "-", note
    return f.path, gb(f.models), gb(f.deleted), gb(f.free), note.removeprefix(", ")


def run_found(args: argparse.Namespace) -> int:
    """Print what was found and how to import it; nothing is changed."""
    from engine.library.fit_estimates import FitEstimates

    bar = ProgressBar(sys.stderr.isatty())
    found = external_models.find(
        lambda phrase, done, total: bar.show("Looking", done, total, "models"), rate=FitEstimates().config
    )
    bar.close()
    if args.json:
        print(json.dumps([asdict(model) for model in found]))
    elif not found:
        print("No models of other apps were found on this computer.")
    else:
        print("\n".join(map(_lines, found)))
    return 0


def _lines(m: FoundModel) -> str:
    what = ", ".join(part for part in (m.architecture, m.format, m.quantization, gb(m.nbytes)) if part)
    then = f'underhill-cli import "{m.path}" --name "{m.name}"' if m.can_open else f"Cannot be imported: {m.why_not}"
    here = "" if m.fit is None else f"\n  {m.fit.sentence}"
    return f"{m.title} ({m.app}; {what}){here}\n  {then}"


def run_mv(args: argparse.Namespace) -> int:
    """Move; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    library.tidy()
    path = relocation.move(args.name, args.folder, bar.report)
    bar.close()
    print(json.dumps(asdict(library.card(path))) if args.json else f"{path.name} is in {path.parent}.")
    return 0


def run_rename(args: argparse.Namespace) -> int:
    """Show it under another name; it is still asked for by its own."""
    card = library.card(library.rename(args.name, args.title))
    print(json.dumps(asdict(card)) if args.json else f"{card.name} is shown as {card.title} now.")
    return 0


def run_rm(args: argparse.Namespace) -> int:
    """Delete without asking; what is deleted can be brought back for a week."""
    restorable = library.delete(args.name, now=args.now)
    library.tidy()
    if args.json:
        print(json.dumps({"deleted": args.name, "restorable": restorable}))
    elif restorable:
        print(f"{args.name} is in the trash for {trash.DAYS} days. Restore it: underhill-cli restore {args.name}")
    elif args.name == BUILTIN:
        print("The built-in model is deleted; it is rebuilt at its next use.")
    else:
        print(f"{args.name} is deleted.")
    return 0


def run_restore(args: argparse.Namespace) -> int:
    """Bring back the one that was deleted last."""
    path = library.restore(args.name, args.as_name)
    if args.json:
        print(json.dumps(asdict(library.card(path))))
    else:
        print(f"{path.name} is back in {path.parent}.")
    return 0


def run_trash(args: argparse.Namespace) -> int:
    """Print what is in the trash, or empty it."""
    if args.empty:
        freed = trash.empty()
        print(json.dumps({"freed": freed}) if args.json else f"{gb(freed)} freed.")
        return 0
    found = trash.deleted()
    if args.json:
        print(json.dumps([asdict(model) for model in found]))
    elif not found:
        print("The trash is empty.")
    else:
        left = [max(0.0, (model.expires - time.time()) / 86400) for model in found]
        rows = [(m.name, gb(m.nbytes), f"{days:.0f} days", m.folder) for m, days in zip(found, left)]
        print(table(rows, ("NAME", "SIZE", "KEPT FOR", "FOLDER")))
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Exit code 0 when everything is as it was written, 1 when something is damaged."""
    bar = ProgressBar(sys.stderr.isatty())
    path = library.prepare(args.model, bar.report)
    problems, remedy = verification.verify_files(path, bar.report)
    bar.close()
    if args.json:
        print(json.dumps({"damaged": list(problems), "action": remedy}))
    elif problems:
        print("\n".join(problems))
        say(remedy)
    else:
        print("All files are intact.")
    return 1 if problems else 0


def run_import(args: argparse.Namespace) -> int:
    """Import; run again after an interruption, it goes on where it stopped."""
    from engine.calibration import lowering_search
    from engine.library import preflight

    bar = ProgressBar(sys.stderr.isatty())
    named = args.import_battery is not None
    battery = int(str(given(args, (settings.IMPORT_BATTERY,))["import_battery"] or 0)) if named else None
    library.tidy()
    source = Path(args.path)
    if relocation.holds_stores(source):
        return _tell_all(relocation.adopt(source, bar.report), as_json=args.json)
    if not source.exists() and relocation.is_unfinished(args.path):
        path = library.go_on(args.path, bar.report, battery)
    else:
        preflight.check(source)
        path = library.add(source, args.name, args.top, bar.report, battery)
    if args.tolerance is not None:
        path = lowering_search.in_place(path.name, args.tolerance / 100, bar.report)
    bar.close()
    card, note = library.card(path), library.source_note(path)
    if args.json:
        print(json.dumps({**asdict(card), "tiers_report": library.tier_report(path), "note": note}))
    else:
        print(f"{card.name}: {card.experts} experts in {card.moe_layers} layers, {gb(card.disk_bytes)} on disk.")
        for tier, bits, error in library.tier_report(path):
            print(f"  {tier}-bit experts: {bits:.2f} bits per weight to read, relative error {error:.4f}")
        if card.expert_bits:
            print(experts_by_bits(card))
        if note:
            print(note)
    return 0


def _tell_all(found: Sequence[AdoptedModel], *, as_json: bool) -> int:
    """Exit code 1 when one of them could not come along."""
    if as_json:
        print(json.dumps([asdict(model) for model in found]))
    for model in () if as_json else found:
        print(f"{model.name}: {model.path or f'{model.problem} {model.action}'}")
    return int(any(model.problem for model in found))
