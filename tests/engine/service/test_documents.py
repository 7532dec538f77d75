"""Documents through the engine: indexed in the background, searched at a question, stopped, and deleted."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import client, protocol
from engine.cli.main import main
from engine.service.documents import DocumentWorker
from tests.waiting import LONGEST

pytestmark = pytest.mark.long


class _Engine:
    """An engine with what it has told."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[protocol.Event] = queue.SimpleQueue()
        self.engine = client.start(self.events.put)

    def done(self, command: protocol.Command) -> protocol.Event:
        """Send a command; its last event."""
        self.engine.send(command)
        while True:
            event = self.events.get(timeout=LONGEST)
            if event.id == command.id and isinstance(event, protocol.TERMINAL):
                return event


@pytest.fixture
def engine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Engine]:
    monkeypatch.setattr("engine.service.documents.home", lambda: tmp_path / "home")
    made = _Engine()
    yield made
    made.engine.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pumps\n\n## Service\nThe red pump is oiled every March.\n", encoding="utf-8")
    (folder / "sea.txt").write_text("The vessel left the harbour at dawn.", encoding="utf-8")
    (folder / "bad.txt").write_bytes(bytes(range(256)) * 9)
    return folder


def test_a_folder_is_indexed_searched_and_forgotten(engine: _Engine, notes: Path, tmp_path: Path) -> None:
    paths = (str(notes),)
    first = engine.done(protocol.FindPassages("f0", paths, "When is the pump oiled?"))
    assert isinstance(first, protocol.Done)  # read at once, though nobody has had it indexed
    assert [p.heading for p in first.result.passages] == ["Pumps › Service"]
    indexed = engine.done(protocol.IndexDocuments("i1", paths))
    assert isinstance(indexed, protocol.Done)
    (now,) = indexed.result
    assert (now.files, now.passages, now.unencoded) == (2, 2, 0)
    assert [(left.name, str(left.sentence)) for left in now.left_out] == [("bad.txt", "bad.txt isn't a text file.")]
    found = engine.done(protocol.FindPassages("f1", paths, "When did the ship depart?"))
    assert isinstance(found, protocol.Done)
    passage = found.result.passages[0]  # by its meaning: no word is the same
    assert (passage.name, passage.line, passage.text) == (
        "notes/sea.txt", 1, "The vessel left the harbour at dawn.",
    )  # fmt: skip
    gone = engine.done(protocol.FindPassages("f2", (str(tmp_path / "nowhere"),), "What?"))
    assert isinstance(gone, protocol.Failed)
    assert gone.kind is protocol.Kind.MISSING_FILE
    assert engine.done(protocol.TidyDocuments("t", ())) == protocol.Done("t", 2)


def test_encoding_rests_while_anything_is_answered_and_can_be_stopped(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.service.documents.home", lambda: tmp_path / "home")
    looks: list[int] = []
    events: list[protocol.Event] = []

    def busy() -> bool:
        looks.append(1)
        return len(looks) < 4

    worker = DocumentWorker(events.append, lambda: None, busy, lambda: False)
    command = protocol.IndexDocuments("i", (str(notes),))
    with pytest.raises(protocol.UnderhillError) as stopped:
        worker.index(command, lambda: len(looks) >= 2)
    assert stopped.value.kind is protocol.Kind.CANCELLED
    assert len(looks) == 2  # nothing was encoded
    (now,) = worker.index(command, lambda: False)  # type: ignore[misc]
    assert len(looks) == 4
    assert now.unencoded == 0


def test_the_terminal_answers_from_documents_and_names_the_sources(
    home: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("chat", "builtin", "--prompt", "When is the red pump oiled?", "--greedy", "--max-tokens", "8",
             "--threads", "1", "--documents", str(notes))  # fmt: skip
    assert main((*asked, "--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sources"][0]["name"] == "notes/pump.md"
    assert main(asked) == 0
    told = capsys.readouterr().err
    assert "[1] notes/pump.md, Pumps › Service, line 4" in told
    assert "Left out: bad.txt." in told
    assert main(("chat", "builtin", "--prompt", "Hi", "--documents", str(notes / "none"))) == 1
