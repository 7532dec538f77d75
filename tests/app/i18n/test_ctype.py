"""A window comes up wherever the system's language has letters of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import LONGEST

pytestmark = pytest.mark.long

OPEN = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
application = QApplication([])
from app.i18n import languages
languages.install("en")
assert QTimer(interval=30).interval() == 30
with open("written here", "w") as file:
    assert file.encoding.lower().replace("-", "") == "utf8", file.encoding
print("open")
"""
SOURCES = Path("/usr/share/i18n/locales")


@pytest.mark.parametrize("name", ["tr_TR", "az_AZ", "ar_EG", "zh_CN"])
def test_properties_are_set_by_name_in_every_language(name: str, tmp_path: Path, root: Path) -> None:
    if shutil.which("localedef") is None or not (SOURCES / name).exists():
        pytest.skip("needs localedef and its sources (Debian: package locales)")
    code = f"{name}.UTF-8"
    subprocess.run(["localedef", "-i", name, "-f", "UTF-8", tmp_path / code], check=True, capture_output=True)
    where = {"LOCPATH": str(tmp_path), "LC_ALL": code, "PYTHONPATH": str(root), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", OPEN]
    environment = {**os.environ, **where}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert done.stdout.strip() == "open", done.stderr
