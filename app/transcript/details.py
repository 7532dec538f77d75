"""Details of how an answer was made: its figures, what limited its speed, copying and saving them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import QApplication, QFileDialog, QFrame, QGridLayout, QWidget

from app.i18n.translate import tr
from app.storage.records import StoredMessage
from app.transcript import notes
from app.transcript.item import MessageItem, foot_height
from app.transcript.page import TranscriptPage
from app.widgets.builders import hbox, make_button, make_label, vbox
from app.widgets.text import plain_tip

_GAP = 8.0  # pixels below the details of an answer
_NARROW = 460  # pixels wide until `fit` is called
_TWO = 84  # characters of width from which on the figures stand in two columns


class AnswerDetails(QFrame):
    """Panel with the figures of one answer. hidden: it is to go, with the message's id. resized: its height changed."""

    hidden = Signal(object)
    resized = Signal()

    def __init__(self, message: StoredMessage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("entry")
        self.setAccessibleName(tr("Answer details"))
        self.message = message
        self.card = QWidget(self)
        self._column = column = vbox(parent=self.card, margins=(16, 12, 16, 6), spacing=10)
        sentence = notes.why(message)
        if sentence:
            column.addWidget(make_label(sentence, wrap=True, selectable=True))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(5)
        figures = notes.details(message)
        self._figures = [
            (
                make_label(f.name, None, "muted", selectable=True),
                make_label(f.value, wrap=True, selectable=True),
            )
            for f in figures
        ]
        for figure, labels in zip(figures, self._figures):
            for label in labels:
                label.setToolTip(plain_tip(figure.meaning))
                label.setAccessibleDescription(figure.meaning)
        column.addLayout(self._grid)
        self.trouble = make_label("", None, "restart", wrap=True, selectable=True)
        self.trouble.hide()
        copy = make_button(tr("Copy"), self, self._copy, name=tr("Copy figures"))
        tip = tr("Save as a table (.csv) or image (.png)")
        save = make_button(tr("Save…"), self, self._ask, name=tr("Save figures"), tip=tip)
        close = make_button(tr("Close"), self, lambda: self.hidden.emit(message.id), name=tr("Hide figures"))
        buttons = hbox(copy, save, ..., close, margins=(16, 0, 16, 0))
        trouble = hbox(self.trouble, margins=(16, 0, 16, 0))
        self._outer = vbox(self.card, trouble, buttons, parent=self, margins=(0, 0, 0, 12), spacing=6)
        self.fit(_NARROW)

    def fit(self, width: int) -> int:
        """Set the width: two columns of figures where there is room. Returns the height."""
        self.setFixedWidth(width)
        columns = 2 if width >= _TWO * self.fontMetrics().averageCharWidth() else 1
        rows = -(-len(self._figures) // columns)
        for number, (name, value) in enumerate(self._figures):
            row, column = number % rows, 2 * (number // rows)
            self._grid.addWidget(name, row, column)
            self._grid.addWidget(value, row, column + 1)
        for column in (1, 3):
            self._grid.setColumnStretch(column, 1 if column < 2 * columns else 0)
        self._column.invalidate()
        self.card.updateGeometry()  # now: what is laid out around it knows the height of the other columns
        self.setFixedHeight(self._outer.totalHeightForWidth(width))
        return self.height()

    def image(self) -> QPixmap:
        """Image of the figures as they are shown."""
        return self.grab(self.card.geometry())

    def save(self, path: Path) -> None:
        """Save an image where the name ends in .png, and a table otherwise. An error is shown below."""
        try:
            if path.suffix.lower() == ".png":
                if not self.image().save(str(path), "PNG"):
                    raise OSError(tr("the image can't be saved"))
            else:
                path.write_text(notes.as_csv(self.message), encoding="utf-8")
        except OSError as error:
            self.trouble.setText(tr("Can't save {file}: {error}. Choose another folder.", file=path.name, error=error))
            self.trouble.show()
        else:
            self.trouble.hide()
        self.resized.emit()

    @Slot()
    def _copy(self) -> None:
        lines = [
            notes.why(self.message),
            *(tr("{name}: {value}", name=f.name, value=f.value) for f in notes.details(self.message)),
        ]
        QGuiApplication.clipboard().setText("\n".join(line for line in lines if line))

    @Slot()
    def _ask(self) -> None:
        name, kind = QFileDialog.getSaveFileName(
            self, tr("Save figures"), str(Path.home() / "answer.csv"), tr("Table (*.csv);;Image (*.png)")
        )
        if name:
            path = Path(name)
            self.save(path if path.suffix else path.with_suffix(".png" if "png" in kind else ".csv"))


class DetailsPanels(QObject):
    """The details shown below answers, which keep their place as the page scrolls and grows.

    Any number at once. Those of messages that the page shows no more go by themselves. hidden: id of a message whose
    details are to be hidden.
    """

    hidden = Signal(object)

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page)
        self._page = page
        self._shown: list[tuple[MessageItem, AnswerDetails]] = []

    def toggle(self, item: MessageItem) -> None:
        """Show the details of an answer and scroll them into sight, or hide them again."""
        at = next((n for n, (known, _) in enumerate(self._shown) if known is item), -1)
        if at >= 0:
            self._drop(*self._shown.pop(at))
        else:
            made = AnswerDetails(item.message, self._page.viewport())
            made.hidden.connect(self.hidden)
            made.resized.connect(self._grown)
            self._shown.append((item, made))
            made.show()
        self._grown()
        if at < 0:
            self._bring(item)

    def measure(self, column: float) -> None:
        """Set the heights for a column of this width."""
        for item, details in self._shown:
            item.details_height = details.fit(round(column)) + _GAP

    def place(self) -> None:
        """Move the panels to where the page has scrolled to."""
        if not self._shown:
            return
        there = {id(item): number for number, item in enumerate(self._page.items)}
        for gone in [pair for pair in self._shown if id(pair[0]) not in there]:
            self._shown.remove(gone)
            self._drop(*gone)
        high = self._page.viewport().height()
        for item, details in self._shown:
            origin = self._page.origin(there[id(item)])
            top = round(origin.y() + item.height - item.details_height)
            details.move(round(origin.x()), top)
            seen = -details.height() < top < high
            details.setVisible(seen or _has_focus(details))

    @Slot()
    def _grown(self) -> None:
        self.measure(self._page.layout_.column)
        self._page.layout_.reflow(self._page.layout_.column)
        self._page.arrange()

    def _bring(self, item: MessageItem) -> None:
        """Scroll so far that all of it is in sight, and the line above it in any case."""
        page = self._page
        bar = page.verticalScrollBar()
        bottom = page.origin(page.items.index(item)).y() + item.height
        beyond = bottom - page.viewport().height()
        above = bottom - item.details_height - foot_height()
        bar.setValue(bar.value() + max(0, round(min(beyond, above))))

    def _drop(self, item: MessageItem, details: AnswerDetails) -> None:
        item.details_height = 0.0
        if _has_focus(details):
            self._page.setFocus()
        details.hide()
        details.deleteLater()


def _has_focus(widget: QWidget) -> bool:
    """Whether it, or something in it, has the focus."""
    now = QApplication.focusWidget()
    return now is not None and (now is widget or widget.isAncestorOf(now))
