"""The pictures of a model's chats: which ids stand for each in a prompt, and what its tower makes of them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.families import image_token
from engine.limits import PICTURE_BYTES, PICTURE_PIXELS, PICTURE_SECONDS, PICTURES_KEPT
from engine.models.layers.weights import CheckpointWeights
from engine.models.vision import decoding
from engine.models.vision.encoders import ENCODERS, VisionEncoder
from engine.models.vision.footprint import ROWS_BYTES
from engine.models.vision.pixels import Pixels
from engine.models.vision.preparation import sizing_of
from engine.models.vision.sizing import Sizing
from engine.models.vision.tokens import PLACE
from engine.native.memory import trim_heap
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxStopped, SandboxTimeout
from engine.translatable import Translatable, msg

DECODING_MEMORY = 1_000_000_000  # bytes that decoding one may take: PICTURE_PIXELS with transparency, three times
ROWS_KEPT = 16  # pictures whose rows are kept, 3 to 67 MB each: a chat that is read again is not looked at again
_SMALLER = msg("Make it smaller, then attach it again.")


class Pictures:
    """Of one open model. Used on its thread.

    place: the token that its chat template writes for a picture.
    """

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """config: of config.json, of which formats.families.vision_prefixes is not empty. The others: as of
        Gemma4Encoder. The encoder is made for the first picture.
        """
        place = image_token(config)
        assert place is not None, "such a config has prefixes"
        self.place = place
        self._new_encoder = lambda: ENCODERS[str(config["model_type"])](config, folder, weights, pause)
        self._sizing = cache(lambda: sizing_of(config, folder))
        self._encoder: VisionEncoder | None = None
        self._known: dict[str, range] = {}  # by digest: its ids
        self._by_first: dict[int, _Placed] = {}
        self._next = PLACE - 1
        self._pixels: OrderedDict[str, Pixels] = OrderedDict()
        self._rows: OrderedDict[str, Tensor] = OrderedDict()

    def ids(self, image: bytes) -> list[int]:
        """What stands for a picture in a prompt: an id for each row, and what stands around them.

        image: a PNG, JPEG or WebP file. The same file always has the same ids, and no other has them.
        Raises UnderhillError: BAD_REQUEST for what is no such file or too large; CANCELLED; what making a
        VisionEncoder raises.
        """
        if self._encoder is None:
            self._encoder = self._new_encoder()
        digest = hashlib.sha256(image).hexdigest()
        if digest not in self._pixels:
            _keep(self._pixels, digest, decode(image, self._encoder.sizing), PICTURES_KEPT)
        self._pixels.move_to_end(digest)
        if digest not in self._known:
            pixels, step = self._pixels[digest], self._encoder.sizing.step
            placed = _Placed(digest, pixels.height // step, pixels.width // step)
            self._known[digest] = range(self._next, self._next - placed.high * placed.wide, -1)
            self._by_first[self._next] = placed
            self._next = self._known[digest].stop
        return [*self._encoder.begins, *self._known[digest], *self._encoder.ends]

    def tokens(self, width: int, height: int) -> int:
        """How many ids a picture of so many pixels has, without it; 0 where it would be refused. From any thread."""
        try:
            return self._sizing().tokens(width, height)
        except UnderhillError:
            return 0

    def grid(self, first: int) -> tuple[int, int]:
        """Rows and columns that the picture has whose first id this is."""
        placed = self._by_first[first]
        return placed.high, placed.wide

    def rows(self, ids: Tensor) -> Tensor:
        """What the language model is given for ids of whole pictures: see PictureRows. ids: [N], all below zero.

        Raises UnderhillError: BUSY where too many pictures have come since; what looking at one raises.
        """
        wanted: list[int] = ids.tolist()
        found = torch.cat([self._looked_at(self._by_first[one].digest) for one in wanted if one in self._by_first], 1)
        assert found.shape[1] == len(wanted), "pictures are fed whole"
        return found

    def _looked_at(self, digest: str) -> Tensor:
        if digest not in self._rows:
            if digest not in self._pixels or self._encoder is None:
                raise UnderhillError(
                    Kind.BUSY, msg("Too many images are being read at once."), msg("Send the message again.")
                )
            _keep(self._rows, digest, self._encoder.encode(self._pixels[digest]), ROWS_KEPT)
            trim_heap()  # what the tower computed in, before the layers of the language model take theirs
            while len(self._rows) > 1 and sum(rows.nbytes for rows in self._rows.values()) > ROWS_BYTES:
                self._rows.popitem(last=False)
        self._rows.move_to_end(digest)
        return self._rows[digest]


@dataclass(frozen=True)
class _Placed:
    """A picture that has ids. high, wide: tiles."""

    digest: str
    high: int
    wide: int


class NoPictures:
    """Stands for Pictures where a model has none. again: it would, if it were imported again."""

    place = None

    def __init__(self, *, again: bool = False) -> None:
        self._again = again

    def tokens(self, width: int, height: int) -> int:
        """Of a picture: it has none."""
        del width, height
        return 0

    def ids(self, image: bytes) -> list[int]:
        """Raises UnderhillError(BAD_REQUEST)."""
        if self._again:
            raise _refused(
                msg("The part of this model that reads images wasn't imported."),
                msg("Import the model again from its original files, or send the message without images."),
            )
        raise _refused(
            msg("This model can't read images."), msg("Choose a model that can, or send the message without images.")
        )


def _keep(into: OrderedDict[str, Any], key: str, value: object, most: int) -> None:
    into[key] = value
    while len(into) > most:
        into.popitem(last=False)


def decode(image: bytes, size: Sizing) -> Pixels:
    """A PNG, JPEG or WebP file as a model takes it. Raises UnderhillError: BAD_REQUEST, CANCELLED."""
    if len(image) > PICTURE_BYTES:
        megabytes, most = f"{len(image) / 1e6:,.0f}", f"{PICTURE_BYTES / 1e6:,.0f}"
        raise _refused(
            msg("The image is too large: {megabytes} MB, the limit is {most} MB.", megabytes=megabytes, most=most),
            _SMALLER,
        )
    data = base64.b64encode(image).decode("ascii")
    with contextlib.closing(SandboxedFunction(f"{decoding.__name__}:pixels", DECODING_MEMORY)) as reader:
        try:
            kind, *said = reader.call(
                data, size.way, size.step, size.most, size.least, size.longest, seconds=PICTURE_SECONDS
            )
        except SandboxStopped as e:
            raise UnderhillError(Kind.CANCELLED, msg("Stopped.")) from e
        except SandboxTimeout as e:
            raise _refused(msg("Reading the image took too long."), _SMALLER) from e
        except SandboxMemory as e:
            raise _refused(msg("Reading the image needs too much memory."), _SMALLER) from e
        except SandboxFailure as e:
            raise _damaged() from e
    if kind == decoding.LARGE:
        pixels, most = f"{float(said[0]):,.0f}", f"{PICTURE_PIXELS / 1e6:,.0f}"
        raise _refused(
            msg("The image is too large: {pixels} megapixels, the limit is {most}.", pixels=pixels, most=most), _SMALLER
        )
    if kind == decoding.NARROW:
        raise _refused(msg("The image is too narrow for this model."), msg("Crop it, then attach it again."))
    if kind != decoding.PIXELS:
        raise _damaged() from ValueError(*said)
    width, height, rgb = said
    return Pixels(int(width), int(height), base64.b64decode(rgb))


def _damaged() -> UnderhillError:
    return _refused(
        msg("The image can't be read. It is damaged, or not a PNG, JPEG or WebP file."),
        msg("Open it in an image viewer, save it as PNG or JPEG, and attach that."),
    )


def _refused(sentence: Translatable, action: Translatable) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence, action)
