"""Colours can be read, icons are all there, and the Qt binding is sound."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QTextLayout
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.theme import fonts, icons
from app.theme.icons import icon, pixmap
from app.theme.theme import DARK, DARK_CONTRAST, LIGHT, LIGHT_CONTRAST, Palette, Theme
from app.widgets.buttons import Chip, Chips, IconButton
from engine import resources


def luminance(colour: str) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in QColor(colour).getRgbF()[:3]]  # type: ignore[index]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(palette: Palette) -> None:
    for ground in (palette.window, palette.sidebar, palette.surface, palette.bubble, palette.code):
        assert contrast(palette.text, ground) >= 7
        assert contrast(palette.muted, ground) >= 4.5
    assert contrast(palette.on_accent, palette.accent) >= 4.5
    assert contrast(palette.warning, palette.warning_soft) >= 4.5
    assert contrast(palette.text, palette.danger_soft) >= 4.5
    for colour in palette.syntax.values():
        assert contrast(colour, palette.code) >= 4.0


@pytest.mark.parametrize("palette", [LIGHT_CONTRAST, DARK_CONTRAST], ids=["light", "dark"])
def test_high_contrast_is_that_of_wcag_aaa(palette: Palette) -> None:
    p = palette
    grounds = (
        p.window, p.sidebar, p.surface, p.hover, p.pressed, p.bubble, p.code, p.accent_soft, p.danger_soft,
        p.warning_soft,
    )  # fmt: skip
    pairs = [(ink, ground) for ink in (p.text, p.muted, p.accent) for ground in grounds]
    pairs += [(p.on_accent, p.accent), (p.on_accent, p.accent_hover), (p.text, p.selection), (p.window, p.text)]
    pairs += [(p.danger, p.danger_soft), (p.warning, p.warning_soft), (p.danger, p.window), (p.warning, p.window)]
    pairs += [(ink, p.code) for ink in p.syntax.values()]
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < 7} == {}
    edges = [(edge, ground) for edge in (p.border, p.accent) for ground in (p.window, p.sidebar, p.surface)]
    assert min(contrast(*edge) for edge in edges) >= 4.5


@pytest.mark.parametrize("p", [LIGHT, DARK, LIGHT_CONTRAST, DARK_CONTRAST])
def test_a_switch_is_an_outline_while_it_is_off_and_filled_while_it_is_on(p: Palette) -> None:
    kind = f"{'dark' if p.dark else 'light'}{'-contrast' if p.high_contrast else ''}"
    on, off = (resources.path("icons", f"switch-{name}-{kind}.svg").read_text() for name in ("on", "off"))
    track, knob = re.findall('fill="(#[0-9a-f]{6})"', on)
    assert track == p.accent
    assert contrast(track, knob) >= 4.5
    (outline,), (knob,) = (re.findall(f'{part}="(#[0-9a-f]{{6}})"', off) for part in ("stroke", "fill"))
    for colour in (track, outline, knob):
        assert min(contrast(colour, ground) for ground in (p.window, p.sidebar, p.surface)) >= 4.5


def test_every_icon_named_in_the_code_is_there(qapp: QApplication) -> None:
    source = "\n".join(p.read_text(encoding="utf-8") for p in Path(__file__).parents[2].joinpath("app").rglob("*.py"))
    names = set(re.findall(r'(?:icon|pixmap|set_icon|IconButton\(\s*\w+,)\(?\s*"([a-z-]+)"', source))
    assert len(names) > 10
    for name in names:
        assert resources.path("icons", f"{name}.svg").is_file(), name
        image = pixmap(name, "#ff0000", 24).toImage()
        drawn = sum(image.pixelColor(x, y).alpha() > 0 for x in range(24) for y in range(24))
        assert drawn > 5, name


def test_an_icon_is_drawn_once(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists and messages ask for theirs in every painting. Who gets one may change it."""
    drawn = pixmap("check", "#00ff01", 24, 1.5).toImage()
    monkeypatch.setattr(icons, "QSvgRenderer", lambda source: pytest.fail("drawn again"))
    pixmap("check", "#00ff01", 24, 1.5).fill(QColor("black"))
    assert pixmap("check", "#00ff01", 24, 1.5).toImage() == drawn
    monkeypatch.undo()
    for other in (("check", "#00ff02", 24, 1.5), ("check", "#00ff01", 25, 1.5), ("check", "#00ff01", 24, 2.0)):
        assert pixmap(*other).toImage() != drawn


def test_the_system_is_told_which_colours_its_title_bars_are_to_have(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    preference = Qt.ContrastPreference.NoPreference
    asks = SimpleNamespace(
        contrastPreference=lambda: preference, contrastPreferenceChanged=SimpleNamespace(connect=bool)
    )
    hints = SimpleNamespace(
        setColorScheme=told.append, unsetColorScheme=lambda: told.append("the system's own"),
        colorScheme=lambda: Qt.ColorScheme.Dark, colorSchemeChanged=SimpleNamespace(connect=bool),
        accessibility=lambda: asks,
    )  # fmt: skip
    monkeypatch.setattr(QGuiApplication, "styleHints", lambda: hints)
    look = Theme(qapp, "dark")
    look.set_mode("light")
    look.set_mode("system")
    assert told == [Qt.ColorScheme.Dark, Qt.ColorScheme.Light, "the system's own"]
    assert look.palette is DARK
    look.set_contrast("on")
    assert look.palette is DARK_CONTRAST
    look.set_contrast("system")
    assert look.palette is DARK
    preference = Qt.ContrastPreference.HighContrast
    look.set_mode("light")
    assert look.palette is LIGHT_CONTRAST
    look.set_contrast("off")
    assert look.palette is LIGHT
    look.deleteLater()


def test_qt_does_not_lose_references_to_none(qapp: QApplication) -> None:
    """PySide6 6.12 does on Python 3.11, and the process dies of it within minutes."""
    widget = QWidget()
    before = sys.getrefcount(None)
    for _ in range(500):
        widget.update()
    assert sys.getrefcount(None) - before > -400


def test_chinese_japanese_and_korean_can_be_shown(theme: Theme) -> None:
    """With the system's own faces, or with the one that is shipped."""
    for text in ("混合专家模型", "日本語です", "한국어"):
        layout = QTextLayout(text, fonts.text())
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        assert all(0 not in run.glyphIndexes() for run in layout.glyphRuns())


@pytest.mark.usefixtures("normal_size")
def test_the_knob_of_a_slider_grows_with_the_text_and_is_round(qtbot: QtBot, theme: Theme) -> None:
    slider = QSlider(Qt.Orientation.Horizontal)
    qtbot.addWidget(slider)
    slider.resize(300, 60)
    slider.setValue(50)
    slider.show()

    def knob() -> QRect:
        option = QStyleOptionSlider()
        slider.initStyleOption(option)
        parts = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
        return slider.style().subControlRect(parts[0], option, parts[1], slider)

    for percent, side in ((100, 16), (150, 24), (175, 28), (85, 14)):
        theme.set_percent(percent)
        assert knob().size() == QSize(side, side)
        assert abs(knob().center().y() - slider.rect().center().y()) <= 1
    try:
        theme.enlarge_for_touch()
        assert knob().width() == 28
    finally:
        fonts.set_touched(False)


@pytest.mark.usefixtures("normal_size")
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("percent", [100, 150])
def test_the_tick_and_the_arrow_of_a_menu_grow_with_the_text(
    qtbot: QtBot, theme: Theme, mode: str, percent: int
) -> None:
    theme.set_mode(mode)
    theme.set_percent(percent)
    menu = QMenu()
    qtbot.addWidget(menu)
    chosen = menu.addAction(" ")
    chosen.setCheckable(True)
    chosen.setChecked(True)
    under = menu.addMenu(" ").menuAction()
    menu.adjustSize()
    picture = menu.grab().toImage()

    def wide(entry: QAction) -> int:
        """Pixels across of what is drawn in an entry."""
        place = menu.actionGeometry(entry).adjusted(2, 2, -2, -2)
        across = [
            x
            for x in range(place.left(), place.right() + 1)
            if any(
                contrast(picture.pixelColor(x, y).name(), theme.palette.surface) > 3
                for y in range(place.top(), place.bottom() + 1)
            )
        ]
        return across[-1] - across[0] + 1

    assert wide(chosen) >= 9 * percent / 100
    assert wide(under) >= 3 * percent / 100


def test_settings_and_chat_settings_have_drawings_of_their_own(qapp: QApplication) -> None:
    gear, sliders = (pixmap(name, "#000000", 48).toImage() for name in ("settings", "style"))
    dots = [(x, y) for x in range(48) for y in range(48)]
    one, other = (
        {at for at in dots if drawing.pixelColor(*at).alpha() > 128} for drawing in (gear, sliders)
    )  # fmt: skip
    assert len(one & other) < 0.4 * min(len(one), len(other))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_what_an_empty_field_says_can_be_read(qtbot: QtBot, theme: Theme, mode: str) -> None:
    theme.set_mode(mode)
    for field in (QLineEdit(), QPlainTextEdit()):
        qtbot.addWidget(field)
        field.show()
        ink = field.palette().placeholderText().color()
        assert (ink.name(), ink.alpha()) == (theme.palette.muted, 255)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_cross_of_a_chip_can_be_seen(qtbot: QtBot, theme: Theme, mode: str) -> None:
    theme.set_mode(mode)
    chips = Chips(theme, "Attachments", "Remove file")
    qtbot.addWidget(chips)
    chips.fill([Chip("notes.txt")])
    chips.show()
    cross = chips.findChild(QToolButton, "cross")
    assert cross is not None
    picture = chips.grab(QRect(cross.mapTo(chips, QPoint()), cross.size())).toImage()
    dots = (picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height()))
    assert max(contrast(dot.name(), theme.palette.hover) for dot in dots) >= 4.5


def test_icons_grow_with_the_text() -> None:
    fonts.set_percent(150)
    try:
        assert fonts.pixels(20) == 30
        assert {27, 30} <= {size.width() for size in icon("copy", "#000000").availableSizes()}
    finally:
        fonts.set_percent(100)
    assert icon("copy", "#000000").availableSizes()[0].width() == 12


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_an_icon_that_cannot_be_pressed_is_fainter(qtbot: QtBot, theme: Theme, mode: str) -> None:
    theme.set_mode(mode)
    button = IconButton(theme, "tools", "Tools")
    qtbot.addWidget(button)

    def ink(mode: QIcon.Mode) -> float:
        """Contrast of the strongest colour with the ground."""
        picture = button.icon().pixmap(button.iconSize(), 1.0, mode).toImage()
        solid = [
            colour.name()
            for x in range(picture.width())
            for y in range(picture.height())
            if (colour := picture.pixelColor(x, y)).alpha() > 200
        ]
        return max(contrast(colour, theme.palette.window) for colour in solid)

    assert ink(QIcon.Mode.Normal) > 1.5 * ink(QIcon.Mode.Disabled)
