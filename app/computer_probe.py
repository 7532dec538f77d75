"""The measuring of this computer, which steps aside for an answer."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.backend import EngineLink
from app.chat.conversation import Conversation
from app.i18n.translate import tr
from engine import protocol
from engine.translatable import translated


class ComputerProbe(QObject):
    """computer: what is known, None before. progress: while it runs. waiting: it has stepped aside for an answer."""

    changed = Signal()
    measured = Signal()

    def __init__(self, link: EngineLink, conversation: Conversation, parent: QObject) -> None:
        super().__init__(parent)
        self._link, self._conversation = link, conversation
        self.computer: protocol.Computer | None = None
        self.progress: protocol.Progress | None = None
        self.problem: protocol.Failed | None = None
        self.waiting = False
        self._again = False
        self._command = ""
        conversation.busy_changed.connect(self._busy_changed)

    @property
    def running(self) -> bool:
        """Whether a measurement runs, or waits for an answer to end."""
        return bool(self._command) or self.waiting

    def begin(self, again: bool = False) -> None:
        """Measure what is not known yet, or with `again` everything. A measurement that is under way goes on."""
        if not self.running:
            self._again, self.problem = again, None
            self._send()

    def _send(self) -> None:
        self._command, self.waiting = self._link.new_id(), False
        self.progress = protocol.Progress(id=self._command, text=translated(tr("Queued")))
        self._link.send(protocol.ProbeComputer(self._command, self._again), self._on_event)
        self.changed.emit()

    @Slot()
    def _busy_changed(self) -> None:
        if self._conversation.working and self._command and not self.waiting:
            self._link.stop(self._command)
            self.waiting = True
        elif not self._conversation.working and self.waiting and not self._command:
            self._send()

    def _on_event(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Progress):
            self.progress = event
        else:
            self._command, self.progress = "", None
            if isinstance(event, protocol.Done):
                self.computer, self.waiting = event.result, False
                self.measured.emit()
            elif isinstance(event, protocol.Failed):
                self.problem, self.waiting = event, False
            elif self.waiting and not self._conversation.working:  # the answer was the shorter of the two
                self._send()
        self.changed.emit()
