"""What becomes of an engine that a person and many programs use all day?

    python -m tests.engine.server.mixed_load [--requests 10000] [--seed 0]

Requests come at random times of 24 hours, most of them by day; what lies between them is passed over. Four programs ask
three models by all the server's ways, some leave in the middle of an answer, send what is no request or ask for what is
not there, while a person chats in the window, models are deleted and brought back, opened, and the memory limit is
moved. Every request has to end with an answer or a refusal that the server declares, every chat with an answer; and
what the process holds must not grow.

Prints: answers by status, chats, seconds of the longest, and ten times a day, with nothing under way, what the process
has of memory, threads and open files.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2 as httpx
import psutil

from engine.library import library
from engine.protocol import (
    DeleteModel,
    Done,
    EmptyTrash,
    Failed,
    Generate,
    Kind,
    LoadModel,
    Message,
    RestoreModel,
    UpdateSettings,
    VerifyModel,
)
from engine.store import manifest
from engine.store.reader import load_manifest
from tests.engine.server.serving import SETTINGS, Serving

DAY = 24 * 3600.0  # seconds
MODELS = ("builtin", "second", "third")
PROGRAMS = 4  # that ask at the same time
DECLARED = {200, 400, 404, 413, 422, 429, 499, 503}  # statuses that may come
QUESTIONS = ("Hello!", "Tell me a story about a cat.", "Why is the sky blue?", "Write a haiku.", "Count to ten.")
PATIENCE = 120.0  # seconds for one request: nothing that is well takes a tenth of it


@dataclass(frozen=True)
class Level:
    """What the process holds. Bytes; file descriptors, or handles on Windows."""

    rss: int
    threads: int
    files: int


@dataclass
class Report:
    """What came of a day."""

    statuses: dict[str, int] = field(default_factory=dict)
    left: int = 0  # programs that went in the middle of an answer
    chats: int = 0
    wrong: list[str] = field(default_factory=list)  # what ended otherwise than it may
    longest: float = 0.0  # seconds
    levels: list[Level] = field(default_factory=list)  # with nothing under way, behind each tenth of the requests


@contextmanager
def three_models(builtin: Path) -> Iterator[None]:
    """A home of Underhill's with the built-in model three times, as three models."""
    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", {"UNDERHILL_HOME": folder}):
        for name in MODELS:
            path = library.location(name)
            shutil.copytree(builtin, path)
            if name != "builtin":
                known = load_manifest(path)
                changed = replace(known, source=replace(known.source, revision=name))
                (path / manifest.NAME).write_bytes(manifest.dumps(changed))
        yield


class Programs:
    """What programs ask of the server. `rest` is what a request is made by, so that a seed gives the same day."""

    def __init__(self, url: str, report: Report) -> None:
        self._client, self._report, self._lock = httpx.Client(base_url=url, timeout=PATIENCE), report, threading.Lock()
        self.ways: list[tuple[int, Callable[[random.Random], None]]] = [
            (30, self._stream),
            (15, self._whole),
            (8, self._completion),
            (8, self._ollama),
            (8, self._anthropic),
            (6, self._responses),
            (5, self._look),
            (10, self._leave),
            (4, self._nonsense),
            (3, self._stranger),
            (3, self._schema),
            (5, self._team),
            (3, self._embed),
        ]

    def close(self) -> None:
        """No more requests."""
        self._client.close()

    def hello(self) -> None:
        """The simplest request there is."""
        asked = {"model": "builtin", "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 1}
        self._post("hello", "/v1/chat/completions", asked)

    def ask(self, rest: random.Random) -> None:
        """One request, of whichever kind."""
        start = time.monotonic()
        way = rest.choices([way for _, way in self.ways], [weight for weight, _ in self.ways])[0]
        try:
            way(rest)
        except (httpx.HTTPError, ValueError, KeyError) as broken:
            with self._lock:
                self._report.wrong.append(f"{way.__name__}: {broken!r}")
        with self._lock:
            self._report.longest = max(self._report.longest, time.monotonic() - start)

    def _count(self, way: str, status: int) -> None:
        with self._lock:
            name = f"{way} {status}"
            self._report.statuses[name] = self._report.statuses.get(name, 0) + 1
            if status not in DECLARED:
                self._report.wrong.append(f"{way}: {status}")

    def _post(self, way: str, path: str, body: dict[str, Any]) -> Any:
        answer = self._client.post(path, json=body)
        self._count(way, answer.status_code)
        return answer.json()

    def _asked(self, rest: random.Random, **more: Any) -> dict[str, Any]:
        messages = [{"role": "user", "content": rest.choice(QUESTIONS)}]
        return {"model": rest.choice(MODELS), "messages": messages, "max_tokens": rest.randint(1, 40), **more}

    def _stream(self, rest: random.Random) -> None:
        asked = self._asked(rest, stream=True, temperature=rest.choice((0, 0.7)))
        with self._client.stream("POST", "/v1/chat/completions", json=asked) as answer:
            lines = [line for line in answer.iter_lines() if line]
            self._count("stream", answer.status_code)
        if answer.status_code == 200 and lines[-1] != "data: [DONE]" and "error" not in lines[-1]:
            raise ValueError(lines[-1])

    def _whole(self, rest: random.Random) -> None:
        self._post("whole", "/v1/chat/completions", self._asked(rest))

    def _schema(self, rest: random.Random) -> None:
        shape = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": shape}}
        self._post("schema", "/v1/chat/completions", self._asked(rest, response_format=wanted))

    def _team(self, rest: random.Random) -> None:
        self._post("team", "/v1/chat/completions", {**self._asked(rest), "model": "team:draft-and-check"})

    def _embed(self, rest: random.Random) -> None:
        texts = [rest.choice(QUESTIONS) for _ in range(rest.randint(1, 20))]
        self._post("embed", "/v1/embeddings", {"model": "all-minilm-l6-v2", "input": texts})

    def _completion(self, rest: random.Random) -> None:
        body = {"model": rest.choice(MODELS), "prompt": rest.choice(QUESTIONS), "max_tokens": rest.randint(1, 20)}
        self._post("completion", "/v1/completions", body)

    def _responses(self, rest: random.Random) -> None:
        body = {"model": rest.choice(MODELS), "input": rest.choice(QUESTIONS), "max_output_tokens": 20}
        self._post("responses", "/v1/responses", body)

    def _anthropic(self, rest: random.Random) -> None:
        self._post("anthropic", "/v1/messages", self._asked(rest))

    def _ollama(self, rest: random.Random) -> None:
        asked = self._asked(rest, stream=False)
        del asked["max_tokens"]
        self._post("ollama", "/api/chat", {**asked, "options": {"num_predict": rest.randint(1, 40)}})

    def _look(self, rest: random.Random) -> None:
        path = rest.choice(("/v1/models", "/api/tags", "/health", "/metrics", "/openapi.json"))
        self._count("look", self._client.get(path).status_code)

    def _stranger(self, rest: random.Random) -> None:
        self._post("stranger", "/v1/chat/completions", {**self._asked(rest), "model": "no-such-model"})

    def _nonsense(self, rest: random.Random) -> None:
        bodies = (b"", b"null", b"{", b"[" * 5000, b"\xff\xfe{}", b'{"model": 7}', b'{"messages": "hello"}')
        answer = self._client.post("/v1/chat/completions", content=rest.choice(bodies))
        self._count("nonsense", answer.status_code)

    def _leave(self, rest: random.Random) -> None:
        asked = self._asked(rest, stream=True, max_tokens=2000)
        with self._client.stream("POST", "/v1/chat/completions", json=asked) as answer:
            self._count("leave", answer.status_code)
            for _, _ in zip(range(rest.randint(0, 3)), answer.iter_lines()):
                pass
        with self._lock:
            self._report.left += 1


class Person:
    """Who sits at the window: chats, and now and then changes something."""

    def __init__(self, serving: Serving, report: Report) -> None:
        self._serving, self._report = serving, report
        self._chat: list[Message] = []
        self._number = 0

    def chat(self, rest: random.Random) -> None:
        """Another turn of the chat, or of a new one. It ends with an answer, whatever the programs do."""
        if len(self._chat) > 6 or rest.random() < 0.2:
            self._chat, self._number = [], self._number + 1
        self._chat.append(Message("user", rest.choice(QUESTIONS)))
        sampling = {"temperature": 0.0, "max_tokens": rest.randint(1, 40)}
        start = time.monotonic()
        event = self._end(Generate, tuple(self._chat), sampling, chat=f"chat {self._number}")
        self._report.longest = max(self._report.longest, time.monotonic() - start)
        if not isinstance(event, Done):
            self._report.wrong.append(f"chat: {event}")
            return
        self._chat.append(Message("assistant", event.result.text, event.result.token_ids))
        self._report.chats += 1

    def change(self, rest: random.Random) -> None:
        """One of the things that people do beside chatting."""
        what = rest.randrange(5)
        if what == 0:  # the memory limit; one that is too low is refused
            chosen = {"memory_gb": rest.choice((0.7, 1.0, 4.0, None))}
            self._want(UpdateSettings, chosen, may_be=(Kind.OUT_OF_MEMORY,))
        elif what == 1:
            self._want(UpdateSettings, {"dial": rest.choice(("exact", "balanced", "fast"))})
        elif what == 2:  # a model goes, and comes back while others are asked; one that answers stays
            if self._want(DeleteModel, "third", may_be=(Kind.BUSY,)):
                self._want(Generate, (Message("user", "Hello!"),), {"max_tokens": 8}, chat="while it is away")
                self._want(RestoreModel, "third")
        elif what == 3:
            self._want(LoadModel, rest.choice(("builtin", "second")), SETTINGS)
        else:
            self._want(VerifyModel, "second")
            self._want(EmptyTrash)

    def _want(self, kind: Any, *values: Any, may_be: tuple[Kind, ...] = (), **fields: Any) -> bool:
        event = self._end(kind, *values, **fields)
        if not isinstance(event, Done) and not (isinstance(event, Failed) and event.kind in may_be):
            self._report.wrong.append(f"{kind.__name__}{values}: {event}")
        return isinstance(event, Done)

    def _end(self, kind: Any, *values: Any, **fields: Any) -> Any:
        return self._serving.end(self._serving.send(kind, *values, **fields))


def arrivals(rest: random.Random, count: int) -> list[float]:
    """Seconds of the day at which requests come, in order: three in four between eight and twenty hours."""
    by_day = [rest.uniform(8 * 3600, 20 * 3600) for _ in range(count * 3 // 4)]
    return sorted([*by_day, *(rest.uniform(0, DAY) for _ in range(count - len(by_day)))])


def level() -> Level:
    process = psutil.Process()
    files = process.num_handles() if hasattr(process, "num_handles") else process.num_fds()
    return Level(process.memory_info().rss, threading.active_count(), files)


def a_day(builtin: Path, requests: int, seed: int) -> Report:
    """builtin: the store of the built-in model."""
    report, rest = Report(), random.Random(seed)
    with ExitStack() as stack:
        stack.enter_context(three_models(builtin))
        serving = stack.enter_context(Serving())
        serving.result(LoadModel, "builtin", SETTINGS)
        programs, person = Programs(serving.url, report), Person(serving, report)
        stack.callback(programs.close)
        pool = stack.enter_context(ThreadPoolExecutor(PROGRAMS))
        under_way: list[Future[None]] = []
        hour = 0
        for number, at in enumerate(arrivals(rest, requests)):
            if int(at // 3600) != hour:  # what has been told is not kept for ever
                hour = int(at // 3600)
                with serving.arrived:
                    serving.events.clear()
            if number and number % max(1, requests // 10) == 0:
                settle(serving, programs, under_way)
                report.levels.append(level())
            kind = rest.random()
            if kind < 0.12:
                person.chat(rest)
            elif kind < 0.14:
                person.change(rest)
            else:
                under_way = [one for one in under_way if not one.done()]
                if len(under_way) >= 2 * PROGRAMS:
                    under_way.pop(0).result()
                under_way.append(pool.submit(programs.ask, random.Random(rest.random())))
        settle(serving, programs, under_way)
        report.levels.append(level())
    return report


def settle(serving: Serving, programs: Programs, under_way: Sequence[Future[None]]) -> None:
    """Everything that was asked is over, on both sides."""
    for one in under_way:
        one.result()
    with serving.arrived:
        serving.events.clear()
    programs.hello()  # so that the server tells of itself once more
    serving.quiet()


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    builtin = library.prepare("builtin", lambda *_: None)
    report = a_day(builtin, args.requests, args.seed)
    print(json.dumps(asdict(report), indent=1))
    raise SystemExit(bool(report.wrong))


if __name__ == "__main__":
    main()
