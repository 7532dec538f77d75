"""The pictures of a model's chats: which ids stand for each in a prompt, and what its tower makes of them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.limits import PICTURE_BYTES, PICTURE_PIXELS, PICTURE_SECONDS, PICTURES_KEPT
from engine.models.config import Config, unsupported
from engine.models.layers.weights import CheckpointWeights
from engine.models.vision import decoding
from engine.models.vision.tokens import PLACE
from engine.models.vision.tower import VisionTower
from engine.regular_file import read_json
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxStopped, SandboxTimeout
from engine.translatable import Translatable, msg

DECODING_MEMORY = 1_000_000_000  # bytes that decoding one may take: PICTURE_PIXELS with transparency, three times
ROWS_KEPT = 16  # pictures whose rows are kept, 3 MB each: so that a chat that is read again need not be looked at again
TOKENS = (70, 140, 280, 560, 1120)  # that Gemma 4 takes for a picture at most
_SMALLER = msg("Make it smaller, then attach it again.")


@dataclass(frozen=True)
class Pixels:
    """A decoded picture. rgb: three bytes a pixel, row by row from the top left."""

    width: int
    height: int
    rgb: bytes

    def patches(self, side: int) -> tuple[Tensor, Tensor]:
        """([P, 3 * side * side], 0 to 1; [P, 2], x and y) row by row; each pixel by pixel, as Gemma 4 takes it."""
        high, wide = self.height // side, self.width // side
        values = torch.frombuffer(bytearray(self.rgb), dtype=torch.uint8).double().mul(1 / 255).float()
        patches = values.view(high, side, wide, side, 3).transpose(1, 2).reshape(high * wide, -1)
        rows, columns = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
        return patches, torch.stack((columns.flatten(), rows.flatten()), -1)


@dataclass(frozen=True)
class Preparation:
    """What size a model wants its pictures in. side: of a patch, in pixels. pooled: patches, in each direction, that
    become one token. tokens: at most, of one picture.
    """

    side: int
    pooled: int
    tokens: int

    @classmethod
    def of(cls, config: Mapping[str, Any], folder: Path) -> Preparation:
        """By config.json and what lies beside it. Raises UnderhillError: BROKEN_FILE, UNSUPPORTED_MODEL."""
        seen, said = Config(config["vision_config"]), _said(folder)
        side, pooled = seen.integer("patch_size", 16, low=1), seen.integer("pooling_kernel_size", 3, low=1)
        tokens = said.integer("max_soft_tokens", 280)
        same = (said.integer("patch_size", side), said.integer("pooling_kernel_size", pooled)) == (side, pooled)
        shifted = any(said.raw.get("image_mean") or ()) or any(n != 1 for n in said.raw.get("image_std") or ())
        if tokens not in TOKENS or not same or (said.flag("do_normalize", False) and shifted):
            raise unsupported(msg("How this model wants its images prepared isn't known."))
        return cls(side, pooled, tokens)


def _said(folder: Path) -> Config:
    """What the model's makers say of preparing pictures; nothing where there is no such file."""
    for name, inner in (("processor_config.json", "image_processor"), ("preprocessor_config.json", "")):
        try:
            found = read_json(folder / name)
            found = found.get(inner) if inner else found
        except FileNotFoundError:
            continue
        except (OSError, ValueError, AttributeError) as cause:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("Can't read the model's {name}.", name=name), msg("Import it again.")
            ) from cause
        if isinstance(found, Mapping):
            return Config(found)
    return Config({})


class Pictures:
    """Of one open model. Used on its thread.

    place: the token that its chat template writes for a picture.
    """

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """config: of config.json. folder: of the store. weights, pause: as of VisionTower. Raises as Preparation.of."""
        said = Config({name: value for name, value in config.items() if name != "text_config"})
        self.place = said.integer("image_token_id", 258_880)
        self._begin, self._end = said.integer("boi_token_id", 255_999), said.integer("eoi_token_id", 258_882)
        self._size = Preparation.of(config, folder)
        self._new_tower = lambda: VisionTower(config, weights, pause)
        self._tower: VisionTower | None = None
        self._known: dict[str, range] = {}  # by digest: its ids
        self._by_first: dict[int, str] = {}
        self._next = PLACE - 1
        self._pixels: OrderedDict[str, Pixels] = OrderedDict()
        self._rows: OrderedDict[str, Tensor] = OrderedDict()

    def ids(self, image: bytes) -> list[int]:
        """What stands for a picture in a prompt: a token that begins it, an id for each row, one that ends it.

        image: a PNG, JPEG or WebP file. The same file always has the same ids, and no other has them.
        Raises UnderhillError: BAD_REQUEST for what is no such file or too large; CANCELLED.
        """
        digest = hashlib.sha256(image).hexdigest()
        if digest not in self._pixels:
            _keep(self._pixels, digest, _decoded(image, self._size), PICTURES_KEPT)
        self._pixels.move_to_end(digest)
        if digest not in self._known:
            pixels, step = self._pixels[digest], self._size.side * self._size.pooled
            count = pixels.width // step * (pixels.height // step)
            self._known[digest] = range(self._next, self._next - count, -1)
            self._by_first[self._next] = digest
            self._next -= count
        return [self._begin, *self._known[digest], self._end]

    def rows(self, ids: Tensor) -> Tensor:
        """What the language model is given for ids of whole pictures: [N, hidden] float32. ids: [N], all below zero.

        Raises UnderhillError: BUSY where too many pictures have come since; what looking at one raises.
        """
        wanted: list[int] = ids.tolist()
        starts = [at for at, one in enumerate(wanted) if one in self._by_first]
        found = torch.cat([self._looked_at(self._by_first[wanted[at]]) for at in starts])
        assert len(found) == len(wanted), "pictures are fed whole"
        return found

    def _looked_at(self, digest: str) -> Tensor:
        if digest not in self._rows:
            if digest not in self._pixels:
                raise UnderhillError(
                    Kind.BUSY, msg("Too many images are being read at once."), msg("Send the message again.")
                )
            if self._tower is None:
                self._tower = self._new_tower()
            _keep(self._rows, digest, self._tower.look(*self._pixels[digest].patches(self._size.side)), ROWS_KEPT)
        self._rows.move_to_end(digest)
        return self._rows[digest]


class NoPictures:
    """Stands for Pictures where a model has none. again: it would, if it were imported again."""

    place = None

    def __init__(self, *, again: bool = False) -> None:
        self._again = again

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


def _decoded(image: bytes, size: Preparation) -> Pixels:
    if len(image) > PICTURE_BYTES:
        megabytes, most = f"{len(image) / 1e6:,.0f}", f"{PICTURE_BYTES / 1e6:,.0f}"
        raise _refused(
            msg("The image is too large: {megabytes} MB, the limit is {most} MB.", megabytes=megabytes, most=most),
            _SMALLER,
        )
    data = base64.b64encode(image).decode("ascii")
    with contextlib.closing(SandboxedFunction(f"{decoding.__name__}:pixels", DECODING_MEMORY)) as reader:
        try:
            kind, *said = reader.call(data, size.side * size.pooled, size.tokens, seconds=PICTURE_SECONDS)
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
