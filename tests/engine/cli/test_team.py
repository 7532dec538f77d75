"""Teams at a terminal: listed, shared, and asked like a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.engine.cli.test_cli import found, run

pytestmark = pytest.mark.long

TEAM = {
    "underhill_team": 1,
    "name": "Twice",
    "steps": [{"name": "First", "note": True}, {"name": "Second", "tell": "{First}"}],
}


@pytest.fixture
def twice(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Its name, imported."""
    (tmp_path / "t.json").write_text(json.dumps(TEAM))
    code, out, _ = run(capsys, "teams", "--import", str(tmp_path / "t.json"))
    assert code == 0
    assert "team:draft-and-check" in out
    assert "First, Second" in out
    return "team:Twice"


def test_teams_are_shared_and_deleted(twice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [card["id"] for card in found(capsys, "teams", "--export", "twice", str(tmp_path / "out.json"), "--json")]
    assert "twice" in names
    assert json.loads((tmp_path / "out.json").read_text())["steps"] == TEAM["steps"]
    while "twice" in [card["id"] for card in found(capsys, "teams", "--json")]:
        assert run(capsys, "teams", "--delete", "twice")[0] == 0
    code, _, err = run(capsys, "teams", "--delete", "twice")
    assert code == 1
    assert "There is no team called" in err
    (tmp_path / "bad.json").write_text('{"underhill_team": 1, "name": "X", "steps": []}')
    code, _, err = run(capsys, "teams", "--import", str(tmp_path / "bad.json"))
    assert code == 2
    assert "The team has no steps." in err


def test_a_team_answers_one_prompt(twice: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("chat", twice, "--prompt", "Tell me a story.", "--greedy", "--max-tokens", "12")
    code, out, err = run(capsys, *asked)
    assert code == 0
    assert "[First]" in err
    assert "[Second]" in err
    told = found(capsys, *asked, "--json")
    assert out.strip() == told["text"].strip()
    assert [(step["name"], step["state"]) for step in told["steps"]] == [("First", "done"), ("Second", "done")]


def test_a_team_converses(twice: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Hello\n/stats\n/new\n/exit\n"))
    code, out, err = run(capsys, "chat", twice, "--greedy", "--max-tokens", "8")
    assert code == 0
    assert out.strip()
    assert "tokens/s" in err


def test_what_cannot_be_done_is_said(twice: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "chat", "team:nothing", "--prompt", "x")
    assert code == 1
    assert "There is no team called 'nothing'" in err
    assert run(capsys, "chat", twice, "--prompt", "x", "--trace", "t.npz")[0] == 2
    code, _, err = run(capsys, "chat", twice, "--team-model", "nowhere", "--prompt", "x")
    assert code == 1
