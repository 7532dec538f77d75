"""A snapshot of a small model, for tests to vary."""

from __future__ import annotations

from engine import protocol

MEMORY = protocol.MemoryUse(
    ceiling=4_000,
    taken=3_100,
    program=600,
    dense=800,
    context=300,
    buffers=200,
    cached=1_200,
    room=300,
    aside=350,
    spare=250,
)
FACTS = protocol.ExpertFacts(
    layer=3,
    expert=1,
    uses=40,
    answer=7,
    gate=0.25,
    mean_gate=0.31,
    coarse=10,
    skipped=2,
    tier=4,
    place=1,
    coming=8,
    nbytes=600,
    stored=1_000,
)
BASE = protocol.Telemetry(
    id="",
    activations=((0, 4), (1, 0)),
    residency=((8, 0), (2, 4)),
    layer_names=(1, 3),
    hits=10,
    misses=10,
    bytes_read=1000,
    precision={"8": 15, "2": 5},
    tokens=5,
    tokens_per_second=12.0,
    disk_bytes_per_second=2e6,
    cache_bytes=900,
    cache_capacity=1000,
    rss=5000,
    generating=True,
    why="Waiting for disk.",
    uses=((2, 9), (1, 0)),
    gates=((0.0, 0.5), (0.25, 0.0)),
    places=((1, 0), (1, 1)),
    memory=MEMORY,
)
