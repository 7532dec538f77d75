"""Reads an answer aloud, one at a time, and ends with the chat that it stands in."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.i18n.translate import tr
from app.shell import Shell
from app.speech.text import language_of, lines_to_read
from app.speech.voice import Voice


class ReadingAloud(QObject):
    """Connects the action of answers, and its key, with the system's voice. Without one the action is not shown."""

    def __init__(self, shell: Shell, conversation: Conversation, voice: Voice | None = None) -> None:
        super().__init__(shell)
        self._shell, self._conversation = shell, conversation
        self.voice = voice or Voice(self)
        self.voice.ended.connect(self._ended)
        self.message_id = 0  # of the answer that is being read; 0: none is
        shell.transcript.message_actions.read_aloud.connect(self.toggle)
        shell.transcript.message_actions.has_voice = self.voice.available
        conversation.opened.connect(self.stop)
        conversation.removed.connect(self._gone)
        conversation.replaced.connect(lambda message: self._gone(message.id))

    @Slot(object)
    def toggle(self, message_id: int) -> None:
        """Read an answer, in the place of another one, or stop where it is this one that is being read."""
        again = message_id == self.message_id
        found = next((m for m in self._conversation.messages if m.id == message_id), None)
        if again or found is None:
            self.stop()
            return
        lines = lines_to_read(found.content)
        if lines:
            self._set(message_id)
            self.voice.speak(lines, language_of(" ".join(lines)))

    @Slot()
    def toggle_last(self) -> None:
        """Stop reading, or read the last answer."""
        if not self.voice.available:
            self._shell.toast.show_message(tr("No voice found. Install speech-dispatcher."))
            return
        done = (m for m in reversed(self._conversation.messages) if m.role == "assistant" and m.content)
        last = next(done, None)
        if self.message_id or last is not None:
            self.toggle(self.message_id or (last.id if last is not None else 0))

    @Slot()
    def stop(self) -> None:
        """Stop reading."""
        self.voice.stop()

    def _set(self, message_id: int) -> None:
        self.message_id = message_id
        self._shell.transcript.message_actions.show_reading(message_id)

    @Slot(object)
    def _gone(self, message_id: int) -> None:
        if message_id == self.message_id:
            self.stop()

    @Slot(str)
    def _ended(self, why: str) -> None:
        self._set(0)
        if why:
            self._shell.toast.show_message(tr("Can't read aloud: {error}", error=why))
