"""Files and other programs: why a path cannot be read as a file, and opening folders, web pages and mail addresses."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.i18n.translate import problem, tr
from engine import private_files, protocol, regular_file

_SCHEMES = ("http", "https", "mailto")  # a model may write any link, and some start programs
_LONGEST_NAME = 255  # of all file systems: bytes on Linux, UTF-16 units on Windows


def file_error(path: Path, cause: Exception) -> protocol.UnderhillError | None:
    """None where it is a file, and something else is wrong with it."""
    name, kind = path.name, protocol.Kind.BAD_REQUEST
    if isinstance(cause, regular_file.NotAFile):
        sentence = tr("{file} is a device, not a file.", file=name)
        action = tr("Choose another file.")
    elif _is_too_long(path, cause):
        sentence = tr("The path of {file} is too long.", file=f"{name[:60]}…")
        action = tr("Move the file to another folder or shorten its name.")
    elif _is_folder(path):
        sentence, action = tr("{file} is a folder.", file=name), tr("Attach single files.")
    elif isinstance(cause, FileNotFoundError):
        kind, sentence = protocol.Kind.MISSING_FILE, tr("{file} no longer exists.", file=name)
        action = tr("Choose another file.")
    else:
        return None
    return problem(kind, sentence, action)


def _is_too_long(path: Path, cause: Exception) -> bool:
    """Windows says of a name that is too long what it says of one that is not there."""
    refused = isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG
    return refused or any(len(part) > _LONGEST_NAME for part in path.parts)


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.is_dir()
    return False


def open_link(address: str) -> str:
    """Open a page, or begin a letter. Returns why not; '' where it is done."""
    url = QUrl(address)
    if url.scheme() not in _SCHEMES:
        return tr("Only web and mail links can be opened, not {link}", link=address)
    if not _opened(url):
        return tr("No app can open {link}", link=address)
    return ""


def show_folder(path: str | Path) -> str:
    """Open a folder in the file manager. Returns why not; '' where it is done."""
    if not _opened(QUrl.fromLocalFile(str(path))):
        return tr("No app can open {link}", link=path)
    return ""


def _opened(url: QUrl) -> bool:
    # The program that is started inherits the mask.
    with private_files.usual_permissions():
        return QDesktopServices.openUrl(url)
