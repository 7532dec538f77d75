"""Which words of a message are spelled wrong, in the language that was chosen or that the system speaks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import QLocale, QObject, Signal

from app.spelling.enchant import Dictionary, Enchant

_log = logging.getLogger(__name__)

SYSTEM, OFF = "system", "off"  # or the code of a language
_KEPT = 20_000  # words whose spelling is remembered
_SUGGESTED = 5


class SpellChecker(QObject):
    """Looks for dictionaries on a thread of its own, which begins with the first need of them.

    changed: other words are wrong now. looked: it is known what is there. languages: codes, once they are known.
    language: that of the dictionary in use, '' without one.
    """

    changed = Signal()
    _opened = Signal(object, object, object, str)

    def __init__(self, choice: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.looked = False
        self.languages: tuple[str, ...] = ()
        self.language = ""
        self._choice = choice
        self._enchant: Enchant | None = None
        self._dictionary: Dictionary | None = None
        self._known: dict[str, bool] = {}
        self._thread: threading.Thread | None = None
        self._opened.connect(self._take)

    def start(self) -> None:
        """Look for dictionaries, unless that was done."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="underhill-spelling", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._thread.join()

    def choose(self, choice: str) -> None:
        """Spell in another language, as the system does, or not at all. choice: SYSTEM, OFF or a code."""
        self._choice = choice
        if self._enchant is not None:  # else the thread takes the choice, or there is none
            language = pick(choice, self.languages)
            self._use(self._enchant.open(language) if language else None, language)

    def is_wrong(self, word: str) -> bool:
        """Whether the dictionary in use does not have the word."""
        if self._dictionary is None:
            return False
        if word not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[word] = self._dictionary.knows(word)
        return not self._known[word]

    def suggest(self, word: str) -> list[str]:
        """Some words that may be meant."""
        return self._dictionary.suggest(word)[:_SUGGESTED] if self._dictionary is not None else []

    def add(self, word: str) -> None:
        """Add a word to the user's own."""
        if self._dictionary is not None:
            self._dictionary.add(word)
            self._known[word] = True
            self.changed.emit()

    def _look(self) -> None:
        try:
            enchant = Enchant()
            languages = tuple(enchant.languages())
        except OSError as error:
            _log.info("No spelling: %s", error)
            with suppress(RuntimeError):
                self._opened.emit(None, (), None, "")
            return
        language = pick(self._choice, languages)
        with suppress(RuntimeError):  # the window is gone
            self._opened.emit(enchant, languages, enchant.open(language) if language else None, language)

    def _take(
        self, enchant: Enchant | None, languages: tuple[str, ...], dictionary: Dictionary | None, language: str
    ) -> None:
        self._enchant, self.languages, self.looked = enchant, languages, True
        if pick(self._choice, self.languages) == language:
            self._use(dictionary, language)
        else:  # chosen anew meanwhile
            self.choose(self._choice)

    def _use(self, dictionary: Dictionary | None, language: str) -> None:
        self._dictionary, self.language = dictionary, language if dictionary is not None else ""
        self._known.clear()
        self.changed.emit()


def pick(choice: str, languages: Sequence[str]) -> str:
    """The code of the dictionary for a choice: for SYSTEM that of the first language which the user asks the system
    for; '' where there is none.
    """
    if choice != SYSTEM:
        return choice if choice in languages else ""
    for wanted in [*QLocale.system().uiLanguages(), QLocale().name()]:
        code = wanted.replace("-", "_")
        same = [found for found in languages if found.split("_")[0] == code.split("_")[0]]
        if same:
            return code if code in same else same[0]
    return ""
