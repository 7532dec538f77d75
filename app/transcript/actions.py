"""The buttons at the foot of a message: real widgets, so that keyboard and screen readers reach them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from app.chats.records import StoredMessage
from app.i18n.translate import tr
from app.theme.theme import Theme
from app.widgets.icon_button import IconButton


class MessageActions(QFrame):
    """One bar, moved to the message that is looked at. Signals bear that message's id."""

    copy = Signal(object)
    again = Signal(object)
    edit = Signal(object)
    go_on = Signal(object)
    branch = Signal(object)
    erase = Signal(object)
    thought = Signal(object)  # show or hide it
    details = Signal(object)
    files = Signal(object)  # read what is attached
    step = Signal(object, int)  # to the version before (-1) or after (+1)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("actions")
        self._message: StoredMessage | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._before = IconButton(theme, "chevron-left", tr("Version before"), self, size=15)
        self._which = QLabel(self)
        self._which.setObjectName("muted")
        self._after = IconButton(theme, "chevron-right", tr("Version after"), self, size=15)
        self._files = IconButton(theme, "attach", tr("Read what is attached"), self, size=15)
        self._copy = IconButton(theme, "copy", tr("Copy message"), self, "Ctrl+Shift+C", size=15)
        self._edit = IconButton(theme, "edit", tr("Edit and send again"), self, size=15)
        self._again = IconButton(theme, "refresh", tr("Answer again"), self, "Ctrl+R", size=15)
        self._go_on = IconButton(theme, "go-on", tr("Go on from its end"), self, "Ctrl+Shift+R", size=15)
        self._branch = IconButton(theme, "branch", tr("New chat from here"), self, size=15)
        self._erase = IconButton(theme, "trash", tr("Delete message"), self, size=15)
        self._thought = IconButton(theme, "thought", tr("Show the thought"), self, "Ctrl+T", size=15)
        self._details = IconButton(theme, "info", tr("How this answer was made"), self, "Ctrl+I", size=15)
        for widget in (
            self._before, self._which, self._after, self._thought, self._details, self._go_on, self._files, self._copy,
            self._edit, self._again, self._branch, self._erase,
        ):  # fmt: skip
            row.addWidget(widget)
        for button in self.findChildren(IconButton):  # by mouse the page takes the focus, and keys scroll it
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._before.clicked.connect(self._step_back)
        self._after.clicked.connect(self._step_on)
        self._files.clicked.connect(self._read)
        self._copy.clicked.connect(self._copied)
        self._edit.clicked.connect(self._edited)
        self._again.clicked.connect(self._repeated)
        self._go_on.clicked.connect(self._continued)
        self._branch.clicked.connect(self._branched)
        self._erase.clicked.connect(self._erased)
        self._thought.clicked.connect(self._unfolded)
        self._details.clicked.connect(self._detailed)
        self.hide()

    def show_for(self, message: StoredMessage, last: bool, thought: bool, folded: bool) -> None:
        """Fit the buttons to this message. last: nothing follows it, so that a question, too, can be answered again.

        thought: the model thought first; folded: that is not shown.
        """
        self._message = message
        self._thought.setVisible(thought)
        self._thought.set_label(tr("Show the thought") if folded else tr("Hide the thought"), "Ctrl+T")
        self._details.setVisible(bool(message.stats))
        self._files.setVisible(bool(message.attachments))
        several = message.versions > 1
        self._before.setVisible(several)
        self._after.setVisible(several)
        self._which.setVisible(several)
        self._before.setEnabled(message.version > 1)
        self._after.setEnabled(message.version < message.versions)
        self._which.setText(f"{message.version}/{message.versions}")
        mine = message.role == "user"
        self._edit.set_label(tr("Edit and send again") if mine else tr("Edit this answer"))
        self._again.setVisible(message.role == "assistant" or last)
        self._go_on.setVisible(message.unfinished and last)
        self.adjustSize()
        self.show()

    def show_copied(self, done: bool) -> None:
        """A tick for a moment after copying."""
        self._copy.set_icon("check" if done else "copy")

    @Slot()
    def _read(self) -> None:
        if self._message is not None:
            self.files.emit(self._message.id)

    @Slot()
    def _copied(self) -> None:
        if self._message is not None:
            self.copy.emit(self._message.id)

    @Slot()
    def _edited(self) -> None:
        if self._message is not None:
            self.edit.emit(self._message.id)

    @Slot()
    def _repeated(self) -> None:
        if self._message is not None:
            self.again.emit(self._message.id)

    @Slot()
    def _unfolded(self) -> None:
        if self._message is not None:
            self.thought.emit(self._message.id)

    @Slot()
    def _detailed(self) -> None:
        if self._message is not None:
            self.details.emit(self._message.id)

    @Slot()
    def _continued(self) -> None:
        if self._message is not None:
            self.go_on.emit(self._message.id)

    @Slot()
    def _branched(self) -> None:
        if self._message is not None:
            self.branch.emit(self._message.id)

    @Slot()
    def _erased(self) -> None:
        if self._message is not None:
            self.erase.emit(self._message.id)

    @Slot()
    def _step_back(self) -> None:
        if self._message is not None:
            self.step.emit(self._message.id, -1)

    @Slot()
    def _step_on(self) -> None:
        if self._message is not None:
            self.step.emit(self._message.id, 1)
