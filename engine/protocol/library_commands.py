"""Commands about the models on this computer: list, import, verify, move, delete, lower their precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.protocol.commands import Command


@dataclass(frozen=True)
class ListModels(Command):
    """All there is in the library, also what cannot be opened (ModelCard.state), with pills (ModelCard.fit).

    Done.result: tuple[ModelCard, ...]. settings: those that a model would be opened with, for its pill.
    """

    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportModel(Command):
    """Quantize a local checkpoint folder or GGUF file into the library, or copy a model imported on another computer.

    top: 4, 8 or 16; 0: 4 where the source was quantized to about 4 bits already, else 8. Stopped, it keeps what is
    done: the model is listed as unfinished. Done.result: ModelCard.
    """

    path: str
    name: str = ""
    top: int = 0


@dataclass(frozen=True)
class FindModels(Command):
    """Look for what other apps keep on this computer, from headers alone. Done.result: tuple[FoundModel, ...]."""


@dataclass(frozen=True)
class ContinueImport(Command):
    """Go on with the unfinished import of this name. Done.result: ModelCard."""

    name: str


@dataclass(frozen=True)
class AdoptModels(Command):
    """Copy all models in a folder, as they came from another computer, into the library.

    Done.result: tuple[AdoptedModel, ...].
    """

    folder: str


@dataclass(frozen=True)
class MeasureLowering(Command):
    """Find how few bits a model's experts can do with, and what that costs (edgemoe, section III-B).

    tolerance: by how much the loss may rise, 0.02 being 2 %. settings: names of settings.ENGINE, under which the model
    is opened for it. Chat waits meanwhile. What is found is kept with the
    model. Done.result: LoweringOffer.
    """

    model: str
    tolerance: float = 0.02
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LowerModel(Command):
    """Put a copy with as few bits as MeasureLowering finds in the model's place; measured first where it was not.

    The original is there until that is done, and in the trash then: RestoreOriginal brings it back. Done.result:
    ModelCard.
    """

    model: str
    tolerance: float = 0.02
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RestoreOriginal(Command):
    """Put the original of a lowered model back in its place, from the trash. Done.result: ModelCard."""

    model: str


@dataclass(frozen=True)
class VerifyModel(Command):
    """Read every byte of a model again. Done.result: VerifyReport."""

    name: str


@dataclass(frozen=True)
class MoveModel(Command):
    """Move a model to another folder of the library; to the one it is in: take an interrupted move back.

    Stopped, it keeps what is copied, and the model where it was. Done.result: ModelCard.
    """

    name: str
    folder: str


@dataclass(frozen=True)
class DeleteModel(Command):
    """Move a model to the trash; with `now`, or where it is unfinished or built in, remove it for good.

    Done.result: whether RestoreModel can bring it back.
    """

    name: str
    now: bool = False


@dataclass(frozen=True)
class RestoreModel(Command):
    """Bring back the model of this name that was deleted last. Done.result: ModelCard."""

    name: str
    new_name: str = ""


@dataclass(frozen=True)
class ListDeleted(Command):
    """Done.result: tuple[DeletedModel, ...], the latest first."""


@dataclass(frozen=True)
class EmptyTrash(Command):
    """Remove all deleted models for good. Done.result: bytes freed."""


@dataclass(frozen=True)
class ListFolders(Command):
    """Done.result: tuple[ModelFolder, ...], the one for new models first."""


@dataclass(frozen=True)
class AddFolder(Command):
    """Let models live in a folder, or with `first` send new ones to it. Done.result: as of ListFolders."""

    folder: str
    first: bool = False


@dataclass(frozen=True)
class ForgetFolder(Command):
    """Take a folder out of the library; what is in it stays on the disk. Done.result: as of ListFolders."""

    folder: str
