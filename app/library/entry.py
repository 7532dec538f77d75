"""One model, download or folder on the page: what it is, whether it fits, what one can do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.i18n.translate import tr
from app.library.words import PILLS, unbroken
from app.theme import sizes
from app.widgets.layouts import empty


@dataclass(frozen=True)
class Deed:
    """A button. menu: it goes into the menu behind 'More' instead. enabled: False shows it grey."""

    words: str
    do: Callable[[], object]
    primary: bool = False
    menu: bool = False
    enabled: bool = True


class Entry(QFrame):
    """title and facts in a line each; sentence: why the pill, or what is wrong."""

    def __init__(
        self, title: str, facts: str, *, pill: str = "", sentence: str = "", note: str = "",
        deeds: Sequence[Deed] = (), progress: bool = False, parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """pill: 'fits', 'slow', 'too_big' or ''. progress: with a bar."""
        super().__init__(parent)
        self.setObjectName("entry")
        self.title = title
        head = QLabel(title, self)
        sizes.letter(head, 1.08, head.font().Weight.DemiBold)
        head.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head.setWordWrap(True)
        top = QHBoxLayout()
        top.setSpacing(10)
        top.addWidget(head, 1)
        if pill:
            word = tr(PILLS[pill])
            mark = QLabel(word, self)
            mark.setObjectName("pill")
            mark.setProperty("level", pill)
            mark.setToolTip(sentence)
            mark.setAccessibleName(tr("{pill}: {reason}", pill=word, reason=sentence))
            top.addWidget(mark, 0, Qt.AlignmentFlag.AlignVCenter)
        self.facts = _muted(unbroken(facts), self)
        self.sentence = _muted(sentence, self)
        self.note = QLabel(note, self)
        self.note.setWordWrap(True)
        self.note.setVisible(bool(note))
        left = QVBoxLayout()
        left.setSpacing(4)
        left.addLayout(top)
        left.addWidget(self.note)
        left.addWidget(self.facts)
        left.addWidget(self.sentence)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of {title}", title=title))
        self.bar.setVisible(progress)
        left.addWidget(self.bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 14, 12)
        row.setSpacing(12)
        row.addLayout(left, 1)
        self.buttons: dict[str, QPushButton] = {}
        self._deeds = QHBoxLayout()
        self._deeds.setSpacing(8)
        row.addLayout(self._deeds)
        self.set_deeds(deeds)

    def set_deeds(self, deeds: Sequence[Deed]) -> None:
        """Other buttons from now on, unless they are the same."""
        if [d.words for d in deeds] == list(self.buttons) and not any(d.menu for d in deeds):
            return
        held = any(button.hasFocus() for button in self.buttons.values())
        empty(self._deeds)
        self.buttons = {}
        for deed in deeds:
            if deed.menu:
                continue
            button = self._button(deed.words)
            if deed.primary:
                button.setObjectName("primary")
            button.setEnabled(deed.enabled)
            button.clicked.connect(_calls(deed.do))
        hidden = [deed for deed in deeds if deed.menu]
        if hidden:
            more = self._button(tr("More"))
            menu = QMenu(more)
            for deed in hidden:
                menu.addAction(deed.words, deed.do).setEnabled(deed.enabled)
            more.setMenu(menu)
        if held:
            self.take_focus()

    def take_focus(self) -> None:
        """To the first button that can be pressed."""
        first = next((button for button in self.buttons.values() if button.isEnabled()), None)
        if first is not None:
            first.setFocus()

    def complain(self, problem: str) -> None:
        """What is wrong with it; '' for nothing."""
        self.sentence.setText(problem)
        self.sentence.setVisible(bool(problem))
        self.sentence.setProperty("level", "warning")
        self.sentence.style().polish(self.sentence)

    def set_progress(self, done: int, total: int) -> None:
        """total 0: it is not known how much there is."""
        self.bar.setRange(0, 1000 if total else 0)
        if total:
            self.bar.setValue(min(1000, 1000 * done // total))

    def _button(self, words: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAccessibleName(tr("{deed}: {title}", deed=words, title=self.title))
        self.buttons[words] = button
        self._deeds.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button


def _muted(words: str, parent: QWidget) -> QLabel:
    label = QLabel(words, parent)
    label.setObjectName("muted")
    label.setWordWrap(True)
    label.setVisible(bool(words))
    return label


def _calls(do: Callable[[], object]) -> Callable[[], None]:
    """Without what `clicked` would hand over."""

    def call() -> None:
        do()

    return call
