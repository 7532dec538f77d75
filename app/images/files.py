"""Images of chats outside of them: as files, on the clipboard, as addresses."""

from __future__ import annotations

import base64
from pathlib import Path, PurePath

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.i18n.translate import tr
from app.images.cache import decoded
from app.storage.records import Attachment


def suffix_of(attachment: Attachment) -> str:
    """'.png' or '.jpg', as its bytes are."""
    return ".png" if attachment.image.startswith(b"\x89PNG") else ".jpg"


def data_url(attachment: Attachment) -> str:
    """It as an address that holds all of it."""
    kind = "png" if suffix_of(attachment) == ".png" else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(attachment.image).decode('ascii')}"


def copy_image(attachment: Attachment) -> None:
    """Put it on the clipboard."""
    QGuiApplication.clipboard().setImage(decoded(attachment.image))


def ask_and_save(attachment: Attachment, parent: QWidget) -> str:
    """Ask for a file and save it there. Returns why that failed; '' where it did not."""
    suffix = suffix_of(attachment)
    proposed = Path.home() / f"{PurePath(attachment.name).stem or 'image'}{suffix}"
    name, _ = QFileDialog.getSaveFileName(parent, tr("Save image"), str(proposed), f"*{suffix}")
    return save_image(attachment, Path(name)) if name else ""


def save_image(attachment: Attachment, path: Path) -> str:
    """Save it as this file. Returns why that failed; '' where it did not."""
    try:
        path.write_bytes(attachment.image)
    except OSError as error:
        return tr("Can't save {file}: {error}. Choose another folder.", file=path.name, error=error)
    return ""
