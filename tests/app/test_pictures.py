"""The pictures of the documentation show nothing of the person who takes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from engine.library.home import home
from engine.service import recordings
from tests.app import pictures

SCENES = ("_first_run", "_chats", "_documents", "_images", "_chinese", "_built_in")


def test_every_scene_has_a_home_of_its_own(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []

    def scene(studio: pictures.Studio) -> None:
        assert recordings.folder() == home() / "recordings"
        assert recordings.kept() == ()
        recordings.folder().mkdir(parents=True)  # the next one does not see what is kept there
        seen.append(studio.folder)
        assert studio.folder in home().parents

    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    for name in SCENES:
        monkeypatch.setattr(pictures, name, scene)
    pictures.take_all(qapp, tmp_path, [])
    assert len(set(seen)) == len(SCENES)
    assert home() == tmp_path
    assert list(tmp_path.iterdir()) == []
