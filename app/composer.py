"""The message that is being written: text field, attachments, queue, and a meter of the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QTextOption
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPlainTextEdit, QSizePolicy, QWidget

from app.i18n.translate import tr
from app.spelling.checker import SpellChecker
from app.spelling.marks import SpellingMarks
from app.spelling.menu import add_suggestions, wrong_word_at
from app.storage.records import Attachment, QueuedMessage
from app.theme import fonts, sizes
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_bar, make_label, make_timer, set_level, vbox
from app.widgets.buttons import Chip, Chips, ElidedLabel, IconButton
from app.widgets.menus import end_hover_with
from app.widgets.text import percent

WARN = 0.8  # of the context
LONG_PASTE = 6000  # characters; a longer text that is pasted becomes an attachment
_TALLEST = 220  # pixels; more text scrolls
_DRAFT_AFTER = 600  # milliseconds of rest before a draft is kept
_HELD = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class ContextMeter(QWidget):
    """A short text and a bar; hidden until something is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = ElidedLabel(self)
        self.label.setObjectName("muted")
        self.label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.bar = make_bar(self, tr("Context used"))
        self.bar.setFixedWidth(64)
        self.bar.setRange(0, 1000)
        hbox(self.label, self.bar, parent=self, margins=0, spacing=8)
        self.hide()

    def show_usage(self, chat: int, draft: int, context: int) -> None:
        """Show the tokens of the chat and of the draft, of so many that the model sees at a time."""
        used = chat + draft
        share = used / context
        level = "full" if draft > context else "warning" if share >= WARN else "fine"
        self.bar.setValue(min(1000, round(1000 * share)))
        taken = (
            tr("Message too long")
            if draft > context
            else tr("Context full: oldest messages left out")
            if used > context
            else tr("Context {share} full", share=percent(share))
        )
        self.label.setMinimumWidth(1 if used > context else 0)  # what is long gives way where there is no room for it
        self.label.setText(tr("{draft} tokens  ·  {taken}", draft=f"{draft:,}", taken=taken) if draft else taken)
        if draft > context:
            tip = tr(
                "Message too long: the limit is {context} tokens.",
                context=f"{context:,}",
            )
        elif used > context:
            tip = tr(
                "{used} of {context} tokens. The oldest messages will be left out.",
                used=f"{used:,}", context=f"{context:,}",
            )  # fmt: skip
        else:
            tip = tr(
                "{used} of {context} tokens used",
                used=f"{used:,}", context=f"{context:,}",
            )  # fmt: skip
        for widget in (self, self.label, self.bar):
            widget.setToolTip(tip)
        self.label.setAccessibleDescription(tip)
        if self.property("level") != level:
            for part in (self, self.label, self.bar):
                set_level(part, level)
        self.show()


class DraftEdit(QPlainTextEdit):
    """Text field of the message. files: list[Path] dropped or pasted. long_text: pasted, too long for the field.

    image: QImage, dropped or pasted.
    """

    files = Signal(object)
    image = Signal(object)
    long_text = Signal(str)
    spelling: SpellChecker | None = None

    def check_spelling(self, checker: SpellChecker, theme: Theme) -> None:
        """Mark what is misspelled, from the first typed word on."""
        self.spelling = checker
        SpellingMarks(self, checker, theme)
        self.textChanged.connect(checker.start)

    def make_menu(self, at: QPoint) -> QMenu:
        """The context menu for a point of the field."""
        menu = self.createStandardContextMenu(at)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        end_hover_with(menu, self)
        wrong = wrong_word_at(self, at, self.spelling) if self.spelling is not None else None
        if wrong is not None and self.spelling is not None:
            add_suggestions(menu, wrong, self.spelling)
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.make_menu(event.pos()).popup(event.globalPos())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(local_files(source)) or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = local_files(source)
        if paths:
            self.files.emit(paths)
        elif is_image(source):
            self.image.emit(source.imageData())
        elif len(source.text()) > LONG_PASTE:
            self.long_text.emit(source.text())
        else:
            super().insertFromMimeData(source)


def local_files(source: QMimeData) -> list[Path]:
    """Local files among what is dropped or pasted."""
    return [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]


def is_image(source: QMimeData) -> bool:
    """Whether what is dropped or pasted is an image: office programs offer one of every text, too."""
    return source.hasImage() and not source.hasText()


class EditStrip(QFrame):
    """Line above the field while an earlier message is edited; hidden otherwise. ended: the edit is cancelled."""

    ended = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chip")
        self._theme = theme
        self._icon = QLabel(self)
        self._words = make_label("", self, wrap=True)
        cross = IconButton(theme, "close", tr("Cancel edit"), self, "Esc", size=15)
        cross.clicked.connect(self.ended)
        hbox(self._icon, (self._words, 1), cross, parent=self, margins=(10, 4, 4, 4), spacing=8)
        self._tint()
        theme.changed.connect(self._tint)
        self.hide()

    def show_for(self, question: bool) -> None:
        """Say what becomes of the edited question or answer."""
        self._words.setText(
            tr("Editing: sending creates a new version")
            if question
            else tr("Editing answer: Enter saves a new version")
        )
        self.show()

    @Slot()
    def _tint(self) -> None:
        self._icon.setPixmap(pixmap("edit", self._theme.palette.muted, fonts.pixels(15), self.devicePixelRatioF()))


class DropHint(QWidget):
    """Overlay on its parent while files are dragged over it; transparent to the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        label = make_label(tr("Drop files here to attach"), self, "drop", heading=1.15)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        vbox(label, parent=self, margins=20)
        self.hide()

    def cover(self) -> None:
        """Show it over all of the parent."""
        parent = self.parentWidget()
        assert parent is not None
        self.setGeometry(parent.rect())
        self.show()
        self.raise_()


class Composer(QFrame):
    """Field that grows with the text, keeps what is not sent and sends with Enter.

    sent, draft: text and attachments; draft comes after a rest. stopped: the answer is to end.
    """

    sent = Signal(str, object)
    stopped = Signal()
    draft = Signal(str, object)
    edit_last_requested = Signal()  # Up in an empty composer: the last question, to be edited
    queue_changed = Signal(object)  # tuple[QueuedMessage, ...]: the user took one out
    changed = Signal()  # text or attachments
    undo = Signal()  # where nothing typed is left to take back
    files = Signal(object)  # list[Path]: dropped or pasted
    image = Signal(object)  # QImage: dropped or pasted
    long_text = Signal(str)  # pasted

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.may_send: Callable[[Sequence[Attachment]], bool] = lambda files: True  # with these attached
        self._busy = False
        self._ready = False
        self._placeholder = ""
        self._last = ""  # text in the field, as it was when it changed last
        self.queue: tuple[QueuedMessage, ...] = ()
        self.attachments: tuple[Attachment, ...] = ()
        self._counts: tuple[int | None, ...] = ()  # tokens of each, where they are counted
        self.strip = EditStrip(theme, self)
        self.waiting = Chips(theme, tr("Queued messages"), tr("Remove"), self)
        self.waiting.pressed.connect(self._take_back)
        self.waiting.removed.connect(self._take_out)
        self.attached = Chips(theme, tr("Attachments"), tr("Remove file"), self)
        self.documents = Chips(theme, tr("Documents"), tr("Remove from chat"), self)
        self.edit = DraftEdit(self)
        self.edit.files.connect(self.files)
        self.edit.image.connect(self.image)
        self.edit.long_text.connect(self.long_text)
        self.edit.setObjectName("draft")
        self.edit.setAccessibleName(tr("Message"))
        self.edit.setPlaceholderText(tr("Send a message"))
        self.edit.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.edit.setTabChangesFocus(True)
        self.edit.document().setDocumentMargin(4)
        self.edit.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.edit.installEventFilter(self)
        self.edit.textChanged.connect(self._typed)
        self.button = IconButton(theme, "send", tr("Send"), self, "Enter", size=20)
        self.button.setObjectName("send")
        self.button.set_icon("send")
        sizes.set_square(self.button, 36)
        self.button.clicked.connect(self._pressed)
        self.attach = IconButton(theme, "attach", tr("Attach files"), self, "Ctrl+O")
        self.folder = IconButton(theme, "folder", tr("Attach folder"), self)
        self.style_button = IconButton(theme, "style", tr("Chat settings"), self, "Ctrl+P")
        self.tools = IconButton(theme, "tools", tr("Tools"), self)
        self.meter = ContextMeter(self)
        row = hbox(self.attach, self.folder, self.tools, self.style_button, ..., self.meter, 6, self.button, spacing=4)
        self.column = vbox(
            self.strip, self.waiting, self.documents, self.attached, self.edit, row, parent=self,
            margins=(10, 8, 8, 8), spacing=4,
        )  # fmt: skip
        self._rest = make_timer(self, _DRAFT_AFTER, self.save_draft)
        sizes.follow(self, Composer._fit)
        self._enable()

    def text(self) -> str:
        """Text in the field."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is typed; the cursor goes to the end."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def restore(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Put back what was not sent, before what has been typed and attached since."""
        self.set_text("\n\n".join(t for t in (text, self.text()) if t))
        self.set_attachments((*attachments, *self.attachments))
        self.save_draft()

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments."""
        counted = {id(file): count for file, count in zip(self.attachments, self._counts)}
        self.attachments = tuple(attachments)
        self.show_token_counts([counted.get(id(file)) for file in self.attachments])
        self._changed()

    def show_token_counts(self, tokens: Sequence[int | None]) -> None:
        """Show the attachments, each with its tokens; None: not counted yet."""
        if len(tokens) == len(self.attachments):
            self._counts = tuple(tokens)
            self.attached.fill([_chip(a, n) for a, n in zip(self.attachments, tokens)])

    def set_busy(self, busy: bool) -> None:
        """While an answer comes the button stops it, and what is sent waits."""
        if busy != self._busy:
            self._busy = busy
            self.button.set_icon("stop" if busy else "send")
            self.button.set_label(tr("Stop") if busy else tr("Send"), "Esc" if busy else "Enter")
            self._show_placeholder()
        self._enable()

    def set_ready(self, ready: bool, placeholder: str) -> None:
        """Set whether a model can answer. placeholder: what the empty field says."""
        self._ready = ready
        self._placeholder = placeholder
        self._show_placeholder()
        self._enable()

    def set_queue(self, queue: tuple[QueuedMessage, ...]) -> None:
        """Show which messages wait for the answer to end."""
        self.queue = queue
        comma = tr(", ", about="between the names of a list")
        self.waiting.fill([
            Chip(q.text or comma.join(a.name for a in q.attachments), tr("Queued. Click to edit."), "send",
                 None if q.text else next((a for a in q.attachments if a.image), None))
            for q in queue
        ])  # fmt: skip

    @Slot()
    def save_draft(self) -> None:
        """Emit the draft now."""
        self._rest.stop()
        self.draft.emit(self.text(), self.attachments)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent):
            set_level(self, event.gotFocus(), "focused")
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.send()
                return True
            if event.matches(QKeySequence.StandardKey.Undo) and not self.edit.document().isUndoAvailable():
                self.undo.emit()
                return True
            if event.key() == Qt.Key.Key_Up and not event.modifiers() & _HELD and not self.text():
                if self.queue:
                    self._take_back(len(self.queue) - 1)
                else:
                    self.edit_last_requested.emit()
                return True
        return super().eventFilter(watched, event)

    @Slot()
    def _pressed(self) -> None:
        if self._busy:
            self.stopped.emit()
        else:
            self.send()

    def send(self) -> None:
        """Send what is written and attached, if the model is ready."""
        text, attachments = self.text().strip(), self.attachments
        if (text or attachments) and self._ready and self.may_send(attachments):
            self.set_attachments(())
            self.edit.clear()
            self.sent.emit(text, attachments)
            self.save_draft()  # after it: on the disk, words are sent before they are typed no more

    @Slot(int)
    def _take_back(self, number: int) -> None:
        """Put a queued message back into the field to be changed."""
        queued = self.queue[number]
        self._take_out(number)
        self.restore(queued.text, queued.attachments)
        self.edit.setFocus()

    @Slot(int)
    def _take_out(self, number: int) -> None:
        self.queue_changed.emit(self.queue[:number] + self.queue[number + 1 :])

    @Slot()
    def _typed(self) -> None:
        if self.text() != self._last:  # marks of spelling, too, are told as changes
            self._last = self.text()
            self._changed()

    def _changed(self) -> None:
        self._fit()
        self._enable()
        self._rest.start()
        self.changed.emit()

    def _show_placeholder(self) -> None:
        text = tr("Send a message (queued until this answer ends)") if self._busy else self._placeholder
        self.edit.setPlaceholderText(text)
        self.edit.viewport().update()  # Qt repaints a placeholder only when it appears or disappears

    def _enable(self) -> None:
        some = bool(self.text().strip()) or bool(self.attachments)
        self.button.setEnabled(self._busy or (self._ready and some))

    def _fit(self) -> None:
        line = self.edit.fontMetrics().lineSpacing()
        lines = max(1.0, self.edit.document().size().height())
        self.edit.setFixedHeight(min(_TALLEST, max(36, round(lines * line) + 14)))

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()


def _chip(file: Attachment, tokens: int | None) -> Chip:
    """The chip of something attached. tokens: None where they are not counted yet."""
    if file.image:
        return Chip(file.name, tr("Click to view"), image=file)
    name = file.name if tokens is None else tr("{name}  ·  {count:,} tokens", name=file.name, count=tokens)
    return Chip(name, tr("Click to preview the text"), "attach")
