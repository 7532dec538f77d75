"""Dialog with versions, folders and the licences of all parts."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.i18n.translate import tr, tr_noop
from app.theme import fonts, sizes
from app.widgets.builders import hbox, make_button, make_label, vbox
from app.widgets.layouts import fit

DEPENDENCIES = (
    "gguf",
    "hqq",
    "httpx2",
    "huggingface-hub",
    "jeepney",
    "jinja2",
    "keyring",
    "numpy",
    "platformdirs",
    "psutil",
    "pygments",
    "pypdf",
    "pyside6-essentials",
    "safetensors",
    "tokenizers",
    "torch",
    "tqdm",
    "transformers",
    "ziamath",
)  # as in pyproject.toml
# Shipped in resources/, and so not known to the package index's metadata.
_SHIPPED = (
    (tr_noop("Inter (typeface)"), "", "OFL-1.1"),
    (tr_noop("JetBrains Mono (typeface)"), "", "OFL-1.1"),
    (tr_noop("Droid Sans Fallback (typeface)"), "", "Apache-2.0"),
    (tr_noop("Icons and the built-in model"), "", tr_noop("part of Underhill")),
)

_LONGEST = 44  # characters of a folder's path; a longer one is shortened, since a label cannot break it


class AboutDialog(QDialog):
    """Versions and licences. folder: of chats and settings. computing: kernels and model; empty while none is open."""

    def __init__(self, folder: Path, computing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Underhill"))
        number = version()
        mark = QLabel(self)
        sizes.show_logo(mark, 56)
        name = make_label(f"Underhill {number}".rstrip(), self, heading=1.5)
        words = make_label(
            tr("Chat offline with Mixture-of-Experts models bigger than your computer's memory."), self, wrap=True
        )
        head = vbox(name, words)
        top = hbox((mark, 0, Qt.AlignmentFlag.AlignTop), (head, 1), spacing=16)
        self.details = "\n".join(
            line for line in (
                f"Underhill {number or tr('from source')}, Python {platform.python_version()}",
                platform.platform(terse=True), computing, tr("Chats and settings: {folder}", folder=folder),
            ) if line
        )  # fmt: skip
        at = str(folder)
        facts = QLabel(
            self.details.replace(at, at if len(at) <= _LONGEST else f"{at[:12]}…{at[13 - _LONGEST :]}"), self
        )
        facts.setToolTip(self.details)
        facts.setObjectName("muted")
        facts.setWordWrap(True)
        facts.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        facts.setAccessibleName(tr("Versions and folders"))
        self.parts = QTreeWidget(self)
        self.parts.setAccessibleName(tr("Parts and their licences"))
        self.parts.setHeaderLabels([tr("Made with"), tr("Version"), tr("Licence")])
        self.parts.setRootIsDecorated(False)
        self.parts.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        sizes.follow(self.parts, lambda rows: rows.setMinimumHeight(4 * rows.fontMetrics().height()))
        for part in (*_packages(), *_SHIPPED):
            row = QTreeWidgetItem([tr(column) for column in part])
            row.setToolTip(2, row.text(2))
            self.parts.addTopLevelItem(row)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
        buttons.rejected.connect(self.reject)
        copy = make_button(tr("Copy details"), self, self._copy)
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        column = vbox(parent=self, margins=(24, 20, 24, 18), spacing=14)
        column.addStrut(fonts.pixels(472))
        column.addLayout(top)
        column.addWidget(facts)
        column.addWidget(self.parts, 1)
        column.addWidget(buttons)
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


def _packages() -> list[tuple[str, str, str]]:
    """(name, version, licence) of each dependency that is installed."""
    found = []
    for name in DEPENDENCIES:
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
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
