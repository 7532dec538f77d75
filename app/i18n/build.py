"""Brings the files of translations up to date with the code, and compiles them: `python -m app.i18n.build`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import PySide6

from app.i18n import marked_texts
from app.i18n.marked_texts import MarkedText

TextKey = tuple[str, str, str]


@dataclass(frozen=True)
class Translation:
    """A text with its translation. forms: one, or as many as the language has plurals; done: none is missing."""

    text: MarkedText
    forms: tuple[str, ...]
    done: bool


def read_ts(path: Path) -> dict[TextKey, Translation]:
    """All entries of a file in their order. Raises OSError and ET.ParseError."""
    found: dict[TextKey, Translation] = {}
    for context in ET.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            counted = message.get("numerus") == "yes"
            place = message.find("location")
            text = MarkedText(
                context.findtext("name", ""), message.findtext("source", ""),
                place.get("filename", "").removeprefix("../../") if place is not None else "", counted,
                message.findtext("comment", ""),
            )  # fmt: skip
            translation = message.find("translation")
            if translation is None:
                forms: tuple[str, ...] = ("",)
            elif counted:
                forms = tuple(form.text or "" for form in translation.iter("numerusform"))
            else:
                forms = (translation.text or "",)
            done = translation is not None and translation.get("type") != "unfinished" and all(forms)
            found[text.key] = Translation(text, forms, done)
    return found


def merge(texts: Iterable[MarkedText], *known: dict[TextKey, Translation]) -> list[Translation]:
    """An entry for every text, with the first finished translation among `known`; what is not in `texts` goes."""
    entries = []
    for text in texts:
        candidates = [k[text.key] for k in known if text.key in k and k[text.key].text.plural == text.plural]
        best = next((c for c in candidates if c.done), candidates[0] if candidates else None)
        entries.append(Translation(text, best.forms if best else ("",), best.done if best else False))
    return entries


def to_xml(entries: Iterable[Translation], language: str) -> str:
    """The file's text. Places name files only: lines would change with every change of the code."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    contexts: dict[str, ET.Element] = {}
    for entry in entries:
        text = entry.text
        if text.context not in contexts:
            contexts[text.context] = ET.SubElement(root, "context")
            ET.SubElement(contexts[text.context], "name").text = text.context
        message = ET.SubElement(contexts[text.context], "message", {"numerus": "yes"} if text.plural else {})
        ET.SubElement(message, "location", filename=f"../../{text.file}")
        ET.SubElement(message, "source").text = text.source
        if text.about:
            ET.SubElement(message, "comment").text = text.about
        translation = ET.SubElement(message, "translation", {} if entry.done else {"type": "unfinished"})
        if text.plural:
            for form in entry.forms:
                ET.SubElement(translation, "numerusform").text = form
        else:
            translation.text = entry.forms[0]
    ET.indent(root, "    ")
    body = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n'


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
        (FOLDER / f"underhill_{options.new}.ts").write_text(to_xml((), options.new), encoding="utf-8")
    texts = wanted()
    left = 0
    for path in sorted(FOLDER.glob("underhill_*.ts")):
        language = path.stem.removeprefix("underhill_")
        entries = merge(texts, read_ts(path), *(_also(p, texts) for p in options.also))
        path.write_text(to_xml(entries, language), encoding="utf-8")
        compile_file(path)
        missing = [entry.text for entry in entries if not entry.done]
        left += len(missing)
        print(f"{language}: {len(entries)} texts, {len(missing)} of them to translate")
        for text in missing:
            print(f"  {text.file}: {text.source!r}")
    return 1 if left else 0


def wanted() -> list[marked_texts.MarkedText]:
    """Every text that a translation has to have: the window's, those that the engine says, and OF_QT."""
    return [*marked_texts.texts(ROOT), *marked_texts.keys(ROOT), *OF_QT]


def _also(path: Path, texts: Sequence[marked_texts.MarkedText]) -> dict[TextKey, Translation]:
    """Translations from elsewhere: of all texts with that English, or with English##about."""
    if path.suffix == ".ts":
        return read_ts(path)
    said: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for text in texts:
        translation = said.get(f"{text.source}##{text.about}", said.get(text.source, ""))
        if translation:
            found[text.key] = Translation(text, (translation,), True)
    return found


def compile_file(path: Path) -> None:
    """Make the .qm beside a .ts. Raises CalledProcessError and OSError."""
    tool = Path(PySide6.__file__).with_name("lrelease.exe" if sys.platform == "win32" else "lrelease")
    subprocess.run([tool, "-silent", path, "-qm", path.with_suffix(".qm")], check=True)


if __name__ == "__main__":
    sys.exit(main())
