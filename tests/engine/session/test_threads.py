"""Torch's threads: set before every pass, one where a second would be in the way, none that spin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.planning.speed import SMALL_DENSE
from engine.session.loaded_model import Threaded, TorchThreads, torch_threads

LARGE = SMALL_DENSE * 10


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_who_multiplies_and_how_much_decides() -> None:
    assert torch_threads(4, SMALL_DENSE - 1, lean=False) == TorchThreads(1, 1)
    assert torch_threads(4, LARGE, lean=False) == TorchThreads(4, 4)
    assert torch_threads(4, LARGE, lean=True) == TorchThreads(4, 1)


class Model:
    """Notes with how many threads each pass runs."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def new_state(self) -> Any:
        return "state"

    def continues(self, state: Any, length: int) -> bool:
        return bool(state == "state" and length > 3)

    def forward(self, ids: Sequence[int], state: Any, want: str = "last", horizon: int = 0) -> Tensor | None:
        self.seen.append((len(ids), torch.get_num_threads()))
        return torch.tensor([float(horizon)]) if want == "last" else None


def test_every_pass_gets_its_threads() -> None:
    model = Model()
    threaded = Threaded(model, TorchThreads(2, 1))
    state = threaded.new_state()
    assert [threaded.continues(state, 3), threaded.continues(state, 4)] == [False, True]
    for tokens in (5, 1, 1, 4):
        threaded.forward([0] * tokens, state)
    assert model.seen == [(5, 2), (1, 1), (1, 1), (4, 2)]
    assert threaded.forward([0, 0], state, "none") is None
    assert threaded.forward([0, 0], state, "last", 7) == torch.tensor([7.0])


@pytest.mark.parametrize(("given", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_torchs_threads_do_not_spin_unless_they_are_told_to(given: str | None, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    if given is not None:
        environment["OMP_WAIT_POLICY"] = given
    code = "import os, engine; print(os.environ['OMP_WAIT_POLICY'])"
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert run.stdout.strip() == expected
