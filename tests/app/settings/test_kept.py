"""Preferences as they are kept in their file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.settings import preferences
from app.settings.preferences import Preferences


def test_what_is_kept_is_on_the_disk_before_it_takes_the_place_of_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut would leave a name with nothing behind it, where the system puts off what is written."""
    path, safe = tmp_path / "window.json", []
    preferences.save(Preferences(draft="before"), path)
    sync, replace = os.fsync, os.replace

    def synced(number: int) -> None:
        sync(number)
        safe.append(os.fstat(number).st_size)

    def replaced(source: Path, target: Path) -> None:
        assert safe == [source.stat().st_size]
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    preferences.save(Preferences(draft="after"), path)
    assert preferences.load(path)[0].draft == "after"


def test_how_much_to_think_is_kept_and_what_was_a_switch_becomes_a_level(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    for kept, meant in (("true", "on"), ("false", "off"), ('"high"', "high"), ('"loudly"', "on"), ("3", "on")):
        path.write_text(f'{{"thinking": {kept}}}', encoding="utf-8")
        assert preferences.load(path)[0].thinking == meant
    preferences.save(Preferences(thinking="max"), path)
    assert preferences.load(path)[0].thinking == "max"


def test_a_file_of_a_newer_format_is_used_as_far_as_it_is_known_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    newer = {"format": preferences.FORMAT + 1, "theme": "dark", "draft": {"of": "another kind"}, "odd": [1]}
    path.write_text(json.dumps(newer), encoding="utf-8")
    found, note = preferences.load(path)
    assert (found.theme, found.draft) == ("dark", "")
    assert "by a newer version" in note
    before = path.read_bytes()
    with pytest.raises(OSError, match="format 2"):
        preferences.save(found, path)
    assert path.read_bytes() == before


def test_what_a_newer_version_keeps_beside_ours_stays(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    newer = {"theme": "dark", "odd": [1], "engine": {"odd": 3, "threads": 1}, "sampling": {"odder": 4}}
    path.write_text(json.dumps(newer), encoding="utf-8")
    found, note = preferences.load(path)
    assert note == ""
    found.theme, found.engine = "light", {}
    preferences.save(found, path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert (kept["theme"], kept["odd"], kept["engine"], kept["sampling"]) == ("light", [1], {"odd": 3}, {"odder": 4})
