"""A process of its own that is asked over a pipe, one JSON line each way: a call of one of its object's methods."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds to end after its input has ended
QUOTED = 2000  # last characters of what it printed


def serve(what: Any, about: object) -> None:
    """Say `about`, and call methods of `what` as asked, until the input ends. What a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(about), file=answers, flush=True)
    for line in sys.stdin:
        name, given, named = json.loads(line)
        print(json.dumps(getattr(what, name)(*given, **named)), file=answers, flush=True)


class Child:
    """One such process. Its first line, which comes when it is ready, is `ready`; what is no attribute here is one of
    its methods. name: what an error calls it. stops: whether it stands still between calls, and so in others' turns."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None, *, stops: bool = False
    ) -> None:
        self._name, self._stops = name, stops
        # a pipe that nobody empties would stop it
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        try:
            self.ready = self._answer()
        except BaseException:
            self.close()
            raise
        if stops:
            self._process.send_signal(signal.SIGSTOP)

    @property
    def bytes_read(self) -> int:
        """That the process has had fetched from disks, page faults included, as the system counts them."""
        lines = Path(f"/proc/{self._process.pid}/io").read_text(encoding="utf-8").splitlines()
        return int(dict(line.split(": ") for line in lines)["read_bytes"])

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Its turn: it runs as long as this lasts."""
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def ask(self, method: str, *given: Any, **named: Any) -> Any:
        """Its answer. Raises RuntimeError, with the last that it printed, when it has ended instead."""
        assert self._process.stdin is not None
        with self.awake() if self._stops else nullcontext():
            with suppress(BrokenPipeError):  # reading says why
                self._process.stdin.write(json.dumps([method, given, named]) + "\n")
                self._process.stdin.flush()
            return self._answer()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self.ask, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; one that does not end by itself is killed."""
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        with suppress(BrokenPipeError):  # it has ended already
            self._process.stdin.close()
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._said.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._said.seek(0)
            raise RuntimeError(f"{self._name} ended ({code}): {self._said.read()[-QUOTED:]}")
        return json.loads(line)
