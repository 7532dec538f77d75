"""What limits the speed now, in a sentence made of measured numbers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hardware import budget

HELD = 0.25  # of the processor in others' hands, from which on answers are slower for it
BOUND = 0.6  # of the memory's rate, from which on it sets the pace


@dataclass(frozen=True)
class Pace:
    """Of the last second or so. Rates per second, bytes.

    prompt: a prompt is being read. waiting: share of the time in which computing stood still for the disk. read: bytes
    from disk; misses. weights: bytes that a token reads from memory, 0 where the processor's cache holds them. memory:
    bytes that it gives. native: whether native kernels compute. others: share of the processor that other programs
    hold.
    """

    prompt: bool
    tokens: float
    prompt_tokens: float
    waiting: float
    read: float
    misses: float
    weights: int
    memory: float
    native: bool = True
    others: float = 0.0


def why(pace: Pace) -> str:
    """The sentence; two where the slower kernels have a part in it."""
    slower = "" if pace.native else " The slower torch kernels compute."
    if pace.others >= HELD:
        slower += f" Other programs hold {_share(pace.others)} of the processor, which makes it slower."
    if pace.prompt:
        return _prompt(pace) + slower
    if pace.tokens <= 0:
        return "Answering." + slower
    if pace.misses / pace.tokens < 0.05:
        return _from_memory(pace) + slower
    a_token = f"every token reads {_size(pace.read / pace.tokens)} from the disk"
    if pace.waiting > 0.5:
        return (
            f"Waiting for the disk: {a_token}, which gives {_size(pace.read)} a second, and {_share(pace.waiting)} of "
            "the time goes into that. A larger expert cache would help." + slower
        )
    return f"Mostly computing: {a_token}, and {_share(pace.waiting)} of the time goes into waiting for it.{slower}"


def _prompt(pace: Pace) -> str:
    if not pace.prompt_tokens:
        return "Reading the prompt."
    said = f"Reading the prompt at {pace.prompt_tokens:,.0f} tokens a second"
    if pace.waiting > 0.5:
        return f"{said}, waiting for experts from the disk, which gives {_size(pace.read)} a second."
    return f"{said}; computing sets the pace."


def _from_memory(pace: Pace) -> str:
    taken = pace.weights * pace.tokens
    if pace.memory and taken > BOUND * pace.memory:
        return (
            f"Every expert needed is in memory. Every token reads {_size(pace.weights)} of it, at {_size(taken)} a "
            f"second: {_share(min(1.0, taken / pace.memory))} of what the memory gives, which sets the pace."
        )
    return "Every expert needed is in memory; computing sets the pace."


def _size(nbytes: float) -> str:
    """For a sentence."""
    return f"{nbytes / 1e3:.0f} kB" if nbytes < 1e6 else budget.size(int(nbytes))


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"
