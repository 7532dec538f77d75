"""A catalogue of models that somebody has changed."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.library import catalogue
from engine.library.config_facts import catalogue_facts
from engine.regular_file import parse_json
from engine.translatable import translated
from tests.attack.case import Case
from tests.attack.given import JSON, changed


def cases() -> list[Case]:
    whole = json.loads(resources.path("catalogue.json").read_text(encoding="utf-8"))
    short = {**whole, "models": whole["models"][:3]}
    found = [Case(f"json: {what}", partial(_text, text)) for what, text in JSON.items()]
    found += [Case(f"changed: {what}", partial(_parsed, one), True) for what, one in changed(short, 9, 60)]
    return found


def _text(text: bytes, folder: Path) -> None:
    try:
        value = parse_json(text)
    except ValueError as cause:
        raise _damaged() from cause
    _parsed(value, folder)


def _parsed(value: Any, folder: Path) -> None:
    """Its contract: ValueError for what is no catalogue, which `load` makes a sentence of."""
    try:
        entries = catalogue.parse(value)
    except ValueError as cause:
        raise _damaged() from cause
    for entry in entries:
        catalogue_facts(entry, 4)


def _damaged() -> UnderhillError:
    return UnderhillError(Kind.BROKEN_FILE, translated("The catalogue is damaged."))
