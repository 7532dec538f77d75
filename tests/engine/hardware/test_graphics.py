"""Graphics cards: those that can be used, and what copying to them takes, on a CUDA that is not there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.hardware import graphics
from engine.hardware.machine import Gpu


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two, of which another program holds the first."""

    def memory(index: int) -> tuple[int, int]:
        if index == 0:
            raise RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable")
        return 3, 4

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: f"card {index}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", memory)
    shared = SimpleNamespace(is_integrated=1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: shared)


def test_a_card_that_cannot_be_used_now_is_left_out(cards: None) -> None:
    assert graphics.gpus() == (Gpu("card 1", 4, 3, unified=True),)


def test_without_cuda_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert graphics.measured() == ()


def test_both_kinds_of_memory_are_copied_from_to_the_card_itself(cards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def ones(nbytes: int, dtype: Any, pin_memory: bool) -> Any:
        return SimpleNamespace(kind="pinned" if pin_memory else "pageable")

    def empty(nbytes: int, dtype: Any, device: str) -> Any:
        return SimpleNamespace(kind=device, copy_=lambda source: asked.append((source.kind, device)))

    monkeypatch.setattr(torch, "ones", ones)
    monkeypatch.setattr(torch, "empty", empty)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda index: None)
    (found,) = graphics.measured()
    assert set(asked) == {("pinned", "cuda:1"), ("pageable", "cuda:1"), ("cuda:1", "cuda:1")}
    assert found.pinned > 0
    assert found.pageable > 0
    assert found.rate > 0


def test_a_card_too_full_to_be_measured_is_listed_without_rates(cards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(torch, "ones", full)
    assert graphics.measured() == (Gpu("card 1", 4, 3, unified=True),)
