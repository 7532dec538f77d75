"""Reads images that go with a message: files in a sandboxed process, what is pasted from the clipboard here."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtGui import QImage

from app.i18n.translate import problem, tr
from app.images import encode
from app.platform.files import file_error
from app.storage.records import Attachment
from engine import protocol, regular_file
from engine.documents.reading import is_picture
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxTimeout

MOST = 10  # images of one message
SECONDS = 20.0  # for one; the largest that are taken need three
MEMORY = 900_000_000  # bytes that reading one may take
_START = 512  # bytes by which an image is known


@contextlib.contextmanager
def image_reader() -> Iterator[SandboxedFunction]:
    """A process that reads images, for many of them."""
    with contextlib.closing(SandboxedFunction("app.images.encode:from_file", MEMORY)) as reader:
        yield reader


def is_image_file(path: Path) -> bool:
    """Whether a file begins as an image does; False for what cannot be opened."""
    with contextlib.suppress(OSError, ValueError), regular_file.open_regular(path) as file:
        return is_picture(file.read(_START))
    return False


def read_image(path: Path, reader: SandboxedFunction) -> Attachment:
    """Read a file as an image. Raises UnderhillError, which says what cannot be read and why."""
    name = path.name
    try:
        if path.stat().st_size > encode.LARGEST:
            amount = f"{path.stat().st_size / 1e6:,.0f}"
            raise _refused(
                tr("{file} is too large ({size} MB).", file=name, size=amount), tr("Attach a smaller image.")
            )
        kind, *said = reader.call(str(path.resolve()), seconds=SECONDS)
    except OSError as error:
        raise file_error(path, error) or _unreadable(name) from error
    except SandboxTimeout as error:
        raise _refused(tr("Reading {file} took too long.", file=name), tr("Attach a smaller image.")) from error
    except SandboxMemory as error:
        sentence = tr("Reading {file} needs too much memory.", file=name)
        raise _refused(sentence, tr("Attach a smaller image.")) from error
    except SandboxFailure as error:
        raise _unreadable(name) from error
    if kind == encode.TOO_MANY_PIXELS:
        width, height = said
        raise _refused(
            tr("{file} has too many pixels ({width} × {height}).", file=name, width=width, height=height),
            tr("Attach a smaller image."),
        )
    if kind != encode.DONE:
        raise _unreadable(name) from ValueError(*said)
    return Attachment(name, "", base64.b64decode(said[0]))


def pasted_image(image: QImage, name: str) -> Attachment:
    """An image that was pasted. Raises UnderhillError."""
    if image.isNull() or image.width() * image.height() > encode.PIXELS:
        raise _unreadable(name)
    try:
        return Attachment(name, "", encode.encoded(image))
    except encode.UnreadableImage as error:
        raise _unreadable(name) from error


def _unreadable(name: str) -> protocol.UnderhillError:
    return _refused(tr("Can't read {file} as an image.", file=name), tr("Save it as PNG or JPEG, then attach it."))


def _refused(sentence: str, action: str) -> protocol.UnderhillError:
    return problem(protocol.Kind.BAD_REQUEST, sentence, action)
