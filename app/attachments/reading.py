"""The text of a file, as a model can read it: plain text, code, and the text of a PDF."""

from __future__ import annotations

import logging
from pathlib import Path

from app.chats.records import Attachment
from app.language.words import say
from engine import api

LONGEST_TEXT = 8 << 20  # bytes; far more than any model sees at a time
LONGEST_PDF = 256 << 20


def read(path: Path) -> Attachment:
    """Read a file. Raises UnderhillError, which says what it is that cannot be read and why."""
    try:
        size = path.stat().st_size
        pdf = path.is_file() and _begins(path) == b"%PDF-"
        if size > (LONGEST_PDF if pdf else LONGEST_TEXT):
            sentence = say("{file} is too large ({size:,.0f} MB).", file=path.name, size=size / 1e6)
            raise _refused(sentence, say("Attach the part that matters."))
        text = _pdf(path) if pdf else decoded(path.read_bytes(), path.name)
    except (OSError, ValueError) as e:
        raise _unreadable(path, e) from e
    if not text.strip():
        raise _refused(
            say("There is no text in {file}.", file=path.name),
            say("It may consist of pictures; Underhill reads no pictures.") if pdf else say("The file is empty."),
        )
    return Attachment(path.name, text)


def _unreadable(path: Path, cause: Exception) -> api.UnderhillError:
    name = path.name
    if path.is_dir():
        return _refused(say("{file} is a folder.", file=name), say("Attach the files in it that matter."))
    if isinstance(cause, FileNotFoundError):
        return api.UnderhillError(
            api.Kind.MISSING_FILE, say("{file} is not there any more.", file=name), say("Choose another file.")
        )
    if isinstance(cause, PermissionError):
        sentence = say("Underhill may not read {file}.", file=name)
        action = say("Make a copy of it that you may read, or give yourself the right to.")
    else:
        sentence, action = say("{file} cannot be read.", file=name), say("Check the file and its disk.")
    return api.UnderhillError(api.Kind.BROKEN_FILE, sentence, action)


def decoded(data: bytes, name: str) -> str:
    """Bytes as text: UTF-8, UTF-16 with its mark, or Windows' Latin letters. Raises UnderhillError for what is none."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    strange = sum(1 for c in text[:8192] if (c < " " and c not in "\n\r\t\f\v\b\x1b") or c == "\ufffd")
    if "\0" in text[:8192] or strange > len(text[:8192]) // 50:
        raise _refused(say("{file} is not a text file.", file=name), say("Text, code and PDF files can be attached."))
    return text.replace("\r\n", "\n")


def _pdf(path: Path) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it complains of is of no use to the reader of a chat
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise _refused(
                say("{file} is locked with a password.", file=path.name), say("Save it without one, then attach it.")
            )
        return "\n\n".join(page.extract_text().strip() for page in reader.pages)
    except api.UnderhillError:
        raise
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, NotImplementedError, OSError, RecursionError,
            TypeError, ValueError) as e:  # what the library raises on files that keep to no rule  # fmt: skip
        raise api.UnderhillError(
            api.Kind.BROKEN_FILE, say("{file} cannot be read as a PDF.", file=path.name),
            say("Open it in a PDF viewer and copy the text that matters."),
        ) from e  # fmt: skip


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(5)


def _refused(sentence: str, action: str) -> api.UnderhillError:
    return api.UnderhillError(api.Kind.BAD_REQUEST, sentence, action)
