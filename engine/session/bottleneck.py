"""What limits the speed now, in a sentence made of measured numbers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hardware.machine import size
from engine.translatable import Translatable, joined, msg

HELD = 0.25  # of the processor in others' hands, from which on answers are slower for it
BOUND = 0.6  # of the memory's rate, from which on it sets the pace


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Of the last second or so. Rates per second, bytes.

    prompt: a prompt is being read. waiting: share of the time in which computing stood still for the disk. read: bytes
    from disk; misses. weights: bytes that a token reads from memory, 0 where the processor's cache holds them. memory:
    bytes that it gives. others: share of the processor that other programs
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
    others: float = 0.0


def why(pace: Pace) -> Translatable:
    """The sentence; two where other programs have a part in it."""
    if pace.others < HELD:
        return _limit(pace)
    others = msg("Slowed down by other apps ({others} of the processor).", others=_share(pace.others))
    return joined(" ", (_limit(pace), others))


def _limit(pace: Pace) -> Translatable:
    if pace.prompt:
        return _prompt(pace)
    if pace.tokens <= 0:
        return msg("Generating…")
    if pace.misses / pace.tokens < 0.05:
        return _from_memory(pace)
    a_token = msg("{read} per token", read=_size(pace.read / pace.tokens))
    if pace.waiting > 0.5:
        return msg(
            "Limited by disk: {a_token} at {read}/s, {waiting} of the time waiting. More memory helps.",
            a_token=a_token,
            read=_size(pace.read),
            waiting=_share(pace.waiting),
        )
    return msg(
        "Limited by computing: {a_token} from disk, {waiting} of the time waiting for it.",
        a_token=a_token,
        waiting=_share(pace.waiting),
    )


def _prompt(pace: Pace) -> Translatable:
    if not pace.prompt_tokens:
        return msg("Processing prompt.")
    said = msg("Processing prompt at {prompt_tokens} tok/s", prompt_tokens=f"{pace.prompt_tokens:,.0f}")
    if pace.waiting > 0.5:
        return msg("{said}, limited by disk reads ({read}/s).", said=said, read=_size(pace.read))
    return msg("{said}, limited by computing.", said=said)


def _from_memory(pace: Pace) -> Translatable:
    taken = pace.weights * pace.tokens
    if pace.memory and taken > BOUND * pace.memory:
        return msg(
            "All experts in memory. Limited by memory: {weights} per token at {taken}/s ({value} of its speed).",
            weights=_size(pace.weights),
            taken=_size(taken),
            value=_share(min(1.0, taken / pace.memory)),
        )
    return msg("All experts in memory. Limited by computing.")


def _size(nbytes: float) -> str:
    """For a sentence."""
    return f"{nbytes / 1e3:.0f} kB" if nbytes < 1e6 else size(int(nbytes))


def _share(part: float) -> str:
    return f"{100 * part:.0f}%"
