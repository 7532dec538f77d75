"""Commands about the models on this computer and on hubs, and the settings that all models share."""

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
class RenameModel(Command):
    """Show a model under another name; `title` being its name, under that again. Commands go on naming it by `name`.

    ModelChanged follows where it is the open one. Done.result: ModelCard.
    """

    name: str
    title: str


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


@dataclass(frozen=True)
class ReadSettings(Command):
    """Done.result: dict of all settings.SHARED (hub and library), as they are kept."""


@dataclass(frozen=True)
class KeepSettings(Command):
    """Keep some of settings.SHARED, in force at once. Done.result: as of ReadSettings.

    Gone offline, what is on its way from a hub is halted, and nothing is sent any more.
    """

    settings: dict[str, Any]


@dataclass(frozen=True)
class AskToken(Command):
    """Whether there is a token for the hub of the settings; the token itself is never told. Done.result: TokenState."""


@dataclass(frozen=True)
class KeepToken(Command):
    """Try a token at the hub of the settings, then keep it in the keyring. Done.result: the account's name."""

    token: str = field(repr=False)


@dataclass(frozen=True)
class ForgetToken(Command):
    """Take the token of the hub of the settings out of the keyring. Done.result: False where there was none."""


@dataclass(frozen=True)
class ListCatalogue(Command):
    """Models that people run today, the smallest first, with pills. Nothing is sent. Done.result: tuple[HubModel, ...].

    settings: names of settings.ENGINE, under which is judged what fits.
    """

    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchModels(Command):
    """Look on the hub for models that Underhill opens, the most downloaded first. Done.result: SearchPage, with pills.

    Before it comes Listed, without. page: from 0; further ones are of the same search. settings: as of ListCatalogue.
    """

    words: str
    page: int = 0
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DescribeModel(Command):
    """All that is known of a model on the hub before it is here. Done.result: ModelDetails.

    Fails as pulling it would. gguf: as of PullModel. settings: as of ListCatalogue.
    """

    repo: str
    revision: str = "main"
    gguf: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PullModel(Command):
    """Put a model on its way from the hub into the library. Done.result: Transfer, which TransferChanged then tells of.

    name: '' takes the repository's. top: 4, 8 or 16; 0: what suits it.
    keep_source: keep what was downloaded beside what is made of it.
    gguf: part of the name of one of its GGUF models; '' takes safetensors where there are some, else what suits `top`.
    """

    repo: str
    name: str = ""
    top: int = 0
    revision: str = "main"
    keep_source: bool = False
    gguf: str = ""


@dataclass(frozen=True)
class ListTransfers(Command):
    """All that is on its way, also what was when Underhill was closed or killed. Done.result: tuple[Transfer, ...]."""


@dataclass(frozen=True)
class PauseTransfer(Command):
    """Halt a transfer; what has arrived stays. Done.result: Transfer."""

    transfer: str


@dataclass(frozen=True)
class ResumeTransfer(Command):
    """Let a transfer go on that is paused or failed. Done.result: Transfer."""

    transfer: str


@dataclass(frozen=True)
class CancelTransfer(Command):
    """Take a transfer from the list: with what has arrived, unless `keep`; of a finished one the model stays.

    Done.result: Transfer. What is to be removed goes in the background.
    """

    transfer: str
    keep: bool = False
