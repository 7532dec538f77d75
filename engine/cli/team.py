"""`underhill-cli chat team:NAME` and `underhill-cli teams`: teams of models in the terminal."""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
from dataclasses import asdict
from pathlib import Path

from engine import client, protocol, settings
from engine.cli.chat import NEW_CHAT, TypedLines, as_json, interrupts
from engine.cli.documents import Documents
from engine.cli.output import say, table
from engine.cli.parser import given
from engine.errors import Kind, UnderhillError
from engine.library.home import BUILTIN
from engine.protocol import Message, Stats
from engine.service.teams import askable_models
from engine.teams import folder
from engine.teams.definition import TeamCard
from engine.translatable import msg

_HEADER = ("TEAM", "STEPS", "ABOUT")


def run_teams(args: argparse.Namespace) -> int:
    """Change what is to be changed, then print all teams."""
    if args.export is not None:
        folder.export_file(args.export[0], Path(args.export[1]))
    if args.imported is not None:
        folder.import_file(Path(args.imported))
    if args.delete is not None:
        folder.delete(args.delete)
    cards = folder.teams(askable_models())
    if args.json:
        print(json.dumps([asdict(card) for card in cards], ensure_ascii=False))
        return 0
    print(table([_row(card) for card in cards if card.team], _HEADER))
    for card in cards:
        if card.problem:
            print(f"\n{card.id}: {card.problem}")
        if card.missing:
            print(f"\n{card.id} asks models that aren't in the library: {', '.join(card.missing)}")
    return 0


def _row(card: TeamCard) -> tuple[str, ...]:
    assert card.team is not None
    return f"team:{card.id}", ", ".join(step.name for step in card.team.steps), card.team.about


def run_chat(args: argparse.Namespace) -> int:
    """Answer one prompt or many with a team."""
    if args.json and args.prompt is None:
        raise UnderhillError(Kind.BAD_REQUEST, msg("--json answers one prompt."), msg("Add --prompt TEXT."))
    if args.images:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("A team takes no images in the terminal."), msg("Name a model that reads images.")
        )
    if args.trace is not None or args.timeline is not None:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("--trace and --timeline record one model."), msg("Name a model instead of a team.")
        )
    team = folder.find(args.model)
    sampling = given(args, settings.SAMPLING) | ({"temperature": 0.0} if args.greedy else {})
    chosen = given(args, settings.ENGINE)
    documents = Documents(args.documents)
    with _Asker(args, f"{protocol.TEAM_PREFIX}{team.id}", sampling, chosen) as asker:
        if any(not step.model for step in team.steps):
            asker.load(args.team_model or BUILTIN)
        system = [Message("system", args.system)] if args.system else []
        if args.prompt is not None:
            return _once(args, asker, system, documents)
        say(f"{team.name}: {', '.join(step.name for step in team.steps)}.")
        return _converse(asker, system, documents)


def _once(args: argparse.Namespace, asker: _Asker, system: list[Message], documents: Documents) -> int:
    prompt = documents.asked(sys.stdin.read() if args.prompt == "-" else args.prompt)
    stats, stopped = asker.answer((*system, Message("user", prompt)), show=not args.json)
    if args.json and stats is not None:
        steps = {"steps": [asdict(step) for step in stats.steps]}
        print(json.dumps(as_json(stats) | steps | documents.as_json(), ensure_ascii=False))
    elif not args.json:
        documents.show_sources()
    return 130 if stopped else 0


def _converse(asker: _Asker, system: list[Message], documents: Documents) -> int:
    messages: list[Message] = list(system)
    lines = TypedLines()
    for line in lines:
        if line == NEW_CHAT:
            messages = list(system)
            continue
        try:
            question = Message("user", documents.asked(line))
            lines.last = stats = asker.answer((*messages, question), show=True)[0]
        except UnderhillError as error:
            say(f"{error.sentence} {error.action}")
            lines.last = stats = None
        if stats is not None:
            documents.show_sources()
            messages += [question, Message("assistant", stats.text, stats.token_ids)]
    return 0


class _Asker:
    """An engine in this process that answers, told of on standard error. A context."""

    def __init__(
        self, args: argparse.Namespace, model: str, sampling: dict[str, settings.Value],
        chosen: dict[str, settings.Value],
    ) -> None:  # fmt: skip
        self._args, self._model, self._sampling, self._chosen = args, model, sampling, chosen
        self._events: queue.SimpleQueue[protocol.Event] = queue.SimpleQueue()
        self._count = 0

    def __enter__(self) -> _Asker:
        self._engine = client.start(self._events.put)
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    def load(self, model: str) -> None:
        """Open the model that steps ask which name none. Raises UnderhillError."""
        self._engine.send(protocol.LoadModel("load", model, self._chosen))
        while not (isinstance(event := self._events.get(), protocol.TERMINAL) and event.id == "load"):
            pass
        _raise(event)

    def answer(self, messages: tuple[Message, ...], *, show: bool) -> tuple[Stats | None, bool]:
        """The Stats, or what there is of them, and whether it was stopped. Raises UnderhillError."""
        self._count += 1
        ident = f"answer{self._count}"
        with interrupts(lambda: self._engine.send(protocol.Stop(f"{ident}:stop", ident)), lambda: os._exit(130)):
            self._engine.send(
                protocol.Generate(
                    id=ident,
                    messages=messages,
                    sampling=self._sampling,
                    stop=tuple(self._args.stop),
                    thinking=self._args.thinking,
                    chat="cli",
                    model=self._model,
                    settings=self._chosen,
                )
            )
            return self._followed(ident, show)

    def _followed(self, ident: str, show: bool) -> tuple[Stats | None, bool]:
        told = ""
        shown = False
        while True:
            event = self._events.get()
            if event.id != ident:
                continue
            if isinstance(event, protocol.TeamChanged):
                now = next((step for step in event.steps if step.state == "working"), None)
                if now is not None and now.name != told:
                    told = now.name
                    say(f"[{now.name}: {now.model}]" if now.model else f"[{now.name}]")
            elif isinstance(event, protocol.TextDelta) and show:
                print(event.text, end="", flush=True)
                shown = True
            elif isinstance(event, protocol.TERMINAL):
                stats = getattr(event, "result", None)
                stopped = isinstance(event, protocol.Cancelled)
                if stopped and show and not shown and isinstance(stats, Stats):
                    print(stats.text, end="")
                if show:
                    print(flush=True)
                _raise(event)
                return (stats if isinstance(stats, Stats) else None), stopped


def _raise(event: protocol.Event) -> None:
    if isinstance(event, protocol.Failed):
        raise UnderhillError(event.kind, event.sentence, event.action)
