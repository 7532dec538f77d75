"""Files and other programs: why a path cannot be read as a file, and opening folders, web pages and mail addresses."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.i18n.translate import in_this_language, tr
from engine import private_files, protocol
from engine.documents import reading

_SCHEMES = ("http", "https", "mailto")  # a model may write any link, and some start programs


def file_error(path: Path, cause: Exception) -> protocol.UnderhillError | None:
    """None where it is a file, and something else is wrong with it."""
    error = reading.file_error(path, cause)
    return error and in_this_language(error)


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
