"""Going back in a sequence: exactly where layers keep rows, to a snapshot where they keep one state."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.translatable import translated
from tests.engine.models.families.tiny import FAMILIES, tiny
from tests.engine.models.parity import TOLERANCE, make_pair, oracle_logits

RECURRENT = (
    "qwen3_next", "qwen3_5_moe_text", "lfm2_moe", "nemotron_h", "granitemoehybrid", "kimi_linear", "deepseek_v4",
)  # fmt: skip
GAIN = {"gemma4_text": 2.0}  # see its own test


@pytest.mark.parametrize("family", FAMILIES)
def test_other_tokens_after_a_rollback(family: str, tmp_path: Path) -> None:
    pair = make_pair(tiny(family), tmp_path, gain=GAIN.get(family, 4.0))
    ids: list[int] = torch.randint(0, 97, (40,), generator=torch.Generator().manual_seed(5)).tolist()
    first, other = ids[:24], [*ids[:13], *ids[24:]]
    state = pair.ours.new_state()
    for part in (first[:8], first[8:11], first[11:16], first[16:]):
        pair.ours.forward(part, state)
        state.snapshot()
    for _ in range(2):  # twice: going back must not use a snapshot up
        reached = state.rollback(13)
        assert reached == (11 if family in RECURRENT else 13)
        logits = pair.ours.forward(other[reached:], state, "all")
        assert logits is not None
        assert (logits - oracle_logits(pair.model, other)[reached:]).abs().max() <= TOLERANCE


@pytest.mark.parametrize("family", RECURRENT)
def test_a_pass_that_breaks_off_leaves_a_state_to_go_on_from(family: str, tmp_path: Path) -> None:
    pair = make_pair(tiny(family), tmp_path)
    ids: list[int] = torch.randint(0, 97, (40,), generator=torch.Generator().manual_seed(5)).tolist()
    state = pair.ours.new_state()
    pair.ours.forward(ids[:9], state)
    state.snapshot()

    last = pair.ours.layers[-1].feed_forward
    whole = last.forward
    last.forward = _broken  # type: ignore[method-assign]
    with pytest.raises(UnderhillError):
        pair.ours.forward(ids[9:30], state)
    last.forward = whole  # type: ignore[method-assign]

    assert state.length == 9
    logits = pair.ours.forward(ids[9:], state, "all")
    assert logits is not None
    assert (logits - oracle_logits(pair.model, ids)[9:]).abs().max() <= TOLERANCE


def _broken(*_: torch.Tensor | None) -> torch.Tensor:
    raise UnderhillError(Kind.DISK_ERROR, translated("An expert could not be read."))
