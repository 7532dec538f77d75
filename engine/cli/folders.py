"""`underhill-cli folders`: the folders that models live in."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from engine.cli.output import gb, table
from engine.library import folders
from engine.library.entries import ModelFolder
from engine.library.listing import model_folders


def run(args: argparse.Namespace) -> int:
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
        print(table(map(_row, found), ("FOLDER", "MODELS", "TRASH", "FREE", "")))
    return 0


def _row(f: ModelFolder) -> tuple[str, ...]:
    note = f.problem or ("new models go here" if f.first else "") + ("" if f.writable else ", cannot be written")
    if not f.there:
        return f.path, "-", "-", "-", note
    return f.path, gb(f.models), gb(f.deleted), gb(f.free), note.removeprefix(", ")
