"""Starts an engine: in this process, or in one of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.protocol import Engine, Event


def start(on_event: Callable[[Event], None]) -> Engine:
    """Start the engine's worker thread. `on_event` is called on threads of the engine: hand over and return.

    torch is loaded on the worker thread at its first need, not here.
    """
    from engine.server.serving_engine import ServingEngine

    return ServingEngine(on_event)


def start_subprocess(on_event: Callable[[Event], None], python: Path | None = None) -> Engine:
    """Start an engine in a process of its own; `on_event` is called on a thread of this one.

    A process that ends by itself, whatever ended it, is told as Failed of Kind.STOPPED, for each command that waits and
    each that is sent later, or, where none waits, for the empty id. python: the interpreter that runs it, where that is
    another than this process's.
    """
    from engine.process.engine_process import EngineProcess

    return EngineProcess(on_event, python=python)
