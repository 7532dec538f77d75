"""The theme in force: its colours, the style sheet made of them, and a signal when they change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
CONTRASTS = ("system", "on", "off")  # whether to take the colours of high contrast
_KNOB, _FINGER_KNOB = 16, 28  # pixels across, beside text of the base size, and at least where fingers are used
_GROOVE = 4  # pixels that a slider's groove is high, as in style.qss


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours as '#rrggbb'. Text colours keep a contrast of 4.5:1 or more on window, sidebar and surface; those of high
    contrast one of 7:1 on every ground.
    """

    dark: bool
    high_contrast: bool
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


def _palette(name: str) -> Palette:
    """One of resources/palettes.json."""
    colours = json.loads(resources.path("palettes.json").read_text(encoding="utf-8"))[name]
    kind = {"dark": name.startswith("dark"), "high_contrast": name.endswith("-contrast")}
    return Palette(**{**colours, **kind, "heat": tuple(colours["heat"])})


LIGHT, DARK = _palette("light"), _palette("dark")
LIGHT_CONTRAST, DARK_CONTRAST = _palette("light-contrast"), _palette("dark-contrast")


class Theme(QObject):
    """palette: colours in force. about_to_change, changed: they, or the size of text, will be others, and are."""

    about_to_change = Signal()
    changed = Signal()

    def __init__(self, application: QApplication, mode: str = "system", contrast: str = "off") -> None:
        super().__init__(application)
        self._application = application
        self.mode, self.contrast = mode, contrast
        self._tell_system()
        fonts.load()
        application.setStyle("Fusion")
        self.palette = self._wanted()
        self._apply()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow)
        hints.accessibility().contrastPreferenceChanged.connect(self._follow)

    def set_mode(self, mode: str) -> None:
        """Set light, dark or system. mode: one of MODES."""
        self.mode = mode
        self._tell_system()
        self._follow()

    def set_contrast(self, contrast: str) -> None:
        """Set high contrast on or off, or have it follow the system. contrast: one of CONTRASTS."""
        self.contrast = contrast
        self._follow()

    def set_percent(self, percent: int) -> None:
        """Set the size of all text, and of all that is made to it."""
        if percent != fonts.percent():
            self._resize(partial(fonts.set_percent, percent))

    def enlarge_for_touch(self) -> None:
        """Make all that is pressed large enough for fingers, until the program ends."""
        if not fonts.is_touched():
            self._resize(partial(fonts.set_touched, True))

    def _resize(self, change: Callable[[], None]) -> None:
        self.about_to_change.emit()
        change()
        self._apply()
        sizes.refit_all()
        self.changed.emit()

    def _tell_system(self) -> None:
        """Title bars and native dialogs are drawn by the system: Windows' by what is said here, in each mode."""
        hints = QGuiApplication.styleHints()
        if self.mode == "system":
            hints.unsetColorScheme()
        else:
            hints.setColorScheme(Qt.ColorScheme.Dark if self.mode == "dark" else Qt.ColorScheme.Light)

    def _wanted(self) -> Palette:
        hints, high = QGuiApplication.styleHints(), self.contrast == "on"
        dark = self.mode == "dark" or (self.mode == "system" and hints.colorScheme() == Qt.ColorScheme.Dark)
        if self.contrast == "system":
            high = hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
        if high:
            return DARK_CONTRAST if dark else LIGHT_CONTRAST
        return DARK if dark else LIGHT

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
    kind = f"{'dark' if p.dark else 'light'}{'-contrast' if p.high_contrast else ''}"
    icons = {
        name.replace("-", "_"): resources.path("icons", f"{name}-{kind}.svg").as_posix()
        for name in ("drop-arrow", "tick", "menu-tick", "menu-arrow", "switch-on", "switch-off")
    }
    sheet = resources.path("style.qss").read_text(encoding="utf-8")
    for name, wanted in (("style-touch", fonts.is_touched()), ("style-contrast", p.high_contrast)):
        if wanted:
            sheet += resources.path(f"{name}.qss").read_text(encoding="utf-8")
    coloured = Template(sheet).substitute(vars(p), **icons, **_knob())
    coloured = re.sub(r"half\((\d+)\)", lambda size: f"{fonts.touchable(int(size[1])) // 2}px", coloured)
    return re.sub(r"scaled\((\d+)\)", lambda size: f"{fonts.pixels(int(size[1]))}px", coloured)


def _knob() -> dict[str, int]:
    """Pixels of a slider's knob: even ones, so that it is round and in the middle of its groove."""
    side = max(2 * (fonts.pixels(_KNOB) // 2), _FINGER_KNOB if fonts.is_touched() else 0)
    inside, focused = side - 2, side - 6  # of its border, which is thicker where the keyboard is
    return {"knob": inside, "knob_focused": focused, "knob_margin": (side - _GROOVE) // 2, "knob_radius": side // 2}
