"""Decodes images on a thread of its own, to the size that they are shown in, and keeps what was shown last."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from functools import cache

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage, QImageReader, QPixmap
from shiboken6 import isValid

from app.storage.records import Attachment

BOUND = 96_000_000  # bytes of decoded images that are kept
_DECODED = 256  # MB that Qt may allocate for one image
_Key = tuple[str, int, int]


class ImageCache(QObject):
    """ready: an image that was asked for can be had now. The thread ends where there is nothing left to decode."""

    ready = Signal()
    _made = Signal(object, object)  # _Key, QImage

    def __init__(self, bound: int = BOUND) -> None:
        super().__init__()
        self._bound, self._nbytes = bound, 0
        self._kept: OrderedDict[_Key, QPixmap] = OrderedDict()
        self._sizes: dict[str, QSize] = {}
        self._asked: set[_Key] = set()
        self._waiting: deque[tuple[_Key, bytes]] = deque()
        self._lock = threading.Lock()  # `_waiting`, and whether somebody works on it
        self._working = False
        self._made.connect(self._take)  # a bound method: it is called on this object's thread

    def size_of(self, attachment: Attachment) -> QSize:
        """Width and height in pixels, read from the head of its file; (1, 1) of one that is damaged."""
        found = self._sizes.get(attachment.digest)
        if found is None:
            reader, buffer = _reader(attachment.image)
            found = reader.size()
            buffer.close()
            found = self._sizes[attachment.digest] = found if found.isValid() and not found.isEmpty() else QSize(1, 1)
        return found

    def pixmap(self, attachment: Attachment, box: QSize) -> QPixmap | None:
        """The image scaled so that it covers a box, in pixels of the screen, and never larger than it is.

        None where it is not decoded yet: `ready` follows. Null where it cannot be decoded.
        """
        key = (attachment.digest, box.width(), box.height())
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        if key not in self._asked:
            self._asked.add(key)
            with self._lock:
                self._waiting.append((key, attachment.image))
                begin, self._working = not self._working, True
            if begin:
                threading.Thread(target=self._work, name="images", daemon=True).start()
        return None

    def _work(self) -> None:
        """Runs on a thread of its own."""
        while True:
            with self._lock:
                if not self._waiting or not isValid(self):
                    self._working = False
                    return
                key, data = self._waiting.popleft()
            image = decoded(data, QSize(key[1], key[2]))
            if isValid(self):  # otherwise the program has ended
                self._made.emit(key, image)

    @Slot(object, object)
    def _take(self, key: _Key, image: QImage) -> None:
        self._asked.discard(key)
        self._kept[key] = QPixmap.fromImage(image)
        self._nbytes += image.sizeInBytes()
        while self._nbytes > self._bound and len(self._kept) > 1:
            gone = self._kept.popitem(last=False)[1]
            self._nbytes -= gone.width() * gone.height() * 4
        self.ready.emit()


@cache
def image_cache() -> ImageCache:
    """The one of the program. To be called on the window's thread."""
    return ImageCache()


def decoded(data: bytes, box: QSize | None = None) -> QImage:
    """An image, scaled so that it covers a box, and never larger than it is; null where it is damaged."""
    QImageReader.setAllocationLimit(_DECODED)
    reader, buffer = _reader(data)
    size = reader.size()
    if box is not None and size.isValid():
        covering = size.scaled(box, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
        if covering.width() < size.width():
            reader.setScaledSize(covering.expandedTo(QSize(1, 1)))
    image = reader.read()
    buffer.close()
    return image


def _reader(data: bytes) -> tuple[QImageReader, QBuffer]:
    """A reader of an image, and the buffer that it reads from: it is not kept alive by the reader."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return QImageReader(buffer), buffer
