"""The whole command, killed when the last byte has come and around the final rename, ends in the same model."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.engine.formats.forms import FORMS
from tests.engine.hub.killing import MOST, Killer
from tests.hubserver import HubServer


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="starting a process takes too long there")
def test_killed_in_the_worst_moments(tmp_path: Path) -> None:
    """One form; python -m tests.audit.kills takes all."""
    FORMS["GGUF Q4_K"](tmp_path / "served")
    with HubServer() as server:
        found = Killer(server, tmp_path / "served", tmp_path / "home", random.Random(3)).kill(rounds=1)
    assert found.different == ()
    assert found.left == ()
    assert 0 <= found.fetched - found.total <= found.kills * MOST
