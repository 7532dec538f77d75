"""Finds words in the open chat, and selects in an opened chat what a search over all chats found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.shell import Shell
from app.transcript.finder import Finder


class FindController(QObject):
    """Serves the strip above the conversation."""

    def __init__(self, shell: Shell, conversation: Conversation) -> None:
        super().__init__(shell)
        self._shell, self._bar = shell, shell.find_bar
        self._finder = Finder(shell.transcript)
        self._wanted: tuple[int, Sequence[str]] | None = None  # a message that is being opened, and the words in it
        self._bar.typed.connect(self._look_for)
        self._bar.stepped.connect(self._step)
        self._bar.closed.connect(self.close)
        conversation.opened.connect(self._opened)
        for changed in (conversation.added, conversation.finished, conversation.removed, conversation.replaced):
            changed.connect(self._changed)

    @Slot()
    def open(self) -> None:
        """Show the strip; what is selected is looked for."""
        view = self._shell.transcript
        if self._shell.pages.currentWidget() is not view:
            return
        selected = view.selection.text(view.items, view.make, False)
        if selected and "\n" not in selected:
            self._bar.edit.setText(selected)
        self._bar.show()
        self._bar.edit.setFocus()
        self._bar.edit.selectAll()

    @Slot()
    def close(self) -> bool:
        """Hide the strip; False where there was none."""
        if self._bar.isHidden():
            return False
        self._bar.hide()
        self._finder.look_for(())
        self._shell.transcript.setFocus()
        return True

    def want(self, message_id: int, words: Sequence[str]) -> None:
        """When the chat that has this message is open, select the words in it."""
        self._wanted = message_id, words

    @Slot(str)
    def _look_for(self, text: str) -> None:
        self._finder.look_for([text] if text else [])
        self._finder.start()
        self._tell()

    @Slot(int)
    def _step(self, by: int) -> None:
        self._finder.step(by)
        self._tell()

    @Slot()
    def _opened(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._bar.hide()
        self._finder.look_for(wanted[1] if wanted is not None else ())
        if wanted is not None:
            self._finder.show(wanted[0])

    @Slot()
    def _changed(self) -> None:
        """Messages came, went or ended: the next step shall know of them."""
        if not self._bar.isHidden() and self._bar.edit.text().strip():
            self._finder.look_for([self._bar.edit.text().strip()])
            self._tell()

    def _tell(self) -> None:
        self._bar.show_count(max(0, self._finder.at), len(self._finder.messages))
