"""Attached PDFs that are none. All pages together are waited for 5 seconds instead of 60."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

from engine.documents import reading
from tests.attack.case import Case
from tests.attack.given import put, spoiled


def cases() -> list[Case]:
    good = _pdf([b"<< /Type /Catalog /Pages 2 0 R >>", _PAGES, _PAGE, _stream(b"BT /F1 12 Tf (Hello) Tj ET")])
    found = [Case(f"bytes: {kind}", partial(_read, data), True) for kind, data in spoiled(good, 40, 16)]
    found += [Case(what, partial(_read, data), True) for what, data in _made().items()]
    return found


_PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
_PAGE = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more, data)


def _pdf(objects: list[bytes]) -> bytes:
    data, places = b"%PDF-1.4\n", []
    for number, one in enumerate([*objects, _FONT], 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % at for at in places)
    start = len(data)
    return data + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(places) + 1, table, len(places) + 1, start
    )  # fmt: skip


def _made() -> dict[str, bytes]:
    root = b"<< /Type /Catalog /Pages 2 0 R >>"
    bomb = zlib.compress(zlib.compress(b"\0" * (256 << 20)))
    packed = b"/Filter [/FlateDecode /FlateDecode]"
    text = b"BT /F1 12 Tf " + b"(x) Tj " * 200_000 + b"ET"
    deep = b"[" * 50_000
    return {
        "a page that is its own parent": _pdf([root, _PAGES.replace(b"3 0", b"2 0"), _PAGE, _stream(b"")]),
        "a million pages": _pdf([root, b"<< /Type /Pages /Kids [" + b"3 0 R " * 100_000 + b"] /Count 1000000 >>", _PAGE,
                                 _stream(b"")]),
        "a page that unpacks to 256 MB": _pdf([root, _PAGES, _PAGE, _stream(bomb, packed)]),
        "200,000 words": _pdf([root, _PAGES, _PAGE, _stream(text)]),
        "lists without end": _pdf([root, _PAGES, _PAGE, _stream(deep)]),
        "objects within each other": _pdf([b"<< /A " * 20_000, _PAGES, _PAGE, _stream(b"")]),
        "a table of others' places": b"%PDF-1.4\nxref\n0 99999999\n" + b"0000000000 00000 n \n" * 10_000,
        "a table that is its own before": b"%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Prev 9 >>\n"
        b"startxref\n9\n%%EOF",
        "only a head": b"%PDF-1.7",
        "zeros": b"%PDF-1.4\n" + b"\0" * (8 << 20),
        "brackets": b"%PDF-1.4\n" + b"<<" * 1_000_000,
        "an endless number": b"%PDF-1.4\n1 0 obj\n" + b"9" * 1_000_000,
    }  # fmt: skip


def _read(data: bytes, folder: Path) -> None:
    reading.PDF_SECONDS = 5.0
    put(folder / "a.pdf", data).chmod(0o600)
    reading.read(folder / "a.pdf")
