"""A server on a free port of 127.0.0.1, with the built-in model open behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.protocol import LoadModel
from tests.engine.server.serving import SETTINGS, Serving


@pytest.fixture(scope="module")
def serving(home: Path) -> Iterator[Serving]:
    """Started for all tests of a file; every answer is deterministic."""
    with Serving() as started:
        started.result(LoadModel, "builtin", SETTINGS)
        yield started
