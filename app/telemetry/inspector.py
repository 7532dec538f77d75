"""All that is known of the one expert that was clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from app.i18n.translate import tr
from app.telemetry.expert_maps import PLACES
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_label, vbox
from app.widgets.icon_button import IconButton
from app.widgets.text import size
from engine import protocol


class ExpertInspector(QFrame):
    """closed: the user has seen enough."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self._title = make_label("", self, heading=1.0)
        close = IconButton(theme, "close", tr("Close what is said of this expert"), self, size=14)
        close.clicked.connect(self.end)
        head = hbox((self._title, 1), close)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        vbox(head, self._grid, parent=self, margins=(0, 4, 0, 0), spacing=2)
        self.hide()

    def show_expert(self, facts: protocol.ExpertFacts) -> None:
        """Say all of it."""
        self._title.setText(tr("Layer {layer}, expert {expert}", layer=facts.layer, expert=facts.expert))
        lines = describe(facts)
        while len(self._rows) < len(lines):
            name, value = QLabel(self), QLabel(self)
            name.setObjectName("muted")
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            for label in (name, value):
                sizes.set_font(label, 0.88)
            at = len(self._rows)
            self._grid.addWidget(name, at, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, at, 1)
            self._rows.append((name, value))
        for (name, value), (said, text) in zip(self._rows, lines, strict=True):
            name.setText(said)
            value.setText(text)
            value.setAccessibleName(said)
        self.show()

    def text(self) -> str:
        """All that it says."""
        rows = [f"{name.text()}: {value.text()}" for name, value in self._rows]
        return "\n".join([self._title.text(), *rows])

    @Slot()
    def end(self) -> None:
        """Nobody looks at an expert any more."""
        self.hide()
        self.closed.emit()


def describe(facts: protocol.ExpertFacts) -> list[tuple[str, str]]:
    """(what, how much), always of the same length."""
    if facts.tier:
        held = tr("{bits} bits, {place}", bits=facts.tier, place=tr(PLACES[facts.place]))
    else:
        held = tr("nothing; it lies on the disk")
    if facts.coming:
        held = tr("{held}; being read at {bits} bits", held=held, bits=facts.coming)
    gates = tr("{last} last, {mean} on average", last=f"{facts.gate:.3f}", mean=f"{facts.mean_gate:.3f}")
    return [
        (tr("Used"), tr("{answer:,} in this answer, {uses:,} since opened", answer=facts.answer, uses=facts.uses)),
        (tr("Ran coarse"), _of(facts.coarse, facts.uses)),
        (tr("Skipped"), _of(facts.skipped, facts.uses)),
        (tr("Gate weight"), gates if facts.uses else tr("none yet")),
        (tr("Held"), held),
        (tr("Bytes"), tr("{part} of {whole} in memory", part=size(facts.nbytes), whole=size(facts.stored))),
    ]


def _of(part: int, whole: int) -> str:
    if not part or not whole:
        return tr("never")
    return tr("{count:,} times, {share:.0f} % of its uses", count=part, share=100 * part / whole)
