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


class Peer(Child):
    """One model. repack: whether weights are rearranged for this processor when loaded. group: limits its memory; one
    that has a group stands still between calls."""

    def __init__(
        self, python: Path, model: Path, threads: int, context: int, *, repack: bool, group: Group | None = None
    ) -> None:
        self.name = f"{model.stem}, {'repacked' if repack else 'as stored'}"
        arguments = {"model": str(model), "threads": threads, "context": context, "repack": repack}
        command = [str(python), "-m", SERVER, json.dumps(arguments)]
        if group is not None:
            command = group.command(*command)
        super().__init__("llama.cpp", command, peer_environment(), stops=group is not None)
        self.token_bytes = int(self.ready)  # that reading one token's weights takes

    def turn(self, tokens: Sequence[int]) -> tuple[float, int]:
        """Seconds to read the tokens one by one, logits after each, and bytes fetched from disks for it."""
        before = self.bytes_read
        return float(self.decode(tokens)), self.bytes_read - before
