"""Reads the text of a file as a model can read it: plain text, code, PDF."""

from __future__ import annotations

import time
from pathlib import Path

from app.attachments import pdf_text
from app.i18n.translate import problem, tr
from app.platform.files import file_error
from app.storage.records import Attachment
from engine import protocol, regular_file
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxTimeout

LONGEST_TEXT = 8 << 20  # bytes; far more than any model sees at a time
LONGEST_PDF = 256 << 20  # bytes: a larger one is refused before it is read
PDF_SECONDS = 60.0  # for all pages; a book of a thousand pages takes about half
PDF_MEMORY = 800_000_000  # bytes that reading one may take; large scans take a few hundred MB
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0", b"8BPS")


def read(path: Path) -> Attachment:
    """Read a file as an attachment. Raises UnderhillError, which says what cannot be read and why."""
    try:
        with regular_file.open_regular(path, LONGEST_PDF) as file:
            start = file.read(512)
            if is_picture(start):
                raise _picture(path.name)
            pdf = start.startswith(b"%PDF-")
            file.seek(0)
            text = "" if pdf else decoded(regular_file.read_at_most(file, LONGEST_TEXT, path), path.name)
        if pdf:
            text = _pdf(path)
    except (OSError, ValueError) as e:
        raise _unreadable(path, e) from e
    if not text.strip():
        raise _refused(
            tr("{file} contains no text.", file=path.name),
            tr("It may be a scan. Images can't be read.") if pdf else tr("The file is empty."),
        )
    return Attachment(path.name, text)


def _unreadable(path: Path, cause: Exception) -> protocol.UnderhillError:
    name = path.name
    if isinstance(cause, regular_file.FileTooLarge):
        return _too_large(path)
    if (error := file_error(path, cause)) is not None:
        return error
    if isinstance(cause, PermissionError):
        sentence = tr("No permission to read {file}.", file=name)
        action = tr("Change its permissions or attach a copy.")
    else:
        sentence, action = tr("Can't read {file}.", file=name), tr("Check the file and its disk.")
    return problem(protocol.Kind.BROKEN_FILE, sentence, action)


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
        raise _refused(tr("{file} isn't a text file.", file=name), tr("Text, code and PDF files can be attached."))
    return text.replace("\r\n", "\n")


def _pdf(path: Path) -> str:
    """Extract the text of a PDF. Raises UnderhillError."""
    texts: list[str] = []
    long = 0
    end = time.monotonic() + PDF_SECONDS
    reader = SandboxedFunction("app.attachments.pdf_text:pages", PDF_MEMORY)
    try:
        for kind, *said in reader.stream(str(path.resolve()), seconds=PDF_SECONDS):
            if kind == pdf_text.LOCKED:
                raise _refused(
                    tr("{file} is password-protected.", file=path.name),
                    tr("Save it without a password, then attach it."),
                )
            if kind == pdf_text.DAMAGED:
                raise _no_pdf(path) from ValueError(*said)
            texts += said
            long += len(said[0])
            if long > LONGEST_TEXT:
                raise _too_large(path)
            if time.monotonic() > end:
                raise SandboxTimeout("all pages together")
    except SandboxTimeout as e:
        raise _refused(tr("Reading {file} took too long.", file=path.name), tr("Attach fewer pages.")) from e
    except SandboxMemory as e:
        raise _refused(tr("Reading {file} needs too much memory.", file=path.name), tr("Attach fewer pages.")) from e
    except SandboxFailure as e:
        raise _no_pdf(path) from e
    finally:
        reader.close()
    return "\n\n".join(texts)


def _no_pdf(path: Path) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BROKEN_FILE, tr("Can't read {file} as a PDF.", file=path.name),
        tr("Open it in a PDF viewer and copy the text you need."),
    )  # fmt: skip


def _too_large(path: Path) -> protocol.UnderhillError:
    size = path.stat().st_size / 1e6
    sentence = tr("{file} is too large ({size:,.0f} MB).", file=path.name, size=size)
    return _refused(sentence, tr("Attach a smaller part."))


def _picture(name: str) -> protocol.UnderhillError:
    sentence = tr("{file} is an image. Images can't be read yet.", file=name)
    return _refused(sentence, tr("Attach text, code or PDF files, or describe the image in words."))


def _refused(sentence: str, action: str) -> protocol.UnderhillError:
    return problem(protocol.Kind.BAD_REQUEST, sentence, action)
