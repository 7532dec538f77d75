"""The shipped face for Chinese, Japanese and Korean is there where the system's faces have not all of their signs."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from engine import resources
from tests.waiting import LONGEST

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's faces are set by fontconfig")
SHIPPED, SYSTEM = "Underhill East Asia", "Droid Sans Fallback"
FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3  # of Korean
SHOW = """
import json
from PySide6.QtGui import QGuiApplication, QTextLayout
application = QGuiApplication([])
from app.theme import fonts
fonts.load()
faces = {}
for text in ("混合专家模型", "日本語です", "한국어"):
    layout = QTextLayout(text, fonts.text())
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    faces[text] = [[run.rawFont().familyName(), 0 not in run.glyphIndexes()] for run in layout.glyphRuns()]
print(json.dumps(faces))
"""


def without_korean(font: bytes) -> bytes:
    """The shipped face under the name of Debian's, with all Korean syllables but the last taken from its tables."""
    data = bytearray(font.replace(SHIPPED.encode("utf-16-be"), SYSTEM.encode("utf-16-be")))
    tables = {}
    for i in range(struct.unpack_from(">H", data, 4)[0]):
        tag, _, offset, _ = struct.unpack_from(">4sIII", data, 12 + 16 * i)
        tables[tag] = offset
    cmap = tables[b"cmap"]
    taken = 0
    for i in range(struct.unpack_from(">H", data, cmap + 2)[0]):
        at = cmap + struct.unpack_from(">I", data, cmap + 8 + 8 * i)[0]
        kind = struct.unpack_from(">H", data, at)[0]
        if kind == 4:
            count = struct.unpack_from(">H", data, at + 6)[0] // 2
            places = [(at + 16 + 2 * count + 2 * n, ">H") for n in range(count)]
        else:
            places = [(at + 16 + 12 * n, ">I") for n in range(struct.unpack_from(">I", data, at + 12)[0])]
        for place, form in places:
            if struct.unpack_from(form, data, place)[0] == FIRST_SYLLABLE:
                struct.pack_into(form, data, place, LAST_SYLLABLE)
                taken += 1
    assert taken == 2, "the shipped face is laid out in another way than this test knows"
    return bytes(data)


def faces(system: Path, root: Path) -> dict[str, list[tuple[str, bool]]]:
    """For each text, the faces that a window draws it with where only those in `system` are installed, and whether
    they have all of its signs."""
    settings = system / "fonts.conf"
    settings.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{escape(str(system))}</dir><cachedir>{escape(str(system / 'cache'))}</cachedir></fontconfig>"
    )
    environment = {**os.environ, "FONTCONFIG_FILE": str(settings), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", SHOW]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert not done.returncode, done.stderr
    found: dict[str, list[tuple[str, bool]]] = json.loads(done.stdout)
    return found


def test_a_face_that_claims_chinese_and_lacks_korean_is_not_enough(tmp_path: Path, root: Path) -> None:
    font = resources.path("fonts", "DroidSansFallback.ttf").read_bytes()
    (tmp_path / "fallback.ttf").write_bytes(without_korean(font))
    found = faces(tmp_path, root)
    assert all(shown for runs in found.values() for _, shown in runs), found
    assert [family for family, _ in found["한국어"]] == [SHIPPED]


def test_a_system_with_every_script_keeps_its_own_faces(tmp_path: Path, root: Path) -> None:
    font = resources.path("fonts", "DroidSansFallback.ttf").read_bytes()
    (tmp_path / "whole.ttf").write_bytes(font.replace(SHIPPED.encode("utf-16-be"), SYSTEM.encode("utf-16-be")))
    found = faces(tmp_path, root)
    assert {tuple(run) for runs in found.values() for run in runs} == {(SYSTEM, True)}


def test_a_system_without_any_is_helped(tmp_path: Path, root: Path) -> None:
    found = faces(tmp_path, root)
    assert {tuple(run) for runs in found.values() for run in runs} == {(SHIPPED, True)}
