"""Brings the files of translations up to date with the code, and compiles them: `python -m app.i18n.build`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import PySide6

from app.i18n import engine_keys, marked_texts, ts_file

# what the translations that come with Qt lack of its file dialog, which is seen where the system has none of its own
OF_QT = tuple(marked_texts.MarkedText("QFileDialog", text, "Qt") for text in ("&Look in:", "Files of &type:"))
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 where something is left to translate."""
    parser = argparse.ArgumentParser(prog="python -m app.i18n.build", description=__doc__)
    parser.add_argument("--new", metavar="LANGUAGE", help="begin a language, by its code (de, pt_BR)")
    parser.add_argument("--also", metavar="FILE", type=Path, action="append", default=[],
                        help="a .ts or .json ({English: translation}) to take missing ones from")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.new:
        (FOLDER / f"underhill_{options.new}.ts").write_text(ts_file.to_xml((), options.new), encoding="utf-8")
    texts = wanted()
    left = 0
    for path in sorted(FOLDER.glob("underhill_*.ts")):
        language = path.stem.removeprefix("underhill_")
        entries = ts_file.merge(texts, ts_file.read(path), *(_also(p, texts) for p in options.also))
        path.write_text(ts_file.to_xml(entries, language), encoding="utf-8")
        compile_file(path)
        missing = [entry.text for entry in entries if not entry.done]
        left += len(missing)
        print(f"{language}: {len(entries)} texts, {len(missing)} of them to translate")
        for text in missing:
            print(f"  {text.file}: {text.source!r}")
    return 1 if left else 0


def wanted() -> list[marked_texts.MarkedText]:
    """Every text that a translation has to have: the window's, those that the engine says, and OF_QT."""
    return [*marked_texts.texts(ROOT), *engine_keys.keys(ROOT), *OF_QT]


def _also(path: Path, texts: Sequence[marked_texts.MarkedText]) -> dict[ts_file.Key, ts_file.Translation]:
    """Translations from elsewhere: of all texts with that English, or with English##about."""
    if path.suffix == ".ts":
        return ts_file.read(path)
    said: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for text in texts:
        translation = said.get(f"{text.source}##{text.about}", said.get(text.source, ""))
        if translation:
            found[text.key] = ts_file.Translation(text, (translation,), True)
    return found


def compile_file(path: Path) -> None:
    """Make the .qm beside a .ts. Raises CalledProcessError and OSError."""
    tool = Path(PySide6.__file__).with_name("lrelease.exe" if sys.platform == "win32" else "lrelease")
    subprocess.run([tool, "-silent", path, "-qm", path.with_suffix(".qm")], check=True)


if __name__ == "__main__":
    sys.exit(main())
