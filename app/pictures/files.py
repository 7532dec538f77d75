"""Pictures of chats outside of them: as files, on the clipboard, as addresses."""

from __future__ import annotations

import base64
from pathlib import Path, PurePath

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.i18n.translate import tr
from app.pictures.cache import decoded
from app.storage.records import Attachment


def suffix_of(picture: Attachment) -> str:
    """'.png' or '.jpg', as its bytes are."""
    return ".png" if picture.image.startswith(b"\x89PNG") else ".jpg"


def data_url(picture: Attachment) -> str:
    """It as an address that holds all of it."""
    kind = "png" if suffix_of(picture) == ".png" else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture.image).decode('ascii')}"


def copy_picture(picture: Attachment) -> None:
    """Put it on the clipboard."""
    QGuiApplication.clipboard().setImage(decoded(picture.image))


def ask_and_save(picture: Attachment, parent: QWidget) -> str:
    """Ask for a file and save it there. Returns why that failed; '' where it did not."""
    suffix = suffix_of(picture)
    proposed = Path.home() / f"{PurePath(picture.name).stem or 'image'}{suffix}"
    name, _ = QFileDialog.getSaveFileName(parent, tr("Save image"), str(proposed), f"*{suffix}")
    return save_picture(picture, Path(name)) if name else ""


def save_picture(picture: Attachment, path: Path) -> str:
    """Save it as this file. Returns why that failed; '' where it did not."""
    try:
        path.write_bytes(picture.image)
    except OSError as error:
        return tr("Can't save {file}: {error}. Choose another folder.", file=path.name, error=error)
    return ""
