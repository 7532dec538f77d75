"""Attachments of the message that is being written, and dialogs that show what a model reads of attached files."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QObject, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app import backend
from app.attachments.dialog import AttachmentDialog
from app.attachments.reading import read
from app.backend import Models
from app.chat.conversation import Conversation
from app.chat.image_support import refusal
from app.chat.prompt_messages import with_attachments
from app.composer import Composer
from app.i18n.translate import plural, problem, tr
from app.images.reading import MOST, image_reader, is_image_file, pasted_image, read_image
from app.platform.main_thread import MainThreadQueue
from app.shell import Shell
from app.storage.records import Attachment
from app.theme.theme import Theme
from app.widgets.messages import Banners
from engine import protocol, regular_file

_SHARE = 0.5  # of the context; what takes more leaves no room for a talk about it
_PATTERNS = "*.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff"


class AttachmentController(QObject):
    """Controller of a composer's attachments: files chosen, dropped or pasted, read on a thread of their own.

    too_long: list[Path] of folders, and of files that the model could not read whole; they are to be indexed.
    """

    too_long = Signal(object)

    def __init__(
        self, composer: Composer, banners: Banners, main_queue: MainThreadQueue, conversation: Conversation,
        known: Models,
    ) -> None:  # fmt: skip
        super().__init__(composer)
        self._models = known
        self._conversation = conversation
        self._composer = composer
        self._banners = banners
        self._main_queue = main_queue
        self._about_model = False  # that banner is about the model that answers
        self._shown = ""  # by the banner about what was not attached, until the message is sent or left
        self._folder = QDir.homePath()  # that files were last chosen in
        self._paths: list[tuple[Attachment, Path]] = []  # of what is attached
        composer.attach.clicked.connect(self.choose)
        composer.files.connect(self.take_files)
        composer.image.connect(self.take_image)
        composer.may_send = self.may_send
        composer.long_text.connect(self.take_text)
        composer.attached.removed.connect(self.remove)
        composer.sent.connect(self.forget)
        known.changed.connect(self._model_changed)

    @Slot()
    def choose(self) -> None:
        """Open the file dialog and attach what is chosen."""
        names, _ = QFileDialog.getOpenFileNames(
            self._composer, tr("Attach files"), self._folder,
            tr("All files (*)") + ";;" + tr("Images ({patterns})", patterns=_PATTERNS),
        )  # fmt: skip
        if names:
            self._folder = str(Path(names[0]).parent)
        self.take_files([Path(n) for n in names])

    @Slot(object)
    def take_files(self, paths: Sequence[Path]) -> None:
        """Read files and attach them."""
        if paths:
            read = partial(self._read, list(paths), self._conversation.chat_id, refusal(self._models))
            threading.Thread(target=read, name="attachments", daemon=True).start()

    @Slot(object)
    def take_image(self, image: QImage) -> None:
        """Attach an image that was pasted."""
        why = refusal(self._models)
        if why is not None:
            self._show_refused([why])
            self._about_model = True
            return
        names = {a.name for a in self._composer.attachments}
        name = next(n for i in range(1, len(names) + 2) if (n := tr("Pasted image {number}", number=i)) not in names)
        read = partial(self._read_image, image, name, self._conversation.chat_id)
        threading.Thread(target=read, name="attachments", daemon=True).start()

    def may_send(self, files: Sequence[Attachment]) -> bool:
        """Whether a message with these can be sent; where the model reads no images, a banner says so."""
        why = refusal(self._models) if any(file.image for file in files) else None
        if why is not None:
            self._show_refused([why])
            self._about_model = True
        return why is None

    @Slot()
    def _model_changed(self) -> None:
        if self._about_model and refusal(self._models) is None:
            self.forget()

    @Slot(str)
    def take_text(self, text: str) -> None:
        """Attach a long text that was pasted."""
        names = {a.name for a in self._composer.attachments}
        name = next(n for i in range(1, len(names) + 2) if (n := tr("Pasted text {number}", number=i)) not in names)
        self._attach([Attachment(name, text)])

    @Slot(int)
    def remove(self, number: int) -> None:
        """Remove an attachment."""
        now = self._composer.attachments
        self._composer.set_attachments(now[:number] + now[number + 1 :])

    @Slot(object, int)
    def index_long(self, tokens: Sequence[int], context: int) -> None:
        """Have those indexed instead that would take most of the context. tokens: of each attachment."""
        attached = self._composer.attachments
        known = {id(attachment): path for attachment, path in self._paths}
        long = [a for a, n in zip(attached, tokens) if n > _SHARE * context and id(a) in known]
        if long:
            self._composer.set_attachments([a for a in attached if all(a is not other for other in long)])
            self.too_long.emit([known[id(a)] for a in long])

    def _read(self, paths: list[Path], chat_id: int, blind: protocol.UnderhillError | None) -> None:
        """Runs on a thread of its own. blind: why no images can be attached."""
        found: list[tuple[Attachment, Path]] = []
        long: list[Path] = []
        refused: list[protocol.UnderhillError] = []
        with image_reader() as reader:
            for path in paths:
                try:
                    if os.path.isdir(path):
                        long.append(path)
                    elif not is_image_file(path):
                        found.append((read(path), path))
                    elif blind is None:
                        found.append((read_image(path, reader), path))
                    elif blind not in refused:
                        refused.append(blind)
                except protocol.UnderhillError as error:
                    if isinstance(error.__cause__, regular_file.FileTooLarge):
                        long.append(path)
                    else:
                        refused.append(error)
        self._main_queue.post(self._finished, chat_id, found, long, refused)

    def _read_image(self, image: QImage, name: str, chat_id: int) -> None:
        """Runs on a thread of its own."""
        try:
            found, refused = [(pasted_image(image, name), Path(name))], []
        except protocol.UnderhillError as error:
            found, refused = [], [error]
        self._main_queue.post(self._finished, chat_id, found, [], refused)

    def _finished(
        self, chat_id: int, found: list[tuple[Attachment, Path]], long: list[Path],
        refused: list[protocol.UnderhillError],
    ) -> None:  # fmt: skip
        if self._conversation.chat_id == chat_id:
            found, too_many = self._within_limit(found)
            refused = refused + too_many
            self._paths = [(a, path) for a, path in self._paths if a in self._composer.attachments] + found
            self._attach([attachment for attachment, _ in found])
            if long:
                self.too_long.emit(long)
        else:
            refused = [_too_late(path.name) for _, path in found] + [_too_late(path.name) for path in long] + refused
        self._show_refused(refused)

    def _within_limit(
        self, found: list[tuple[Attachment, Path]]
    ) -> tuple[list[tuple[Attachment, Path]], list[protocol.UnderhillError]]:
        """Without the images that are too many for one message, and what to say of those."""
        space = MOST - sum(1 for file in self._composer.attachments if file.image)
        over = [file for file, _ in found if file.image][max(0, space) :]
        if not over:
            return found, []
        sentence = plural("1 image not attached", "%n images not attached", len(over))
        why = problem(protocol.Kind.BAD_REQUEST, sentence, tr("A message can have {count} images.", count=MOST))
        return [pair for pair in found if all(pair[0] is not file for file in over)], [why]

    def _attach(self, found: list[Attachment]) -> None:
        self._composer.set_attachments((*self._composer.attachments, *found))
        self._composer.edit.setFocus()

    @Slot()
    def forget(self) -> None:
        """Withdraw the banner about files that were not attached."""
        self._banners.withdraw(self._shown)
        self._shown, self._about_model = "", False

    def _show_refused(self, refused: list[protocol.UnderhillError]) -> None:
        """Show in one banner what was not attached this time, instead of the time before."""
        self.forget()
        if not refused:
            return
        sentence, action = str(refused[0].sentence), str(refused[0].action)
        if len(refused) > 1:
            sentence = plural("1 file not attached", "%n files not attached", len(refused))
            action = "\n".join(error.sentence for error in refused)
        cause = "\n".join(f"{type(e.__cause__).__name__}: {e.__cause__}" for e in refused if e.__cause__ is not None)
        self._shown = sentence
        self._banners.show_banner("warning", sentence, action, cause)


def _too_late(name: str) -> protocol.UnderhillError:
    return problem(
        protocol.Kind.BAD_REQUEST, tr("{file} wasn't attached because you switched chats.", file=name),
        tr("Attach it again."),
    )  # fmt: skip


class AttachmentReader(QObject):
    """Opens dialogs to read what is attached, to the draft or to a message; any number at once."""

    def __init__(self, shell: Shell, theme: Theme, conversation: Conversation, known: Models) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._conversation, self._models = shell, theme, conversation, known
        self._readers: list[AttachmentDialog] = []
        shell.composer.attached.pressed.connect(self.show_drafted)
        shell.transcript.message_actions.files.connect(self.show_sent)
        shell.transcript.message_actions.image.connect(self.show_image)

    @Slot(int)
    def show_drafted(self, number: int) -> None:
        """Open what is attached to the message that is being written, at this one."""
        self.open(self._shell.composer.attachments, number)

    @Slot(object)
    def show_sent(self, message_id: int) -> None:
        """Open what is attached to a message."""
        at = self._conversation.index(message_id)
        if at >= 0 and self._conversation.messages[at].attachments:
            self.open(self._conversation.messages[at].attachments, 0)

    @Slot(object, object)
    def show_image(self, message_id: int, image: Attachment) -> None:
        """Open what is attached to a message, at an image."""
        at = self._conversation.index(message_id)
        files = self._conversation.messages[at].attachments if at >= 0 else ()
        if image in files:
            self.open(files, files.index(image))

    def open(self, files: Sequence[Attachment], number: int) -> AttachmentDialog:
        """Open a dialog for these files, at one of them."""
        reader = AttachmentDialog(self._theme, files, self._shell)
        self._readers.append(reader)
        reader.shown.connect(partial(self._count, reader))
        reader.finished.connect(partial(self._closed, reader))
        reader.show_file(number)
        reader.show()
        return reader

    def _closed(self, reader: AttachmentDialog, _: int) -> None:
        self._readers.remove(reader)

    def _count(self, reader: AttachmentDialog, file: Attachment) -> None:
        if self._models.state != backend.READY:
            return

        def done(count: protocol.TokenCount) -> None:
            if reader in self._readers and reader.file is file:
                reader.show_tokens(count.tokens[0])

        text = with_attachments("", (file,))
        self._models.link.request(done, lambda failed: None, protocol.CountTokens, (text,))
