"""The settings dialog: pages on the left, the settings of a page on the right, everything at once in force."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.preferences import Preferences
from app.settings.editor import SettingEditor
from app.theme import fonts
from app.theme.theme import MODES
from engine import api

_PAGES = {
    "sampling": ("Answers", "How words are chosen. In force from the next answer on."),
    "speed": ("Speed and precision", "What runs how exactly, and where it waits."),
    "memory": ("Memory", "How much of this computer Underhill may use."),
}


class SettingsDialog(QDialog):
    """Values go out as they change; there is nothing to confirm."""

    engine_changed = Signal(str, object)
    sampling_changed = Signal(str, object)
    theme_changed = Signal(str)
    reload_wanted = Signal()

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.resize(760, 600)
        self.editors: dict[str, SettingEditor] = {}
        self._pages = QListWidget(self)
        self._pages.setObjectName("pages")
        self._pages.setAccessibleName("Pages of settings")
        self._pages.setFixedWidth(190)
        self._stack = QStackedWidget(self)
        self._add_page("Appearance", self._appearance(preferences))
        for group, (title, intro) in _PAGES.items():
            self._add_page(title, self._settings_page(group, intro, preferences))
        self._pages.currentRowChanged.connect(self._stack.setCurrentIndex)
        self._pages.setCurrentRow(0)
        self._reload_note = QLabel("Some changes take effect when the model is loaded again.", self)
        self._reload_note.setObjectName("restart")
        self._reload = QPushButton("Load it again now", self)
        self._reload.setObjectName("primary")
        self._reload.clicked.connect(self._reload_now)
        close = QPushButton("Close", self)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 10, 20, 14)
        foot.addWidget(self._reload_note, 1)
        foot.addWidget(self._reload)
        foot.addStretch(0)
        foot.addWidget(close)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self._stack, 1)
        right.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._pages)
        row.addLayout(right, 1)
        self._need_reload(False)

    def show_page(self, number: int) -> None:
        """Open a page: 0 Appearance, then the groups in their order."""
        self._pages.setCurrentRow(number)

    def _add_page(self, title: str, page: QWidget) -> None:
        self._pages.addItem(title)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setWidget(page)
        self._stack.addWidget(scroll)

    def _appearance(self, preferences: Preferences) -> QWidget:
        page, column = _page("Appearance", "How Underhill looks.")
        label = QLabel("Theme", page)
        label.setFont(fonts.text(1.0, label.font().Weight.Medium))
        self.theme = QComboBox(page)
        self.theme.setAccessibleName("Theme")
        for mode, text in zip(MODES, ("Like the system", "Light", "Dark")):
            self.theme.addItem(text, mode)
        self.theme.setCurrentIndex(MODES.index(preferences.theme) if preferences.theme in MODES else 0)
        self.theme.setMinimumWidth(150)
        self.theme.currentIndexChanged.connect(self._theme_chosen)
        row = QHBoxLayout()
        row.addWidget(label, 1)
        row.addWidget(self.theme)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def _settings_page(self, group: str, intro: str, preferences: Preferences) -> QWidget:
        sampling = group == "sampling"
        declared = api.settings.SAMPLING if sampling else api.settings.ENGINE
        values: dict[str, Any] = preferences.sampling if sampling else preferences.engine
        page, column = _page(_PAGES[group][0], intro)
        hidden: list[QWidget] = []
        for setting in (s for s in declared if s.group == group):
            editor = SettingEditor(setting, values.get(setting.name, setting.default), page)
            editor.changed.connect(self._sampling_edited if sampling else self._engine_edited)
            self.editors[setting.name] = editor
            column.addWidget(editor)
            if setting.advanced:
                editor.setVisible(setting.name in values)
                hidden.append(editor)
        if hidden:
            more = QCheckBox("Show advanced settings", page)
            for widget in hidden:
                more.toggled.connect(widget.setVisible)
            column.addSpacing(8)
            column.addWidget(more)
        column.addStretch(1)
        return page

    def _need_reload(self, needed: bool) -> None:
        self._reload.setVisible(needed)
        self._reload_note.setVisible(needed)

    @Slot(str, object)
    def _engine_edited(self, name: str, value: object) -> None:
        self.engine_changed.emit(name, value)
        if not api.settings.ALL[name].live:
            self._need_reload(True)

    @Slot(str, object)
    def _sampling_edited(self, name: str, value: object) -> None:
        self.sampling_changed.emit(name, value)

    @Slot()
    def _theme_chosen(self) -> None:
        self.theme_changed.emit(str(self.theme.currentData()))

    @Slot()
    def _reload_now(self) -> None:
        self._need_reload(False)
        self.reload_wanted.emit()


def _page(title: str, intro: str) -> tuple[QWidget, QVBoxLayout]:
    page = QWidget()
    page.setObjectName("page")
    column = QVBoxLayout(page)
    column.setContentsMargins(26, 22, 26, 22)
    column.setSpacing(2)
    head = QLabel(title, page)
    head.setFont(fonts.text(1.4, head.font().Weight.DemiBold))
    text = QLabel(intro, page)
    text.setObjectName("muted")
    text.setWordWrap(True)
    text.setAlignment(Qt.AlignmentFlag.AlignTop)
    column.addWidget(head)
    column.addWidget(text)
    column.addSpacing(12)
    return page, column
