"""One window for one folder of chats: a second start asks the first to come to the front, and ends."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

PATIENCE = 5000  # milliseconds that a first start has to answer a second one; it may be reading a large database
_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")  # by which a desktop lets the first window take the focus
_MOST = 1 << 16  # bytes of a message


class SingleInstance(QObject):
    """first: whether this is the only one. asked: another start wants the window, and to open this model ('' for none).

    The lock is a file with the process's number in it, so that one left by a killed process does not count.
    """

    asked = Signal(str)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = "underhill-" + hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._called)
        with contextlib.suppress(OSError):  # the chats will say so in a banner
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # never by age: a window may be open for weeks
        # A folder that cannot be written to has no lock and no chats to guard: the window opens and says what is wrong.
        self.first = self._lock.tryLock(0) or self._lock.error() != QLockFile.LockError.LockFailedError
        if self.first:
            QLocalServer.removeServer(self._name)  # of a killed process
            self._server.listen(self._name)

    @property
    def holder(self) -> int:
        """The number of the process that is the first; 0 where it is not known."""
        known: tuple[int, str, str] = self._lock.getLockInfo()
        return int(known[0]) if known else 0

    def ask(self, model: str = "") -> bool:
        """Ask the first one to show its window. Returns whether it answered."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(PATIENCE):
            return False
        wanted = {"model": model, "tokens": {name: os.environ[name] for name in _TOKENS if name in os.environ}}
        socket.write(json.dumps(wanted).encode() + b"\n")
        socket.flush()
        answered = socket.waitForReadyRead(PATIENCE)
        socket.disconnectFromServer()
        return answered

    def close(self) -> None:
        """Let the next start be the first."""
        self._server.close()
        if self.first:
            self._lock.unlock()

    @Slot()
    def _called(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(self)
            socket.disconnected.connect(socket.deleteLater)
            socket.readyRead.connect(self._heard)

    @Slot()
    def _heard(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QLocalSocket)
        if not socket.canReadLine():
            if socket.bytesAvailable() > _MOST:
                socket.abort()
            return
        try:
            wanted = json.loads(bytes(socket.readLine(_MOST).data()))
            model, tokens = str(wanted["model"]), {str(k): str(v) for k, v in wanted["tokens"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            socket.abort()
            return
        for name in _TOKENS:  # Qt takes them from here when a window asks for the focus
            if name in tokens:
                os.environ[name] = tokens[name]
        socket.write(b"shown\n")
        socket.flush()
        self.asked.emit(model)
