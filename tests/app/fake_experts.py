"""The experts of the scripted engine: how often each is used, which are in memory, and the telemetry of that."""

from __future__ import annotations

import random

from engine import protocol
from engine.session.bottleneck import Pace, why
from engine.session.prefetch_choice import BESIDE
from engine.translatable import Translatable, msg
from tests.app.fake_cards import EXPERTS, LAYERS

AHEAD = msg("Prefetch: {correct}% correct, {wasted}% wasted ({words})", correct=83, wasted=6, words=BESIDE["taught"])


class FakeExperts:
    """LAYERS of EXPERTS. counts: hits and misses, uses by precision, and tokens."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        self._used = [[0] * EXPERTS for _ in range(LAYERS)]
        self._held = [[self._random.choice((0, 0, 2, 4, 8, 8, 8)) for _ in range(EXPERTS)] for _ in range(LAYERS)]
        self._taste = [[self._random.paretovariate(1.2) for _ in range(EXPERTS)] for _ in range(LAYERS)]
        self.counts = {"hits": 0, "misses": 0, "8": 0, "4": 0, "2": 0, "skipped": 0, "tokens": 0}

    def begin_answer(self) -> None:
        """Count uses from here."""
        self._used = [[0] * EXPERTS for _ in range(LAYERS)]

    def run_token(self) -> None:
        """Use four experts of every layer, the same ones more often than others."""
        c = self.counts
        c["tokens"] += 1
        for layer in range(LAYERS):
            for expert in self._random.choices(range(EXPERTS), self._taste[layer], k=4):
                self._used[layer][expert] += 1
                held = self._held[layer][expert]
                c["hits" if held else "misses"] += 1
                c[str(held) if held else self._random.choice(("8", "2", "skipped"))] += 1
                if not held and self._random.random() < 0.02:
                    self._held[layer][expert] = 8

    def snapshot(self, rate: float, idle: Translatable | None) -> protocol.Telemetry:
        """Telemetry as of now. rate: tokens per second. idle: why nothing is generated; None while it is."""
        c, generating = self.counts, idle is None
        wobble = self._random.uniform(0.9, 1.1)
        return protocol.Telemetry(
            id="",
            activations=tuple(map(tuple, self._used)),
            residency=tuple(map(tuple, self._held)),
            layer_names=tuple(range(LAYERS)),
            hits=c["hits"],
            misses=c["misses"],
            bytes_read=c["misses"] * 60_000,
            precision={k: c[k] for k in ("8", "4", "2", "skipped")},
            tokens=c["tokens"],
            tokens_per_second=rate * wobble if generating else 0.0,
            disk_bytes_per_second=62e6 * wobble if generating else 0.0,
            cache_bytes=1_730_000_000,
            cache_capacity=1_900_000_000,
            rss=3_150_000_000,
            generating=generating,
            why=why(
                Pace(
                    prompt=False,
                    tokens=12.0,
                    prompt_tokens=118.0,
                    waiting=0.64,
                    read=62e6,
                    misses=40.0,
                    weights=6 * 10**9,
                    memory=52e9,
                )
            )
            if idle is None
            else idle,
            uses=tuple(map(tuple, self._used)),
            gates=tuple(tuple(min(0.6, taste / 12) for taste in row) for row in self._taste),
            places=tuple(tuple(int(held > 0) for held in row) for row in self._held),
            foreseen=c["hits"] // 6,
            foreseen_late=c["misses"] // 5,
            prompt_tokens_per_second=118.0,
            waiting=0.64 * wobble if generating else 0.0,
            ahead=AHEAD,
            memory=protocol.MemoryUse(
                ceiling=4_000_000_000,
                taken=3_150_000_000,
                program=270_000_000,
                dense=890_000_000,
                context=120_000_000,
                buffers=140_000_000,
                cached=1_730_000_000,
                room=170_000_000,
                aside=338_000_000,
                spare=342_000_000,
            ),
        )
