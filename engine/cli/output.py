"""What the commands print: notes and progress on standard error, results on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from tqdm import tqdm

from engine.library.entries import ModelCard
from engine.planning.fit import Fit
from engine.planning.speed import figure

PILLS = {"memory": "In memory", "disk": "From disk", "slow": "Slow", "too_big": "Too large"}


def say(text: str) -> None:
    """A note for the person; never mixed into results."""
    print(text, file=sys.stderr, flush=True)


class ProgressBar:
    """One bar at a time on standard error; a new phrase starts a new bar."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._bar: Any = None
        self._phrase = ""

    def report(self, phrase: str, done: int, total: int) -> None:
        """Progress in bytes."""
        self.show(phrase, done, total, "B")

    def show(self, phrase: str, done: int, total: int, unit: str) -> None:
        """done of total units; total 0: not known."""
        if not self._enabled or total <= 0:
            return
        if self._bar is None or phrase != self._phrase:
            self.close()
            scale = unit == "B"
            self._bar = tqdm(
                total=total, desc=phrase, unit=unit, unit_scale=scale, file=sys.stderr, leave=False,
                initial=done,  # what an earlier run has done says nothing about how fast this one is
            )  # fmt: skip
            self._phrase = phrase
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Take the bar off the screen."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def table(rows: Iterable[Sequence[str]], header: Sequence[str]) -> str:
    """Plain columns, the first left-aligned, numbers right-aligned."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 or not cell[:1].isdigit() else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def gb(n: int) -> str:
    """Bytes for people."""
    return f"{n / 1e9:.2f} GB" if n >= 1e8 else f"{n / 1e6:.1f} MB"


def experts_by_bits(card: ModelCard) -> str:
    """How many experts of a lowered model have how many bits, and what that costs."""
    counts = ", ".join(f"{experts:,} with {bits} bits" for bits, experts in card.expert_bits)
    return f"Experts: {counts}; KL {card.lowered_kl or 0.0:.4f} from before. The original is in the trash."


def millions(parameters: int) -> str:
    """Parameters for people; '?' where they are not known."""
    if not parameters:
        return "?"
    return f"{parameters / 1e9:.1f} B" if parameters >= 1e8 else f"{parameters / 1e6:.1f} M"


def pill(fit: Fit | None) -> str:
    """How a model runs here, in two words: and with how many bits, where fewer than usual make it run."""
    if fit is None:
        return "?"
    group = fit.pill if fit.pill != "fits" else "memory" if fit.share >= 1 else "disk"
    return PILLS[group] + (f" at {fit.tier} bits" if fit.tier < 8 and fit.pill != "too_big" else "")


def speed(fit: Fit | None) -> str:
    """Tokens a second that are expected, from worse to better."""
    if fit is None or fit.speed is None:
        return "-"
    low, high = (figure(tokens) for tokens in fit.speed)
    return low if low == high else f"{low} to {high}"
