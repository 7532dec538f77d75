"""What HTML and SVG in an answer look like, drawn by Qt alone in a sandboxed process: no browser, scripts or network.

An answer may hold anything: markup on which drawing never ends, a billion shapes, pictures that name files of this
computer. So the process has a limit of time and memory, and nothing that is named is loaded.
"""

from __future__ import annotations

import base64
import math
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QAbstractTextDocumentLayout, QColor, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtSvg import QSvgRenderer

from app.markdown.document import BlockDocument, name_images
from app.theme import fonts
from engine.sandbox import SandboxedFunction, SandboxFailure

HTML, SVG = "html", "svg"
_LANGUAGES = {"html": HTML, "htm": HTML, "xhtml": HTML, "svg": SVG}
_MAX_CODE = 200_000  # characters; more is no sketch
_HIGHEST = 3000.0  # pixels; a longer page is cut there
_PIXELS = 8_000_000  # of an image; a larger one is drawn less finely
_SMALL = 320.0  # pixels across that an SVG without a size of its own gets at least
_MARGIN = 12.0  # pixels around HTML
_MEMORY = 700_000_000  # bytes; Qt's own start takes 200 MB of address space
_SECONDS = 10.0
_XLINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_XLINK}}}href"  # Qt knows no other
_LEFT_OUT = ("image", "feImage", "script", "foreignObject")  # elements of SVG that name or run something
_ADDRESS = re.compile(r"url\(\s*['\"]?\s*(?!['\"#\s])[^)]*\)|@import[^;]*;?", re.IGNORECASE)
ET.register_namespace("", "http://www.w3.org/2000/svg")
ET.register_namespace("xlink", _XLINK)  # the prefix that Qt looks for
PROCESS = SandboxedFunction("app.markdown.preview:serve", _MEMORY)


def preview_kind(language: str, code: str) -> str:
    """HTML or SVG, where code in this language can be previewed; else ''."""
    if len(code) > _MAX_CODE:
        return ""
    kind = _LANGUAGES.get(language.lower(), "")
    return SVG if not kind and language.lower() == "xml" and "<svg" in code else kind


def draw_html(code: str, width: float, ratio: float) -> QImage:
    """Draw HTML as Qt's rich text on white, `width` logical pixels wide. ratio: pixels of the screen for each."""
    document = BlockDocument()
    document.setDefaultFont(fonts.text())
    document.setDocumentMargin(_MARGIN)
    document.setHtml(code)
    name_images(document)  # which are not loaded, so that something stands in their places
    document.setTextWidth(width)
    height = min(_HIGHEST, math.ceil(document.size().height()))
    context = QAbstractTextDocumentLayout.PaintContext()
    context.palette.setColor(QPalette.ColorRole.Text, QColor("black"))
    context.clip = QRectF(0, 0, width, height)
    image, painter = _canvas(QSizeF(width, height), ratio)
    document.documentLayout().draw(painter, context)
    painter.end()
    return image


def draw_svg(code: str, width: float, ratio: float) -> QImage:
    """Draw SVG on white, no wider than `width` logical pixels. Raises ValueError, ET.ParseError: it is none."""
    root = safe_svg(code)
    renderer = QSvgRenderer(QByteArray(ET.tostring(root)))
    size = QSizeF(renderer.defaultSize())
    if not renderer.isValid() or size.isEmpty():
        raise ValueError("no SVG that Qt can draw")
    if "width" not in root.attrib and max(size.width(), size.height()) < _SMALL:
        size.scale(_SMALL, _SMALL, Qt.AspectRatioMode.KeepAspectRatio)
    if size.width() > width or size.height() > _HIGHEST:
        size.scale(width, _HIGHEST, Qt.AspectRatioMode.KeepAspectRatio)
    size = size.expandedTo(QSizeF(1, 1))
    image, painter = _canvas(size, ratio)
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    renderer.render(painter, QRectF(0, 0, size.width(), size.height()))
    painter.end()
    return image


def safe_svg(code: str) -> ET.Element:
    """The SVG without what names something outside of it. Raises ValueError, ET.ParseError."""
    if "<!ENTITY" in code:
        raise ValueError("entities are not read")
    if "xmlns:xlink" not in code:
        code = code.replace("xlink:href", "href")  # or it would be no XML
    root = ET.fromstring(code[max(0, code.find("<")) :])
    if _local(root.tag) != "svg":
        raise ValueError("no SVG")
    for parent in list(root.iter()):
        for child in [child for child in parent if _leads_out(child)]:
            parent.remove(child)
        for name, value in list(parent.attrib.items()):
            del parent.attrib[name]
            if _local(name) != "href":
                parent.attrib[name] = _ADDRESS.sub("none", value)
            elif _is_inside(value):
                parent.attrib[_HREF] = value
        if _local(parent.tag) == "style":
            parent.text = _ADDRESS.sub("none", parent.text or "")
    return root


def _leads_out(element: ET.Element) -> bool:
    used = [value for name, value in element.attrib.items() if _local(name) == "href"]
    return _local(element.tag) in _LEFT_OUT or (_local(element.tag) == "use" and not any(map(_is_inside, used)))


def _is_inside(address: str) -> bool:
    return address.strip().startswith("#")


def _local(name: Any) -> str:
    """A tag or an attribute without its namespace; '' of a comment."""
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def _canvas(size: QSizeF, ratio: float) -> tuple[QImage, QPainter]:
    """A white image of so many logical pixels, and a painter for it."""
    ratio = min(ratio, math.sqrt(_PIXELS / (size.width() * size.height())))
    pixels = QSize(math.ceil(size.width() * ratio), math.ceil(size.height() * ratio))
    image = QImage(pixels, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    return image, painter


def serve(kind: str, code: str, width: float, ratio: float) -> Iterator[Any]:
    """In the process: the picture as a PNG in base64, and how many of its pixels a logical one has."""
    if QGuiApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        _kept.append(QGuiApplication([]))
        fonts.load()
    image = (draw_svg if kind == SVG else draw_html)(code, width, ratio)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    yield [base64.b64encode(bytes(buffer.data().data())).decode(), image.devicePixelRatio()]


_kept: list[QGuiApplication] = []


def sandboxed_preview(kind: str, code: str, width: float, ratio: float) -> QImage:
    """Draw it in the process, and wait; a null image where it cannot be drawn."""
    try:
        data, scale = PROCESS.call(kind, code, width, ratio, seconds=_SECONDS)
    except SandboxFailure:
        return QImage()
    image = QImage.fromData(QByteArray(base64.b64decode(data)))
    image.setDevicePixelRatio(scale)
    return image


class PreviewRenderer(QObject):
    """Draws previews on a thread of its own. drawn: what `draw` was called for, and its image, null where it failed."""

    drawn = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="previews")

    def draw(self, asker: object, kind: str, code: str, width: float, ratio: float) -> None:
        """Begin to draw code of this kind."""
        self._worker.submit(lambda: self.drawn.emit(asker, sandboxed_preview(kind, code, width, ratio)))

    def close(self) -> None:
        """Take no more work and end the thread, and the process."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        PROCESS.cancel()
        self._worker.shutdown(wait=True)
        PROCESS.close()
