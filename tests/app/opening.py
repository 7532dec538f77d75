"""Measures how long a long chat takes to open in a window that stands: `python -m tests.app.opening [MESSAGES]`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication

from app.application import Application
from app.storage.records import Chat, StoredMessage, new_id
from app.storage.store import ChatStore
from tests.app.fake_engine import scripted
from tests.app.homes import lived_in
from tests.app.samples import LONG_ANSWER, QUESTION

BAR = 200.0  # milliseconds for 5,000 messages
STILL = 2.0  # seconds that the window has stood when the chat is asked for


def main() -> None:
    """Fill a database, open the chat in a window, print milliseconds as JSON. computed_ms: of all threads."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(id=new_id(), title="long")
        store = ChatStore(Path(folder) / "chats.db")
        store.create(chat)
        parent: int | None = None
        messages = []
        for number in range(count):
            role, text = ("assistant", LONG_ANSWER) if number % 2 else ("user", QUESTION)
            messages.append(StoredMessage(id=new_id(), chat_id=chat.id, parent_id=parent, role=role, content=text))
            parent = messages[-1].id
        store.add(*messages)
        store.close()
        underhill = Application(application, lived_in(Path(folder)), scripted())
        underhill.window.resize(1280, 820)
        underhill.open()
        while underhill.models.state != "ready":
            application.processEvents()
        still = time.perf_counter() + STILL
        while time.perf_counter() < still:
            application.processEvents()
            time.sleep(0.005)
        begun, own = time.perf_counter(), time.process_time()
        underhill.conversation.open(chat)
        while not underhill.conversation.messages:
            application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        shown = time.perf_counter()
        while application.processEvents():
            pass
        underhill.window.transcript.viewport().repaint()
        painted, own = time.perf_counter(), time.process_time() - own
        transcript = underhill.window.transcript
        transcript.set_messages(messages)
        again = time.perf_counter()
        underhill.window.close()
        underhill.close()
    print(json.dumps({
        "messages": count, "characters": sum(len(m.content) for m in messages),
        "read_and_laid_out_ms": round(1000 * (shown - begun)), "painted_ms": round(1000 * (painted - begun)),
        "of_it_on_the_window_thread_ms": round(1000 * (again - painted)),
        "computed_ms": round(1000 * own), "bar_ms": BAR, "ratio": round(1000 * (painted - begun) / BAR, 3),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
