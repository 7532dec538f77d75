"""Run as a process of its own: streams an answer into a chat database until it is killed.

After every write that is promised to last, the number of words is printed.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path

from app.storage.records import Attachment, Chat, StoredMessage, new_id, new_question
from app.storage.store import ChatStore


def main() -> None:
    """Stream for ever."""
    store = ChatStore(Path(sys.argv[1]))
    chat = Chat(id=new_id(), title="killed")
    store.create(chat)
    question = new_question(chat.id, None, "Count, please.", (Attachment("dots.png", "", b"." * 100_000),))
    answer = StoredMessage(id=new_id(), chat_id=chat.id, parent_id=question.id, role="assistant", state="streaming")
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
