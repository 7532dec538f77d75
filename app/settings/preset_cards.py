"""The presets of quality as cards, each with what it costs on the open model."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QWidget

from app.i18n.translate import tr, tr_engine, tr_noop
from app.theme import sizes
from app.widgets.builders import make_label, vbox
from engine import protocol

_MEANINGS = {
    "exact": tr_noop("Full precision, always"),
    "hobbit": tr_noop("67% full, 30% lower precision, 3% skipped"),
    "balanced": tr_noop("Almost no loss"),
    "fast": tr_noop("Small loss, fewer disk reads"),
}
_ADVANCED = "hobbit"  # shown to those who want advanced settings, or have it
_COLUMNS = 3  # at most
_LETTERS = 18  # a card's least width, or its text has a word or two a line
_SPACING = 8


def speed_text(low: float, high: float) -> str:
    """Expected tokens a second, from worse to better."""
    digits = 0 if high >= 10 else 1
    span = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return tr("≈ {speed} tok/s", speed=span[0] if span[0] == span[1] else "–".join(span))


class PresetCard(QPushButton):
    """One preset: its name, what it means, and its measured cost."""

    def __init__(self, name: str, meaning: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setAccessibleName(name)
        self._meaning = meaning
        self.cost = make_label("", self, "muted", wrap=True)
        labels = make_label(name, self, heading=1.0, wrap=True), make_label(meaning, self, wrap=True), self.cost
        for label in labels:
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        vbox(*labels, ..., parent=self, margins=(12, 9, 12, 9), spacing=3)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.MinimumExpanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_cost(self, cost: str, details: str) -> None:
        """cost: in a few words. details: in a sentence."""
        self.cost.setText(cost)
        self.setToolTip(details)
        self.setAccessibleDescription(f"{self._meaning}. " + cost.replace("\n", ", "))

    def sizeHint(self) -> QSize:
        """That of the labels: a button knows of its own text alone."""
        layout = self.layout()
        return layout.sizeHint() if layout is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        layout = self.layout()
        return layout.minimumSize() if layout is not None else super().minimumSizeHint()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.heightForWidth(width) if layout is not None else super().heightForWidth(width)


class PresetCards(QWidget):
    """One card for each choice of the setting. chosen: another one was pressed."""

    chosen = Signal()

    def __init__(self, setting: protocol.settings.Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._all = False
        self._wide = 0  # not known
        self._placed: tuple[int, list[PresetCard]] = (0, [])  # columns, and what is in them
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 0)
        self._grid.setSpacing(_SPACING)
        self.cards: dict[str, PresetCard] = {}
        for choice in sorted(setting.choices, key=_ADVANCED.__eq__):
            card = PresetCard(tr_engine(setting.name_of(choice)), tr(_MEANINGS[choice]), self)
            self.cards[choice] = card
            card.clicked.connect(partial(self._choose, choice))  # in no group: Tab would come to the chosen one alone
        self.setFocusProxy(self.cards[setting.choices[0]])  # the first: Tab goes on from it through all
        self._show_advanced()
        sizes.follow(self, PresetCards._place)
        self.show_costs(None)

    @property
    def value(self) -> str:
        """The choice whose card is pressed in."""
        return next(choice for choice, card in self.cards.items() if card.isChecked())

    def set_value(self, value: str) -> None:
        """Show a choice without emitting."""
        for choice, card in self.cards.items():
            card.setChecked(choice == value)
        self._show_advanced()

    def show_all(self, wanted: bool) -> None:
        """Show the advanced one too, which is shown anyway while it is chosen."""
        self._all = wanted
        self._show_advanced()

    def show_costs(self, card: protocol.ModelCard | None) -> None:
        """Show expected speed and measured loss on the open model; None: none is open."""
        found = card.calibration if card is not None else None
        speeds = card.fit.dials if card is not None and card.fit is not None else ()
        spans = {dial: speed_text(low, high) for dial, low, high in speeds}
        for choice, button in self.cards.items():
            cost = found.dials.get(choice) if found is not None else None
            measured = (cost.here or cost.worst) if cost is not None else None
            if choice == "exact":
                words = tr("No loss")
            elif card is None:
                words = ""
            else:
                words = tr("Not measured yet") if measured is None else tr("Loss: KL {kl}", kl=f"{measured.kl:.4f}")
            words = "\n".join(filter(None, (spans.get(choice, ""), words)))
            button.show_cost(words, tr_engine(protocol.dial_in_words(found, choice)) if card is not None else "")

    def _show_advanced(self) -> None:
        self.cards[_ADVANCED].setVisible(self._is_shown(_ADVANCED))
        self._place()

    def _is_shown(self, choice: str) -> bool:
        return choice != _ADVANCED or self._all or self.cards[choice].isChecked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._wide = event.size().width()
        self._place()

    def _place(self) -> None:
        """Place those that are shown in as many columns as have room, but no odd number in two, nor four in three."""
        shown = [card for choice, card in self.cards.items() if self._is_shown(choice)]
        least = _LETTERS * self.fontMetrics().averageCharWidth()
        columns = min(_COLUMNS, max(1, (self._wide + _SPACING) // (least + _SPACING))) if self._wide else _COLUMNS
        if columns == 3 and len(shown) == 4:
            columns = 2
        elif columns == 2 and len(shown) % 2:
            columns = 1
        if (columns, shown) == self._placed:
            return
        self._placed = columns, shown
        for card in self.cards.values():
            self._grid.removeWidget(card)
        for number, card in enumerate(shown):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))

    def _choose(self, choice: str, _checked: bool = False) -> None:
        self.set_value(choice)
        self.chosen.emit()
