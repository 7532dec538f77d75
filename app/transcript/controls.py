"""Widgets on top of the conversation: buttons of the current message, its focus marker, the button to the end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.i18n.translate import tr
from app.storage.records import StoredMessage
from app.theme import sizes
from app.theme.theme import Theme
from app.transcript.layout import BUTTON, button_column
from app.widgets.builders import hbox, make_label
from app.widgets.buttons import IconButton

_MARKER_WIDTH = 3  # pixels
_MARKER_GAP = 13  # pixels between the marker and the text
_BELOW = 12  # pixels between the button to the end and the foot of the page


class MessageActions(QFrame):
    """Bar of buttons, real widgets for keyboard and screen readers, at the foot of the current message.

    Signals carry that message's id; `step` also -1 for the version before or 1 for the one after.
    """

    copy = Signal(object)
    regenerate = Signal(object)
    edit = Signal(object)
    continue_answer = Signal(object)
    branch = Signal(object)
    delete_message = Signal(object)
    thought = Signal(object)  # show or hide it
    details = Signal(object)
    files = Signal(object)  # read what is attached
    step = Signal(object, int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("actions")
        self._theme = theme
        self._message: StoredMessage | None = None
        self._row = hbox(parent=self, margins=0, spacing=0)
        self._before = self._add("chevron-left", tr("Version before"), lambda i: self.step.emit(i, -1))
        self._which = make_label("", self, "muted")
        self._row.addWidget(self._which)
        self._after = self._add("chevron-right", tr("Version after"), lambda i: self.step.emit(i, 1))
        self._thought = self._add("thought", tr("Show the thought"), self.thought.emit, "Ctrl+T")
        self._details = self._add("info", tr("How this answer was made"), self.details.emit, "Ctrl+I")
        self._continue = self._add("go-on", tr("Go on from its end"), self.continue_answer.emit, "Ctrl+Shift+R")
        self._files = self._add("attach", tr("Read what is attached"), self.files.emit)
        self._copy = self._add("copy", tr("Copy message"), self.copy.emit, "Ctrl+Shift+C")
        self._edit = self._add("edit", tr("Edit and send again"), self.edit.emit)
        self._regenerate = self._add("refresh", tr("Answer again"), self.regenerate.emit, "Ctrl+R")
        self._add("branch", tr("New chat from here"), self.branch.emit)
        self._add("trash", tr("Delete message"), self.delete_message.emit)
        self.hide()

    def _add(self, icon: str, label: str, act: Callable[[int], object], shortcut: str = "") -> IconButton:
        button = IconButton(self._theme, icon, label, self, shortcut, size=15)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # by mouse the page takes the focus, and keys scroll it
        button.clicked.connect(lambda: act(self._message.id) if self._message is not None else None)
        self._row.addWidget(button)
        return button

    def show_for(self, message: StoredMessage, *, last: bool, thought: bool, folded: bool) -> None:
        """Fit the buttons to this message. last: nothing follows it, so that a question, too, can be answered again.

        thought: the model thought first; folded: that is not shown.
        """
        self._message = message
        self._thought.setVisible(thought)
        self._thought.set_label(tr("Show the thought") if folded else tr("Hide the thought"), "Ctrl+T")
        self._details.setVisible(bool(message.stats))
        self._files.setVisible(bool(message.attachments))
        for widget in (self._before, self._which, self._after):
            widget.setVisible(message.versions > 1)
        self._before.setEnabled(message.version > 1)
        self._after.setEnabled(message.version < message.versions)
        self._which.setText(f"{message.version}/{message.versions}")
        mine = message.role == "user"
        self._edit.set_label(tr("Edit and send again") if mine else tr("Edit this answer"))
        self._regenerate.setVisible(message.role == "assistant" or last)
        self._continue.setVisible(message.unfinished and last)
        self.adjustSize()
        self.show()

    def show_copied(self, done: bool) -> None:
        """Show a tick instead of the copy icon, or the icon again."""
        self._copy.set_icon("check" if done else "copy")


class FocusMarker(QFrame):
    """Line beside the current message while the keyboard is in the conversation: it is what the keys are about.

    Hidden for those who click: they see the message's buttons under the pointer.
    """

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__(view.viewport())
        self._keys = False  # the keyboard came by keys, or they were used since
        self._place = QRect()
        self.setObjectName("mark")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        view.installEventFilter(self)

    def place(self, left: float, top: float, height: float) -> None:
        """Place it beside a text that begins there; height 0: there is none."""
        self._place = QRect(round(left) - _MARKER_GAP, round(top), _MARKER_WIDTH, round(height))
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            assert isinstance(event, QFocusEvent)
            self._keys = event.reason() != Qt.FocusReason.MouseFocusReason
        elif event.type() == QEvent.Type.KeyPress:
            self._keys = True
        elif event.type() == QEvent.Type.FocusOut:
            assert isinstance(event, QFocusEvent)
            self._keys &= event.reason() == Qt.FocusReason.PopupFocusReason  # its menu is about it
        else:
            return False
        self._show()
        return False

    def _show(self) -> None:
        self.setGeometry(self._place)
        self.setVisible(self._keys and self._place.height() > 0)


class ScrollToEndButton(IconButton):
    """Round button back to the end of a conversation, shown while the page is away from it; it covers no text."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea) -> None:
        super().__init__(theme, "chevron-down", tr("Go to the end"), view, "End")
        self._view = view
        self.setObjectName("latest")
        sizes.set_square(self, BUTTON)
        self.hide()

    def show_for(self, away: bool) -> None:
        """Show it where the end is far from what is in sight."""
        if away and self.isHidden():
            self.raise_()
        self.setVisible(away)

    def place(self) -> None:
        """Move it to the foot of the page, behind the column of text."""
        page, side = self._view.viewport().geometry(), self.width()
        self.move(round(page.right() + 1 - (button_column() + side) / 2), page.bottom() + 1 - side - _BELOW)
