"""The training package lies beside the model that it makes, not on the path of the app."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
sys.path.insert(0, str(RESOURCES / "builtin"))


@pytest.fixture
def resources() -> Path:
    return RESOURCES


@pytest.fixture
def uncompiled() -> Iterator[None]:
    """Training code runs as written: compiling it would take longer than all tests together."""
    with torch.compiler.set_stance("force_eager"):
        yield
