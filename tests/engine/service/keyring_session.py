"""Run in a D-Bus session of its own: gives the engine a token, asks in another process, forgets it. Prints JSON lines.

python -m tests.engine.service.keyring_session ENDPOINT TOKEN [ask | keep]

ask: only asks. keep: only gives it, and asks.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from typing import Any

import huggingface_hub.constants

from engine import client, protocol

TERMINAL = (protocol.Done, protocol.Failed, protocol.Cancelled)


def main(endpoint: str, token: str, *further: str) -> None:
    huggingface_hub.constants.HF_HUB_OFFLINE = False
    events: queue.Queue[protocol.Event] = queue.Queue()
    engine = client.start(events.put)

    def ask(command: protocol.Command) -> Any:
        engine.send(command)
        while not isinstance(event := events.get(timeout=60), TERMINAL) or event.id != command.id:
            pass
        return (
            [event.kind, event.sentence, event.action]
            if isinstance(event, protocol.Failed)
            else getattr(event, "result", None)
        )

    def say(word: str, value: Any) -> None:
        print(json.dumps([word, value]), flush=True)

    def source() -> list[str]:
        state = ask(protocol.AskToken("a"))
        return [state.source, state.note]

    ask(protocol.KeepSettings("s", {"endpoint": endpoint}))
    if further == ("ask",):
        say("another process", source())
    else:
        say("kept for", account := ask(protocol.KeepToken("k", token)))
        say("asked", source())
        if isinstance(account, str) and not further:
            again = [sys.executable, "-m", "tests.engine.service.keyring_session", endpoint, token, "ask"]
            subprocess.run(again, check=True)
            say("forgotten", ask(protocol.ForgetToken("f")))
            say("asked again", source())
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
