"""Opens web pages, mail addresses and folders in other programs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.i18n.translate import tr
from engine import private_files

_SCHEMES = ("http", "https", "mailto")  # a model may write any link, and some start programs


def open_link(address: str) -> str:
    """Open a page, or begin a letter. Returns why not; '' where it is done."""
    url = QUrl(address)
    if url.scheme() not in _SCHEMES:
        return tr("Underhill opens links to the web and to mail addresses only, not {link}", link=address)
    if not _opened(url):
        return tr("This computer has no program that opens {link}", link=address)
    return ""


def show_folder(path: str | Path) -> str:
    """Open a folder in the file manager. Returns why not; '' where it is done."""
    if not _opened(QUrl.fromLocalFile(str(path))):
        return tr("This computer has no program that opens {link}", link=path)
    return ""


def _opened(url: QUrl) -> bool:
    with private_files.usual_permissions():
        return QDesktopServices.openUrl(url)
