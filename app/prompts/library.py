"""Prompts by name, kept in a JSON file, and the variables in their texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.i18n.translate import problem, tr
from app.storage.database_thread import DatabaseThread, Problem
from engine import filesystem, protocol
from engine.regular_file import read_json

FILE = "prompts.json"  # in the data folder; an exported file has the same form
FORMAT = 1
MOST_BYTES = 4 << 20  # of a file that is read
_VARIABLE = re.compile(r"\{\{[ \t]*([^{}\s](?:[^{}\n]{0,58}[^{}\s])?)[ \t]*\}\}")


@dataclass(frozen=True)
class SavedPrompt:
    """text: with variables as {{name}}."""

    name: str
    text: str


def variables(text: str) -> list[str]:
    """Names of the variables in a text, each once, in their order."""
    return list(dict.fromkeys(_VARIABLE.findall(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with values in the place of its variables; one without a value stays as it is."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def read_prompts(path: Path) -> list[SavedPrompt]:
    """Prompts of a file, in its order. Raises OSError, and ValueError for what is no such file."""
    found: Any = read_json(path, MOST_BYTES)
    entries = found["prompts"] if isinstance(found, dict) and isinstance(found.get("prompts"), list) else None
    if entries is None or int(found.get("format", FORMAT)) > FORMAT:
        raise ValueError("not a file of prompts")
    made = []
    for entry in entries:
        name, text = (entry.get(key) if isinstance(entry, dict) else None for key in ("name", "text"))
        if not isinstance(name, str) or not isinstance(text, str) or not name.strip():
            raise ValueError("not a prompt")
        made.append(SavedPrompt(" ".join(name.split()), text))
    return made


def as_json(prompts: list[SavedPrompt]) -> bytes:
    """The file of these prompts."""
    entries = [{"name": p.name, "text": p.text} for p in prompts]
    return json.dumps({"format": FORMAT, "prompts": entries}, ensure_ascii=False, indent=1).encode()


class PromptLibrary(QObject):
    """Prompts sorted by name, written on the database's thread as they change. problem: Problem, of a refused write."""

    changed = Signal()
    problem = Signal(object)

    def __init__(self, database: DatabaseThread, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database, self._path = database, folder / FILE
        self.prompts: list[SavedPrompt] = []
        self._damaged = self._loaded = False
        database.submit(lambda store: _kept(self._path), self._take)

    def _take(self, found: list[SavedPrompt] | None) -> None:
        self._damaged, self._loaded = found is None, True
        new = {p.name for p in self.prompts}
        prompts = [*(p for p in found or [] if p.name not in new), *self.prompts]
        if new:
            self._replace(prompts)
        else:
            self.prompts = _sorted(prompts)
            self.changed.emit()

    def find(self, words: str) -> list[SavedPrompt]:
        """Prompts in whose name all of the words are, those that begin with them first."""
        wanted = words.casefold().split()
        fits = [p for p in self.prompts if all(word in p.name.casefold() for word in wanted)]
        return sorted(fits, key=lambda p: not p.name.casefold().startswith(words.casefold().strip()))

    def keep(self, prompt: SavedPrompt, before: str = "") -> None:
        """Keep a prompt, in the place of the one called `before`, and of one of the same name."""
        rest = [p for p in self.prompts if p.name not in (before, prompt.name)]
        self._replace([*rest, prompt])

    def remove(self, name: str) -> None:
        """Remove the prompt of this name."""
        self._replace([p for p in self.prompts if p.name != name])

    def import_file(self, path: Path) -> int:
        """Add the prompts of a file, which replace those of the same names; returns how many. Raises UnderhillError."""
        try:
            new = read_prompts(path)
        except (OSError, ValueError, TypeError) as cause:
            raise problem(
                protocol.Kind.BROKEN_FILE, tr("{file} is not a file of prompts.", file=path.name),
                tr("Choose a file that was exported here."),
            ) from cause  # fmt: skip
        names = {p.name for p in new}
        self._replace([*(p for p in self.prompts if p.name not in names), *{p.name: p for p in new}.values()])
        return len(names)

    def export_file(self, path: Path, failed: Callable[[Problem], object]) -> None:
        """Write all prompts to a file."""
        data = as_json(self.prompts)
        self._database.submit(lambda store: filesystem.replace_file(path, data), failed=failed)

    def _replace(self, prompts: list[SavedPrompt]) -> None:
        self.prompts = _sorted(prompts)
        if not self._loaded:  # written together with what is kept
            self.changed.emit()
            return
        data, path, damaged = as_json(self.prompts), self._path, self._damaged
        self._damaged = False

        def write(store: object) -> None:
            if damaged:  # what a person may mend by hand is not overwritten
                filesystem.replace(path, path.with_suffix(".damaged.json"))
            filesystem.replace_file(path, data)

        self._database.submit(write, failed=self.problem.emit)
        self.changed.emit()


def _sorted(prompts: list[SavedPrompt]) -> list[SavedPrompt]:
    return sorted(prompts, key=lambda p: p.name.casefold())


def _kept(path: Path) -> list[SavedPrompt] | None:
    """Prompts of the library's own file; None where it is damaged."""
    try:
        return read_prompts(path)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        return None
