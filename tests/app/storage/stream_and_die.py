"""Run as a process of its own: streams an answer into a chat database until it is killed.

After every write that is promised to last, the number of words is printed.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path

from app.storage.records import Chat, StoredMessage, new_id
from app.storage.store import ChatStore


def main() -> None:
    """Stream for ever."""
    store = ChatStore(Path(sys.argv[1]))
    chat = Chat(new_id(), "killed")
    store.create(chat)
    question = StoredMessage(new_id(), chat.id, None, "user", "Count, please.")
    answer = StoredMessage(new_id(), chat.id, question.id, "assistant", state="streaming")
    store.add(question, answer)
    print("stored 0", flush=True)
    words = 0
    while True:
        words += 25
        text = " ".join(str(n) for n in range(words))
        store.update(dataclasses.replace(answer, content=text, token_ids=tuple(range(words))))
        print(f"stored {words}", flush=True)
        time.sleep(0.002)


main()
