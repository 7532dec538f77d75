"""Which languages there are, and putting one in force before the first widget is made."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.language import letters
from engine import resources

SYSTEM = "system"
ENGLISH = "en"
_OF_UNDERHILL = "underhill_"
_installed: list[QTranslator] = []


def languages() -> dict[str, str]:
    """Codes of the languages that the window speaks, each with its name in that language; English first."""
    found = {ENGLISH: "English"}
    for path in sorted(resources.path("translations").glob(f"{_OF_UNDERHILL}*.qm")):
        code = path.stem.removeprefix(_OF_UNDERHILL)
        found[code] = "简体中文" if code == "zh_CN" else QLocale(code).nativeLanguageName()
    return found


def meant(chosen: str) -> str:
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
    """Speak a language from here on: Underhill's own texts, Qt's, and numbers and dates."""
    letters.plain()
    for old in _installed:
        QCoreApplication.removeTranslator(old)
    _installed.clear()
    language = meant(chosen)
    QLocale.setDefault(QLocale("en_US" if language == ENGLISH else language))
    if language == ENGLISH:
        return
    of_qt = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    _load(f"qtbase_{language}.qm", of_qt)
    _load(f"{_OF_UNDERHILL}{language}.qm", str(resources.path("translations")))


def _load(name: str, folder: str) -> None:
    translator = QTranslator()
    if translator.load(name, folder):
        QCoreApplication.installTranslator(translator)
        _installed.append(translator)
