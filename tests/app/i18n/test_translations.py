"""The files of translations: whole, up to date with the code, compiled, and with the same holes as the English."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from app.i18n import build
from app.i18n.build import DynamicTextError, MarkedText

FILES = sorted(build.FOLDER.glob("underhill_*.ts"))
REMEDY = "run `python -m app.i18n.build`, and translate what it lists (docs/translating.md)"


def holes(text: str) -> list[str]:
    named = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    return sorted(set(named)) + ["%n"] * ("%n" in text)


def test_there_is_chinese() -> None:
    assert [path.name for path in FILES] == ["underhill_zh_CN.ts"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_file_is_what_the_command_would_write(path: Path) -> None:
    texts = build.wanted()
    known = build.read_ts(path)
    assert [t.source for t in texts if t.key not in known] == [], REMEDY
    fresh = build.to_xml(build.merge(texts, known), path.stem.removeprefix("underhill_"))
    assert path.read_text(encoding="utf-8") == fresh, REMEDY


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_nothing_is_left_to_translate(path: Path) -> None:
    assert [(e.text.file, e.text.source) for e in build.read_ts(path).values() if not e.done] == [], REMEDY


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_hole_is_there_in_every_form(path: Path) -> None:
    entries = build.read_ts(path).values()
    wrong = [(e.text.source, form) for e in entries for form in e.forms if form and holes(form) != holes(e.text.source)]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_what_is_compiled_is_what_is_written(path: Path) -> None:
    translator = QTranslator()
    assert translator.load(str(path.with_suffix(".qm")))
    for entry in (e for e in build.read_ts(path).values() if e.done):
        text = entry.text
        found = translator.translate(text.context, text.source, text.about or None, 1 if text.plural else -1)
        assert found == entry.forms[0], f"{text.source!r}: {REMEDY}"


def test_a_text_that_is_put_together_cannot_be_marked(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "wrong.py").write_text('tr(f"Hello {name}")\n')
    with pytest.raises(DynamicTextError, match=r"app/wrong\.py:1"):
        build.texts(tmp_path)


def test_every_way_to_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "right.py").write_text(
        'tr_noop("a table")\ntr("Copy" if x else "Paste")\ntr("Open {name}", about="verb", name=1)\n'
        'f"{tr(TABLE[0])} {plural(\'1 chat\', \'%n chats\', 3)}"\ntr("two "\n    "halves")\n'
    )
    found = [(t.source, t.plural, t.about) for t in build.texts(tmp_path)]
    assert found == [
        ("a table", False, ""), ("Copy", False, ""), ("Paste", False, ""), ("Open {name}", False, "verb"),
        ("%n chats", True, ""), ("two halves", False, ""),
    ]  # fmt: skip


def test_a_translation_survives_where_its_text_moves_and_is_forgotten_with_it() -> None:
    before = MarkedText("window", "Chat", "app/a.py"), MarkedText("window", "Gone", "app/a.py")
    known = {t.key: build.Translation(t, ("聊天",), True) for t in before}
    after = build.merge([MarkedText("window", "Chat", "app/b.py"), MarkedText("window", "New", "app/b.py")], known)
    assert [(e.text.source, e.text.file, e.forms, e.done) for e in after] == [
        ("Chat", "app/b.py", ("聊天",), True), ("New", "app/b.py", ("",), False),
    ]  # fmt: skip


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    entries = [
        build.Translation(MarkedText("window", "A <b>\n& “c”", "app/a.py", about="a verb"), ("甲\n乙",), True),
        build.Translation(MarkedText("window", "%n chats", "app/a.py", plural=True), ("%n 个",), True),
        build.Translation(MarkedText("window", "New", "app/b.py"), ("",), False),
    ]
    (tmp_path / "x.ts").write_text(build.to_xml(entries, "zh_CN"), encoding="utf-8")
    assert list(build.read_ts(tmp_path / "x.ts").values()) == entries
