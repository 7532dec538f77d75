"""Brings the files of translations up to date with the code, and compiles them: `python -m app.i18n.build`.

The texts are those that the window's code marks, and the keys of what the engine says. Qt's lupdate for Python misses
texts beside keyword arguments and in conditional expressions, and knows no numerus form of a function of one's own.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import PySide6

from app.i18n.translate import CONTEXT, ENGINE_CONTEXT, SEPARATORS, plural, tr, tr_noop
from engine import protocol
from engine.translatable import HOLE, msg

TextKey = tuple[str, str, str]
_SILENT = "engine/cli"  # the terminal's own words stay English
_MSG = msg.__name__
# What systems say of a refused file; see translatable.system_reason.
_SYSTEM = (
    "Permission denied", "No space left on device", "Input/output error", "Read-only file system",
    "No such file or directory", "Is a directory", "Not a directory", "File exists", "Invalid argument",
    "Too many open files", "File name too long", "Operation not permitted", "Disk quota exceeded", "File too large",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"
_TR, _PLURAL, _NOOP = tr.__name__, plural.__name__, tr_noop.__name__


@dataclass(frozen=True)
class MarkedText:
    """A text to translate. file: where it is first used, from the root of the project. about: see translate.tr."""

    context: str
    source: str
    file: str
    plural: bool = False
    about: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key of its translation."""
        return self.context, self.source, self.about


class DynamicTextError(ValueError):
    """A marked text that is put together where it is marked, so it cannot be translated."""


def texts(root: Path) -> list[MarkedText]:
    """Every marked text under root/app, in the order of the files; each once. Raises DynamicTextError."""
    found: dict[tuple[str, str, str], MarkedText] = {}
    for path in sorted((root / "app").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for text in _in_file(ast.parse(path.read_text(encoding="utf-8")), name):
            found.setdefault(text.key, text)
    return list(found.values())


def _in_file(tree: ast.Module, file: str) -> Iterator[MarkedText]:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.args]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        if name in (_TR, _NOOP):
            about = next((k.value for k in call.keywords if k.arg == "about"), None)
            comment = about.value if isinstance(about, ast.Constant) else ""
            for text in _written(call.args[0], file, known=name == _TR):
                yield MarkedText(CONTEXT, text, file, about=str(comment))
        elif name == _PLURAL:
            for text in _written(call.args[1], file, known=False):
                yield MarkedText(CONTEXT, text, file, plural=True)


def _written(node: ast.expr, file: str, *, known: bool) -> Iterator[str]:
    """The texts that an expression can be. known: it may also be a value that was marked by `tr_noop` elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value:
            yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _written(node.body, file, known=known)
        yield from _written(node.orelse, file, known=known)
    elif not known or isinstance(node, (ast.JoinedStr, ast.BinOp)):
        raise DynamicTextError(f"{file}:{node.lineno}: a text must be written out in the call; use {{name}} for values")


def keys(root: Path) -> list[MarkedText]:
    """Every key, in the order of the files; each once. Raises DynamicTextError."""
    found: dict[str, MarkedText] = {}
    for path in sorted((root / "engine").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(_SILENT):
            for key in _keys_in_file(ast.parse(path.read_text(encoding="utf-8")), name):
                found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, name))
    for key in _of_settings():
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "engine/settings.py"))
    catalogue = json.loads((root / "resources" / "catalogue.json").read_text(encoding="utf-8"))
    for key in filter(None, (model.get("about", "") for model in catalogue["models"])):
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "resources/catalogue.json"))
    for key in (*_SYSTEM, *SEPARATORS):
        found.setdefault(key, MarkedText(ENGINE_CONTEXT, key, "app/i18n/build.py"))
    return list(found.values())


def _keys_in_file(tree: ast.Module, file: str) -> Iterator[str]:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
        if call.func.id != _MSG or file == "engine/translatable.py":  # type: ignore[attr-defined]
            continue
        match call.args:
            case [ast.Constant(value=str(key))]:
                pass
            case _:
                raise DynamicTextError(f"{file}:{call.lineno}: a key must be written out in the call")
        if set(HOLE.findall(key)) != {keyword.arg for keyword in call.keywords}:
            raise DynamicTextError(f"{file}:{call.lineno}: the holes of {key!r} are not its arguments")
        yield key


def _of_settings() -> Iterator[str]:
    known = protocol.settings
    for setting in (*known.ENGINE, *known.SAMPLING, *known.SHARED, *known.SERVER):
        names = setting.names or map(setting.name_of, setting.choices)
        yield from (setting.label, setting.help, setting.automatic, *names)


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
OF_QT = tuple(MarkedText("QFileDialog", text, "Qt") for text in ("&Look in:", "Files of &type:"))


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


def wanted() -> list[MarkedText]:
    """Every text that a translation has to have: the window's, those that the engine says, and OF_QT."""
    return [*texts(ROOT), *keys(ROOT), *OF_QT]


def _also(path: Path, texts: Sequence[MarkedText]) -> dict[TextKey, Translation]:
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
