"""Our engine in a process of its own, asked over a pipe; its memory limited by a control group where one is given."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.cgroup import Group
from tests.benchmarks.pipe import Child
from tests.random_models.shapes import Shape

SERVER = "tests.benchmarks.ours_server"


@dataclass(frozen=True)
class Turn:
    """Some tokens. seconds: of each. Bytes and experts are of all of them.

    system_bytes: fetched from disks as the system counts them; bytes_read as the engine does, wasted_bytes of them for
    experts that were read ahead in vain; reads: how many. used_bytes: that had to be read from memory. coarse: uses
    of experts below full precision, skipped ones too. busy: seconds with any read under way. digests: of the logits
    after each token, to the last bit, where they were asked for.
    """

    seconds: tuple[float, ...]
    hits: int
    misses: int
    bytes_read: int
    wasted_bytes: int
    used_bytes: int
    system_bytes: int
    uses: int
    coarse: int
    reads: int
    busy: float
    digests: tuple[str, ...] = ()

    @property
    def per_token(self) -> float:
        """Seconds."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def moved(self) -> tuple[float, float]:
        """Bytes a token that were missed, and so had to come from disk, and that were used, from memory."""
        return (self.bytes_read - self.wasted_bytes) / len(self.seconds), self.used_bytes / len(self.seconds)


class OursAlone:
    """One model. chosen: engine settings. shape: None where bytes used are not asked for. overlap: whether a layer's
    experts that are there are computed while the others are read."""

    def __init__(
        self,
        model: Path | str,
        shape: Shape | None,
        chosen: Mapping[str, Any],
        group: Group | None = None,
        *,
        overlap: bool = True,
    ) -> None:
        arguments = {
            "model": str(model),
            "chosen": dict(chosen),
            "dense_weights": 0 if shape is None else shape.dense_weights(),
            "routers": 0 if shape is None else shape.layers * shape.experts * shape.hidden,
            "overlap": overlap,
        }
        command = [sys.executable, "-m", SERVER, json.dumps(arguments)]
        if group is not None:
            command = group.command(*command)
        self._child = Child("Our engine", command)
        self.about: dict[str, Any] = self._child.ready
        self._child.pause()

    def calibrate(self, tokens: Sequence[int], dial: str) -> tuple[float, float]:
        """Have T1 and T2 of a dial found on these tokens, and put in force."""
        with self._child.awake():
            low, high = self._child.ask(do="calibrate", tokens=list(tokens), dial=dial)
        return low, high

    def warm(self) -> float:
        """Have what earlier sessions left behind read, as is done before anybody asks; seconds."""
        with self._child.awake():
            return float(self._child.ask(do="warm"))

    def update(self, changes: Mapping[str, Any]) -> None:
        """Change live settings."""
        with self._child.awake():
            self._child.ask(do="update", changes=dict(changes))

    def turn(self, tokens: Sequence[int], *, digest: bool = False, answering: bool = False) -> Turn:
        """Decode the tokens one by one, going on where the last call ended; between turns the process stands still.

        answering: choose a token behind each and make text of it, without digests.
        """
        with self._child.awake():
            before, system = self._counters(), self._child.bytes_read
            if answering:
                seconds, digests = self._child.ask(do="answer", tokens=list(tokens)), []
            else:
                seconds, digests = self._child.ask(do="decode", tokens=list(tokens), digest=digest)
            after, system = self._counters(), self._child.bytes_read - system
        d = {name: after[name] - before[name] for name in after}
        return Turn(
            tuple(seconds), d["hits"], d["misses"], d["bytes_read"], d["wasted"], d["used_bytes"], system, d["uses"],
            d["coarse"], d["reads"], 1e-9 * d["busy"], tuple(digests),
        )  # fmt: skip

    def prompt(self, tokens: Sequence[int]) -> float:
        """Seconds until an answer to a prompt begins, which starts a sequence of its own."""
        return self.prompt_read(tokens)[0]

    def prompt_read(self, tokens: Sequence[int]) -> tuple[float, int]:
        """As `prompt`, and the bytes that were read from disk for it."""
        with self._child.awake():
            before = self._counters()["bytes_read"]
            taken = float(self._child.ask(do="prompt", tokens=list(tokens)))
            return taken, self._counters()["bytes_read"] - before

    def expected(self, memory: float, disk: float) -> dict[str, Any]:
        """What its plan would expect at these rates, bytes per second."""
        with self._child.awake():
            found: dict[str, Any] = self._child.ask(do="expected", memory=memory, disk=disk)
            return found

    def held(self) -> int:
        """Bytes of experts in memory."""
        with self._child.awake():
            return int(self._child.ask(do="held"))

    def logits(self, tokens: Sequence[int]) -> list[list[float]]:
        """After each token of a sequence of its own."""
        with self._child.awake():
            found: list[list[float]] = self._child.ask(do="logits", tokens=list(tokens))
            return found

    def clear(self) -> None:
        """Forget the sequence."""
        with self._child.awake():
            self._child.ask(do="clear")

    def rss(self) -> int:
        """Resident bytes."""
        with self._child.awake():
            return int(self._child.ask(do="rss"))

    def _counters(self) -> dict[str, int]:
        found: dict[str, int] = self._child.ask(do="counters")
        return found

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def __enter__(self) -> OursAlone:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
