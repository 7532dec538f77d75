"""Which turns are kept, by their sizes alone."""

from __future__ import annotations

import pytest

from engine.generation.dropping import kept_tokens


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ([10, 10, 10], 30),  # all fit
        ([40, 20, 20], 20),  # more than the 75 that the answer leaves: down to 50, at a question
        ([90], 90),  # the last question stays, whatever it takes
        ([40, 10, 30, 10, 20], 60 - 30 + 30),  # dropped once, then the same prompt grows
    ],
)
def test_turns_are_left_out_as_a_prompt_leaves_them_out(sizes: list[int], kept: int) -> None:
    roles = ["user" if number % 2 == 0 else "assistant" for number in range(len(sizes))]
    assert kept_tokens(roles, sizes, context=100, longest=1024, system=0) == kept


def test_the_system_prompt_takes_its_share() -> None:
    assert kept_tokens(["user", "assistant", "user"], [20, 20, 20], context=100, longest=1024, system=20) == 20
