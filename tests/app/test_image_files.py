"""Images of any origin become PNG or JPEG of limited size, or are refused in words."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.images import encode, reading
from app.images.cache import ImageCache, decoded
from app.images.files import save_image
from app.images.reading import image_reader, is_image_file, pasted_image, read_image
from app.storage.records import Attachment
from engine import protocol
from tests.app.image_samples import encoded, hill, sample_image, turned

PNG, JPEG = b"\x89PNG", b"\xff\xd8\xff"


def read(path: Path) -> Attachment:
    with image_reader() as reader:
        return read_image(path, reader)


def size_of(found: Attachment) -> tuple[int, int]:
    return QImage.fromData(found.image).size().toTuple()  # type: ignore[return-value]


@pytest.mark.parametrize("form", [b"PNG", b"JPEG", b"WEBP", b"BMP"])
def test_an_image_is_read_whatever_its_format_and_name(tmp_path: Path, form: bytes) -> None:
    path = tmp_path / "hill.txt"
    path.write_bytes(encoded(hill(), form))
    assert is_image_file(path)
    found = read(path)
    assert (found.name, found.text, size_of(found)) == ("hill.txt", "", (320, 200))
    assert found.image.startswith(PNG if form in (b"PNG", b"BMP") else JPEG)


def test_a_large_image_is_made_smaller_in_its_own_shape(tmp_path: Path) -> None:
    for width, height, expected in ((4000, 1000, (2048, 512)), (5000, 2, (2048, 1)), (100, 3000, (68, 2048))):
        (tmp_path / "large.png").write_bytes(encoded(hill(width, height)))
        assert size_of(read(tmp_path / "large.png")) == expected


def test_a_photo_is_upright_and_does_not_tell_where_it_was_taken(tmp_path: Path) -> None:
    data = turned(encoded(hill(), b"JPEG"), 6)
    assert b"Hobbiton" in data
    (tmp_path / "photo.jpg").write_bytes(data)
    found = read(tmp_path / "photo.jpg")
    assert size_of(found) == (200, 320)
    assert b"Hobbiton" not in found.image
    image = hill()
    image.setText("Description", "Hobbiton")
    assert b"Hobbiton" in encoded(image)
    assert b"Hobbiton" not in pasted_image(image, "x").image


def test_what_is_transparent_stays_so_and_noise_is_kept_as_jpeg() -> None:
    clear = QImage(64, 64, QImage.Format.Format_ARGB32)
    clear.fill(QColor(0, 0, 0, 0))
    found = QImage.fromData(pasted_image(clear, "x").image)
    assert found.hasAlphaChannel()
    assert found.pixelColor(3, 3).alpha() == 0
    noise = QImage(os.urandom(1500 * 1500 * 4), 1500, 1500, QImage.Format.Format_RGB32)
    assert pasted_image(noise, "x").image.startswith(JPEG)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 40, "as an image"),
        (encoded(hill())[:3000], "as an image"),
        (b"\0\0\0\x18ftypheic" * 40, "as an image"),
        (b"GIF89a" + b"\0" * 100, "as an image"),
    ],
)
def test_what_is_damaged_or_in_another_format_is_refused(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "bad.png").write_bytes(data)
    assert is_image_file(tmp_path / "bad.png")
    with pytest.raises(protocol.UnderhillError, match=f"Can't read bad.png {sentence}"):
        read(tmp_path / "bad.png")


def test_too_many_pixels_are_refused_by_the_head_of_the_file(tmp_path: Path) -> None:
    start = bytearray(encoded(hill()))
    start[16:24] = (60_000).to_bytes(4, "big") * 2  # IHDR: width and height
    import zlib

    start[29:33] = zlib.crc32(bytes(start[12:29])).to_bytes(4, "big")
    (tmp_path / "bomb.png").write_bytes(start)
    with pytest.raises(protocol.UnderhillError, match="too many pixels \\(60000 × 60000\\)"):
        read(tmp_path / "bomb.png")


def test_too_large_too_slow_and_too_hungry_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "holes.png").open("wb") as file:
        file.truncate(encode.LARGEST + 1)
    with pytest.raises(protocol.UnderhillError, match="is too large"):
        read(tmp_path / "holes.png")
    (tmp_path / "hill.bmp").write_bytes(encoded(hill(4000, 3000), b"BMP"))
    with monkeypatch.context() as scarce:
        scarce.setattr(reading, "SECONDS", 0.001)
        with pytest.raises(protocol.UnderhillError, match="took too long"):
            read(tmp_path / "hill.bmp")
    with pytest.raises(protocol.UnderhillError, match="no longer exists"):
        read(tmp_path / "none.png")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert not is_image_file(tmp_path / "pipe.png")
    with pytest.raises(protocol.UnderhillError):
        read(tmp_path / "pipe.png")


def test_images_are_decoded_beside_the_window_and_the_oldest_let_go(qtbot: QtBot) -> None:
    cache = ImageCache(bound=100_000)
    one, two = sample_image("a.png", 400, 200), sample_image("b.png", 400, 200, "#222222")
    box = QSize(100, 100)
    with qtbot.waitSignal(cache.ready):
        assert cache.pixmap(one, box) is None
    made = cache.pixmap(one, box)
    assert made is not None
    assert made.size() == QSize(200, 100)  # it covers the box
    with qtbot.waitSignal(cache.ready):
        assert cache.pixmap(two, box) is None
    assert cache.pixmap(one, box) is None  # both take 160,000 bytes
    qtbot.waitUntil(lambda: cache.pixmap(one, box) is not None)
    broken = Attachment("c.png", "", b"\x89PNG damaged")
    assert cache.size_of(broken) == QSize(1, 1)
    with qtbot.waitSignal(cache.ready):
        cache.pixmap(broken, box)
    shown = cache.pixmap(broken, box)
    assert shown is not None
    assert shown.isNull()


def test_a_small_image_is_not_blown_up() -> None:
    assert decoded(sample_image(width=40, height=30).image, QSize(400, 400)).size() == QSize(40, 30)


def test_a_saved_image_is_the_file_that_is_kept(tmp_path: Path) -> None:
    found = sample_image()
    assert save_image(found, tmp_path / "hill.png") == ""
    assert (tmp_path / "hill.png").read_bytes() == found.image
    assert "Can't save hill.png" in save_image(found, tmp_path / "none" / "hill.png")
