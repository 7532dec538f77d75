"""Finds every text of the engine that a person may read, as templates with named holes.

A text is any string or f-string of engine/ that is written in words, wherever it stands: what is not meant for people
has to be named below, so nothing is overlooked. The terminal's own words stay English and are left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

# The terminal, pictures that it draws, lists of names, and what is for the log.
SILENT = (
    "engine/cli", "engine/kernels/build.py", "engine/tracing/plot.py", "engine/tracing/timeline.py",
    "engine/hub/remote/families.py", "engine/hub/app_places.py", "engine/session/preflight.py", "engine/sandbox",
    "engine/apart/supervisor.py", "engine/private_files.py", "engine/regular_file.py",
    "engine/generation/formats", "engine/generation/vetting.py", "engine/log.py",
)  # fmt: skip
# Written in words, and yet for no person: what is looked for in others' words, keys, patterns, a file's contents.
NOT_SHOWN = frozenset({
    "can't allocate memory", "not enough memory", "out of memory", "model name", "volume {device}", "not finite",
    "bytes (\\d+)-\\d+/(\\d+|\\*)", "arrived {name} {k}", "record {layer} {expert}", "dense {name}",
    "Underhill keeps models in this folder.", "The model is damaged:",
    "the engine has been shut down", "this is not Windows",
    "no direct I/O on this system", "MXFP4 safetensors", "FP8 safetensors", "GGUF {name}", "HQQ {bits}-bit",
    "MLX {bits}-bit", ", act-order", "compressed-tensors MXFP4", "compressed-tensors NVFP4", "ModelOpt NVFP4",
    "GGUF Q4_K_M",
})  # fmt: skip
# Single words that become parts of sentences; each has to stand in its file.
WORDS = {
    "engine/hardware/fit.py": ("fits", "slow"),
    "engine/hardware/measuring.py": ("kernels", "memory"),
    "engine/hardware/offload.py": ("CPU-only", "CPU-assisted", "GPU-centric"),
    "engine/hub/listing.py": ("Pull", "Import"),
    "engine/service/journey.py": ("Downloading",),
    "engine/session/verified.py": ("slower", "faster"),
    "engine/settings.py": ("text",),
}
# What systems say of a refused file, in holes called strerror.
SYSTEM = (
    "Permission denied", "No space left on device", "Input/output error", "Read-only file system",
    "No such file or directory", "Is a directory", "Not a directory", "File exists", "Invalid argument",
    "Too many open files", "File name too long", "Operation not permitted", "Disk quota exceeded", "File too large",
)  # fmt: skip
CAPITAL = ("fits", "slow")  # they begin a sentence
_REPORTS = ("report", "_report", "progress", "_progress", "_say")  # calls whose first argument a bar shows
_BUILTIN = {"ValueError", "TypeError", "RuntimeError", "KeyError", "AssertionError", "IndexError", "OSError"}
_WORDY = re.compile(r"[A-Za-z']{2,} |[a-z] [a-z]| [a-z]{2,}|^[A-Z][a-z]+\.$|[a-z]{3,}: ")
_COUNTED = ("size", "_size", "figure", "seconds", "_share", "len", "round", "max", "min", "sum")
_WRAPPERS = ("str", "map", "list", "sorted", "tuple", "Path")
_PASSED = ("join", "removesuffix", "capitalize", "replace", "get", "values")


@dataclass(frozen=True)
class Hole:
    """name: of the value that stands there. number: it is one, perhaps with its unit."""

    name: str
    number: bool


@dataclass(frozen=True)
class Text:
    """template: English, with {named} holes. file: which says it first, from the root of the project."""

    template: str
    holes: tuple[Hole, ...]
    file: str


def collect(root: Path) -> dict[str, Text]:
    """Every text of the engine and of the catalogue, by its template; in the order of the files."""
    constants = {path: _constants(ast.parse(path.read_text(encoding="utf-8"))) for path in _files(root)}
    found: dict[str, Text] = {}
    for path in constants:
        for text in _Reader(path, root, constants).texts():
            if text.template not in NOT_SHOWN:
                found.setdefault(text.template, text)
    found |= {text: Text(text, (), "engine/errors.py") for text in SYSTEM}
    catalogue = json.loads((root / "resources" / "catalogue.json").read_text(encoding="utf-8"))
    for model in catalogue["models"]:
        if about := model.get("about", ""):
            found.setdefault(about, Text(about, (), "resources/catalogue.json"))
    return found


def shown(choice: str) -> str:
    """A choice of a setting as the dialog writes it: 'lru_layer' is 'Lru layer'."""
    return choice[:1].upper() + choice[1:].replace("_", " ")


def _files(root: Path) -> list[Path]:
    every = sorted((root / "engine").rglob("*.py"))
    return [p for p in every if not p.relative_to(root).as_posix().startswith(SILENT)]


def _constants(tree: ast.Module) -> dict[str, str]:
    """Strings with a name, of a module."""
    found = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                found[name] = text
    return found


class _Reader:
    """The texts of one file."""

    def __init__(self, path: Path, root: Path, constants: dict[Path, dict[str, str]]) -> None:
        self._where = path.relative_to(root).as_posix()
        self._tree = ast.parse(path.read_text(encoding="utf-8"))
        self._known = dict(constants[path])
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                source = root / f"{node.module.replace('.', '/')}.py"
                theirs = constants.get(source, {})
                self._known |= {(a.asname or a.name): theirs[a.name] for a in node.names if a.name in theirs}
        self._skipped: set[int] = set()
        self._certain: set[int] = set()
        self._choices: set[str] = set()
        for node in ast.walk(self._tree):
            self._judge(node)

    def texts(self) -> Iterator[Text]:
        """In the order in which they stand there."""
        words = set()
        nodes = [n for n in ast.walk(self._tree) if isinstance(n, (ast.Constant, ast.JoinedStr))]
        for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
            if id(node) in self._skipped or (text := self._text(node)) is None:
                continue
            bare = re.sub(r"\{\w+\}", "X", text.template)
            if _WORDY.search(bare) or (id(node) in self._certain and re.search("[A-Za-z]{2}", bare)):
                yield text
        for choice in sorted(self._choices):
            if re.search("[A-Za-z]{2}", choice):
                yield Text(shown(choice), (), self._where)
        for word in WORDS.get(self._where, ()):
            if word not in words:
                raise LookupError(f"{self._where} has no {word!r} any more: correct WORDS in {Path(__file__).name}")
            yield Text(word.capitalize() if word in CAPITAL else word, (), self._where)

    def _judge(self, node: ast.AST) -> None:
        """Note what below `node` is not for people, and what is though it has few words."""
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
                self._skipped.add(id(node.body[0].value))
        elif isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.Constant):
                    self._skipped.add(id(part))
                elif isinstance(part, ast.FormattedValue):
                    self._skip(part.format_spec)
                    self._certain |= {id(n) for n in _alternatives(part.value)}
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            if isinstance(node.exc.func, ast.Name) and node.exc.func.id in _BUILTIN:
                self._skip(node.exc)
        elif isinstance(node, ast.Assert):
            self._skip(node)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if ast.unparse(node.func).split(".")[0] in ("_log", "log", "logging", "warnings"):
                self._skip(node)
            elif name == "Setting":
                self._certain |= {id(a) for a in node.args[3:5]}
                given = {k.arg: k.value for k in node.keywords}
                self._certain |= {
                    id(n) for name in ("names", "automatic") if name in given for n in ast.walk(given[name])
                }
                if "choices" in given and "names" not in given:
                    self._choices |= {str(n.value) for n in ast.walk(given["choices"]) if isinstance(n, ast.Constant)}
            elif name == "UnderhillError":
                self._certain |= {id(a) for a in node.args[1:]}
            elif name in _REPORTS:
                self._certain |= {id(a) for a in node.args[:1]}
            self._certain |= {id(k.value) for k in node.keywords if k.arg == "text"}

    def _skip(self, node: ast.AST | None) -> None:
        if node is not None:
            self._skipped |= {id(n) for n in ast.walk(node)}

    def _text(self, node: ast.Constant | ast.JoinedStr) -> Text | None:
        if isinstance(node, ast.Constant):
            plain = isinstance(node.value, str) and not re.search(r"\{\w+\}", node.value)
            return Text(str(node.value).strip(), (), self._where) if plain else None
        parts, holes = [], dict[str, Hole]()
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append(str(value.value))
            elif isinstance(value, ast.FormattedValue):
                if isinstance(value.value, ast.Name) and value.value.id in self._known:
                    parts.append(self._known[value.value.id])
                    continue
                base, number = _named(value.value)
                again = (f"{base}{n}" for n in count(2))
                name = base if base not in holes else next(n for n in again if n not in holes)
                holes[name] = Hole(name, number or value.format_spec is not None)
                parts.append(f"{{{name}}}")
        return Text("".join(parts).strip(), tuple(holes.values()), self._where)


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """What stands in a hole where something else is missing, or one of two."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values


def _named(node: ast.expr) -> tuple[str, bool]:
    """What the value is called where it comes from, and whether it is a number."""
    if isinstance(node, ast.Name):
        return node.id.strip("_").lower(), False
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_").lower(), False
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _PASSED and isinstance(node.func, ast.Attribute):
            inside = node.args[0] if called == "join" else node.func.value
            return _named(inside)[0], False
        if node.args and (called in _COUNTED or called in _WRAPPERS):
            return _named(node.args[-1] if called == "map" else node.args[0])[0], called in _COUNTED
        return called.strip("_").lower() or "value", False
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return _named(node.generators[0].iter)[0], False
    if isinstance(node, ast.BinOp):
        values = (n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)))
        return next((_named(value)[0] for value in values), "number"), True
    if isinstance(node, ast.UnaryOp):
        return _named(node.operand)[0], True
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(child, ast.Constant):
            return _named(child)[0], False
    return "value", False


def written(found: dict[str, Text]) -> str:
    """What the window needs of them, as JSON: the templates, and the holes in which only numbers stand."""
    kinds = defaultdict(set)
    for text in found.values():
        for hole in text.holes:
            kinds[hole.name].add(hole.number)
    numbers = sorted(name for name, kind in kinds.items() if kind == {True})
    return json.dumps({"numbers": numbers, "texts": list(found)}, ensure_ascii=False, indent=1) + "\n"
