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


class OursAlone(Child):
    """One model, which stands still between calls; its methods are those of ours_server.Model.

    chosen: engine settings. shape: None where bytes used are not asked for. overlap: whether a layer's experts that are
    there are computed while the others are read.
    """

    def __init__(
        self,
        model: Path | str,
        shape: Shape | None,
        chosen: Mapping[str, Any],
        group: Group | None = None,
        *,
        overlap: bool = True,
    ) -> None:
        dense, routers = (0, 0) if shape is None else (shape.dense_weights(), shape.router_weights())
        command = [sys.executable, "-m", SERVER, json.dumps([str(model), dict(chosen), dense, routers, overlap])]
        super().__init__("Our engine", command if group is None else group.command(*command), stops=True)
        self.about: dict[str, Any] = self.ready

    def turn(self, tokens: Sequence[int], *, digest: bool = False, answering: bool = False) -> Turn:
        """Decode the tokens one by one, going on where the last call ended.

        answering: choose a token behind each and make text of it, without digests.
        """
        before, system = self.counters(), self.bytes_read
        seconds, digests = (self.answer(tokens), []) if answering else self.decode(tokens, digest)
        after, system = self.counters(), self.bytes_read - system
        d = {name: after[name] - before[name] for name in after}
        return Turn(
            tuple(seconds), d["hits"], d["misses"], d["bytes_read"], d["wasted"], d["used_bytes"], system, d["uses"],
            d["coarse"], d["reads"], 1e-9 * d["busy"], tuple(digests),
        )  # fmt: skip

    def prompt_read(self, tokens: Sequence[int]) -> tuple[float, int]:
        """Seconds until an answer to a prompt begins, which starts a sequence of its own, and the bytes read for it."""
        before = self.counters()["bytes_read"]
        return self.prompt(tokens), self.counters()["bytes_read"] - before
