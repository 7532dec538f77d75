"""The first two steps of the tour: what Underhill is, and what this computer can do."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QWidget

from app.i18n.translate import plural, sentences, tr, tr_noop
from app.onboarding.computer_probe import ComputerProbe
from app.theme import fonts, sizes
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_label, vbox
from app.widgets.text import size
from engine import protocol

_LINES = (
    tr_noop("Underhill runs large chat models on this computer, also models that are bigger than its memory."),
    tr_noop(
        "Everything stays here: your chats, your files, and what is measured. Nothing is sent until you search for "
        "a model or fetch one."
    ),
    tr_noop(
        "A small model is built in, so you can begin at once. The next two pages find one that suits this "
        "computer better."
    ),
)


_HEIGHT = 260  # pixels that this computer takes beside text of the base size, in a window of usual width


class TourStep(QWidget):
    """A page of the tour: a title, and what `column` gets."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        head = make_label(title, self, heading=1.75, wrap=True)
        self.column = vbox(head, parent=self, margins=0, spacing=12)

    def words(self, text: str, muted: bool = False) -> QLabel:
        """A label that wraps, at the end of the page."""
        label = make_label(text, self, wrap=True)
        if muted:
            label.setObjectName("muted")
        self.column.addWidget(label)
        return label


class WelcomeStep(TourStep):
    """privacy_wanted: one asks what is sent."""

    privacy_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("Welcome to Underhill"), parent)
        self._theme = theme
        mark = QLabel(self)
        sizes.show_logo(mark, 64)
        self.column.insertWidget(0, mark)
        self._ticks: list[QLabel] = []
        for text in _LINES:
            tick, line = QLabel(self), QLabel(tr(text), self)
            line.setWordWrap(True)
            self._ticks.append(tick)
            row = hbox((tick, 0, Qt.AlignmentFlag.AlignTop), (line, 1), spacing=12)
            self.column.addLayout(row)
        self.privacy = make_button(tr("What is sent, and when"), self, self.privacy_wanted.emit)
        self.column.addWidget(self.privacy, 0, Qt.AlignmentFlag.AlignLeft)
        self._tint()
        theme.changed.connect(self._tint)

    def _tint(self) -> None:
        for tick in self._ticks:
            tick.setPixmap(pixmap("check", self._theme.palette.accent, fonts.pixels(20), self.devicePixelRatioF()))


class ComputerStep(TourStep):
    """What the probe says, while it measures and after. again_wanted: measure anew."""

    again_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("This computer"), parent)
        self.words(
            tr("Underhill measures how fast memory, disk and processor are, to say which models will run well."),
            muted=True,
        )
        self.patience = self.words(
            tr("That takes some 15 seconds, once, and stays here. You need not wait for it."), muted=True
        )
        self.doing = self.words("")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("How far the measurement is"))
        self.column.addWidget(self.bar)
        self.facts = self.words("")
        self.figures = self.words("", muted=True)
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setTextFormat(Qt.TextFormat.RichText)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.verdict = self.words("")
        sizes.set_font(self.verdict, 1.0, self.verdict.font().Weight.DemiBold)
        self.again = make_button(tr("Measure again"), self, self.again_wanted.emit)
        self.more = make_button(tr("Show the figures"), self, self._fold, "quiet")
        row = QHBoxLayout()
        for button in (self.again, self.more):
            row.addWidget(button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addStretch(1)
        # As high before as after, or the tour's buttons would move from under the mouse when the measuring ends.
        sizes.follow(self, lambda step: step.setMinimumHeight(fonts.pixels(_HEIGHT)))
        self._folded = True

    @Slot()
    def _fold(self) -> None:
        self._folded = not self._folded
        self.figures.setVisible(not self._folded)
        self.more.setText(tr("Show the figures") if self._folded else tr("Hide the figures"))

    def show_probe(self, probe: ComputerProbe, verdict: str) -> None:
        """verdict: what it means for models, in a sentence."""
        p, computer, problem = probe.progress, probe.computer, probe.problem
        if probe.waiting:
            doing = tr("An answer is being written; the measurement goes on after it.")
        elif p is not None:
            doing = f"{p.text}…"
        else:
            doing = sentences(problem.sentence, problem.action) if problem is not None else ""
        self.doing.setText(doing)
        self.doing.setVisible(bool(doing))
        self.bar.setVisible(p is not None and not probe.waiting)
        if p is not None:
            self.bar.setRange(0, p.total)
            self.bar.setValue(p.done)
        known = computer is not None and not probe.running
        self.patience.setVisible(not known)
        lines = computer_facts(computer) if computer is not None and known else ()
        self.figures.setText("\n".join(computer.sentences) if computer is not None else "")
        self.figures.setVisible(known and not self._folded)
        self.more.setVisible(known)
        self.facts.setText("".join(f'<p style="margin:0 0 7px 0">{escape(line)}</p>' for line in lines))
        self.facts.setVisible(known)
        self.verdict.setText(verdict)
        self.verdict.setVisible(known and bool(verdict))
        self.again.setVisible(not probe.running)
        self.again.setText(tr("Measure again") if problem is None else tr("Try again"))


_FAST, _FAIR = 2.0e9, 0.5e9  # bytes a second of a disk


def computer_facts(computer: protocol.Computer) -> list[str]:
    """A sentence or two each of processor, memory, graphics cards and disk."""
    p, m = computer.processor, computer.machine
    cores = plural("{name} with 1 core.", "{name} with %n cores.", p.physical, name=p.name)
    battery = tr("It runs on its battery, where it may be slower.") if m.on_battery else ""
    memory = tr("{limit} of memory, of which {free} are free now.", limit=size(m.memory.limit),
                 free=size(m.memory.available))  # fmt: skip
    lines = [
        sentences(cores, battery),
        sentences(memory, tr("What fits into that runs fastest.")),
        *(
            tr("Graphics card: {name} with {size}. This version of Underhill does not compute on it.",
                name=card.name, size=size(card.total))
            for card in m.gpus
        ),
    ]  # fmt: skip
    room = tr("{free} are free on the disk.", free=size(m.disk_free))
    measured = computer.rates
    speed = _disk(m.disk_rate) if measured is not None and measured.disk_points else ""
    return [*lines, sentences(room, speed), *([computer.why] if measured is not None and computer.why else [])]


def _disk(rate: float) -> str:
    speed = tr("{amount} a second", amount=size(rate))
    if rate >= _FAST:
        return tr("It is fast ({speed}): models much bigger than the memory can run from it.", speed=speed)
    if rate >= _FAIR:
        return tr("It is quick enough ({speed}) for models that are somewhat bigger than the memory.", speed=speed)
    return tr("It is slow ({speed}): choose models that fit into memory.", speed=speed)
