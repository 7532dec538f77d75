"""Connects the open chat with the page: shows what comes of answers, sends and keeps what is typed."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.chat.prompt_messages import first_read_message
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.message_editing import MessageEditing
from app.i18n.translate import tr
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.storage.records import Attachment, Chat, StoredMessage
from app.storage.store import ChatStore
from engine import protocol


class ChatController(QObject):
    """Connects transcript, composer, welcome page and header with the conversation."""

    def __init__(
        self, shell: Shell, database: DatabaseThread, conversation: Conversation, *, preferences: Preferences,
        state: WindowState, navigator: ChatNavigator, editing: MessageEditing,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._shell, self._database, self._conversation = shell, database, conversation
        self._preferences, self._state, self._navigator, self._editing = preferences, state, navigator, editing
        c, transcript, composer = conversation, shell.transcript, shell.composer
        c.opened.connect(self._opened)
        c.added.connect(self._added)
        c.text_added.connect(transcript.extend)
        c.sources_found.connect(transcript.show_sources)
        c.answers.steps_changed.connect(transcript.show_steps)
        c.answers.step_text_added.connect(transcript.add_step_text)
        c.tool_calls.changed.connect(transcript.show_tools)
        transcript.tools.decided.connect(c.tool_calls.decide)
        c.finished.connect(transcript.finish)
        c.finished.connect(lambda _: transcript.mark_start(first_read_message(c.messages)))
        c.removed.connect(transcript.remove)
        c.replaced.connect(transcript.replace)
        c.queue_changed.connect(composer.set_queue)
        c.busy_changed.connect(self._busy_changed)
        c.returned.connect(composer.restore)
        c.failed.connect(self._answer_failed)
        composer.sent.connect(self._send)
        composer.stopped.connect(c.stop)
        composer.draft.connect(self._keep_draft)
        composer.queue_changed.connect(c.set_queue)
        composer.undo.connect(shell.toast.undo)
        shell.welcome.example_chosen.connect(self._send)
        shell.sidebar.button.clicked.connect(navigator.new_chat)
        shell.sidebar.opened.connect(navigator.open_chat)
        shell.sidebar.model.renamed.connect(c.rename)
        shell.header.thinking.level_chosen.connect(self._set_thinking)

    def restore(self) -> None:
        """Open the last chat and its draft at the start, and restore the sampling settings."""
        p, c = self._preferences, self._conversation
        c.sampling = dict(p.sampling)
        self._shell.header.thinking.set_level(p.thinking)
        c.thinking = p.thinking
        self._database.submit(ChatStore.empty_expired_trash)
        c.chats_changed.emit()
        self._database.submit(ChatStore.draft_attachments, self._attach_again)
        self._database.submit(partial(ChatStore.chat, chat_id=p.chat), partial(self._reopen, p.draft))
        c.new()
        self._shell.composer.edit.setFocus()

    def _reopen(self, draft: str, last: Chat | None) -> None:
        """Open the last chat, unless the user has typed or opened one since. draft: of the new chat at the start."""
        if last is not None and self._conversation.chat is None and self._shell.composer.text() == draft:
            self._conversation.open(last)

    def _attach_again(self, files: tuple[Attachment, ...]) -> None:
        """Restore the attachments of the draft of a chat without a message."""
        c, composer = self._conversation, self._shell.composer
        c.new_attached = (*files, *c.new_attached)
        if files and c.chat is None:
            composer.set_attachments((*files, *composer.attachments))

    @Slot(object, object)
    def _opened(self, chat: Chat | None, messages: list[StoredMessage]) -> None:
        shell, transcript, composer = self._shell, self._shell.transcript, self._shell.composer
        same = chat is not None and chat.id == self._preferences.chat  # another branch of it
        if same:
            self._editing.cancel_edit()
        else:
            self._editing.forget()
        shell.pages.setCurrentWidget(transcript if messages else shell.welcome)  # first: it has its true width then
        transcript.set_messages(messages)
        transcript.mark_start(first_read_message(messages))
        if chat is not None and chat.place is not None:
            transcript.go_to(chat.place)
        if not same:  # otherwise the draft stays
            composer.set_text(chat.draft if chat is not None else self._preferences.draft)
            composer.set_attachments(chat.attached if chat is not None else self._conversation.new_attached)
        chat_id = chat.id if chat is not None else 0
        shell.sidebar.mark(chat_id)
        shell.setWindowTitle(f"{chat.title} – Underhill" if chat is not None and chat.title else "Underhill")
        self._state.keep_open(chat_id)
        self._navigator.run_waiting(chat_id)

    @Slot(object)
    def _added(self, messages: tuple[StoredMessage, ...]) -> None:
        self._shell.pages.setCurrentWidget(self._shell.transcript)
        self._shell.transcript.add(*messages)
        self._navigator.position_timer.start()
        self._state.keep_open(self._conversation.chat_id)

    @Slot(str, object)
    def _keep_draft(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Save the draft: with its chat, or with the window's preferences before there is one."""
        text, attachments = self._editing.draft(text, attachments)
        self._conversation.keep_attached(attachments)
        if self._conversation.chat is not None:
            self._conversation.keep_draft(text)
        else:
            self._state.keep_draft(text)

    @Slot(str, object)
    def _send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        if self._editing.editing:
            self._editing.send(text, attachments)
        else:
            new = self._conversation.chat is None
            self._conversation.send(text, attachments)
            if new:
                self._state.keep_draft("")

    @Slot()
    def copy_last(self) -> None:
        """Copy the last answer."""
        last = next((m for m in reversed(self._conversation.messages) if m.role == "assistant"), None)
        if last is not None:
            self._shell.transcript.copy_message(last.id)

    @Slot(object, object)
    def _answer_failed(self, event: protocol.Failed, chat_id: int) -> None:
        question = self._conversation.unanswered
        words, action = tr("Try again"), partial(self._editing.regenerate_answer_to, question)
        if event.kind is protocol.Kind.CONTEXT_FULL:  # it would be so again
            words, action = tr("Shorten message"), partial(self._editing.edit_longest, question)
        self._shell.show_failure(event, (words, partial(self._navigator.run_in, chat_id, action)))

    @Slot()
    def _busy_changed(self) -> None:
        self._shell.composer.set_busy(self._conversation.busy)
        self._shell.header.show_answering(self._conversation.working)

    @Slot(str)
    def _set_thinking(self, level: str) -> None:
        self._conversation.thinking = self._preferences.thinking = level
