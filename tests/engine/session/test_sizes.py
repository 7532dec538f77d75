"""The cache under a ceiling, over time: it gives what the rest of the process takes, and has it back at once."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.hardware import pressure
from tests.engine.session.shaped import shaped_store
from tests.engine.session.sizes import MOMENT, Size, above, chat, collapsed, load, replay, size_of

pytestmark = pytest.mark.long

MB = 1_000_000


def test_a_cache_that_collapsed_is_seen() -> None:
    sizes = [Size(n / 10, 1, 500 * MB, 100 * MB, 100 * MB, 236 * MB, 0, 0) for n in range(40)]
    assert collapsed(sizes, 800 * MB) > 3.8
    assert collapsed(sizes, 500 * MB) == 0.0
    assert above(sizes, 499 * MB) > 3.8


@pytest.mark.parametrize(
    ("bursts", "kept"),
    [
        ((), 190),  # what prompts are lent, and nothing else
        (((3.0, 1.6, 150), (22.0, 1.6, 150)), 100),  # in the middle of a prompt, and just before one
        (((5.0, 99.0, 120),), 100),  # a window that has become larger
    ],
)
def test_chats_with_long_prompts_as_they_were_recorded(bursts: tuple[tuple[float, float, int], ...], kept: int) -> None:
    """bursts: from when, how long, MB more that the process takes."""
    recorded, share = load()
    assert share.ceiling is not None
    found = replay(recorded, share, lambda now: sum(MB * n for at, lasts, n in bursts if at <= now < at + lasts))
    assert collapsed(found, share.ceiling, share.smallest) <= MOMENT
    assert above(found, share.ceiling) < 2 * pressure.PERIOD
    assert min(size.capacity for size in found) >= kept * MB
    assert not bursts or min(size.capacity for size in found) < 160 * MB  # or nothing was to be given


def test_whatever_else_the_process_takes_and_when_the_cache_does_not_collapse() -> None:
    recorded, share = load()
    assert share.ceiling is not None
    for seed in range(40):
        chance = random.Random(seed)
        bursts = [(chance.uniform(0, 37), chance.uniform(0.05, 4), chance.randrange(180 * MB)) for _ in range(6)]

        def more(now: float, bursts: list[tuple[float, float, int]] = bursts) -> int:
            return min(250 * MB, sum(n for at, lasts, n in bursts if at <= now < at + lasts))

        found = replay(recorded, share, more)
        assert collapsed(found, share.ceiling, share.smallest) <= MOMENT, seed
        assert above(found, share.ceiling) < 2 * pressure.PERIOD, seed


def test_an_open_model_under_a_ceiling_with_long_prompts(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its real sizes, layer by layer; the clock alone is ours, and who takes 90 MB more for a while."""
    monkeypatch.setattr(pressure, "PERIOD", 10_000.0)  # the watching thread looks no more: the test does
    monkeypatch.setattr(pressure, "IN_PROMPT", 10_000.0)
    store = shaped_store(tmp_path)
    with open_calibrated(str(store), {"dial": "exact", "threads": 1, "context_length": 4096}) as session:
        least = session.plan.least
    chosen = {"dial": "exact", "threads": 1, "context_length": 4096, "memory_gb": (least + 230 * MB) / 1e9}
    with open_calibrated(str(store), chosen) as session:
        sizes: list[Size] = []
        taken: list[bytearray] = []

        def layer(*_: object) -> None:
            now = 0.2 * len(sizes)
            if len(sizes) in (9, 40):
                taken.append(bytearray(b"x") * (90 * MB))
            if len(sizes) in (16, 46):
                taken.clear()
            session.cache_budget.look(lambda: pressure.read(()), now)
            sizes.append(size_of(session, now))

        with session.listening(layer):
            for _ in range(3):
                chat(session, 3000, 6)
        ceiling, smallest = session.plan.ceiling, session.plan.smallest_cache
        prompts = [size for size in sizes if size.tokens > 8]
        assert len(prompts) > 40
        assert session.runtime.cache.nbytes > 0.9 * session.plan.cache_bytes
    assert min(size.capacity for size in sizes) < 0.75 * max(size.due for size in sizes)  # it had to give
    assert collapsed(sizes, ceiling, smallest) <= MOMENT
    assert collapsed([replace(size, capacity=size.capacity // 2) for size in sizes], ceiling, smallest) > MOMENT
    assert above(sizes, ceiling) <= 0.2
