"""`underhill-cli serve`: the local server without a window."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import threading

from engine import client, protocol, settings
from engine.cli.chat import interrupts
from engine.cli.output import say
from engine.cli.parser import given
from engine.errors import UnderhillError
from engine.server.guard import is_loopback

VARIABLE = "UNDERHILL_KEY"


def run_serve(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    key = sys.stdin.readline().strip() if args.key == "-" else args.key or os.environ.get(VARIABLE, "")
    chosen = given(args, settings.ENGINE)
    ended: queue.SimpleQueue[protocol.Event] = queue.SimpleQueue()

    def on_event(event: protocol.Event) -> None:
        if isinstance(event, protocol.TERMINAL):
            ended.put(event)
        elif isinstance(event, protocol.PlanChanged) and event.notice:
            say(event.notice)

    engine = client.start(on_event)
    try:
        model = args.model
        if not model:
            engine.send(protocol.ListModels("list", chosen))
            cards = _done(ended, "list")
            if isinstance(cards, tuple) and not any(card.usable for card in cards):
                say("The library is empty, so the built-in model answers, as builtin.")
                model = "builtin"
        if model:
            engine.send(protocol.LoadModel("load", model, chosen))
            _done(ended, "load")
        if args.keep_key:
            engine.send(protocol.KeepServerKey("keep", key))
            _done(ended, "keep")
        engine.send(
            protocol.StartServer(
                id="start",
                host=args.host,
                port=args.port,
                key=key,
                origins="\n".join(args.allow_origin),
                settings=chosen,
            )
        )
        state = _done(ended, "start")
        assert isinstance(state, protocol.ServerState)
        print(f"{state.address}/v1", flush=True)
        say(_reach(args.host, state.key))
        stop = threading.Event()
        with interrupts(stop.set, lambda: os._exit(130)):
            stop.wait()
    finally:
        engine.close()
    return 0


def _reach(host: str, key: bool) -> str:
    who = "Programs on this computer can ask" if is_loopback(host) else "Other computers can ask, too"
    return f"{who}{', with the key' if key else ''}. Ctrl+C ends it."


def _done(ended: queue.SimpleQueue[protocol.Event], command: str) -> object:
    while (event := ended.get()).id != command:
        pass
    if isinstance(event, protocol.Failed):
        raise UnderhillError(event.kind, event.sentence, event.action)
    return event.result if isinstance(event, protocol.Done) else None
