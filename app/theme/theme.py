"""The theme in force: follows the system unless told otherwise, and notifies painters when it changes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.theme import fonts, sizes
from app.theme.style import style_sheet
from app.theme.tokens import DARK, LIGHT, Palette

MODES = ("system", "light", "dark")


class Theme(QObject):
    """palette: colours in force. about_to_change, changed: they, or the size of text, will be others, and are."""

    about_to_change = Signal()
    changed = Signal()

    def __init__(self, application: QApplication, mode: str = "system") -> None:
        super().__init__(application)
        self._application = application
        self.mode = mode
        fonts.load()
        application.setStyle("Fusion")
        self.palette = self._wanted()
        self._apply()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)

    def set_mode(self, mode: str) -> None:
        """Set light, dark or system. mode: one of MODES."""
        self.mode = mode
        self._follow()

    def set_percent(self, percent: int) -> None:
        """Set the size of all text, and of all that is made to it."""
        if percent != fonts.percent():
            self.about_to_change.emit()
            fonts.set_percent(percent)
            self._apply()
            sizes.refit_all()
            self.changed.emit()

    def _wanted(self) -> Palette:
        if self.mode != "system":
            return DARK if self.mode == "dark" else LIGHT
        return DARK if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT

    @Slot()
    def _follow(self) -> None:
        wanted = self._wanted()
        if wanted is not self.palette:
            self.about_to_change.emit()
            self.palette = wanted
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._application.setPalette(_qt_palette(self.palette))
        self._application.setFont(fonts.text())  # before the sheet, which hands it down to the widgets there are
        self._application.setStyleSheet(style_sheet(self.palette))
        self._application.setFont(fonts.text())  # after the sheet, which gives some widgets the desktop's own fonts


def _qt_palette(p: Palette) -> QPalette:
    roles = QPalette.ColorRole
    made = QPalette()
    for role, colour in {
        roles.Window: p.window, roles.WindowText: p.text, roles.Base: p.surface, roles.AlternateBase: p.sidebar,
        roles.Text: p.text, roles.Button: p.surface, roles.ButtonText: p.text, roles.BrightText: p.on_accent,
        roles.Highlight: p.selection, roles.HighlightedText: p.text, roles.ToolTipBase: p.text,
        roles.ToolTipText: p.window, roles.PlaceholderText: p.muted, roles.Link: p.accent, roles.Accent: p.accent,
    }.items():  # fmt: skip
        made.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(p.muted))
    return made
