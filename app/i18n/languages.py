"""Lists the languages of the window, installs the translators of one, and writes dates in it."""

from __future__ import annotations

import locale
import os
from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLibraryInfo, QLocale, QTranslator

from app.i18n.translate import tr
from engine import resources

SYSTEM = "system"
ENGLISH = "en"
_OF_UNDERHILL = "underhill_"
_installed: list[QTranslator] = []
_language = ENGLISH


def languages() -> dict[str, str]:
    """Codes of the languages that the window speaks, each with its name in that language; English first."""
    found = {ENGLISH: "English"}
    for path in sorted(resources.path("translations").glob(f"{_OF_UNDERHILL}*.qm")):
        code = path.stem.removeprefix(_OF_UNDERHILL)
        found[code] = "简体中文" if code == "zh_CN" else QLocale(code).nativeLanguageName()
    return found


def name_of(code: str) -> str:
    """A language as it calls itself, with its code: 'Deutsch (de_DE)'."""
    return f"{QLocale(code).nativeLanguageName() or code} ({code})"


def resolve(chosen: str) -> str:
    """The code of the language to speak for a preference: itself, or for SYSTEM the first that the user asks of it.

    Of a language that is there in another country's variety that one is taken.
    """
    known = languages()
    if chosen in known:
        return chosen
    for wanted in QLocale.system().uiLanguages():
        code = wanted.replace("-", "_")
        for mine in known:
            if code == mine or code.split("_")[0] == mine.split("_")[0]:
                return mine
    return ENGLISH


def install(chosen: str) -> None:
    """Install a language: translators for Underhill's texts and Qt's, and the locale of numbers and dates."""
    _use_english_ctype()
    for old in _installed:
        QCoreApplication.removeTranslator(old)
    _installed.clear()
    global _language
    _language = language = resolve(chosen)
    QLocale.setDefault(QLocale("en_US" if language == ENGLISH else language))
    if language == ENGLISH:
        return
    of_qt = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    _load(f"qtbase_{language}.qm", of_qt)
    _load(f"{_OF_UNDERHILL}{language}.qm", str(resources.path("translations")))


def installed() -> str:
    """The code of the language that the window speaks."""
    return _language


def _load(name: str, folder: str) -> None:
    translator = QTranslator()
    if translator.load(name, folder):
        QCoreApplication.installTranslator(translator)
        _installed.append(translator)


def _use_english_ctype() -> None:
    """Set the C library's LC_CTYPE to English, once there is a QApplication, which has set it to the system's.

    PySide finds the setter of a property that is given by name (`interval=30`) by making its first letter a capital
    with the C library, and in Turkish and Azeri the capital of i is not I: there no window came up at all. All text
    that Qt and Python handle is Unicode, which this does not touch.
    """
    if os.name != "posix":
        return  # the C library has English letters unless it is told otherwise
    for name in ("C.UTF-8", "en_US.UTF-8"):
        try:
            locale.setlocale(locale.LC_CTYPE, name)
        except locale.Error:
            continue
        return


def moment(at: datetime) -> str:
    """'21 November 2026, 14:05'."""
    pattern = tr("d MMMM yyyy, HH:mm", about="a date and time, in the letters of Qt's QLocale")
    clock = QDateTime(at.year, at.month, at.day, at.hour, at.minute, at.second)
    return QLocale().toString(clock, pattern)


def day(on: date) -> str:
    """'21 November'."""
    return QLocale().toString(_qt(on), tr("d MMMM", about="a date, in the letters of Qt's QLocale"))


def short_date(on: date) -> str:
    """'21 Nov 2026'."""
    return QLocale().toString(_qt(on), tr("d MMM yyyy", about="a date, in the letters of Qt's QLocale"))


def month(on: date, with_year: bool) -> str:
    """'November 2026', or 'November'."""
    if with_year:
        return QLocale().toString(_qt(on), tr("MMMM yyyy", about="a date, in the letters of Qt's QLocale"))
    return QLocale().toString(_qt(on), tr("MMMM", about="a date, in the letters of Qt's QLocale"))


def _qt(on: date) -> QDate:
    return QDate(on.year, on.month, on.day)
