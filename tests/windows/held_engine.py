"""``python -m tests.windows.held_engine PID``: the engine's process, whose longest answers come no further than MOST.

So an answer can be cut in its midst, however fast the engine is. It stands still there, and does all else.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter

from engine import protocol
from engine.process.host import EventWriter, main

MOST = 80  # tokens of an answer, more than any has that is to come to its end


def hold() -> None:
    """Let the thread that says a token beyond MOST wait for ever."""
    told: Counter[str] = Counter()
    send = EventWriter.send

    def held(writer: EventWriter, event: protocol.Event) -> None:
        if isinstance(event, protocol.TextDelta):
            told[event.id] += len(event.token_ids)
            if told[event.id] > MOST:
                threading.Event().wait()
        send(writer, event)

    EventWriter.send = held  # type: ignore[method-assign]


if __name__ == "__main__":
    hold()
    main(int(sys.argv[1]))
