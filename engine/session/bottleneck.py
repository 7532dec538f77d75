"""What limits the speed now, in a sentence made of measured numbers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hardware.machine import size
from engine.translatable import Translatable, joined, msg

HELD = 0.25  # of the processor in others' hands, from which on answers are slower for it
BOUND = 0.6  # of the memory's rate, from which on it sets the pace


@dataclass(frozen=True)
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
    others = msg("Other programs hold {others} of the processor, which makes it slower.", others=_share(pace.others))
    return joined(" ", (_limit(pace), others))


def _limit(pace: Pace) -> Translatable:
    if pace.prompt:
        return _prompt(pace)
    if pace.tokens <= 0:
        return msg("Answering.")
    if pace.misses / pace.tokens < 0.05:
        return _from_memory(pace)
    a_token = msg("every token reads {read} from the disk", read=_size(pace.read / pace.tokens))
    if pace.waiting > 0.5:
        return msg(
            "Waiting for the disk: {a_token}, which gives {read} a second, and {waiting} of "
            "the time goes into that. A larger expert cache would help.",
            a_token=a_token,
            read=_size(pace.read),
            waiting=_share(pace.waiting),
        )
    return msg(
        "Mostly computing: {a_token}, and {waiting} of the time goes into waiting for it.",
        a_token=a_token,
        waiting=_share(pace.waiting),
    )


def _prompt(pace: Pace) -> Translatable:
    if not pace.prompt_tokens:
        return msg("Reading the prompt.")
    said = msg("Reading the prompt at {prompt_tokens} tokens a second", prompt_tokens=f"{pace.prompt_tokens:,.0f}")
    if pace.waiting > 0.5:
        return msg(
            "{said}, waiting for experts from the disk, which gives {read} a second.", said=said, read=_size(pace.read)
        )
    return msg("{said}; computing sets the pace.", said=said)


def _from_memory(pace: Pace) -> Translatable:
    taken = pace.weights * pace.tokens
    if pace.memory and taken > BOUND * pace.memory:
        return msg(
            "Every expert needed is in memory. Every token reads {weights} of it, at {taken} a "
            "second: {value} of what the memory gives, which sets the pace.",
            weights=_size(pace.weights),
            taken=_size(taken),
            value=_share(min(1.0, taken / pace.memory)),
        )
    return msg("Every expert needed is in memory; computing sets the pace.")


def _size(nbytes: float) -> str:
    """For a sentence."""
    return f"{nbytes / 1e3:.0f} kB" if nbytes < 1e6 else size(int(nbytes))


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"
