"""A record of what happened when, as trace events that chrome://tracing and ui.perfetto.dev open.

Rows: the layers' own part (mixer and router), their experts, the waits of the thread that runs the model, and every
reader's chunks. Format: Trace Event Format, complete events ("X"), times in microseconds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.experts.keys import ExpertKey, Urgency

LAYERS, EXPERTS, WAITS, FIRST_READER = 0, 1, 2, 10  # rows
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

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._events: list[tuple[int, str, float, float, dict[str, Any]]] = []
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

    def entered(self, layer: int, tokens: int, now: float) -> None:
        """See ProfilerHook."""
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
        text = json.dumps({"traceEvents": [*named, *(_shown(pid, event) for event in events)]})
        with path.open("w", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)
                raise


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
