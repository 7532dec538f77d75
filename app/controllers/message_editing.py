"""Edits the open chat: edit and delete messages, regenerate, continue, versions, branches."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app import backend
from app.backend import Models
from app.chat.conversation import Conversation
from app.chat.prompt_messages import group_by_role, with_attachments
from app.controllers.chat_navigator import ChatNavigator
from app.i18n.translate import plural, tr
from app.shell import Shell
from app.storage.branches import DeletedMessages
from app.storage.records import Attachment, ScrollPosition, StoredMessage

Draft = tuple[str, tuple[Attachment, ...]]


class MessageEditing(QObject):
    """Handles the buttons under the messages. While a message is edited, it holds the draft from before."""

    def __init__(self, shell: Shell, conversation: Conversation, known: Models, navigator: ChatNavigator) -> None:
        super().__init__(shell)
        self._shell, self._conversation, self._models, self._navigator = shell, conversation, known, navigator
        self._edited: StoredMessage | None = None
        self._held: Draft = ("", ())
        actions, composer = shell.transcript.message_actions, shell.composer
        actions.regenerate.connect(self.regenerate)
        actions.edit.connect(self.edit)
        actions.step.connect(self.step)
        actions.continue_answer.connect(self.continue_answer)
        actions.branch.connect(self._branch)
        actions.delete_message.connect(self.delete_message)
        composer.edit_last_requested.connect(self.edit_last)
        composer.strip.ended.connect(self.cancel_edit)

    @property
    def editing(self) -> bool:
        """Whether a message of the chat is being edited in the composer."""
        return self._edited is not None

    @property
    def edited(self) -> int:
        """The id of that message; 0 for none."""
        return self._edited.id if self._edited is not None else 0

    # ---- editing a message ------------------------------------------------------------------------------------

    @Slot(object)
    def edit(self, message_id: int) -> None:
        """Put a message into the composer; sending a question, keeping an answer makes a new version."""
        at = self._conversation.index(message_id)
        if at < 0 or not self._idle():
            return
        message = self._conversation.messages[at]
        composer = self._shell.composer
        if not self.editing:
            composer.save_draft()
            self._held = composer.text(), composer.attachments
        self._edited = message
        composer.strip.show_for(message.role == "user")
        composer.set_text(message.content)
        composer.set_attachments(message.attachments)
        composer.edit.setFocus()

    @Slot()
    def edit_last(self) -> None:
        """Edit the last question."""
        last = next((m for m in reversed(self._conversation.messages) if m.role == "user"), None)
        if last is not None:
            self.edit(last.id)

    def edit_longest(self, question_id: int) -> None:
        """Edit the longest of the questions up to this one that the model reads as one."""
        messages = self._conversation.messages
        at = next((i for i, m in enumerate(messages) if m.id == question_id), len(messages) - 1)
        last = next(reversed(group_by_role(messages[: at + 1])), [])
        if last and last[0].role == "user":
            self.edit(max(last, key=lambda m: len(with_attachments(m.content, m.attachments))).id)

    @Slot()
    def cancel_edit(self) -> None:
        """End editing without a change; the draft from before comes back."""
        if self.editing:
            text, attachments = self._held
            self.forget()
            self._shell.composer.set_text(text)
            self._shell.composer.set_attachments(attachments)
            self._shell.composer.save_draft()

    def forget(self) -> None:
        """End editing, as the composer holds another text."""
        self._edited, self._held = None, ("", ())
        self._shell.composer.strip.hide()

    def send(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Send the edited message; while an answer runs it stays in the composer."""
        message = self._edited
        if message is None:
            return
        if not self._idle():
            self._shell.composer.restore(text, attachments)
            return
        if message.role == "assistant":
            self._held = self._held[0], (*self._held[1], *attachments)  # an answer has none: for the next question
            self.cancel_edit()
            self._navigator.leave()
            if text != message.content.strip():
                self._conversation.revise(message.id, text)
        else:
            self.cancel_edit()
            self._conversation.resend(message.id, text, attachments)

    def draft(self, text: str, attachments: tuple[Attachment, ...]) -> Draft:
        """The draft to save of a composer with this text: the draft from before, and the edited question."""
        if self._edited is None:
            return text, attachments
        before, files = self._held
        changed = text if text.strip() != self._edited.content.strip() else ""
        fresh = tuple(a for a in attachments if a not in self._edited.attachments)
        return "\n\n".join(t for t in (before, changed) if t), (*files, *fresh)

    # ---- answers ----------------------------------------------------------------------------------------------

    @Slot(object)
    def regenerate(self, message_id: int) -> None:
        """Generate another answer to the same question."""
        if not self._idle():
            return
        at = self._conversation.index(message_id)
        if at >= 0 and not self._conversation.asked(at):
            self._shell.toast.show_message(tr("Can't regenerate: the question was deleted"))
        else:
            self._conversation.regenerate(message_id)

    @Slot()
    def regenerate_last(self) -> None:
        """Generate another answer to the last question."""
        if self._conversation.messages and self._ready():
            self.regenerate(self._conversation.messages[-1].id)

    def regenerate_answer_to(self, question_id: int) -> None:
        """Generate another answer to this question, if it is on the page, or else to the last."""
        messages = self._conversation.messages
        answer = next((m for m in messages if m.parent_id == question_id and m.role == "assistant"), None)
        if answer is None and messages and messages[-1].tools:
            self.continue_answer(messages[-1].id)  # what the tools said is not lost
        elif answer is None:
            self.regenerate_last()
        elif self._ready():
            self.regenerate(answer.id)

    @Slot(object)
    def continue_answer(self, message_id: int) -> None:
        """Continue an answer that was cut."""
        if self._ready():
            self._conversation.continue_answer(message_id)

    @Slot()
    def continue_last(self) -> None:
        """Continue the last answer."""
        messages = self._conversation.messages
        if messages and messages[-1].unfinished:
            self.continue_answer(messages[-1].id)
        elif messages and self._ready():
            self._shell.toast.show_message(tr("Nothing to continue"))

    @Slot(object, int)
    def step(self, message_id: int, by: int) -> None:
        """Show the version before (-1) or after (1)."""
        if self._idle():
            self._conversation.switch_version(message_id, by)

    @Slot(object)
    def _branch(self, message_id: int) -> None:
        self._navigator.leave()
        self._conversation.branch(message_id)
        self._shell.composer.edit.setFocus()  # a chat that begins there is gone on with

    # ---- deleting ---------------------------------------------------------------------------------------------

    @Slot(object)
    def delete_message(self, message_id: int) -> None:
        """Delete a message; the toast offers Undo."""
        if not self._idle():
            return
        self.cancel_edit()
        messages = self._conversation.messages
        at = self._conversation.index(message_id)
        self._navigator.leave()
        place = self._shell.transcript.place()
        if place is not None and place.message_id == message_id and len(messages) > 1:
            self._conversation.keep_place(ScrollPosition(messages[at + 1 if at + 1 < len(messages) else at - 1].id, 0))
        self._conversation.delete_message(message_id, self._deleted)

    def _deleted(self, what: DeletedMessages) -> None:
        more = len(what.messages) - 1
        text = (
            plural("Version and 1 later message deleted",
                   "Version and %n later messages deleted", more)
            if more
            else tr("Message deleted")
        )  # fmt: skip
        self._shell.toast.show_message(text, tr("Undo"), lambda: self._conversation.restore_messages(what))

    def _ready(self) -> bool:
        return self._models.state == backend.READY

    def _idle(self) -> bool:
        """Whether no answer runs in this chat; otherwise a toast says so."""
        if self._conversation.busy:
            self._shell.toast.show_message(tr("Wait for the answer, or press Esc to stop it"))
        return not self._conversation.busy
