"""Reads the text of a file as a model can read it: plain text, code, PDF."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine import limits, regular_file
from engine.documents import pdf_text
from engine.errors import Kind, UnderhillError
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxStopped, SandboxTimeout
from engine.translatable import Translatable, msg

LONGEST_TEXT = 8 << 20  # bytes; far more than any model sees at a time
PDF_SECONDS = 60.0  # for all pages; a book of a thousand pages takes about half
PDF_MEMORY = 800_000_000  # bytes that reading one may take; large scans take a few hundred MB
_LONGEST_NAME = 255  # of all file systems: bytes on Linux, UTF-16 units on Windows
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0", b"8BPS")


@dataclass(frozen=True)
class Page:
    """Text of a page; of a file without pages all of it, and number is 0."""

    number: int
    text: str


def pdf_reader() -> SandboxedFunction:
    """A process that reads PDFs, for many of them; to be closed."""
    return SandboxedFunction("engine.documents.pdf_text:pages", PDF_MEMORY)


def read(path: Path) -> str:
    """Text of a file that goes with a message. Raises UnderhillError, which says what cannot be read and why."""
    with contextlib.closing(pdf_reader()) as reader:
        return "\n\n".join(page.text for page in read_pages(path, reader, LONGEST_TEXT, PDF_SECONDS))


def read_pages(path: Path, reader: SandboxedFunction, longest: int, seconds: float) -> tuple[Page, ...]:
    """Text of a file by its pages. longest: bytes of text. seconds: for a whole PDF. Raises UnderhillError."""
    try:
        with regular_file.open_regular(path, limits.DOCUMENT_PDF_BYTES) as file:
            start = file.read(512)
            if is_picture(start):
                raise _picture(path.name)
            pdf = start.startswith(b"%PDF-")
            file.seek(0)
            text = "" if pdf else decoded(regular_file.read_at_most(file, longest, path), path.name)
        pages = tuple(_pdf(path, reader, longest, seconds)) if pdf else (Page(0, text),)
    except (OSError, ValueError) as e:
        raise _unreadable(path, e) from e
    if not any(page.text.strip() for page in pages):
        raise _refused(
            msg("{file} contains no text.", file=path.name),
            msg("It may be a scan. Images can't be read.") if pdf else msg("The file is empty."),
        )
    return pages


def file_error(path: Path, cause: Exception) -> UnderhillError | None:
    """Why a path cannot be read as a file. None where it is a file, and something else is wrong with it."""
    name, kind = path.name, Kind.BAD_REQUEST
    if isinstance(cause, regular_file.NotAFile):
        sentence, action = msg("{file} is a device, not a file.", file=name), msg("Choose another file.")
    elif _is_too_long(path, cause):
        sentence = msg("The path of {file} is too long.", file=f"{name[:60]}…")
        action = msg("Move the file to another folder or shorten its name.")
    elif _is_folder(path):
        sentence, action = msg("{file} is a folder.", file=name), msg("Attach single files.")
    elif isinstance(cause, FileNotFoundError):
        kind, sentence = Kind.MISSING_FILE, msg("{file} no longer exists.", file=name)
        action = msg("Choose another file.")
    else:
        return None
    return UnderhillError(kind, sentence, action)


def _is_too_long(path: Path, cause: Exception) -> bool:
    """Windows says of a name that is too long what it says of one that is not there."""
    refused = isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG
    return refused or any(len(part) > _LONGEST_NAME for part in path.parts)


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.is_dir()
    return False


def _unreadable(path: Path, cause: Exception) -> UnderhillError:
    if isinstance(cause, regular_file.FileTooLarge):
        return _too_large(path)
    if (error := file_error(path, cause)) is not None:
        return error
    if isinstance(cause, PermissionError):
        sentence = msg("No permission to read {file}.", file=path.name)
        action = msg("Change its permissions or attach a copy.")
    else:
        sentence, action = msg("Can't read {file}.", file=path.name), msg("Check the file and its disk.")
    return UnderhillError(Kind.BROKEN_FILE, sentence, action)


def is_picture(data: bytes) -> bool:
    """Whether a file with these first bytes is a picture: PNG, JPEG, GIF, BMP, TIFF, ICO, PSD, WebP, HEIC or AVIF."""
    inside = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    boxed = data[4:8] == b"ftyp" and data[8:12] in (b"heic", b"heix", b"mif1", b"avif", b"avis")
    return (data.startswith(_PICTURES) and b"\0" in data[:512]) or inside or boxed


def decoded(data: bytes, name: str) -> str:
    """Decode bytes: UTF-8, UTF-16 with its mark, or cp1252. Raises UnderhillError for what is no text."""
    if is_picture(data):
        raise _picture(name)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    strange = sum(1 for c in text[:8192] if (c < " " and c not in "\n\r\t\f\v\b\x1b") or c == "\ufffd")
    if "\0" in text[:8192] or strange > len(text[:8192]) // 50:
        raise _refused(msg("{file} isn't a text file.", file=name), msg("Text, code and PDF files can be attached."))
    return text.replace("\r\n", "\n")


def _pdf(path: Path, reader: SandboxedFunction, longest: int, seconds: float) -> Iterator[Page]:
    """Extract the text of a PDF. Raises UnderhillError."""
    long = number = 0
    end = time.monotonic() + seconds
    try:
        for kind, *said in reader.stream(str(path.resolve()), seconds=seconds):
            if kind == pdf_text.LOCKED:
                raise _refused(
                    msg("{file} is password-protected.", file=path.name),
                    msg("Save it without a password, then attach it."),
                )
            if kind == pdf_text.DAMAGED:
                raise _no_pdf(path) from ValueError(*said)
            number += 1
            yield Page(number, said[0])
            long += len(said[0])
            if long > longest:
                raise _too_large(path) from regular_file.FileTooLarge(path.name)
            if time.monotonic() > end:
                raise SandboxTimeout("all pages together")
    except SandboxStopped:
        raise
    except SandboxTimeout as e:
        raise _refused(msg("Reading {file} took too long.", file=path.name), msg("Attach fewer pages.")) from e
    except SandboxMemory as e:
        raise _refused(msg("Reading {file} needs too much memory.", file=path.name), msg("Attach fewer pages.")) from e
    except SandboxFailure as e:
        raise _no_pdf(path) from e


def _no_pdf(path: Path) -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE, msg("Can't read {file} as a PDF.", file=path.name),
        msg("Open it in a PDF viewer and copy the text you need."),
    )  # fmt: skip


def _too_large(path: Path) -> UnderhillError:
    size = f"{path.stat().st_size / 1e6:,.0f}"
    return _refused(msg("{file} is too large ({size} MB).", file=path.name, size=size), msg("Attach a smaller part."))


def _picture(name: str) -> UnderhillError:
    return _refused(
        msg("{file} is an image. Only text is read from documents.", file=name),
        msg("Attach text, code or PDF files, or describe the image in words."),
    )


def _refused(sentence: Translatable, action: Translatable) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence, action)
