"""The expert cache under a ceiling: it never falls below what the rest of the process leaves, nor stays above it."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from engine.calibration.calibrator import open_calibrated
from tests.audit.finding import Finding
from tests.engine.session.shaped import shaped_store
from tests.engine.session.sizes import MOMENT, Size, above, chat, collapsed, load, recording, replay

MORE = 90_000_000  # bytes that something else in the process takes for a while
LET_GO = 1.0  # seconds in which what was taken above the ceiling is given back
BURSTS = ((3.0, 1.6), (22.0, 1.6))  # of the recorded chats: from when, and how long


def examine() -> Finding:
    """Two long prompts of an open model, in real time, while something else takes and returns memory; and recorded
    chats, in which it does so at the worst moments."""
    recorded, share = load()
    assert share.ceiling is not None
    played = replay(recorded, share, lambda now: 150_000_000 * any(at <= now < at + lasts for at, lasts in BURSTS))
    with tempfile.TemporaryDirectory() as folder:
        live, ceiling, smallest = _live(shaped_store(Path(folder)))
    found = {
        "recorded_collapsed_seconds": round(collapsed(played, share.ceiling, share.smallest), 2),
        "recorded_above_ceiling_seconds": round(above(played, share.ceiling), 2),
        "live_collapsed_seconds": round(collapsed(live, ceiling, smallest), 2),
        "live_above_ceiling_seconds": round(above(live, ceiling), 2),
        "live_highest_over_ceiling": round(max(size.own for size in live) / ceiling, 3),
        "live_smallest_cache": min(size.capacity for size in live),
        "live_planned_cache": max(size.due for size in live),
        "live_prompt_looks": sum(size.tokens > 8 for size in live),
    }
    kept = found["live_collapsed_seconds"] <= MOMENT and found["recorded_collapsed_seconds"] <= MOMENT
    below = found["live_above_ceiling_seconds"] <= LET_GO and found["recorded_above_ceiling_seconds"] <= LET_GO
    gave = found["live_smallest_cache"] < 0.8 * found["live_planned_cache"]
    return Finding(ok=kept and below and gave and found["live_prompt_looks"] > 20, found=found)


def _live(store: Path) -> tuple[list[Size], int, int]:
    chosen = {"dial": "exact", "context_length": 4096}
    with open_calibrated(str(store), chosen) as session:
        least = session.plan.least
    over = threading.Event()

    def take() -> None:
        while not over.wait(2.5):
            taken = bytearray(b"x") * MORE
            over.wait(2.0)
            del taken

    with open_calibrated(str(store), {**chosen, "memory_gb": (least + 230_000_000) / 1e9}) as session:
        other = threading.Thread(target=take, daemon=True)
        other.start()
        with recording(session) as sizes:
            for words in (3000, 20, 3000):
                chat(session, words, 120)
                time.sleep(2.0)
        over.set()
        other.join()
        return sizes, session.plan.ceiling, session.plan.smallest_cache
