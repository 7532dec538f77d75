"""A record of what happened when, as trace events that chrome://tracing and ui.perfetto.dev open.

Rows: the layers' own part (mixer and router), their experts, the waits of the thread that runs the model, and every
reader's chunks. Format: Trace Event Format, complete events ("X"), times in microseconds; "otherData" has the passes:
when each began, and of how many tokens.
"""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.experts.keys import ExpertKey, Urgency
from engine.regular_file import read_json

LAYERS, EXPERTS, WAITS, FIRST_READER = 0, 1, 2, 10  # rows
MOST_BYTES = 64 << 20  # of a file that is read
_ROWS = {LAYERS: "attention and router", EXPERTS: "experts", WAITS: "waits for the disk"}


class TimelineEvent(NamedTuple):
    """start, end: seconds since the recording began."""

    row: int
    name: str
    start: float
    end: float
    details: dict[str, Any]


class Timeline:
    """An engine.experts.telemetry.ProfilerHook that remembers. Costs about a microsecond and 300 bytes an event."""

    def __init__(self, most: int | None = None) -> None:
        """most: events that are kept, the latest; None: all."""
        self._began = time.perf_counter()
        self._events: deque[tuple[int, str, float, float, dict[str, Any]]] = deque(maxlen=most)
        self._passes: list[tuple[float, int]] = []
        self._left: tuple[int, float] | None = None
        self._entered = (0, 0, 0.0)
        self._ran = False

    @property
    def events(self) -> list[TimelineEvent]:
        """In the order in which they ended."""
        began = self._began
        return [
            TimelineEvent(row, name, start - began, end - began, details)
            for row, name, start, end, details in self._events
        ]

    def pause(self) -> None:
        """What comes next follows nothing: no event spans the time until then."""
        self._left = None

    def entered(self, layer: int, tokens: int, now: float) -> None:
        """See ProfilerHook."""
        if self._left is None or layer <= self._left[0]:
            self._passes.append((now if self._left is None else self._left[1], tokens))
        if self._left is not None:
            before, since = self._left
            # From a layer to a later one its mixer and router run; to an earlier one, whatever lies between two passes.
            name = f"layer {layer}" if layer > before else f"next token, layer {layer}"
            self._events.append((LAYERS, name, since, now, {"layer": layer, "tokens": tokens}))
        self._entered, self._ran = (layer, tokens, now), False

    def left(self, layer: int, now: float) -> None:
        """See ProfilerHook."""
        _, tokens, since = self._entered
        if not self._ran:  # all in one call of native code
            self._events.append((EXPERTS, f"experts of layer {layer}", since, now, {"layer": layer, "tokens": tokens}))
        self._left = layer, now

    def computed(self, layer: int, experts: int, start: float, end: float) -> None:
        """See ProfilerHook."""
        self._ran = True
        details = {"layer": layer, "tokens": self._entered[1], "experts": experts}
        self._events.append((EXPERTS, f"experts of layer {layer}", start, end, details))

    def waited(self, layer: int, start: float, end: float) -> None:
        """See ProfilerHook."""
        self._events.append((WAITS, f"wait in layer {layer}", start, end, {"layer": layer}))

    def chunk(
        self, reader: int, key: ExpertKey, parts: Sequence[int], urgency: Urgency, nbytes: int,
        when: tuple[float, float],
    ) -> None:  # fmt: skip
        """See ProfilerHook."""
        layer, expert = key
        details = {"layer": layer, "expert": expert, "parts": list(parts), "bytes": nbytes}
        kind = urgency.name.lower()
        self._events.append((FIRST_READER + reader, f"{kind} {layer}.{expert}", *when, {**details, "class": kind}))

    def save(self, path: Path) -> None:
        """Write it as JSON. Raises OSError; a file cut short by a full disk is removed."""
        pid = os.getpid()
        events = self.events
        readers = sorted({event.row - FIRST_READER for event in events if event.row >= FIRST_READER})
        rows = _ROWS | {FIRST_READER + reader: f"reader {reader}" for reader in readers}
        named: list[dict[str, Any]] = [_meta(pid, row, "thread_name", {"name": name}) for row, name in rows.items()]
        named += [_meta(pid, row, "thread_sort_index", {"sort_index": row}) for row in rows]
        # Of a pass whose first events were dropped nothing is said.
        cut = len(events) == self._events.maxlen
        first = min((event.start for event in events), default=0.0) if cut else 0.0
        begun = [(start - self._began, tokens) for start, tokens in self._passes]
        passes = [(round(1e6 * start, 3), tokens) for start, tokens in begun if start >= first]
        shown = [*named, *(_shown(pid, event) for event in events)]
        text = json.dumps({"traceEvents": shown, "otherData": {"passes": passes}})
        with path.open("w", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)
                raise


def read(path: Path) -> SavedTimeline:
    """A timeline that `save` wrote. Raises OSError, and ValueError, LookupError or TypeError for any other file."""
    found = read_json(path, MOST_BYTES)
    passes = [(float(start) / 1e6, int(tokens)) for start, tokens in found["otherData"]["passes"]]
    events = [
        TimelineEvent(int(e["tid"]), str(e["name"]), e["ts"] / 1e6, (e["ts"] + e["dur"]) / 1e6, dict(e["args"]))
        for e in found["traceEvents"]
        if e["ph"] == "X"
    ]
    if not passes:
        raise ValueError("no pass")
    return SavedTimeline(passes, sorted(events, key=lambda event: event.start))


class SavedTimeline:
    """As it was saved. passes: (start in seconds, tokens) of each forward pass. events: by their start."""

    def __init__(self, passes: list[tuple[float, int]], events: list[TimelineEvent]) -> None:
        self.passes, self._events = passes, events
        self._starts = [start for start, _ in passes]
        self._seconds = [0.0] * len(passes)
        for event in events:
            if event.row < FIRST_READER and (at := self._pass_of(event.start)) >= 0:
                self._seconds[at] = max(self._seconds[at], event.end - self._starts[at])

    def _pass_of(self, moment: float) -> int:
        """Number of the pass that was under way or over at a moment; -1 before the first."""
        return bisect_right(self._starts, moment + 1e-7) - 1  # times are rounded to a nanosecond

    @property
    def seconds(self) -> tuple[float, ...]:
        """How long each pass took; what lies between two answers is no part of one."""
        return tuple(self._seconds)

    def events_of(self, number: int) -> list[TimelineEvent]:
        """What began in a pass, and reads that were under way when it began."""
        start = self._starts[number]
        return [
            event
            for event in self._events
            if self._pass_of(event.start) == number or (event.row >= FIRST_READER and event.start < start < event.end)
        ]


def _meta(pid: int, row: int, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": row, "name": name, "args": args}


def _shown(pid: int, event: TimelineEvent) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": pid,
        "tid": event.row,
        "name": event.name,
        "cat": _ROWS.get(event.row, "reads"),
        "ts": round(1e6 * event.start, 3),
        "dur": round(1e6 * (event.end - event.start), 3),
        "args": event.details,
    }
