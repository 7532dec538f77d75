"""The first five minutes: a tour of three steps, about Underhill, this computer, and a model that suits it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QScrollArea, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from app.backend import Models
from app.computer_probe import ComputerProbe
from app.i18n.translate import plural, sentences, tr, tr_noop
from app.library import model_text
from app.library.entries import Action, LibraryEntry, import_buttons
from app.library.model_text import recommend, time_to_fetch
from app.library.page import show_progress
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.theme import fonts, sizes
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets import keyboard
from app.widgets.builders import (
    close_box,
    empty,
    hbox,
    make_bar,
    make_button,
    make_label,
    scroll_area,
    set_style,
    show_text,
    vbox,
)
from app.widgets.text import size
from app.widgets.touch import scroll_by_touch
from engine import protocol

_LINES = (
    tr_noop("Underhill runs large chat models on this computer, even ones bigger than its memory."),
    tr_noop(
        "Your chats, files and measurements stay here. Nothing is sent unless you ask for it, for example to download "
        "a model."
    ),
    tr_noop(
        "A small built-in model lets you start right away. The next two pages find a better one for this computer."
    ),
)
_HEIGHT = 260  # pixels that this computer takes beside text of the base size, in a window of usual width
_ABOVE = 96  # pixels above a step, where there is room
_FAST, _FAIR = 2.0e9, 0.5e9  # bytes a second of a disk
_BUILTIN = "builtin"
_NEXT = (tr_noop("Check this computer"), tr_noop("Select a model"), tr_noop("Done"))


class TourStep(QWidget):
    """A page of the tour: a title, and what `column` gets."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        head = make_label(title, self, heading=1.75, wrap=True)
        self.column = vbox(head, parent=self, margins=0, spacing=12)

    def words(self, text: str, muted: bool = False) -> QLabel:
        """A label that wraps, at the end of the page."""
        label = make_label(text, self, "muted" if muted else "", wrap=True)
        self.column.addWidget(label)
        return label


class WelcomeStep(TourStep):
    """What Underhill is, and a button about what is sent."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("Welcome to Underhill"), parent)
        self._theme = theme
        mark = QLabel(self)
        sizes.show_logo(mark, 64)
        self.column.insertWidget(0, mark)
        self._ticks: list[QLabel] = []
        for text in _LINES:
            tick, line = QLabel(self), make_label(tr(text), self, wrap=True)
            self._ticks.append(tick)
            self.column.addLayout(hbox((tick, 0, Qt.AlignmentFlag.AlignTop), (line, 1), spacing=12))
        self.privacy = make_button(tr("Privacy"), self)
        self.column.addWidget(self.privacy, 0, Qt.AlignmentFlag.AlignLeft)
        self._tint()
        theme.changed.connect(self._tint)

    def _tint(self) -> None:
        for tick in self._ticks:
            tick.setPixmap(pixmap("check", self._theme.palette.accent, fonts.pixels(20), self.devicePixelRatioF()))


class ComputerStep(TourStep):
    """What the probe says, while it measures and after; and a button to measure again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("This computer"), parent)
        self.words(
            tr("Measures memory, disk and processor to tell which models run well."),
            muted=True,
        )
        self.patience = self.words(tr("About 15 seconds, once. You can continue meanwhile."), muted=True)
        self.doing = self.words("")
        self.bar = make_bar(self, tr("Measurement progress"))
        self.column.addWidget(self.bar)
        self.facts = self.words("")
        self.figures = self.words("", muted=True)
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setTextFormat(Qt.TextFormat.RichText)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.verdict = self.words("")
        sizes.set_font(self.verdict, 1.0, self.verdict.font().Weight.DemiBold)
        self.again = make_button(tr("Measure again"), self)
        self.more = make_button(tr("Show figures"), self, self._fold, "quiet")
        self.column.addLayout(hbox(self.again, self.more, ...))
        self.column.addStretch(1)
        # As high before as after, or the tour's buttons would move from under the mouse when the measuring ends.
        sizes.follow(self, lambda step: step.setMinimumHeight(fonts.pixels(_HEIGHT)))
        self._folded = True

    @Slot()
    def _fold(self) -> None:
        self._folded = not self._folded
        self.figures.setVisible(not self._folded)
        self.more.setText(tr("Show figures") if self._folded else tr("Hide figures"))

    def show_probe(self, probe: ComputerProbe, verdict: str) -> None:
        """verdict: what it means for models, in a sentence."""
        p, computer, problem = probe.progress, probe.computer, probe.problem
        if probe.waiting:
            doing = tr("Paused while an answer is generated")
        elif p is not None:
            doing = f"{p.text}…"
        else:
            doing = sentences(problem.sentence, problem.action) if problem is not None else ""
        show_text(self.doing, doing)
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


class ComputerDialog(QDialog):
    """The same outside the tour, in a window of its own."""

    def __init__(self, probe: ComputerProbe, verdict: Callable[[], str], parent: QWidget | None = None) -> None:
        """verdict: what the computer means for models, in a sentence."""
        super().__init__(parent)
        self.setWindowTitle(tr("About this computer"))
        self._probe, self._verdict = probe, verdict
        self.step = ComputerStep(self)
        self.step.again.clicked.connect(lambda: probe.begin(again=True))
        vbox(scroll_area(self.step, self), close_box(self), parent=self, margins=(24, 18, 24, 14), spacing=12)
        sizes.follow(self, lambda dialog: dialog.setMinimumSize(fonts.pixels(520), fonts.pixels(460)))
        probe.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show what the probe knows now."""
        self.step.show_probe(self._probe, self._verdict())


def computer_facts(computer: protocol.Computer) -> list[str]:
    """A sentence or two each of processor, memory, graphics cards and disk."""
    p, m = computer.processor, computer.machine
    cores = plural("{name}, 1 core", "{name}, %n cores", p.physical, name=p.name)
    battery = tr("On battery: may be slower.") if m.on_battery else ""
    memory = tr("{limit} of memory, {free} free", limit=size(m.memory.limit),
                 free=size(m.memory.available))  # fmt: skip
    lines = [
        sentences(cores, battery),
        sentences(memory, tr("Models that fit in memory run fastest.")),
        *(
            tr("{name}, {size} of GPU memory. Used beside the CPU where that is faster.",
                name=card.name, size=size(card.total))
            for card in m.gpus
        ),
    ]  # fmt: skip
    space = tr("{free} free on disk", free=size(m.disk_free))
    measured = computer.rates
    speed = _disk(m.disk_rate) if measured is not None and measured.disk_points else ""
    return [*lines, sentences(space, speed), *([computer.why] if measured is not None and computer.why else [])]


def _disk(rate: float) -> str:
    speed = tr("{amount}/s", amount=size(rate))
    if rate >= _FAST:
        return tr("Fast disk ({speed}): runs models much bigger than memory.", speed=speed)
    if rate >= _FAIR:
        return tr("Medium disk ({speed}): runs models somewhat bigger than memory.", speed=speed)
    return tr("Slow disk ({speed}): choose models that fit in memory.", speed=speed)


class ModelStep(TourStep):
    """download_requested: fetch this protocol.HubModel. opened: open the model of this name, and chat."""

    download_requested = Signal(object)
    opened = Signal(str)
    import_folder = Signal()
    import_file = Signal()

    def __init__(
        self, view_model: LibraryViewModel, known: Models, network: Network, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Select a model"), parent)
        self._view_model, self._models, self._network = view_model, known, network
        self.notice = self.words("", muted=True)
        self.setting = make_button(tr("Open settings"), self)
        self.column.addLayout(hbox(self.setting, ...))
        self._column = QVBoxLayout()
        self._column.setSpacing(10)
        self.column.addLayout(self._column)
        self.words(tr("Already have a model? Import it, no network needed."), muted=True)
        self.column.addLayout(import_buttons(self, self.import_folder, self.import_file))
        self.entries: dict[str, LibraryEntry] = {}  # by repository; the built-in model's is ''
        self._shown: object = None
        view_model.catalogue_changed.connect(self.refresh)
        view_model.transfers_changed.connect(self._moved)
        known.listed.connect(self.refresh)
        known.changed.connect(self.refresh)
        network.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the current state; entries are made again only where they would look otherwise."""
        offers = recommend(self._view_model.catalogue or ())
        builtin = next((c for c in self._models.cards if c.name == _BUILTIN), None)
        states = {repo: t.state for repo, t in self._under_way().items()}
        offline = self._network.offline
        looks = (offers, builtin, states, offline, self._models.wanted)
        self.notice.setText(self._notice(bool(offers), offline))
        self.setting.setVisible(offline)
        if looks == self._shown:
            return
        self._shown = looks
        empty(self._column)
        self.entries = {}
        for n, (model, why) in enumerate(offers):
            self.entries[model.repo] = self._offer(model, why, first=not n)
        if builtin is not None:
            self.entries[""] = self._builtin(builtin)
        for entry in self.entries.values():
            self._column.addWidget(entry)
        for transfer in self._under_way().values():
            self._fill(transfer)

    @property
    def _has_primary(self) -> bool:
        """Whether an entry has the main button, of which there is one on a page."""
        return any(b.objectName() == "primary" for entry in self.entries.values() for b in entry.buttons.values())

    def _notice(self, some: bool, offline: bool) -> str:
        if offline:
            return tr("Offline mode is on. The built-in model and imported models work.")
        if self._view_model.catalogue is None:
            return tr("Checking which models run well… The built-in one is ready.")
        if not some:
            return tr("No listed model suits this computer now. The built-in one does.")
        return tr("You can chat with the built-in model while a download runs.")

    def _under_way(self) -> dict[str, protocol.Transfer]:
        return {t.repo: t for t in self._view_model.transfers.values()}

    def _offer(self, m: protocol.HubModel, why: str, first: bool) -> LibraryEntry:
        assert m.fit is not None
        t, online = self._under_way().get(m.repo), not self._network.offline
        main = not self._has_primary
        actions = []
        if m.here or (t is not None and t.state == protocol.FINISHED):
            actions.append(
                Action(tr("Start chatting"), partial(self.opened.emit, m.here or (t.name if t else "")), primary=main)
            )
        elif t is None:
            why_not = model_text.why_offline(not online)
            fetch = partial(self.download_requested.emit, m)
            actions.append(Action(tr("Download"), fetch, primary=main and first and online, why=why_not))
        elif t.state in (protocol.PAUSED, protocol.FAILED):
            go = tr("Resume") if t.state == protocol.PAUSED else tr("Try again")
            actions.append(Action(go, partial(self._view_model.resume, t.id), primary=main))
        else:
            actions.append(Action(tr("Pause"), partial(self._view_model.pause, t.id)))
        fetched = tr("{amount} download, {time}", amount=size(m.download_bytes), time=time_to_fetch(m.download_bytes))
        facts = model_text.joined(
            model_text.parameters(m.parameters, 0), fetched, tr("{amount} on disk", amount=size(m.fit.disk))
        )
        moving = t is not None and t.state != protocol.FINISHED
        return LibraryEntry(
            m.title, facts, fit=m.fit, note=sentences(why, m.about), actions=actions, progress=moving
        )  # fmt: skip

    def _builtin(self, card: protocol.ModelCard) -> LibraryEntry:
        action = Action(tr("Start chatting"), partial(self.opened.emit, card.name), primary=not self._has_primary)
        facts = model_text.joined(model_text.parameters(card.parameters, 0), tr("Built in"))
        return LibraryEntry(card.title, facts, note=card.note, actions=[action])

    @Slot(object)
    def _moved(self, transfer: protocol.Transfer | None) -> None:
        self.refresh()
        if transfer is not None:
            self._fill(transfer)

    def _fill(self, t: protocol.Transfer) -> None:
        """Show the progress of a model's download."""
        entry = self.entries.get(t.repo)
        if entry is None or t.state == protocol.FINISHED:
            return
        show_progress(entry, t)
        if t.problem:
            entry.show_problem(sentences(t.problem, t.action))


class Tour(QWidget):
    """step_changed: to this number. finished: also where it was skipped."""

    step_changed = Signal(int)
    finished = Signal()

    def __init__(self, theme: Theme, choice: ModelStep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step = 0
        self.setAccessibleName(tr("Welcome tour"))
        self.setObjectName("page")
        page, inner = _column(self)
        self.welcome = WelcomeStep(theme, inner)
        self.computer = ComputerStep(inner)
        self.choice = choice
        self._steps = (self.welcome, self.computer, choice)
        self._where = make_label("", inner, "muted")
        vbox(self._where, *self._steps, parent=inner, margins=(28, 20, 28, 8), spacing=16)
        self.sheet = FittingScrollArea(page, self)
        self._foot, foot = _column(self)
        self.back = make_button(tr("Back"), foot, lambda: self.show_step(self.step - 1))
        self.skip = make_button(tr("Skip"), foot, self.finished.emit, "quiet")
        self.next = make_button("", foot, self._on, "primary")
        hbox(self.next, self.back, self.skip, ..., parent=foot, margins=(28, 8, 28, 24), spacing=8)
        self.sheet.verticalScrollBar().rangeChanged.connect(self._beside)
        whole = vbox(self.sheet, self._foot, ..., parent=self, margins=0, spacing=0)
        fixed, above = QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Maximum
        whole.insertItem(0, QSpacerItem(0, _ABOVE, fixed, above))  # all steps begin at one height
        self.show_step(0)

    def show_step(self, step: int) -> None:
        """0: welcome, 1: this computer, 2: a model."""
        self.step = step
        for number, each in enumerate(self._steps):
            each.setVisible(number == step)
        self._where.setText(tr("{number} of {count}", number=step + 1, count=len(self._steps)))
        self.next.setText(tr(_NEXT[step]))
        set_style(self.next, "primary" if step + 1 < len(self._steps) else "")  # a model has the main button there
        self.back.setVisible(step > 0)
        self.skip.setVisible(step + 1 < len(self._steps))
        self.sheet.verticalScrollBar().setValue(0)
        self.next.setFocus()
        self.step_changed.emit(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not keyboard.press_focused(self, event):
            super().keyPressEvent(event)

    @Slot(int, int)
    def _beside(self, _least: int, most: int) -> None:
        """The buttons stay below the left edge of the page, whose scroll bar takes room."""
        self._foot.setContentsMargins(0, 0, self.sheet.verticalScrollBar().sizeHint().width() if most else 0, 0)

    @Slot()
    def _on(self) -> None:
        if self.step + 1 < len(self._steps):
            self.show_step(self.step + 1)
        else:
            self.finished.emit()


def _column(parent: QWidget) -> tuple[QWidget, QWidget]:
    """A widget, and one in its middle that is no wider than one likes to read."""
    outer = QWidget(parent)
    outer.setObjectName("page")
    inner = QWidget(outer)
    sizes.set_widest(inner, 720)
    row = hbox((inner, 1), parent=outer, margins=0)
    row.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    return outer, inner


class FittingScrollArea(QScrollArea):
    """What stands below it follows at once, and is never pushed beneath the edge of the window."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        page.installEventFilter(self)
        self.setWidget(page)
        scroll_by_touch(self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def sizeHint(self) -> QSize:
        """Size of the whole page at the current width."""
        page, wide = self._page, self.width()
        high = page.heightForWidth(wide) if page.hasHeightForWidth() else page.sizeHint().height()
        return QSize(super().sizeHint().width(), high)

    def minimumSizeHint(self) -> QSize:
        """Some lines."""
        return QSize(super().minimumSizeHint().width(), 4 * self.fontMetrics().lineSpacing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    @Slot(QWidget, QWidget)
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to a widget that takes the focus, also from outside."""
        if now is not None and self._page.isAncestorOf(now):
            self.ensureWidgetVisible(now)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Resize with the page's contents."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self._page:
            self.updateGeometry()
        return super().eventFilter(watched, event)
