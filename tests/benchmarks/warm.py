"""Warm start: how soon a model answers at its steady speed, cold against warm, on a disk of a modelled rate.

    python -m tests.benchmarks.warm --json

The built-in model with a cache of --share of its experts. One session answers on calibration text and is closed. Then,
by turns, a session that remembers nothing (cold) and one that reads what it remembers before anybody asks (warm) read a
prompt of evaluation text and are fed the text behind it token by token. to_90: seconds and tokens from asking until the
mean of 8 tokens is at 90 % of the steady speed, which is that of the second half of both.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from unittest.mock import patch

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.experts import runtime
from engine.experts.loading.loader import Loader
from engine.library import library
from engine.native.io_pool import ReadHook
from engine.session import Session
from engine.session.routing_history import MATRICES, RESIDENTS
from tests.benchmarks.common import arguments, emit, medians, own_home

PROMPT, STEPS, MEAN = 32, 320, 8


@contextmanager
def slow_disk(rate: float) -> Iterator[None]:
    """Models opened meanwhile have their experts at this rate, in bytes per second, which all reads share."""
    lock = threading.Lock()

    def read(file: int, offset: int, slices: Any, n: int, error: Any) -> int:
        """As uh_read_hook: the file itself, later."""
        parts = [(ctypes.c_uint8 * slices[i].nbytes).from_address(slices[i].to) for i in range(n)]
        started = time.perf_counter()
        try:
            with lock:
                got = os.preadv(file, parts, offset)
                due = max(started, time.perf_counter() - got / rate) + got / rate
                time.sleep(max(0.0, due - time.perf_counter()))
        except OSError as cause:
            error[0] = cause.errno or 0
            return -1
        return got

    hook = ReadHook(read)
    with patch.object(runtime, "Loader", lambda source, readers: Loader(source, readers, read_hook=hook)):
        yield


def fed(session: Session, name: str) -> list[float]:
    """Seconds of a prompt of this text, then of every token behind it."""
    chats = sequences(session.chat, resources.path("calibration", name), session.context.limit, PROMPT + STEPS)
    ids = [token for chat in chats for token in chat][: PROMPT + STEPS]
    session.runtime.telemetry.begin_answer()
    marks = [time.perf_counter()]
    session.context.read(ids[:PROMPT])
    session.warm.prompt_read(session.counters().activations)
    for token in ids[PROMPT:]:
        marks.append(time.perf_counter())
        session.context.step(token)
    marks.append(time.perf_counter())
    session.warm.answered(session.counters().activations)
    return [b - a for a, b in pairwise(marks)]


def until_steady(seconds: Sequence[float], steady: float) -> tuple[float, int]:
    """Seconds from asking, and tokens, until tokens take no more than steady / 0.9."""
    for at in range(1, len(seconds) - MEAN):
        if statistics.fmean(seconds[at : at + MEAN]) <= steady / 0.9:
            return sum(seconds[:at]), at - 1
    return sum(seconds), len(seconds) - 1


def measure(share: float, rate: float, turns: int) -> dict[str, Any]:
    """Interleaved."""
    chosen = {"dial": "exact", "cache_fraction": share}
    store = library.prepare("builtin")
    rows: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    with slow_disk(rate):
        with open_calibrated("builtin", chosen) as session:
            fed(session, "calibration.jsonl")
        for _ in range(turns):
            runs: dict[str, list[float]] = {}
            waited = 0.0
            for kind in rows:
                kept = {name: (store / name).read_bytes() for name in (RESIDENTS, MATRICES)}
                if kind == "cold":
                    for name in kept:
                        (store / name).unlink()
                with open_calibrated("builtin", chosen) as session:
                    start = time.perf_counter()
                    session.warm.read_until(lambda: False)
                    waited = time.perf_counter() - start
                    runs[kind] = fed(session, "eval.jsonl")
                for name, content in kept.items():
                    (store / name).write_bytes(content)
            steady = statistics.median(t for run in runs.values() for t in run[len(run) // 2 :])
            for kind, run in runs.items():
                seconds, tokens = until_steady(run, steady)
                rows[kind].append({"to_90": seconds, "tokens": tokens, "prompt": run[0]})
            rows["warm"][-1]["read_before"] = waited
    found = {kind: medians(own) for kind, own in rows.items()}
    return {
        "share": share,
        "rate": rate,
        **found,
        "ratio": found["cold"]["to_90"] / max(found["warm"]["to_90"], 1e-9),
    }


def main() -> None:
    """Print one object, or a line per share."""
    parser = arguments(__doc__)
    parser.add_argument("--share", type=float, action="append", help="of the experts in memory (default: .25 .5 .75)")
    parser.add_argument("--rate", type=float, default=1e8, help="bytes per second of the disk (default: 1e8)")
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    with own_home():
        rows = [measure(share, args.rate, args.turns) for share in args.share or (0.25, 0.5, 0.75)]
    emit({"ours": rows[0]["warm"]["to_90"], "peer": rows[0]["cold"]["to_90"], "rows": rows}, args.json)


if __name__ == "__main__":
    main()
