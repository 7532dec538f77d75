"""The voice of the system: Speech Dispatcher's spd-say on Linux, SAPI by PowerShell on Windows. Text goes over stdin.

QtTextToSpeech would do the same, but comes only with PySide6's add-ons, which are 150 MB.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal, Slot

from engine import private_files

_SPD_SAY = "spd-say"
_COMMAND = "!-!"  # with which a line is a command to Speech Dispatcher, and not said
_PATIENCE = 1000  # milliseconds that a process that was killed is waited for
_TOLD = 300  # characters of what a program says of its failure
_SAPI = """
$ErrorActionPreference = 'Stop'
Add-Type -AssemblyName System.Speech
$voice = New-Object System.Speech.Synthesis.SpeechSynthesizer
if ($voice.Voice.Culture.TwoLetterISOLanguageName -ne '{language}') {
  $found = $voice.GetInstalledVoices() | Where-Object {
    $_.Enabled -and $_.VoiceInfo.Culture.TwoLetterISOLanguageName -eq '{language}' } | Select-Object -First 1
  if ($found) { $voice.SelectVoice($found.VoiceInfo.Name) }
}
$lines = New-Object IO.StreamReader([Console]::OpenStandardInput(), [Text.Encoding]::UTF8)
while (($line = $lines.ReadLine()) -ne $null) { $voice.Speak($line) }
"""


def speech_program() -> str:
    """Path of the program that speaks; '' where the system has none."""
    if sys.platform == "win32":
        system = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
        shell = system / "WindowsPowerShell" / "v1.0" / "powershell.exe"
        return str(shell) if shell.is_file() else ""
    return shutil.which(_SPD_SAY) or ""


def speech_arguments(language: str) -> list[str]:
    """Arguments with which it reads the lines of its standard input in a language, and ends with the last one.

    language: two or three letters.
    """
    if not (language.isascii() and language.isalpha()):
        raise ValueError(f"no language: {language!r}")
    if sys.platform == "win32":
        return ["-NoProfile", "-NonInteractive", "-Command", _SAPI.replace("{language}", language)]
    return ["--cancel", "--pipe-mode", "--wait", "--language", language]


class Voice(QObject):
    """Reads lines aloud, one text at a time. ended: with why it could not, '' where it was read or stopped."""

    ended = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = speech_program()
        self._process: QProcess | None = None

    @property
    def available(self) -> bool:
        """Whether the system has a voice."""
        return bool(self._program)

    def speak(self, lines: Sequence[str], language: str) -> None:
        """Read these lines, in the place of what is being read."""
        self._end()
        process = QProcess(self)
        process.setStandardOutputFile(QProcess.nullDevice())  # on which spd-say repeats what it reads
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._failed)
        self._process = process
        # The program that is started inherits the mask, and may start the system's speech server.
        with private_files.usual_permissions():
            process.start(self._program, speech_arguments(language))
        if self._process is not process:
            return  # it could not be started
        process.write("".join(f"{line}\n" for line in map(_harmless, lines)).encode())
        process.closeWriteChannel()

    def stop(self) -> None:
        """Be silent at once. `ended` follows where something was read."""
        if self._end():
            if sys.platform != "win32":  # where it ends with its process: Speech Dispatcher goes on with the line
                QProcess.startDetached(self._program, ["--cancel"])
            self.ended.emit("")

    def _end(self) -> bool:
        process, self._process = self._process, None
        if process is None:
            return False
        process.blockSignals(True)
        process.kill()
        process.waitForFinished(_PATIENCE)
        process.deleteLater()
        return True

    @Slot(int, QProcess.ExitStatus)
    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        fine = code == 0 and status == QProcess.ExitStatus.NormalExit
        told = bytes(process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        process.deleteLater()
        self.ended.emit("" if fine else " ".join(told.split())[:_TOLD] or f"{Path(self._program).name}: {code}")

    @Slot(QProcess.ProcessError)
    def _failed(self, error: QProcess.ProcessError) -> None:
        process = self._process
        if process is not None and error == QProcess.ProcessError.FailedToStart:  # of others `_finished` tells
            self._process = None
            process.deleteLater()
            self.ended.emit(process.errorString())


def _harmless(line: str) -> str:
    """The line as text, whatever it begins with."""
    return line.replace(_COMMAND, " ")
