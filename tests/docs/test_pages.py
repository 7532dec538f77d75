"""What the documentation names is there: links, headings, files of the tree, programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cuda.ptx_files import read_ptx

FOLDERS = "app|engine|tests|resources|installers|requirements|docs"
IN_TREE = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/(?:[\w./*-]*[\w/*])?")  # a path from the root; `*` as in a shell
SOURCE = re.compile(r"`([\w./*-]*[\w*]\.(?:py|c|h))`")
NATIVE = re.compile(r"`(uh_\w+)`")
CLASS = re.compile(r"`(?:[a-z_]+\.)*([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b[^`/]*`")
OTHERS = {"GlobalMemoryStatusEx", "MemAvailable"}  # of the system
PROGRAM = re.compile(rf"python -m ((?:{FOLDERS})(?:\.\w+)*)")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def pages(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *root.glob("docs/**/*.md")]


def found(root: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for page in pages(root):
        for match in pattern.findall(page.read_text("utf-8")):
            yield page.relative_to(root).as_posix(), match


def anchors(page: Path) -> set[str]:
    """Of all headings, as GitHub makes them."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    headings = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", line).strip().lower() for line in re.findall(r"(?m)^#+ (.+)$", text))
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(root: Path) -> None:
    for page in pages(root):
        for target, anchor in LINK.findall(page.read_text("utf-8")):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.relative_to(root)} links to {target}"
            assert not anchor or anchor in anchors(there), f"{page.relative_to(root)} links to {target}#{anchor}"


def test_every_path_is_in_the_tree(root: Path) -> None:
    missing = sorted({f"{page}: {path}" for page, path in found(root, IN_TREE) if not any(root.glob(path))})
    assert not missing, "\n".join(missing)


def test_every_source_file_is_named_by_its_whole_path(root: Path) -> None:
    """Else neither this test nor a script that moves files would know it."""
    short = sorted({f"{page}: {path}" for page, path in found(root, SOURCE) if not any(root.glob(path))})
    assert not short, "\n".join(short)


def test_the_drawing_has_every_package_of_the_engine(root: Path) -> None:
    drawing = (root / "docs/architecture.md").read_text("utf-8").split("```")[1]
    packages = {path.parent.name for path in root.glob("engine/*/__init__.py")}
    drawn = set(re.findall(r"\w+", drawing))
    assert packages <= drawn, f"missing: {packages - drawn}"


def test_every_native_function_is_declared(root: Path) -> None:
    code = "".join(path.read_text("utf-8") for path in root.glob("engine/**/*.h"))
    code += read_ptx("sm_80").decode()  # the card's kernels are there
    for page, name in found(root, NATIVE):
        assert re.search(rf"\b{name}\(", code), f"{page}: {name}"


def test_every_class_is_in_the_code(root: Path) -> None:
    code = "".join(
        path.read_text("utf-8") for tree in ("engine", "app", "tests") for path in root.glob(f"{tree}/**/*.py")
    )
    gone = sorted({f"{page}: {name}" for page, name in found(root, CLASS) if name not in OTHERS and name not in code})
    assert not gone, "\n".join(gone)


def test_every_program_can_be_run(root: Path) -> None:
    for page, name in found(root, PROGRAM):
        path = root / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), f"{page}: python -m {name}"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `engine/record/layout.py`, and app/.", ["engine/record/layout.py", "app/"]),
        ("`engine/native/src/ops_*.c`.", ["engine/native/src/ops_*.c"]),
        ("their own src/app/main.c and x-app/y", []),
    ],
)
def test_what_counts_as_a_path(text: str, paths: list[str]) -> None:
    assert IN_TREE.findall(text) == paths


def test_the_window_says_of_privacy_what_the_docs_say(root: Path) -> None:
    texts = root / "resources" / "texts"
    page = (texts / "privacy.md").read_text(encoding="utf-8").rstrip()
    assert (root / "docs" / "privacy.md").read_text(encoding="utf-8").startswith(page + "\n")
    chinese = (texts / "privacy.zh_CN.md").read_text(encoding="utf-8")
    assert re.findall(r"(?<!\*)\*(?!\*)", chinese) == []  # slanted Chinese is hard to read
    assert chinese.count("\n|") == page.count("\n|")
    assert "underhill-cli" not in page + chinese
