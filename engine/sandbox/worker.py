"""`python -m engine.sandbox.worker MODULE:FUNCTION BYTES NICE` calls that for its parent until its input ends."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.sandbox import frames, out_of_memory

MAX_REQUEST = 1 << 31  # bytes; the parent is trusted, this only keeps a torn pipe from being believed


def main(function: str, memory: int, nice: int) -> None:
    """Say ["ready"]; then answer each request, [seconds for each value, *arguments], by ["value", x] per value and
    ["end"], or ["memory"] or ["error", why].

    memory: bytes that it may take beyond what it has once the function's module is imported.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A library that asks on standard input must find its end, not the requests.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what libraries print must not come among the answers
    module, name = function.split(":")
    call: Callable[..., Iterator[Any]] = getattr(importlib.import_module(module), name)
    _limit(memory, nice)
    with contextlib.suppress(EOFError, OSError):
        frames.write(answers, ["ready"])
        while True:
            seconds, *arguments = frames.read(requests, MAX_REQUEST)
            _answer(call, arguments, seconds, answers)


def _answer(call: Callable[..., Iterator[Any]], arguments: list[Any], seconds: float, answers: Any) -> None:
    try:
        _limit_time(seconds)
        for value in call(*arguments):
            frames.write(answers, ["value", value])
            _limit_time(seconds)
    except BrokenPipeError:
        raise
    except BaseException as e:  # PanicException of Rust libraries is no Exception
        said = ["memory"] if out_of_memory(e) else ["error", f"{type(e).__name__}: {e}"[:4000]]
        frames.write(answers, said)
    else:
        frames.write(answers, ["end"])


def _limit_time(seconds: float) -> None:
    """Limit the processor time of this process, so that it ends even where its parent, which watches the clock, was
    killed.

    Nothing to do on Windows, where the parent's job object ends it.
    """
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + (os.cpu_count() or 1) * seconds) + 5
    # Only the soft limit: it is raised again for the next value, which a lowered hard limit would forbid. 5 seconds
    # more than allowed, so that it is the parent's clock that ends a slow call.
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (_within(most, hard), hard))


def _limit(memory: int, nice: int) -> None:
    """Lower the priority, write no core files, and limit the address space to `memory` bytes more than is in use now.

    Nothing to do on Windows: the parent puts the process into a job object with that limit (engine.windows).
    """
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError):
        os.nice(nice)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what it read of a chat belongs into no core file
    if sys.platform == "linux":
        status = Path("/proc/self/statm").read_text(encoding="ascii")
        most = int(status.split()[0]) * resource.getpagesize() + memory
        # Address space: Linux has not enforced RLIMIT_RSS since 2.4. Hard as well, or the code in here could raise it.
        most = _within(most, resource.getrlimit(resource.RLIMIT_AS)[1])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _within(most: int, hard: int) -> int:
    """No more than the hard limit that this process began with (`ulimit`), which it may not raise; -1: none."""
    return most if hard < 0 else min(most, hard)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
