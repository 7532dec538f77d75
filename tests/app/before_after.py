"""Pictures of the window as another revision drew it, each beside the picture of now:

    QT_QPA_PLATFORM=offscreen python -m tests.app.before_after REVISION OUT [ARGUMENT...]

Draws the states of `tests.app.states` twice, each with its own code and its own list of states: as they were in
REVISION, into OUT/before, and as they are in this working tree, into OUT/after. Of each name that both have and whose
picture changed, OUT/changed shows the two side by side, with a frame around what changed. ARGUMENT: of
`tests.app.states`, such as --theme dark, or a part of a state's name; --all goes through all sizes, themes and
languages. OUT: a folder that is empty, or not there. Prints what came, went and changed. Ends with 1 where either could
not draw all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from tests.app import palette

_BETWEEN = 16  # pixels
_SEEN = 24  # steps of a channel, of 255: less comes of the choice of a picture's 256 colours
_ROOT = Path(__file__).resolve().parents[2]
# Python runs it at its start: packages come from this tree, though another may be the one that is installed.
_TREE_FIRST = """
import sys
from importlib.machinery import PathFinder


class TreeFirst:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{tree!r}]) if path is None and name in ("app", "engine", "tests") else None


sys.meta_path.insert(0, TreeFirst)
"""


def changed_part(before: QImage, after: QImage) -> QRect:
    """The smallest rectangle around what differs to the eye, in pixels of both; empty where nothing does. Where one is
    larger, what the other lacks differs.
    """
    wide, high = min(before.width(), after.width()), min(before.height(), after.height())
    part = QRect()
    first, second = (palette.channels(image)[:high, :wide].astype(np.int16) for image in (before, after))
    differs = np.abs(first - second).max(axis=2) > _SEEN
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if len(rows):
        left, top = int(columns[0]), int(rows[0])
        part = QRect(left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1)
    if before.size() != after.size():
        part = part.united(QRect(0, 0, max(before.width(), after.width()), max(before.height(), after.height())))
    return part


def beside(before: QImage, after: QImage, part: QRect) -> QImage:
    """One picture of both, ``part`` framed in each."""
    high = max(before.height(), after.height())
    both = QImage(before.width() + _BETWEEN + after.width(), high, QImage.Format.Format_RGB32)
    both.fill(QColor("#808080"))
    painter = QPainter(both)
    painter.setPen(QPen(QColor("#e0218a"), 2))
    for image, left in ((before, 0), (after, before.width() + _BETWEEN)):
        painter.drawImage(left, 0, image)
        painter.drawRect(part.intersected(image.rect()).translated(left, 0).adjusted(-3, -3, 2, 2))
    painter.end()
    return both


def lay_side_by_side(out: Path) -> dict[str, list[str]]:
    """Compare OUT/before with OUT/after and fill OUT/changed. The names by what became of them."""
    names = {when: _names(out / when) for when in ("before", "after")}
    told: dict[str, list[str]] = {
        "gone": sorted(names["before"] - names["after"]), "new": sorted(names["after"] - names["before"]),
        "changed": [], "same": [],
    }  # fmt: skip
    for name in sorted(names["before"] & names["after"]):
        before, after = QImage(str(out / "before" / name)), QImage(str(out / "after" / name))
        part = changed_part(before, after)
        told["same" if part.isEmpty() else "changed"].append(name)
        if not part.isEmpty():
            target = out / "changed" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            palette.save(beside(before, after, part), target)
    return told


def _names(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*.png")}


def _draw(tree: Path, out: Path, arguments: list[str]) -> bool:
    """Whether the code of a working tree drew all of its states."""
    command = [sys.executable, "-m", "tests.app.states", str(out), *arguments]
    with tempfile.TemporaryDirectory(prefix="underhill-before-") as site:
        (Path(site) / "sitecustomize.py").write_text(_TREE_FIRST.format(tree=str(tree)), encoding="utf-8")
        return not subprocess.run(command, cwd=tree, env={**os.environ, "PYTHONPATH": site}).returncode


def main(revision: str, folder: str, *arguments: str) -> int:
    """See above."""
    out = Path(folder).resolve()
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out} is not empty: pictures of another time would be compared as well. Choose another folder.")
    with tempfile.TemporaryDirectory(prefix="underhill-before-") as temporary:
        tree = Path(temporary) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, revision], cwd=_ROOT, check=True)
        try:
            complete = _draw(tree, out / "before", list(arguments))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=_ROOT, check=True)
    complete &= _draw(_ROOT, out / "after", list(arguments))
    for what, names in lay_side_by_side(out).items():
        print(f"{what}: {len(names)}" + "".join(f"\n  {name}" for name in names if what != "same"))
    return int(not complete)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
