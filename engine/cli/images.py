"""`underhill-cli chat --image`: pictures that go with the first question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from engine.documents.reading import file_error
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message
from engine.limits import PICTURE_BYTES
from engine.regular_file import FileTooLarge, read_regular
from engine.translatable import msg, system_reason


class Images:
    """The files given. Read at once, so that a wrong name is told before a model is loaded."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Raises UnderhillError for what cannot be read as a file, or is too large."""
        self._waiting = tuple(_read(Path(path)) for path in paths)

    def with_images(self, question: Message) -> Message:
        """The question with the images; those that come later have none."""
        images, self._waiting = self._waiting, ()
        return dataclasses.replace(question, images=images)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, PICTURE_BYTES)
    except FileTooLarge as cause:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{file} is too large; the limit is {most} MB.", file=path.name, most=f"{PICTURE_BYTES / 1e6:,.0f}"),
            msg("Make it smaller, then attach it again."),
        ) from cause
    except OSError as cause:
        raise file_error(path, cause) or UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't read {file} ({reason}).", file=path.name, reason=system_reason(cause)),
            msg("Check the file and its disk."),
        ) from cause
