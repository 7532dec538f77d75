"""The theme in force: its colours, the style sheet made of them, and a signal when they change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.i18n.translate import tr_noop
from app.theme import fonts, sizes
from engine import resources

TIER_NAMES = {
    "32": tr_noop("32-bit"), "16": tr_noop("16-bit"), "8": tr_noop("8-bit"),
    "4": tr_noop("4-bit"), "2": tr_noop("2-bit"), "skipped": tr_noop("skipped"), "0": tr_noop("on disk"),
}  # fmt: skip
MODES = ("system", "light", "dark")


@dataclass(frozen=True)
class Palette:
    """Colours as '#rrggbb'. Text colours keep a contrast of 4.5:1 or more on window, sidebar and surface."""

    dark: bool
    window: str
    sidebar: str
    surface: str  # composer, menus, cards
    hover: str
    pressed: str
    border: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    bubble: str  # the user's own messages
    code: str  # background of code
    selection: str
    danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    tiers: dict[str, str]  # what an expert ran at, or is held at; '0' is not in memory
    heat: tuple[str, ...]  # few to many uses
    syntax: dict[str, str]


LIGHT = Palette(
    dark=False,
    window="#faf9f6",
    sidebar="#f1efe9",
    surface="#ffffff",
    hover="#e9e6de",
    pressed="#dedad0",
    border="#e0dcd2",
    text="#23211d",
    muted="#68645b",
    accent="#256b58",
    accent_hover="#1d5848",
    on_accent="#ffffff",
    accent_soft="#e0ede7",
    bubble="#e9efe9",
    code="#f3f1eb",
    selection="#bfdccf",
    danger="#a8321f",
    danger_soft="#fbe9e5",
    warning="#7d5200",
    warning_soft="#fbf0d9",
    tiers={"32": "#123c4a", "16": "#1d5568", "8": "#2c8272", "4": "#e0b24c", "2": "#d4713f", "skipped": "#a9a49a",
           "0": "#e0ddd3"},
    heat=("#e0ddd3", "#c6ddce", "#86c0a8", "#3f957d", "#1f6152", "#0f342c"),
    syntax={"keyword": "#8a3ea8", "string": "#3d7a1f", "number": "#b3541e", "comment": "#7b766b", "name": "#1f5fa8",
            "builtin": "#0f7285", "operator": "#5d594f", "error": "#a8321f"},
)  # fmt: skip

DARK = Palette(
    dark=True,
    window="#191b1a",
    sidebar="#131514",
    surface="#222524",
    hover="#272b29",
    pressed="#313634",
    border="#313634",
    text="#e9e6df",
    muted="#a5a198",
    accent="#5fb597",
    accent_hover="#78c8ac",
    on_accent="#0d1f19",
    accent_soft="#20382f",
    bubble="#26322d",
    code="#121413",
    selection="#2f5a4c",
    danger="#f19a88",
    danger_soft="#3d2420",
    warning="#e9bd62",
    warning_soft="#3a2f1a",
    tiers={"32": "#a9dcea", "16": "#7fc0d6", "8": "#4bb196", "4": "#dcae4a", "2": "#d0733f", "skipped": "#67655f",
           "0": "#262a28"},
    heat=("#262a28", "#1f4037", "#2f6f5c", "#57a98c", "#d9c06a", "#fff1c0"),
    syntax={"keyword": "#cf9ae6", "string": "#a3cf7c", "number": "#e8a36b", "comment": "#8d897f", "name": "#82b7ee",
            "builtin": "#6cc7d6", "operator": "#b7b3aa", "error": "#f19a88"},
)  # fmt: skip


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


def style_sheet(p: Palette) -> str:
    """resources/style.qss with the colours of a palette, and sizes for the text as it is now."""
    arrow = resources.path("icons", "drop-arrow.svg").as_posix()
    tick = resources.path("icons", "tick-dark.svg" if p.dark else "tick-light.svg").as_posix()
    sheet = Template(resources.path("style.qss").read_text(encoding="utf-8"))
    coloured = sheet.substitute(vars(p), arrow=arrow, tick=tick)
    return re.sub(r"scaled\((\d+)\)", lambda size: f"{fonts.pixels(int(size[1]))}px", coloured)
