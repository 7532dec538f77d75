"""Opens the window of recordings and connects it to the engine."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Slot

from app.backend import Models
from app.i18n.translate import sentences, tr
from app.platform import files
from app.recordings.dialog import RecordingsDialog
from app.shell import Shell
from app.theme.theme import Theme
from app.widgets.builders import confirm, raise_window
from engine import protocol

_OFTEN = 1000  # milliseconds between two looks at the recording under way


class RecordingsController(QObject):
    """One window at most, beside the chat, which goes on."""

    def __init__(self, shell: Shell, theme: Theme, known: Models) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._models = shell, theme, known
        self._dialog: RecordingsDialog | None = None
        self._replay = ""  # id of the command that replays
        self._timer = QTimer(self, interval=_OFTEN)
        self._timer.timeout.connect(self._refresh)
        known.link.started.connect(self._refresh)  # another engine records nothing yet

    @Slot()
    def open(self) -> RecordingsDialog:
        """Open the window, or raise it."""
        if self._dialog is not None:
            raise_window(self._dialog)
            return self._dialog
        dialog = self._dialog = RecordingsDialog(self._theme, self._shell)
        dialog.finished.connect(self._closed)
        dialog.record_toggled.connect(self._record)
        dialog.chosen.connect(self._show)
        dialog.delete_requested.connect(self._ask_to_delete)
        dialog.folder_requested.connect(self._show_folder)
        dialog.replay.replay_requested.connect(self._begin_replay)
        dialog.replay.stopped.connect(self._stop_replay)
        dialog.timeline.pass_requested.connect(self._read_pass)
        self._refresh()
        self._timer.start()
        dialog.show()
        return dialog

    def close(self) -> None:
        """Close the window with the main one."""
        if self._dialog is not None:
            self._dialog.reject()

    @Slot()
    def _closed(self) -> None:
        self._stop_replay()
        self._timer.stop()
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None

    @Slot()
    def _refresh(self) -> None:
        if self._dialog is not None:
            self._models.link.request(self._listed, self._failed, protocol.ListRecordings)

    @Slot(bool)
    def _record(self, on: bool) -> None:
        kind = protocol.StartRecording if on else protocol.StopRecording
        self._models.link.request(self._listed, self._failed, kind)

    def _listed(self, found: protocol.RecordingList) -> None:
        if self._dialog is not None:
            self._dialog.show_list(found)

    def _failed(self, event: protocol.Failed) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(sentences(event.sentence, event.action))

    @Slot(object)
    def _show(self, recording: protocol.Recording | None) -> None:
        assert self._dialog is not None
        self._stop_replay()
        self._dialog.replay.show_replay(None)
        self._dialog.timeline.show_pass(None)
        if recording is not None:
            self._read_pass(0)

    @Slot(object)
    def _show_folder(self, recording: protocol.Recording | None) -> None:
        problem = files.show_folder(recording.path) if recording is not None else ""
        if problem and self._dialog is not None:
            self._dialog.show_problem(problem)

    @Slot(object)
    def _ask_to_delete(self, recording: protocol.Recording | None) -> None:
        if recording is not None and self._dialog is not None:
            delete = partial(self._models.link.request, self._listed, self._failed, protocol.DeleteRecording)
            confirm(
                self._dialog, tr("Delete this recording?"), tr("It can't be restored."), tr("Delete"),
                lambda: delete(recording.name),
            )  # fmt: skip

    # ---- replay and timeline ----------------------------------------------------------------------------------

    @Slot(str)
    def _begin_replay(self, quality: str) -> None:
        dialog = self._dialog
        if dialog is not None and (recording := dialog.current) is not None:
            dialog.replay.set_running(True)
            dialog.replay.show_progress(0, 0)
            self._replay = self._models.link.ask(protocol.ReplayRecording, self._on_replay, recording.name, quality)

    @Slot()
    def _stop_replay(self) -> None:
        if self._replay:
            self._models.link.stop(self._replay)
            self._replay = ""
            if self._dialog is not None:
                self._dialog.replay.show_replay(None)

    def _on_replay(self, event: protocol.Event) -> None:
        if self._dialog is None or event.id != self._replay:
            return  # it was stopped, or another one was chosen
        page = self._dialog.replay
        match event:
            case protocol.Progress():
                page.show_progress(event.done, event.total)
            case protocol.Done():
                self._replay = ""
                page.show_replay(event.result)
            case protocol.Failed():
                self._replay = ""
                page.show_problem(sentences(event.sentence, event.action))

    @Slot(int)
    def _read_pass(self, number: int) -> None:
        recording = self._dialog.current if self._dialog is not None else None
        if recording is not None:
            self._models.link.request(
                partial(self._show_pass, recording.name), self._no_pass, protocol.ReadTimeline, recording.name, number
            )

    def _show_pass(self, name: str, found: protocol.PassTimeline) -> None:
        current = self._dialog.current if self._dialog is not None else None
        if self._dialog is not None and current is not None and current.name == name:
            self._dialog.timeline.show_pass(found)

    def _no_pass(self, event: protocol.Failed) -> None:
        if self._dialog is not None:
            self._dialog.timeline.show_pass(None, sentences(event.sentence, event.action))
