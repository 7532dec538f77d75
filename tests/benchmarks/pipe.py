"""A process of its own that answers questions over a pipe, one JSON line each way."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds to end after its input has ended
QUOTED = 2000  # last characters of what it printed


class Child:
    """One such process. Its first line, which comes when it is ready, is `ready`. name: what an error calls it."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._name = name
        # a pipe that nobody empties would stop it
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115
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

    @property
    def bytes_read(self) -> int:
        """That the process has had fetched from disks, page faults included, as the system counts them."""
        lines = Path(f"/proc/{self._process.pid}/io").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)["read_bytes"])

    def pause(self) -> None:
        """Stop its threads, so that nothing of it goes on during another's turn."""
        self._process.send_signal(signal.SIGSTOP)

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Its turn: it runs as long as this lasts."""
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self.pause()

    def ask(self, **request: Any) -> Any:
        """Its answer. Raises RuntimeError, with the last that it printed, when it has ended instead."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # reading says why
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._answer()

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
