"""What two sets of pictures have in common, and what changed between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from tests.app.before_after import changed_part, lay_side_by_side, main

GROUND, INK = QColor("#f4f4f4"), QColor("#202020")


def drawn(marks: tuple[QRect, ...] = (), wide: int = 60, high: int = 40) -> QImage:
    image = QImage(wide, high, QImage.Format.Format_RGB32)
    image.fill(GROUND)
    for mark in marks:
        for y in range(mark.top(), mark.bottom() + 1):
            for x in range(mark.left(), mark.right() + 1):
                image.setPixelColor(x, y, INK)
    return image


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        (drawn(), drawn(), QRect()),
        (drawn(), drawn((QRect(5, 6, 7, 8),)), QRect(5, 6, 7, 8)),
        (drawn((QRect(0, 0, 1, 1),)), drawn((QRect(59, 39, 1, 1),)), QRect(0, 0, 60, 40)),
        (drawn(), drawn(wide=70), QRect(0, 0, 70, 40)),
    ],
)
def test_the_part_is_the_smallest_around_all_that_differs(before: QImage, after: QImage, part: QRect) -> None:
    assert changed_part(before, after) == part


def test_a_colour_that_nobody_tells_from_another_is_the_same(qapp: QApplication) -> None:
    nearly = drawn()
    nearly.fill(GROUND.darker(103))
    assert changed_part(drawn(), nearly).isEmpty()


def test_both_are_laid_side_by_side_where_something_changed(qapp: QApplication, tmp_path: Path) -> None:
    mark = (QRect(20, 10, 4, 4),)
    for when, pictures in {
        "before": {"dark/a": drawn(), "dark/b": drawn(), "c": drawn()},
        "after": {"dark/a": drawn(), "dark/b": drawn(mark), "d": drawn()},
    }.items():
        for name, image in pictures.items():
            file = tmp_path / when / f"{name}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            assert image.save(str(file))
    assert lay_side_by_side(tmp_path) == {
        "gone": ["c.png"], "new": ["d.png"], "changed": ["dark/b.png"], "same": ["dark/a.png"],
    }  # fmt: skip
    assert [file.name for file in (tmp_path / "changed").rglob("*.png")] == ["b.png"]
    both = QImage(str(tmp_path / "changed" / "dark" / "b.png"))
    assert (both.width(), both.height()) == (60 + 16 + 60, 40)
    assert both.pixelColor(76 + 22, 12).lightness() < 60 < both.pixelColor(22, 12).lightness()


def test_a_folder_with_pictures_of_another_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    with pytest.raises(SystemExit, match="is not empty"):
        main("HEAD", str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["before"]
