"""A snapshot of a small model, for tests to vary."""

from __future__ import annotations

from engine import protocol

MEMORY = protocol.MemoryUse(4_000, 3_100, 600, 800, 300, 200, 1_200, 300, 350, 250)
FACTS = protocol.ExpertFacts(3, 1, 40, 7, 0.25, 0.31, 10, 2, 4, 1, 8, 600, 1_000)
BASE = protocol.Telemetry(
    "", ((0, 4), (1, 0)), ((8, 0), (2, 4)), (1, 3), 10, 10, 1000, {"8": 15, "2": 5}, 5, 12.0, 2e6, 900, 1000, 5000,
    True, "Waiting for disk.", ((2, 9), (1, 0)), ((0.0, 0.5), (0.25, 0.0)), ((1, 0), (1, 1)), memory=MEMORY,
)  # fmt: skip
