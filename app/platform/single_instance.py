"""One window for one folder of chats: a second start asks the first to come to the front, and ends."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import struct
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from engine import private_files

PATIENCE = 5000  # milliseconds that a first start has to answer a second one; it may be reading a large database
_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")  # by which a desktop lets the first window take the focus
_MOST = 1 << 16  # bytes of a message
_LONGEST_ADDRESS = 100  # bytes of a socket's path; the system takes 107, and Qt adds to it


class SingleInstance(QObject):
    """first: whether this is the only one.

    activation_requested: another start wants the window, to open this model and to import this file ('' for none).
    The lock is a file with the process's number in it, so that one left by a killed process does not count.
    """

    activation_requested = Signal(str, str)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = address(folder)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        with contextlib.suppress(OSError):  # the chats will say so in a banner
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # never by age: a window may be open for weeks
        # A folder that cannot be written to has no lock and no chats to guard: the window opens and says what is wrong.
        self.first = self._lock.tryLock(0) or self._lock.error() != QLockFile.LockError.LockFailedError
        if self.first:
            # Only under the lock: the socket of a window that lives would go with it.
            QLocalServer.removeServer(self._name)  # of a killed process
            self._server.listen(self._name)

    @property
    def holder(self) -> int:
        """The number of the process that is the first; 0 where it is not known."""
        known: tuple[int, str, str] = self._lock.getLockInfo()
        return int(known[0]) if known else 0

    def ask(self, model: str = "", file: str = "") -> bool:
        """Ask the first one to show its window. Returns whether it answered."""
        first = QLocalSocket()
        first.connectToServer(self._name)
        if not first.waitForConnected(PATIENCE) or not is_this_user(first):
            return False
        wanted = {
            "model": model,
            "file": file,
            "tokens": {name: os.environ[name] for name in _TOKENS if name in os.environ},
        }
        first.write(json.dumps(wanted).encode() + b"\n")
        first.flush()
        answered = first.waitForReadyRead(PATIENCE)
        first.disconnectFromServer()
        return answered

    def close(self) -> None:
        """Let the next start be the first."""
        self._server.close()
        if self.first:
            self._lock.unlock()

    @Slot()
    def _accept(self) -> None:
        while (second := self._server.nextPendingConnection()) is not None:
            second.setParent(self)
            second.disconnected.connect(second.deleteLater)
            if is_this_user(second):
                second.readyRead.connect(self._read_request)
            else:
                second.abort()

    @Slot()
    def _read_request(self) -> None:
        second = self.sender()
        assert isinstance(second, QLocalSocket)
        if not second.canReadLine():
            if second.bytesAvailable() > _MOST:
                second.abort()
            return
        try:
            wanted = json.loads(bytes(second.readLine(_MOST).data()))
            model, tokens = str(wanted["model"]), {str(k): str(v) for k, v in wanted["tokens"].items()}
            file = str(wanted.get("file", ""))
        except (ValueError, KeyError, TypeError, AttributeError):
            second.abort()
            return
        for name in _TOKENS:  # Qt takes them from here when a window asks for the focus
            if name in tokens:
                os.environ[name] = tokens[name]
        second.write(b"shown\n")
        second.flush()
        self.activation_requested.emit(model, file)


def address(folder: Path) -> str:
    """Where the first start of this folder listens: in a folder that no other user may enter, or as a pipe on Windows.

    The session's runtime folder; where there is none, the folder of the chats; where that is too deep for the address
    of a socket, one of our own among the temporary files.
    """
    name = "underhill-" + hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
    if sys.platform == "win32":
        return name
    places = [folder, Path(tempfile.gettempdir()) / f"underhill-{os.getuid()}"]
    if os.environ.get("XDG_RUNTIME_DIR"):
        places.insert(0, Path(os.environ["XDG_RUNTIME_DIR"]))
    for place in places:
        path = str(place.absolute() / name)
        if len(os.fsencode(path)) <= _LONGEST_ADDRESS and private_files.private_folder(place):
            return path
    return str(folder / name)  # nobody can listen there: each start is the first, as where no lock can be taken


def is_this_user(peer: QLocalSocket) -> bool:
    """Whether the program at the other end runs as this user. Windows and others see to that by the pipe's rights."""
    if not sys.platform.startswith("linux"):
        return True
    # A duplicate: closing this socket must not close Qt's.
    with socket.socket(fileno=os.dup(int(peer.socketDescriptor()))) as same:
        credentials = same.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())
