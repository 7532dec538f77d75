"""Page of an empty chat: the model, what it is for, and example questions to click."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from app.i18n.translate import tr, tr_noop
from app.theme import sizes
from app.widgets.builders import centred, hbox, make_button, make_label, show_text, vbox

_BESIDE, _ABOVE = 16, 12  # pixels around the words
_WRAP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
SMALL = (
    tr_noop("Hello! Who are you?"),
    tr_noop("What can you help me with?"),
    tr_noop("Tell me a short story about a fox."),
    tr_noop("What is the sun?"),
)
LARGE = (
    tr_noop("Explain how a Mixture-of-Experts model works, with an everyday comparison."),
    tr_noop("Write a Python function that finds duplicate files in a folder."),
    tr_noop("Help me plan a week of simple dinners for two."),
    tr_noop("Summarize the pros and cons of heat pumps in a table."),
)
_HIGH = 24  # lines of text, from which on there is room for the mark


class Example(QPushButton):
    """Button whose text wraps. Shown as it is: a & in it is no shortcut."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("example")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)  # as tall as its neighbour
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._words(width - 2 * _BESIDE).height() + 2 * _ABOVE

    def sizeHint(self) -> QSize:
        """Size for two lines, if the text is long."""
        wide = self.fontMetrics().horizontalAdvance(self.text())
        least = 24 * self.fontMetrics().averageCharWidth()
        width = (wide if wide < least else max(least, round(0.6 * wide))) + 2 * _BESIDE + 2
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Size that the longest word fits into."""
        wide = max((self.fontMetrics().horizontalAdvance(word) for word in self.text().split()), default=0)
        least = min(wide, 12 * self.fontMetrics().averageCharWidth())  # Chinese is one long word, which wraps anywhere
        return QSize(least + 2 * _BESIDE, self.fontMetrics().lineSpacing() + 2 * _ABOVE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.setPen(self.palette().buttonText().color())
        painter.drawText(self.rect().adjusted(_BESIDE, 0, -_BESIDE, 0), int(_WRAP), self.text())

    def _words(self, width: int) -> QRect:
        return self.fontMetrics().boundingRect(QRect(0, 0, max(1, width), 10_000), int(_WRAP), self.text())


class Welcome(QScrollArea):
    """Shown in place of the conversation. example_chosen: one of the examples was clicked. models_requested,
    import_requested: there is no model yet, and a way to one was chosen.
    """

    example_chosen = Signal(str)
    models_requested = Signal()
    import_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus, and is scrolled to
        page = QWidget(self)
        page.setObjectName("page")
        self.logo = mark = QLabel(page)
        sizes.show_logo(mark, 64)
        mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = make_label("", page, heading=1.75, wrap=True)
        self.note = make_label("", page, "muted", wrap=True)
        self.summary = make_button("", page, self._toggle, "quiet", tip=tr("Show or hide details"))
        self.plan = make_label("", page, "muted", wrap=True, selectable=True)
        self.plan.hide()
        self.examples = [Example(page) for _ in SMALL]
        grid = QGridLayout()
        grid.setSpacing(10)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        for number, button in enumerate(self.examples):
            button.clicked.connect(self._clicked)
            grid.addWidget(button, number // 2, number % 2)
        inner = QWidget(page)
        inner.setMaximumWidth(680)
        for label in (self.title, self.note, self.plan):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        line = hbox(..., self.summary, ...)
        self.select = make_button(tr("Select a model"), page, self.models_requested, "primary")
        self.bring = make_button(tr("Import folder…"), page, self.import_requested)
        ways = hbox(..., self.select, self.bring, ..., spacing=8)
        # the plan is last: it is long, and what can be clicked is to be in sight
        column = vbox(mark, self.title, self.note, line, ways, 4, grid, 4, self.plan, parent=inner, spacing=12)
        column.insertStretch(0, 3)
        column.addStretch(4)
        centred(inner, page, (28, 12, 28, 12))
        inner.setMinimumWidth(320)
        self.setWidget(page)
        self.show_model("", "", "", (), True)
        sizes.follow(self, Welcome._fit)

    def show_model(self, model: str, note: str, summary: str, plan: tuple[str, ...], small: bool) -> None:
        """Describe the model. model: its title, empty for none. note: what it is for. summary: how fast it runs here;
        plan: more of that, shown when the summary is clicked."""
        self._show(tr("What's on your mind?") if model else tr("Welcome to Underhill"), note, waits=False)
        self._describe(model, summary, plan, small)

    def _describe(self, model: str, summary: str, plan: tuple[str, ...], small: bool) -> None:
        show_text(self.summary, summary)
        self.plan.setText("\n".join(plan))
        if not plan:
            self.plan.hide()
        for button, example in zip(self.examples, map(tr, SMALL if small else LARGE)):
            button.setProperty("prompt", example)
            button.setText(example)
            button.setAccessibleName(tr("Ask: {question}", question=example))
            button.setVisible(bool(model))

    def show_choice(self, *, returning: bool) -> None:
        """There is no model to chat with: offer ways to one. returning: this is not the first start."""
        self._describe("", "", (), True)
        if returning:
            self._show(tr("Select a model"), "", waits=True)
        else:
            self._show(tr("Welcome to Underhill"), tr("Select a model or import one"), waits=True)

    def _show(self, title: str, note: str, *, waits: bool) -> None:
        self.title.setText(title)
        show_text(self.note, note)
        for button in (self.select, self.bring):
            button.setVisible(waits)

    @Slot()
    def _toggle(self) -> None:
        self.plan.setVisible(self.plan.isHidden() and bool(self.plan.text()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """Hide the logo where there is little height, so that the examples stay in sight."""
        self.logo.setVisible(self.height() >= _HIGH * self.fontMetrics().lineSpacing())

    @Slot()
    def _clicked(self) -> None:
        self.example_chosen.emit(str(self.sender().property("prompt")))
