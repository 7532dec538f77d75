"""What HTML and SVG look like: drawn in a process of its own, with nothing from this computer or the network."""

from __future__ import annotations

import http.server
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.markdown import preview
from app.markdown.preview import HTML, SVG, draw_html, draw_svg, preview_kind, safe_svg, sandboxed_preview

RED, WHITE = QColor("#ff0000"), QColor("white")
NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SQUARE = f'<svg {NS} width="40" height="40"><rect width="40" height="40" fill="#f00"/></svg>'


@pytest.fixture
def red(tmp_path: Path) -> Path:
    """A file with a red picture."""
    image = QImage(60, 60, QImage.Format.Format_RGB32)
    image.fill(RED)
    path = tmp_path / "red.png"
    assert image.save(str(path))
    return path


@pytest.fixture
def asked(red: Path) -> Iterator[tuple[str, list[str]]]:
    """Address of a server with that picture, and what it was asked for."""
    paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(red.read_bytes())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    thread.join()
    server.server_close()


def colours(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}


@pytest.mark.parametrize(
    ("language", "code", "kind"),
    [("html", "<p>", HTML), ("HTML", "<p>", HTML), ("svg", "<svg/>", SVG), ("xml", "<?xml?><svg/>", SVG),
     ("xml", "<a/>", ""), ("python", "<svg/>", ""), ("", "<svg/>", ""), ("html", "x" * 200_001, "")],
)  # fmt: skip
def test_what_can_be_previewed(language: str, code: str, kind: str) -> None:
    assert preview_kind(language, code) == kind


def test_html_is_drawn_on_white(qapp: QApplication) -> None:
    image = draw_html("<style>b {background: #ff0000}</style><h1>One</h1><p>two <b>three</b></p>", 400, 2)
    assert image.width() == 800
    assert image.devicePixelRatio() == 2
    assert {"#ffffff", "#000000", "#ff0000"} <= colours(image)


def test_a_long_page_is_cut(qapp: QApplication) -> None:
    image = draw_html("<p>line</p>" * 2000, 700, 2)
    assert image.deviceIndependentSize().height() == pytest.approx(3000, abs=2)
    assert image.width() * image.height() < 8_100_000


def test_html_loads_nothing(qapp: QApplication, red: Path, asked: tuple[str, list[str]]) -> None:
    address, paths = asked
    for source in (str(red), red.as_uri(), f"{address}/a.png"):
        code = (
            f'<body background="{source}"><link rel="stylesheet" href="{source}"><img src="{source}" width="60" '
            f'height="60"><table><tr><td background="{source}">x</td></tr></table>'
            f'<ul style="list-style-image: url({source})"><li style="background-image: url({source})">y</li></ul>'
        )
        assert RED.name() not in colours(draw_html(code, 400, 1))
    assert paths == []


def test_svg_keeps_its_shape(qapp: QApplication) -> None:
    image = draw_svg(SQUARE, 700, 2)
    assert (image.width(), image.height()) == (80, 80)
    assert colours(image) == {RED.name()}
    wide = draw_svg(f'<svg {NS} width="1400" height="200"><rect width="1400" height="200"/></svg>', 700, 1)
    assert (wide.width(), wide.height()) == (700, 100)
    icon = draw_svg(f'<svg {NS} viewBox="0 0 24 12"><rect width="24" height="12"/></svg>', 700, 1)
    assert (icon.width(), icon.height()) == (320, 160)  # as a browser fills what is around it


def test_svg_loads_nothing(qapp: QApplication, red: Path, asked: tuple[str, list[str]]) -> None:
    address, paths = asked
    for source in (str(red), red.as_uri(), f"{address}/a.png"):
        code = (
            f'<svg {NS} width="100" height="100"><style>@import url({source}); rect {{fill: url({source})}}</style>'
            f'<image href="{source}" width="90" height="90"/><image xlink:href="{source}" width="90" height="90"/>'
            f'<use xlink:href="{source}#a"/><g style="filter: url({source})"><feImage href="{source}"/></g></svg>'
        )
        assert source not in ET.tostring(safe_svg(code)).decode()
        assert RED.name() not in colours(draw_svg(code, 700, 1))
    assert paths == []


@pytest.mark.parametrize("name", ["href", "xlink:href"])
@pytest.mark.parametrize("space", [NS, 'xmlns="http://www.w3.org/2000/svg"', ""])
def test_references_inside_stay(qapp: QApplication, space: str, name: str) -> None:
    code = (
        f'<svg {space} width="40" height="40"><defs><linearGradient id="g"><stop stop-color="#f00"/></linearGradient>'
        f'<rect id="r" width="40" height="40" fill="url(#g)"/></defs><use {name}="#r"/></svg>'
    )
    assert colours(draw_svg(code, 700, 1)) == {RED.name()}


@pytest.mark.parametrize("code", ["", "no svg", "<svg>", "<p/>", '<!DOCTYPE a [<!ENTITY b "c">]><svg>&b;</svg>'])
def test_what_is_no_svg_is_refused(qapp: QApplication, code: str) -> None:
    with pytest.raises((ValueError, ET.ParseError)):
        draw_svg(code, 700, 1)


@pytest.mark.long
def test_the_process_draws_both_and_survives_what_it_cannot(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "_SECONDS", 20.0)
    try:
        assert colours(sandboxed_preview(SVG, SQUARE, 700, 1)) == {RED.name()}
        assert sandboxed_preview(SVG, "no svg", 700, 1).isNull()
        page = sandboxed_preview(HTML, "<h1>标题</h1>", 400, 2)
        assert (page.width(), page.devicePixelRatio()) == (800, 2)
        monkeypatch.setattr(preview, "_SECONDS", 1.0)
        nested = '<g id="a0"><rect width="9" height="9"/></g>' + "".join(
            f'<g id="a{n}">' + f'<use xlink:href="#a{n - 1}"/>' * 12 + "</g>" for n in range(1, 12)
        )
        assert sandboxed_preview(SVG, f'<svg {NS} width="40" height="40">{nested}</svg>', 700, 1).isNull()
        monkeypatch.setattr(preview, "_SECONDS", 20.0)
        assert not sandboxed_preview(SVG, SQUARE, 700, 1).isNull()
    finally:
        preview.PROCESS.close()
