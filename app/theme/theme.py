"""The theme in force: its colours, the style sheet made of them, and a signal when they change."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Qt style sheet for every standard control; widgets that paint themselves read the palette instead."""
    arrow = resources.path("icons", "drop-arrow.svg").as_posix()
    tick = resources.path("icons", "tick-dark.svg" if p.dark else "tick-light.svg").as_posix()
    px = fonts.pixels
    return f"""
QWidget {{ color: {p.text}; }}
QMainWindow, QDialog, QWidget#page {{ background: {p.window}; }}
QToolTip {{ background: {p.text}; color: {p.window}; border: 0; padding: 5px 8px; }}

QPushButton, QMenu {{ icon-size: {px(16)}px; }}
QPushButton {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; padding: 6px 14px;
  outline: 0; }}
QPushButton:hover {{ background: {p.hover}; }}
QPushButton:pressed {{ background: {p.pressed}; }}
QPushButton:focus {{ border-color: {p.accent}; }}
QPushButton:disabled {{ color: {p.muted}; }}
QPushButton#primary {{ background: {p.accent}; border-color: {p.accent}; color: {p.on_accent}; }}
QPushButton#primary:focus {{ border: 3px double {p.on_accent}; padding: 4px 12px; }}
QPushButton#primary:hover {{ background: {p.accent_hover}; }}
QPushButton#primary:disabled {{ background: {p.pressed}; border-color: {p.pressed}; color: {p.muted}; }}
QPushButton#quiet {{ background: transparent; border-color: transparent; padding: 5px 10px; }}
QPushButton#quiet:hover {{ background: {p.hover}; }}
QPushButton#quiet:focus {{ border-color: {p.accent}; }}
QPushButton#model {{ background: transparent; border: 1px solid transparent; padding: 5px 6px; font-weight: 600; }}
QPushButton#model:hover {{ background: {p.hover}; }}
QPushButton#model:focus {{ border-color: {p.accent}; }}
QPushButton#model::menu-indicator {{ image: none; width: 0; }}
QPushButton#example {{ text-align: left; padding: 11px 15px; border-radius: 12px; }}
QPushButton#new {{ text-align: left; padding: 8px 11px; font-weight: 500; }}

QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 8px; padding: 5px; }}
QToolButton:hover {{ background: {p.hover}; }}
QToolButton:pressed, QToolButton:checked {{ background: {p.pressed}; }}
QToolButton:focus {{ border-color: {p.accent}; }}
QToolButton#latest {{ background: {p.surface}; border: 1px solid {p.border};
  border-radius: {px(16)}px; }}
QToolButton#latest:focus {{ border-color: {p.accent}; }}
QToolButton#latest:hover {{ background: {p.hover}; }}
QToolButton::menu-indicator {{ image: none; }}
QToolButton#send {{ background: {p.accent}; border-radius: {px(17)}px; padding: 0; }}
QToolButton#send:hover {{ background: {p.accent_hover}; }}
QToolButton#send:focus {{ border-color: {p.text}; }}
QToolButton#send:disabled {{ background: {p.pressed}; }}
QToolButton#segment {{ padding: 4px 11px; border: 1px solid {p.border}; border-radius: 7px; }}
QToolButton#segment:checked {{ background: {p.accent_soft}; border-color: {p.accent}; }}
QToolButton#segment:focus {{ border: 2px solid {p.text}; padding: 3px 10px; }}

QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox {{
  background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; padding: 5px 9px; min-height: {px(20)}px;
  selection-background-color: {p.selection}; selection-color: {p.text}; }}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus {{ border-color: {p.accent}; }}
QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {{
  color: {p.muted}; background: {p.window}; }}
QComboBox::drop-down {{ border: 0; width: 26px; }}
QComboBox::down-arrow {{ image: url("{arrow}"); width: {px(14)}px; height: {px(14)}px; }}
QComboBox QAbstractItemView {{ background: {p.surface}; border: 1px solid {p.border};
  selection-background-color: {p.hover}; selection-color: {p.text}; outline: 0; }}
QComboBox QAbstractItemView::item:disabled {{ color: {p.muted}; }}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {{ width: 0; }}
QCheckBox {{ spacing: 8px; border: 1px solid transparent; border-radius: 5px; padding: 2px; outline: 0; }}
QCheckBox::indicator {{ width: {px(15)}px; height: {px(15)}px; border: 1px solid {p.muted}; border-radius: 4px;
  background: {p.surface}; }}
QCheckBox::indicator:checked {{ background: {p.accent}; border-color: {p.accent}; image: url("{tick}"); }}
QCheckBox:disabled {{ color: {p.muted}; }}
QCheckBox:focus {{ border-color: {p.accent}; }}
QTabBar::tab {{ color: {p.muted}; border: 1px solid transparent; border-radius: 6px; padding: 4px 10px;
  margin: 3px 2px; }}
QTabBar::tab:hover {{ background: {p.hover}; }}
QTabBar::tab:selected {{ color: {p.text}; background: {p.pressed}; }}
QTabBar::tab:focus {{ border-color: {p.accent}; }}

QMenu {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 10px; padding: 6px; }}
QMenu::item {{ padding: 6px 26px 6px 12px; border-radius: 6px; }}
QMenu::item:selected {{ background: {p.hover}; }}
QMenu::item:disabled {{ color: {p.muted}; }}
QMenu::icon {{ padding-left: 8px; }}
QMenu::separator {{ height: 1px; background: {p.border}; margin: 6px 8px; }}

QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {p.pressed}; border-radius: 4px; min-height: 32px; margin: 2px; }}
QScrollBar::handle:vertical:hover {{ background: {p.muted}; }}
QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
QScrollBar::handle:horizontal {{ background: {p.pressed}; border-radius: 4px; min-width: 32px; margin: 2px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QScrollArea, QAbstractScrollArea#transcript {{ background: transparent; border: 0; }}
QScrollArea#sheet {{ border: 1px solid transparent; border-radius: 6px; }}
QScrollArea#sheet:focus {{ border-color: {p.accent}; }}

QProgressBar {{ background: {p.pressed}; border: 0; border-radius: 2px; max-height: 4px; min-height: 4px; }}
QProgressBar::chunk {{ background: {p.accent}; border-radius: 2px; }}

QFrame#sidebar {{ background: {p.sidebar}; border: 0; border-right: 1px solid {p.border}; }}
QListView#chats {{ background: transparent; border: 0; outline: 0; }}
QFrame#composer {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 18px; }}
QFrame#composer[focused="true"] {{ border-color: {p.accent}; }}
QPlainTextEdit#field {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; padding: 4px;
  selection-background-color: {p.selection}; selection-color: {p.text}; }}
QPlainTextEdit#field:focus {{ border-color: {p.accent}; }}
QFrame#chip {{ background: {p.hover}; border: 1px solid {p.border}; border-radius: 9px; }}
QPushButton#chip {{ background: transparent; border: 1px solid transparent; padding: 3px 6px; text-align: left; }}
QPushButton#chip:focus {{ border-color: {p.accent}; border-radius: 7px; }}
QPushButton#place {{ background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 2px 5px;
  color: {p.accent}; text-align: left; }}
QPushButton#place:hover {{ background: {p.hover}; }}
QPushButton#place:focus {{ border-color: {p.accent}; }}
QToolButton#cross {{ padding: 3px; }}
QListWidget#rows {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; outline: 0; }}
QListWidget#rows:focus {{ border-color: {p.accent}; }}
QListWidget#rows::item {{ padding: 7px 10px; }}
QListWidget#rows::item:selected {{ background: {p.pressed}; color: {p.text}; }}
QPlainTextEdit#draft {{ background: transparent; border: 0; selection-background-color: {p.selection};
  selection-color: {p.text}; }}
QFrame#header {{ background: {p.window}; border: 0; border-bottom: 1px solid {p.border}; }}
QFrame#banner[level="error"] {{ background: {p.danger_soft}; border: 0; border-radius: 12px; }}
QFrame#banner[level="warning"] {{ background: {p.warning_soft}; border: 0; border-radius: 12px; }}
QFrame#banner[level="info"] {{ background: {p.accent_soft}; border: 0; border-radius: 12px; }}
QFrame#banner QPlainTextEdit {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; }}
QLabel#drop {{ background: {p.accent_soft}; border: 2px dashed {p.accent}; border-radius: 16px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QInputDialog QLineEdit {{ min-width: 280px; }}
QFrame#toast {{ background: {p.text}; border-radius: 12px; }}
QFrame#toast QLabel {{ color: {p.window}; }}
QFrame#toast QPushButton {{ background: transparent; border: 0; color: {p.window}; font-weight: 600;
  text-decoration: underline; padding: 2px 6px; }}
QFrame#toast QPushButton:focus {{ background: {p.muted}; }}
QFrame#mark {{ background: {p.accent}; border: 0; border-radius: 1px; }}
QFrame#actions {{ background: transparent; border: 0; }}
QFrame#live {{ background: {p.sidebar}; border: 0; border-left: 1px solid {p.border}; }}
QDockWidget {{ border: 0; }}
QFrame#dock-title {{ background: {p.sidebar}; border: 0; border-left: 1px solid {p.border}; }}
QFrame#inspector {{ border: 0; border-top: 1px solid {p.border}; }}
QMainWindow::separator {{ background: {p.border}; width: 1px; height: 1px; }}
QWidget#settings-side {{ background: {p.sidebar}; border: 0; border-right: 1px solid {p.border}; }}
QListWidget#pages {{ background: transparent; border: 0; outline: 0; padding: 4px 0; }}
QListWidget#pages::item {{ padding: 7px 9px; border: 1px solid transparent; border-radius: 8px; }}
QListWidget#pages::item:hover {{ background: {p.hover}; }}
QListWidget#pages::item:selected {{ background: {p.pressed}; color: {p.text}; }}
QListWidget#pages::item:focus {{ border-color: {p.accent}; }}
QFrame#entry {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 12px; }}
QLabel#badge {{ border-radius: 9px; padding: 2px 9px; font-weight: 600; }}
QLabel#badge[level="fits"] {{ background: {p.accent_soft}; color: {p.accent}; }}
QLabel#badge[level="slow"] {{ background: {p.warning_soft}; color: {p.warning}; }}
QLabel#badge[level="too_big"] {{ background: {p.danger_soft}; color: {p.danger}; }}
QTextBrowser#reading {{ background: transparent; border: 1px solid transparent; border-radius: 6px; }}
QTextBrowser#reading:focus {{ border-color: {p.accent}; }}
QPushButton#offline {{ background: {p.warning_soft}; border-color: transparent; color: {p.warning};
  padding: 3px 10px; border-radius: 9px; font-weight: 600; }}
QPushButton#offline:focus, QPushButton#offline:hover {{ border-color: {p.warning}; }}
QPushButton#downloads {{ background: {p.accent_soft}; border-color: transparent; color: {p.accent};
  padding: 3px 6px; border-radius: 9px; font-weight: 600; }}
QPushButton#downloads:focus, QPushButton#downloads:hover {{ border-color: {p.accent}; }}
QFrame#foot {{ background: transparent; border: 0; border-top: 1px solid {p.border}; }}
QLabel#key {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 6px; padding: 2px 8px; }}
QTreeWidget {{ background: {p.surface}; border: 1px solid {p.border}; border-radius: 8px; outline: 0; }}
QTreeWidget:focus {{ border-color: {p.accent}; }}
QHeaderView::section {{ background: {p.sidebar}; color: {p.muted}; border: 0; padding: 5px 8px; }}
QLabel#muted {{ color: {p.muted}; }}
QLabel#muted[level="warning"] {{ color: {p.warning}; }}
QLabel#muted[level="full"] {{ color: {p.danger}; }}
QProgressBar[level="warning"]::chunk {{ background: {p.warning}; }}
QProgressBar[level="full"]::chunk {{ background: {p.danger}; }}
QLabel#restart {{ color: {p.warning}; }}
"""
