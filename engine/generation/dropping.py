"""Which turns of a chat still fit the context: the oldest go first."""

from __future__ import annotations

from collections.abc import Sequence


def answer_reserve(longest: int, context: int) -> int:
    """Tokens of the context that are left free for an answer of at most `longest`: a quarter at most."""
    return max(1, min(longest, context // 4))


def turn_starts(roles: Sequence[str], last: int) -> list[int]:
    """Where a prompt may begin once turns are dropped: at a later question, or at the turn `last`, which stays."""
    return [i for i, role in enumerate(roles) if i == last or (0 < i < last and role == "user")]


def first_kept(roles: Sequence[str], sizes: Sequence[int], starts: Sequence[int], room: int, aim: int) -> int:
    """The turn that the prompt begins with: once the turns take more than `room` tokens, they come down to `aim`.

    Found by going through the chat as it grew, so that the next question finds the same turn, and what was read for
    this one stays of use.
    """
    first, coming = 0, iter(starts)
    for end, role in enumerate(roles):
        if role != "user" and end + 1 < len(roles):
            continue  # nothing was asked here
        most = room
        while sum(sizes[first : end + 1]) > most and (start := next(coming, None)) is not None:
            first, most = start, aim
    return first


def kept_tokens(roles: Sequence[str], sizes: Sequence[int], context: int, longest: int, system: int) -> int:
    """About how many tokens of these turns a prompt keeps, beside `system` of the system prompt.

    longest: most tokens of the answer. The last turn stays, whatever it takes.
    """
    room = context - answer_reserve(longest, context) - system
    first = first_kept(roles, sizes, turn_starts(roles, len(roles) - 1), room, room - context // 4)
    return sum(sizes[first:])
