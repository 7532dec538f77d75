"""`underhill-cli chat --documents`: passages of files and folders for each question, and where they stand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.cli.output import ProgressBar, say
from engine.documents.frame import place, room_for_passages, with_passages
from engine.documents.library import DocumentLibrary
from engine.documents.passages import Passage, tokens
from engine.library.home import home
from engine.translatable import Translatable

KEPT_DAYS = 30  # that an index is kept here after its last use; no chat refers to it


class Documents:
    """The documents of a chat in the terminal; none, where no path is given. Indexed before the first question.

    count: tokens of a text. context: tokens that the model sees at a time, 0 where that is not known.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(str(Path(path).absolute()) for path in paths)
        self._library = DocumentLibrary(home() / "documents" / "terminal")
        self._library.forget_unused(KEPT_DAYS)
        self.count: Callable[[str], int] = tokens
        self.context = 0
        self._told = False
        self._found: tuple[Passage, ...] = ()

    def asked(self, question: str, cancelled: Callable[[], bool] = lambda: False) -> str:
        """A question with what the documents have on it. Raises UnderhillError; CANCELLED."""
        if not self._paths:
            return question
        bar = ProgressBar(sys.stderr.isatty())

        def report(text: Translatable, done: int, total: int) -> None:
            bar.show(text, done, total, "")

        self._library.update(self._paths, report, cancelled)
        indexed = self._library.encode(self._paths, report, cancelled, lambda: None)
        bar.close()
        if not self._told:
            self._told = True
            for one in indexed:
                say(f"{one.path}: {one.files:,} files, {one.passages:,} passages.")
                for left in one.left_out:
                    say(f"Left out: {left.name}. {left.sentence}")
        room = room_for_passages(self.context)
        self._found = self._library.find(self._paths, question, room, self.count)
        return with_passages(question, self._found)

    def show_sources(self) -> None:
        """Tell on standard error what the last question was answered from."""
        for number, passage in enumerate(self._found, 1):
            say(f"[{number}] {place(passage)}")

    def as_json(self) -> dict[str, Any]:
        """What scripts are told of it."""
        return {"sources": [asdict(passage) for passage in self._found]} if self._paths else {}
