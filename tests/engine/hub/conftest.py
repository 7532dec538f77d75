"""A hub on loopback with one tiny model, a connection to it, and no patience."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from engine.hub.client import Hub, connect
from engine.hub.control import RetryPolicy
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.hubserver import HubServer

QUICK = RetryPolicy(first=0.01, most=0.05, tries=3)


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is no network: these tests may use it. No token of the person who runs them is read."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HubServer]:
    with HubServer() as running:
        running.add("tiny/moe", write_checkpoint(tmp_path / "served"), downloads=10)
        yield running


@pytest.fixture
def hub(server: HubServer) -> Iterator[Hub]:
    with connect({"endpoint": server.url}) as opened:
        yield opened
