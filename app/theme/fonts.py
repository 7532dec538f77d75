"""Typefaces shipped with the window, and the sizes derived from one base size."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QRawFont

from engine import resources

_FILES = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "Inter-Italic.otf",
    "JetBrainsMono-Regular.ttf",
)
_CJK = "DroidSansFallback.ttf"  # 3.5 MB: Chinese, Japanese and Korean for a system that lacks one of them
_SAMPLES = {
    QFontDatabase.WritingSystem.SimplifiedChinese: "混合专家模型",
    QFontDatabase.WritingSystem.Japanese: "日本語です",
    QFontDatabase.WritingSystem.Korean: "한국어",
}
_FALLBACK = [
    "Noto Sans CJK SC", "Microsoft YaHei UI", "Underhill East Asia", "Noto Color Emoji", "Segoe UI Emoji",
]  # fmt: skip
_TEXT = ["Inter", "Segoe UI", "Noto Sans", *_FALLBACK]
_CODE = ["JetBrains Mono", "Cascadia Mono", "Noto Sans Mono", *_FALLBACK]
BASE_POINTS = 10.5  # 14 pixels at 96 dots per inch
_percent = 100  # size of text that the user has set
FINGER = 40  # pixels across that a finger hits
_touched = False  # fingers are used


def load() -> None:
    """Register the shipped typefaces with Qt. A missing file leaves the system's faces, which the lists name next."""
    for name in _FILES:
        QFontDatabase.addApplicationFont(str(resources.path("fonts", name)))
    if not all(_can_be_shown(script, sample) for script, sample in _SAMPLES.items()):
        QFontDatabase.addApplicationFont(str(resources.path("fonts", _CJK)))


def _can_be_shown(script: QFontDatabase.WritingSystem, sample: str) -> bool:
    """Whether a face of the system has the signs of the sample: some claim a script and lack most of it."""
    for family in QFontDatabase.families(script):
        glyphs = QRawFont.fromFont(QFont(family), script).glyphIndexesForString(sample)
        if len(glyphs) >= len(sample) and all(glyphs):
            return True
    return False


def percent() -> int:
    """Text size in percent."""
    return _percent


def set_percent(percent: int) -> None:
    """Set the size of text that is made from now on; Theme.set_percent sees to what there is."""
    global _percent
    _percent = percent


def points(scale: float = 1.0) -> float:
    """Point size of text at `scale` times the base size."""
    return BASE_POINTS * scale * _percent / 100


def pixels(side: int) -> int:
    """Pixels of an icon that is `side` wide beside text of the base size: it grows and shrinks with the text."""
    return round(side * _percent / 100)


def touchable(side: int) -> int:
    """As `pixels`, for what is pressed: no smaller than a finger needs where fingers are used."""
    return max(pixels(side), FINGER) if _touched else pixels(side)


def is_touched() -> bool:
    """Whether fingers are used."""
    return _touched


def set_touched(touched: bool) -> None:
    """Set whether fingers are used; Theme.enlarge_for_touch sees to what there is."""
    global _touched
    _touched = touched


def text(scale: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Typeface for prose and controls at `scale` times the base size."""
    return QFont(_face(points(scale), weight))


@lru_cache(64)
def _face(size: float, weight: QFont.Weight) -> QFont:
    """Kept, as Qt looks for the files of a new one at its first use; copies share what was found. size: points."""
    font = QFont()
    font.setFamilies(_TEXT)
    font.setPointSizeF(size)
    font.setWeight(weight)
    return font


def code() -> QFont:
    """Fixed-pitch typeface."""
    font = QFont()
    font.setFamilies(_CODE)
    font.setPointSizeF(points(0.93))  # looks as large as that for prose at 1
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFeature(QFont.Tag("calt"), 0)  # no ligatures: -> stays two characters
    return font
