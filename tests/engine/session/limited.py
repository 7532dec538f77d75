"""One answer in a process of its own, for tests that set limits to processes: prints what it said and what it took.

    python -m tests.engine.session.limited MODEL SETTINGS(JSON) TOKENS [GROUP]

GROUP: folder of a control group to go into first, before anything large is loaded.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path


def main(model: str, chosen: str, tokens: str, group: str = "") -> None:
    """Open the model, answer twice and tell."""
    if group:
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
    from engine.calibration.calibrator import open_calibrated
    from engine.errors import UnderhillError
    from engine.generation.messages import Message
    from engine.generation.sampling import Sampling
    from engine.hardware import probe
    from engine.session import Session

    class Listener:
        def turns_dropped(self, count: int) -> None: ...

        def prompt_read(self, done: int, total: int, reused: int) -> None: ...

        def text(self, text: str, token_ids: Sequence[int]) -> None: ...

        def cancelled(self) -> bool:
            return False

    highest, capacity, over = [0], [0], threading.Event()
    opened: list[Session] = []
    imported = probe.peak_rss()

    def sample() -> None:
        while not over.wait(0.005):
            highest[0] = max(highest[0], probe.rss())
            capacity[0] = max(capacity[0], *(session.runtime.cache.capacity for session in opened), 0)

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        with open_calibrated(model, json.loads(chosen)) as session:
            said = []
            opened.append(session)
            for count in (700, 3):
                words = " ".join(f"w{7919 * i % 1999}" for i in range(count))
                message = (Message("user", words),)
                said.append(session.generate(message, Sampling(temperature=0, max_tokens=int(tokens)), (), Listener()))
            found = {
                "ids": [stats.token_ids for stats in said],
                "misses": sum(stats.misses for stats in said),
                "ceiling": session.plan.ceiling,
                "least": session.plan.least,
                "cache": session.plan.cache_bytes,
                "whole": session.facts.expert_bytes[session.plan.tier],
            }
    except UnderhillError as error:
        found = {"refused": f"{error.sentence} {error.action}"}
    finally:
        over.set()
        sampler.join()
    print(
        json.dumps({**found, "imported": imported, "capacity": capacity[0], "rss": highest[0], "hwm": probe.peak_rss()})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
