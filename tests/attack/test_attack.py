"""The table of attacks is large enough, and a few of each area are tried at every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.attack import AREAS
from tests.attack.__main__ import Area
from tests.attack.case import Case
from tests.attack.worker import cases, outcome

pytestmark = pytest.mark.long

SOME = 8  # of each area


def test_there_are_as_many_as_were_asked_for() -> None:
    assert sum(len(cases(area)) for area in AREAS) >= 800


@pytest.mark.parametrize("area", ["safetensors", "gguf", "manifest", "catalogue", "pipe", "files", "hub"])
def test_some_of_each(area: str, tmp_path: Path) -> None:
    every = cases(area)
    for number, case in enumerate(every[:: len(every) // SOME]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert outcome(case, folder)[0] in ("refused", "taken"), case.name


def believed(folder: Path) -> None:
    """Takes what it should refuse."""


def internal(folder: Path) -> None:
    raise KeyError("x")


def refused(folder: Path) -> None:
    raise OSError(5, "I/O error", "name")


@pytest.mark.parametrize(
    ("case", "what"),
    [
        (Case("a", believed), "believed"),
        (Case("b", internal), "internal"),
        (Case("c", refused), "refused"),
        (Case("d", believed, True), "taken"),
    ],
)
def test_what_came_of_it(case: Case, what: str, tmp_path: Path) -> None:
    assert outcome(case, tmp_path)[0] == what


@pytest.mark.skipif(sys.platform != "linux", reason="the command looks into /proc")
def test_what_harms_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.attack.__main__.MAX_SECONDS", 3.0)
    monkeypatch.setattr("tests.attack.__main__.MAX_BYTES", 100 << 20)
    found = {failure.name: failure.what for failure in Area("examples", tmp_path).failures()}
    assert found == {"hangs": "hang", "takes memory": "memory", "dies": "died", "lets others read": "readable"}
