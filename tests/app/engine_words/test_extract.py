"""What of the engine's code is taken for a text, and that none is without a translation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.engine_words import CONTEXT, TEMPLATES, extract
from app.i18n import build, ts_file

REMEDY = "run `python -m app.i18n.build`, and translate what it lists (docs/translating.md)"


def collected(folder: Path, code: str, file: str = "engine/some.py") -> dict[str, extract.Text]:
    """The texts of a file of an engine that has nothing else."""
    (folder / "resources").mkdir(exist_ok=True)
    (folder / "resources" / "catalogue.json").write_text('{"models": []}')
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(code)
    return {t: text for t, text in extract.collect(folder).items() if t not in extract.SYSTEM}


def test_every_text_of_the_engine_is_known_to_the_window_and_translated() -> None:
    found = extract.collect(build.ROOT)
    assert TEMPLATES.read_text(encoding="utf-8") == extract.written(found), REMEDY
    for path in build.FOLDER.glob("underhill_*.ts"):
        done = {e.text.source for e in ts_file.read(path).values() if e.text.context == CONTEXT and e.done}
        assert [text for text in found if text not in done] == [], REMEDY


def test_nothing_is_left_out_that_is_not_there() -> None:
    every = "\n".join(p.read_text(encoding="utf-8") for p in (build.ROOT / "engine").rglob("*.py"))
    plain = [text for text in extract.NOT_SHOWN if not re.search(r"[{\\]", text)]
    assert [text for text in plain if text not in every] == []
    assert [name for name in extract.SILENT if not (build.ROOT / name).exists()] == []


def test_a_new_sentence_is_a_text_wherever_it_stands(tmp_path: Path) -> None:
    code = '''
"""A module."""
WORDS = {"a": "of a table here"}
def f(path, cards):
    """What it does."""
    raise UnderhillError(Kind.BUSY, f"{path.name} is in use by {len(cards):,} others.", "Wait.")
def g(x, log):
    log.info("nobody sees this one")
    raise ValueError("nor is this one shown")
    return "model" if x else " and some more"
'''
    assert set(collected(tmp_path, code)) == {
        "of a table here", "{name} is in use by {cards} others.", "Wait.", "and some more",
    }  # fmt: skip


def test_holes_have_the_names_of_their_values_and_numbers_are_known(tmp_path: Path) -> None:
    code = 'KEPT = "It is kept."\nf"{size(m.free)} of {m.free!r} are {100 * a.share:.0f} % here. {KEPT} {m.free}"\n'
    _, text = collected(tmp_path, code).values()
    assert text.template == "{free} of {free2} are {share} % here. It is kept. {free3}"
    assert [hole.number for hole in text.holes] == [True, False, True, False]


def test_what_stands_in_a_hole_instead_is_a_text_too(tmp_path: Path) -> None:
    found = collected(tmp_path, "f\"{'thread' if n == 1 else 'threads'} were made of {name or 'nothing'}\"\n")
    assert set(found) == {"{n} were made of {name}", "nothing", "thread", "threads"}


def test_declarations_of_settings_are_texts_with_single_words_as_well(tmp_path: Path) -> None:
    code = 'Setting("t", "choice", "on", "Warmth", "Higher.", "group", choices=("lru_layer", "8", "on"))\n'
    assert set(collected(tmp_path, code)) == {"Warmth", "Higher.", "Lru layer", "On"}


def test_the_terminal_speaks_english(tmp_path: Path) -> None:
    assert collected(tmp_path, 'print("Some words of the terminal")\n', "engine/cli/x.py") == {}


def test_a_word_that_is_no_more_said_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "WORDS", {"engine/some.py": ("slower",)})
    with pytest.raises(LookupError, match="slower"):
        collected(tmp_path, 'x = "faster"\n')
