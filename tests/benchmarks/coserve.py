"""CoServe against LRU with first come, first served: twelve models in chains, in memory that holds a quarter of them.

    python -m tests.benchmarks.coserve [--requests 300] [--json]

The built-in model in 12 variants, each with other weights. As in the paper's figure 2, eight of them answer first, some
more often than others; to half of those answers one of four others answers again. Requests arrive every 4 ms, as in the
paper. --requests 2500 has its number, too: with --ways full,samba that takes 9 minutes, with all of them 45. Every
answer is of real stores by the running engine, in a process of its own for each way of serving:

- samba: the least recently used model leaves, first come, first served; fifo: that opened first leaves;
- parallel: samba in two processes, each with half of the memory, which first requests are dealt to in turn;
- none: fifo, EM: our eviction, RA: and requests in runs of one model, full: and the run that adds least time next.

Usage probabilities are assessed before on other requests (section 4.5). `ratio`: throughput of full to that of samba;
switches_saved: of its openings of a model; scheduling: share of full's time that went into deciding. back: seconds to
the first token of a model that was used before another, in memory for half of both, and of one that is opened cold;
weights beside the experts have 8 bits there, as those of larger models have by themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from safetensors.torch import load_file, save_file

from engine import protocol, resources, settings
from engine.convert.importer import import_checkpoint
from engine.generation.context import MOST_BESIDE
from engine.library import folders, library
from engine.library.home import HOME
from engine.service import model_manager, model_memory, pool, request_queue, service
from engine.service.model_records import FILE, ModelRecords
from tests.benchmarks.common import arguments, emit, say

FIRST, THEN = 8, 4  # models that answer first, and behind others
AGAIN = 0.5  # of the first answers, those that another model answers to
SHARE = 0.25  # of all models' bytes that memory holds
EVERY = 0.004  # seconds between two arrivals
TOKENS = 8  # of an answer
NOISE = 0.02  # of the weights' own spread, by which those of variants differ
READY = "coserve.ready"  # a file in a store that is made and was opened once
TURNS = 5  # of each model's return
EXECUTORS = 2  # of the way 'parallel'


@dataclass(frozen=True)
class Request:
    """number: in order of arrival. chain: the models that answer, one behind another."""

    number: int
    chain: tuple[str, ...]


def name_of(variant: int) -> str:
    """Of the library."""
    return f"variant-{variant}"


def requests(count: int, seed: int) -> list[Request]:
    """So many answers in all. Usage falls off as one over the model's rank, as in the paper's figure 11."""
    dice, made, left = random.Random(seed), [], count
    while left > 0:
        first = dice.choices(range(FIRST), [1 / (rank + 1) for rank in range(FIRST)])[0]
        chain = [name_of(first)]
        if left > 1 and dice.random() < AGAIN:
            chain.append(name_of(FIRST + first % THEN))  # several share one
        made.append(Request(len(made), tuple(chain)))
        left -= len(chain)
    return made


# ---- ways of serving ------------------------------------------------------------------------------------------------


class ByArrival(request_queue.RequestQueue):
    """First come, first served."""

    def _next(self) -> Any:
        return self._background[0]


class Grouped(request_queue.RequestQueue):
    """Request arranging alone: in runs of one model, that of the oldest request next."""

    def _next_model(self, counts: dict[str, int]) -> str:
        return next(iter(counts))


class Lru(pool.Pool):
    """The model used least recently leaves as a whole, until there is room."""

    def idle(self, key: str, but: Any) -> list[Any]:
        return [one for one in self if not one.leases and one is not but]

    def _make_room(self, wanted: int, chosen: pool.Chosen, key: str, known: Any = None) -> None:
        missing = wanted - self._memory.free(chosen)
        for one in self.idle(key, known):
            if missing > 0:
                missing -= one.parts.total
                self._close(one)


class Fifo(Lru):
    """The model opened first leaves."""

    def acquire(self, model: str, chosen: pool.Chosen, report: pool.Report) -> Any:
        """As Pool, but a use changes nothing in the order."""
        order = list(self._models)
        found = super().acquire(model, chosen, report)
        for name in (*(n for n in order if n in self._models), *(n for n in self._models if n not in order)):
            self._models[name] = self._models.pop(name)
        return found


WAYS: dict[str, tuple[type[request_queue.RequestQueue], type[pool.Pool]]] = {
    "samba": (ByArrival, Lru),
    "fifo": (ByArrival, Fifo),
    "parallel": (ByArrival, Lru),
    "none": (ByArrival, Fifo),
    "EM": (ByArrival, pool.Pool),
    "RA": (Grouped, pool.Pool),
    "full": (request_queue.RequestQueue, pool.Pool),
}


# ---- one process ----------------------------------------------------------------------------------------------------


class Stopwatch:
    """Adds up the time of calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        def call(*values: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*values, **named)
            finally:
                self.seconds += time.perf_counter() - begun

        return call


class Memory(model_memory.ModelMemory):
    """So many bytes for models, whatever the computer has: of models as small as these, the noise of the process's own
    memory would be the most of it. whole: bytes of each model; nbytes: of all together, once they are known.
    """

    whole, nbytes = 0, 1 << 40
    pool: pool.Pool

    def free(self, chosen: pool.Chosen) -> int:
        """See ModelMemory."""
        return Memory.nbytes - sum(one.parts.total for one in Memory.pool)

    def demand(self, model: str, chosen: pool.Chosen) -> int | None:
        """See ModelMemory."""
        return Memory.whole


@contextmanager
def serving(way: str, watch: Stopwatch) -> Iterator[None]:
    """Engines made meanwhile serve in this way; `watch` adds up what deciding takes."""
    queue, models = WAYS[way]

    class Queue(queue):  # type: ignore[valid-type, misc]
        put, take, urgent = (watch.timed(getattr(queue, name)) for name in ("put", "take", "urgent"))

    class Models(models):  # type: ignore[valid-type, misc]
        idle, _share = (watch.timed(getattr(models, name)) for name in ("idle", "_share"))

        def acquire(self, model: str, chosen: pool.Chosen, report: pool.Report) -> Any:
            """As Pool; plans know nothing of Memory, so what it leaves for experts is said here."""
            Memory.pool = self
            found = super().acquire(model, chosen, report)
            others = sum(one.parts.total for one in self if one is not found)
            left = Memory.nbytes - others - found.parts.dense - found.parts.context
            if left < found.parts.whole:
                found.keep_experts(max(found.parts.least, left))
            return found

    with (
        patch.object(service, "RequestQueue", Queue),
        patch.object(pool, "Pool", Models),
        patch.object(model_memory, "ModelMemory", Memory),
    ):
        yield


class Driver:
    """Sends requests as they arrive, and those that follow in their chains as soon as they can."""

    def __init__(self, chosen: dict[str, Any]) -> None:
        self._chosen = chosen
        self._done = threading.Condition()
        self._events: dict[str, protocol.Event] = {}
        self._over: list[str] = []  # whose end was not taken up by `serve` yet
        self._asked = 0
        self.engine = service.Service(self._take)

    def _take(self, event: protocol.Event) -> None:
        if not isinstance(event, protocol.TERMINAL):
            return
        with self._done:
            self._events[event.id] = event
            self._over.append(event.id)
            self._done.notify_all()

    def ask(self, request: Request, step: int) -> str:
        """Send the request of one step of a chain; returns its id."""
        ident = f"{request.number}/{step}"
        messages = (protocol.Message("user", f"Tell me about number {request.number}."),)
        sampling = {"temperature": 0.0, "max_tokens": TOKENS}
        self.engine.send(
            protocol.Generate(
                id=ident,
                messages=messages,
                sampling=sampling,
                chat=ident,
                background=True,
                model=request.chain[step],
                settings=self._chosen,
                chain=request.chain,
            )
        )
        return ident

    def result(self, ident: str, timeout: float = 600.0) -> Any:
        """What a command gave. Raises RuntimeError where it failed, TimeoutError."""
        with self._done:
            if not self._done.wait_for(lambda: ident in self._events, timeout):
                raise TimeoutError(ident)
            event = self._events[ident]
        if not isinstance(event, protocol.Done):
            raise RuntimeError(f"{ident}: {event}")
        return event.result

    def first_token(self, model: str) -> float:
        """Seconds until a model that is asked something new has said a token."""
        self._asked += 1
        ident, messages = f"first {self._asked}", (protocol.Message("user", f"What is {self._asked}?"),)
        begun = time.perf_counter()
        self.engine.send(
            protocol.Generate(
                id=ident,
                messages=messages,
                sampling={"max_tokens": 1},
                chat=ident,
                background=True,
                model=model,
                settings=self._chosen,
            )
        )
        self.result(ident)
        return time.perf_counter() - begun

    def serve(self, wanted: list[Request]) -> tuple[float, int]:
        """Seconds from the first arrival to the last answer, and the number of answers."""
        begun, waiting, answers = time.perf_counter(), dict[str, tuple[Request, int]](), 0
        coming = iter(enumerate(wanted))
        following = next(coming, None)
        self._over.clear()
        while waiting or following is not None:
            if following is not None and time.perf_counter() - begun >= following[0] * EVERY:
                waiting[self.ask(following[1], 0)] = following[1], 0
                following = next(coming, None)
                continue
            with self._done:
                # What waits is never looked through: Python's lock is the engine's, too.
                self._done.wait_for(lambda: bool(self._over), None if following is None else EVERY)
                over, self._over = self._over, []
            for ident in over:
                request, step = waiting.pop(ident)
                self.result(ident)
                answers += 1
                if step + 1 < len(request.chain):
                    waiting[self.ask(request, step + 1)] = request, step + 1
        return time.perf_counter() - begun, answers


def child(way: str, count: int, part: int, parts: int) -> dict[str, float]:
    """Serve in this process its part of the requests, in its part of the memory."""
    watch = Stopwatch()
    chosen = {s.name: s.default for s in settings.ENGINE} | {"threads": 2}
    mine = [request for at, request in enumerate(requests(count, seed=1)) if at % parts == part]
    with serving(way, watch):
        driver = Driver(chosen)
        try:
            driver.engine.send(protocol.LoadModel("load", name_of(0), chosen))
            driver.result("load")
            Memory.whole = bytes_of(next(iter(driver.engine.models.pool)))
            driver.engine.send(protocol.UnloadModel("unload"))
            driver.result("unload")
            Memory.nbytes = int(SHARE * (FIRST + THEN) * Memory.whole / parts)
            before, watch.seconds = driver.engine.models.pool.opened, 0.0
            seconds, answers = driver.serve(mine)
            switches = driver.engine.models.pool.opened - before
        finally:
            driver.engine.close(60)
    return {"seconds": seconds, "answers": answers, "switches": switches, "scheduling": watch.seconds}


def back() -> dict[str, float]:
    """Seconds to the first token, medians: of models opened cold, and of two that are asked in turn, at half memory."""
    watch = Stopwatch()
    chosen = {s.name: s.default for s in settings.ENGINE} | {"threads": 2, "dense": "int8"}
    with serving("full", watch):
        driver = Driver(chosen)
        try:
            driver.engine.send(protocol.LoadModel("load", name_of(0), chosen))
            driver.result("load")
            Memory.whole = bytes_of(next(iter(driver.engine.models.pool)))
            Memory.nbytes = Memory.whole  # of two
            cold, again = [], []
            for turn in range(TURNS):
                driver.engine.send(protocol.UnloadModel(f"unload {turn}"))
                driver.result(f"unload {turn}")
                cold.append(driver.first_token(name_of(turn + 1)))
            for turn in range(2 * TURNS + 2):
                seconds = driver.first_token(name_of(turn % 2))
                if turn >= 2:
                    again.append(seconds)
        finally:
            driver.engine.close(60)
    return {"cold": median(cold), "back": median(again), "ratio": median(again) / median(cold)}


def bytes_of(opened: model_manager.OpenModel) -> int:
    """Of a model, all in memory, with contexts of as many conversations as it keeps."""
    return opened.parts.dense + opened.parts.context * (1 + MOST_BESIDE) + opened.parts.whole


def _quiet(*_: object) -> None:
    """Report nothing."""


# ---- all of them ----------------------------------------------------------------------------------------------------


def make_variants(folder: Path) -> None:
    """Stores of the built-in model, each with some noise of its own in every weight; and one opening of each, which
    finds what is kept beside a store. Those that are there already stay."""
    source = resources.path("builtin", "model")
    weights = load_file(source / "model.safetensors")
    for variant in range(FIRST + THEN):
        if (folders.own() / name_of(variant) / READY).exists():
            continue
        with tempfile.TemporaryDirectory(dir=folder) as name:
            checkpoint = Path(name)
            for file in source.iterdir():
                if file.suffix != ".safetensors":
                    (checkpoint / file.name).write_bytes(file.read_bytes())
            dice = torch.Generator().manual_seed(variant)
            noisy = {name: _noisy(weight, dice) for name, weight in weights.items()}
            save_file(noisy, checkpoint / "model.safetensors", metadata={"format": "pt"})
            import_checkpoint(checkpoint, folders.own() / name_of(variant), library.TOP)
        model_manager.OpenModel(name_of(variant), {}, _quiet).close()
        (folders.own() / name_of(variant) / READY).touch()


def _noisy(weight: torch.Tensor, dice: torch.Generator) -> torch.Tensor:
    if weight.dim() < 2:
        return weight
    noise = torch.randn(weight.shape, generator=dice) * weight.float().std() * NOISE
    return (weight.float() + noise).to(weight.dtype)


def assess() -> None:
    """Usage probabilities, counted on requests like those to come but none of them."""
    records = ModelRecords()
    for request in requests(200, seed=2):
        for before, model in zip(("", *request.chain), request.chain, strict=False):
            records.note_use(records.key(model), records.key(before) if before else "")
    records.save()


def _run(way: str, count: int, part: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.benchmarks.coserve", "--requests", str(count), "--way", way, "--part", part]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measure(way: str, count: int) -> dict[str, float]:
    """One way, in as many processes as it takes."""
    parts = EXECUTORS if way == "parallel" else 1
    running = [_run(way, count, f"{part}/{parts}") for part in range(parts)]
    found = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    seconds = max(one["seconds"] for one in found)
    row = {name: sum(one[name] for one in found) for name in ("answers", "switches", "scheduling")}
    return {"throughput": row["answers"] / seconds, "seconds": seconds, **row,
            "scheduling": row["scheduling"] / seconds / parts}  # fmt: skip


def _options() -> argparse.ArgumentParser:
    options = arguments(__doc__, "folder")
    options.add_argument("--requests", type=int, default=300, help="answers in all")
    options.add_argument("--ways", default=",".join(WAYS), help="those to measure, separated by commas")
    options.add_argument("--way", choices=(*WAYS, "back"), help=argparse.SUPPRESS)
    options.add_argument("--part", default="0/1", help=argparse.SUPPRESS)
    return options


def main() -> None:
    """Make the models, serve in every way, print."""
    args = _options().parse_args()
    if args.way:
        if args.way == "back":
            print(json.dumps(back()))
            return
        part, parts = map(int, args.part.split("/"))
        print(json.dumps(child(args.way, args.requests, part, parts)))
        return
    home = args.folder / "coserve"
    home.mkdir(parents=True, exist_ok=True)
    with patch.dict(os.environ, {HOME: str(home)}):
        say("making the models")
        make_variants(home)
        (home / FILE).unlink(missing_ok=True)
        assess()
        kept = (home / FILE).read_bytes()
        rows: dict[str, dict[str, float]] = {}
        for way in filter(None, args.ways.split(",")):
            (home / FILE).write_bytes(kept)
            rows[way] = measure(way, args.requests)
            say(f"{way}: {rows[way]}")
        (home / FILE).unlink()
        returning = json.loads(_run("back", args.requests, "0/1").communicate()[0].splitlines()[-1])
    result: dict[str, Any] = {
        "requests": args.requests,
        "models": FIRST + THEN,
        "memory": SHARE,
        "ways": rows,
        "back": returning,
    }
    if {"samba", "full"} <= set(rows):
        samba, full = rows["samba"], rows["full"]
        result |= {
            "ratio": full["throughput"] / samba["throughput"],
            "switches_saved": 1 - full["switches"] / samba["switches"],
            "scheduling": full["scheduling"],
        }
    result["ablation"] = [{"way": way, **rows[way]} for way in ("none", "EM", "RA", "full") if way in rows]
    emit(result, args.json)


if __name__ == "__main__":
    main()
