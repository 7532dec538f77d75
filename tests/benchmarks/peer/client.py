"""A model open in llama.cpp, in a process of its own, asked over a pipe."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.cgroup import Group
from tests.benchmarks.pipe import Child

SERVER = "tests.benchmarks.peer.server"


def peer_environment() -> dict[str, str]:
    """This process's environment without what our engine sets for torch's OpenMP: llama.cpp's threads must spin."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}


class Peer:
    """One model. repack: whether weights are rearranged for this processor when loaded. group: limits its memory."""

    def __init__(
        self, python: Path, model: Path, threads: int, context: int, *, repack: bool, group: Group | None = None
    ) -> None:
        self.name = f"{model.stem}, {'repacked' if repack else 'as stored'}"
        arguments = {"model": str(model), "threads": threads, "context": context, "repack": repack}
        command = [str(python), "-m", SERVER, json.dumps(arguments)]
        if group is not None:
            command = group.command(*command)
        self._child = Child("llama.cpp", command, peer_environment())
        self.token_bytes = int(self._child.ready)  # that reading one token's weights takes

    def decode(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens one by one, logits after each, going on where the last call ended."""
        return float(self._child.ask(do="decode", tokens=list(tokens)))

    def turn(self, tokens: Sequence[int]) -> tuple[float, int]:
        """The same, and bytes fetched from disks for it; between turns the process stands still."""
        with self._child.awake():
            before = self._child.bytes_read
            seconds = self.decode(tokens)
            return seconds, self._child.bytes_read - before

    def prefill(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens as one prompt of a new sequence, logits after the last."""
        return float(self._child.ask(do="prefill", tokens=list(tokens)))

    def logits(self, tokens: Sequence[int]) -> list[list[float]]:
        """Logits after each token of a new sequence."""
        found: list[list[float]] = self._child.ask(do="logits", tokens=list(tokens))
        return found

    def clear(self) -> None:
        """Forget the sequence."""
        self._child.ask(do="clear")

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
