"""Text is shown beside any system's fonts, and a window comes up in any locale, time zone and home folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

from engine import resources
from tests import environments
from tests.app.test_fonts import faces, without_korean
from tests.audit.finding import Finding

CHOSEN = ["tests/app/test_theme.py", "tests/app/storage/test_folders.py", "tests/app/onboarding/test_tour.py"]
MEETING_ALL = ("turkish", "chinese", "arabic", "locale-C")  # between them every condition


def _boxes(font: bytes | None) -> list[str]:
    """Texts that are drawn as boxes where the system has this face alone."""
    with tempfile.TemporaryDirectory() as made:
        if font is not None:
            (Path(made) / "system.ttf").write_bytes(font)
        found = faces(Path(made), environments.ROOT)
    return [text for text, runs in found.items() if not all(shown for _, shown in runs)]


def examine() -> Finding:
    """Fonts by what is drawn; the rest by tests of dates, sorting, paths and the whole window, several at once."""
    shipped = resources.path("fonts", "DroidSansFallback.ttf").read_bytes()
    boxes = {"no Asian face": _boxes(None), "a face that lacks Korean": _boxes(without_korean(shipped))}
    codes = {name: environments.run(name, CHOSEN) for name in MEETING_ALL}
    return Finding(not any(boxes.values()) and not any(codes.values()), {"boxes": boxes, "pytest": codes})
