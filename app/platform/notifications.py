"""Shows notifications on a Linux desktop, over its session bus (Desktop Notifications Specification 1.2).

Qt shows them only where there is a tray, which GNOME has not, and does not report clicks on them.
"""

from __future__ import annotations

import html
import os
import sys
import threading
from contextlib import ExitStack
from queue import Queue
from typing import Any

from PySide6.QtCore import QObject, Signal

from engine import resources

BUS = "DBUS_SESSION_BUS_ADDRESS"
TOKEN = "XDG_ACTIVATION_TOKEN"  # with which the desktop lets a window come to the front; Qt looks there
_NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"
_CLICK = "default"  # the action of the notification as a whole
_ANSWER = 5.0  # seconds within which the desktop answers
_END = 2.0  # seconds to wait for a thread at the end: a bus that hangs does not keep the window from closing


def available() -> bool:
    """Whether there is a session bus to ask."""
    return sys.platform.startswith("linux") and BUS in os.environ


class Notifications(QObject):
    """Shows notifications from a thread of its own, which begins with the first.

    clicked: on one of them. missed: title and words of one that could not be shown.
    """

    clicked = Signal()
    missed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._requests: Queue[Any] = Queue()  # what to show; what the bus says; None: the end
        self._thread: threading.Thread | None = None

    def show(self, title: str, words: str, click: str) -> None:
        """Queue a notification. click: name of what a click does, shown by some desktops."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="underhill-notices", daemon=True)
            self._thread.start()
        self._requests.put((title, words, click))

    def close(self) -> None:
        """End the thread. Notifications stay where they are. Safe to call twice."""
        if self._thread is not None:
            self._requests.put(None)
            self._thread.join(_END)
            self._thread = None

    def _run(self) -> None:
        with ExitStack() as stack:
            server: _NotificationServer | None = None
            while (asked := self._requests.get()) is not None:
                if not isinstance(asked, tuple):
                    if server is not None and server.handle_signal(asked):
                        self.clicked.emit()
                    continue
                if server is not None and _shown(server, asked):
                    continue
                server = None
                stack.close()  # of a bus that has gone, and may have come again since
                try:
                    server = _NotificationServer(self._requests, stack)
                except Exception:  # whatever the bus does: `missed` follows, and the next one tries again
                    stack.close()
                if server is None or not _shown(server, asked):
                    self.missed.emit(*asked[:2])


def _shown(server: _NotificationServer, asked: tuple[str, str, str]) -> bool:
    try:
        server.show(*asked)
    except Exception:  # as above
        return False
    return True


class _NotificationServer:
    """A connection to the bus. replies: where signals go. Raises what jeepney raises, and what a queue does."""

    def __init__(self, replies: Queue[Any], stack: ExitStack) -> None:
        from jeepney import DBusAddress, MatchRule, message_bus  # only where there is something to show
        from jeepney.io.threading import open_dbus_connection

        self._connection = open_dbus_connection("SESSION")
        self._requests, self._answers = replies, Queue[Any]()  # None: the bus is gone
        self._listener = threading.Thread(target=self._receive, name="underhill-notices-receive", daemon=True)
        self._listener.start()
        stack.callback(self._end)
        self._address = DBusAddress(_PATH, _NAME, _NAME)
        self._shown: set[int] = set()
        self._ask(message_bus.AddMatch(MatchRule(type="signal", interface=_NAME, path=_PATH)))
        (can,) = self._call("GetCapabilities")
        self._supports_markup = "body-markup" in can

    def show(self, title: str, words: str, click: str) -> None:
        # Where the server knows markup an answer's < would be read as such; where not, the escapes would be shown.
        text = html.escape(words, quote=False) if self._supports_markup else words
        hints = {"desktop-entry": ("s", "underhill")}
        mark = resources.path("icons", "underhill.svg").as_uri()
        notice = ("Underhill", 0, mark, title, text, [_CLICK, click], hints, -1)
        (number,) = self._call("Notify", "susssasa{sv}i", notice)
        self._shown.add(number)

    def handle_signal(self, message: Any) -> bool:
        """Take a signal of the server: keep its activation token, forget what it closed. Returns whether it was a
        click."""
        from jeepney import HeaderFields

        what, body = message.header.fields.get(HeaderFields.member), message.body
        if len(body) < 2 or body[0] not in self._shown:
            return False
        if what == "ActivationToken":
            os.environ[TOKEN] = body[1]
        elif what == "NotificationClosed":
            self._shown.discard(body[0])
        return bool(what == "ActionInvoked" and body[1] == _CLICK)

    def _call(self, what: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        from jeepney import new_method_call

        return self._ask(new_method_call(self._address, what, signature, body))

    def _ask(self, call: Any) -> tuple[Any, ...]:
        from jeepney import HeaderFields
        from jeepney.wrappers import unwrap_msg

        serial = next(self._connection.outgoing_serial)
        self._connection.send(call, serial=serial)
        while (found := self._answers.get(timeout=_ANSWER)) is not None:
            # Answers that came too late for an earlier call are passed over.
            if found.header.fields.get(HeaderFields.reply_serial) == serial:
                answer: tuple[Any, ...] = unwrap_msg(found)
                return answer
        raise ConnectionError("the session bus is gone")

    def _receive(self) -> None:
        from jeepney import MessageType
        from jeepney.io.threading import ReceiveStopped

        try:
            while True:
                found = self._connection.receive()
                (self._requests if found.header.message_type is MessageType.signal else self._answers).put(found)
        except (ReceiveStopped, OSError):
            self._answers.put(None)

    def _end(self) -> None:
        self._connection.interrupt()
        self._listener.join(_END)
        self._connection.close()
