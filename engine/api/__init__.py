"""What the window and the engine say to each other: commands in, events out. All that app/ imports of the engine.

Every command gets exactly one terminal event bearing its id: Done, Cancelled or Failed. Other events of a command
(Progress, PromptRead, TextDelta) come before it. Telemetry comes on its own, at most five times a second.
Everything here is frozen and plain data. Importing this module loads neither torch nor transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine import settings
from engine.api.base import Command, Event
from engine.api.hub import (
    AskToken,
    CancelTransfer,
    DescribeModel,
    ForgetToken,
    KeepSettings,
    KeepToken,
    ListCatalogue,
    Listed,
    ListTransfers,
    PauseTransfer,
    PullModel,
    ReadSettings,
    ResumeTransfer,
    SearchModels,
    TransferChanged,
)
from engine.errors import Kind, UnderhillError
from engine.garbage import settle_garbage
from engine.generation.formats.declaration import LEVELS as THINKING
from engine.generation.formats.declaration import nearest as nearest_thinking
from engine.generation.messages import ExpertFacts, Look, MemoryUse, Message, Snapshot, Stats, ToolCall
from engine.hardware.computer import Computer
from engine.hardware.fit import Fit
from engine.hub.card import ModelCard
from engine.hub.dials import DIALS as LOSSY_DIALS
from engine.hub.dials import in_words as dial_in_words
from engine.hub.home import checked_name
from engine.hub.shown import (
    CANCELLED,
    FAILED,
    FINISHED,
    PAUSED,
    QUEUED,
    RUNNING,
    AdoptedModel,
    DeletedModel,
    FoundModel,
    HubModel,
    LoweringOffer,
    ModelDetails,
    ModelFolder,
    SearchPage,
    TokenState,
    Transfer,
)
from engine.translatable import NO_TEXT, Translatable, msg

__all__ = [
    "CANCELLED", "FAILED", "FINISHED", "LOSSY_DIALS", "PAUSED", "QUEUED", "RUNNING", "TERMINAL", "THINKING",
    "AddFolder", "AdoptModels", "AdoptedModel", "AskChoices", "AskToken", "CancelTransfer", "Cancelled", "Command",
    "Computer", "ContinueImport", "CountTokens", "DeleteModel", "DeletedModel", "DescribeModel", "Done",
    "EmptyTrash", "Engine", "Event", "ExpertFacts", "Failed", "FindModels", "Fit", "ForgetFolder", "ForgetToken",
    "FoundModel", "Generate", "HubModel", "ImportModel", "KeepSettings", "KeepToken", "Kind", "ListCatalogue",
    "ListDeleted", "ListFolders", "ListModels", "ListTransfers", "Listed", "LoadModel", "Look", "LowerModel",
    "LoweringOffer", "MeasureLowering", "MemoryUse", "Message", "ModelCard", "ModelChanged", "ModelDetails",
    "ModelFolder", "MoveModel", "Pause", "PauseTransfer", "PlanChanged", "ProbeComputer", "Progress", "PromptRead",
    "PullModel", "ReadSettings", "RestoreModel", "RestoreOriginal", "Resume", "ResumeTransfer", "SearchModels",
    "SearchPage", "Shutdown", "Snapshot", "Stats", "Stop", "Telemetry", "TextDelta", "TokenCount", "TokenState",
    "ToolCall", "Transfer", "TransferChanged", "UnderhillError", "UnloadModel", "UpdateSettings", "VerifyModel",
    "VerifyReport", "Watch", "checked_name", "dial_in_words", "nearest_thinking", "settings", "settle_garbage",
    "start", "start_apart", "stopped",
]  # fmt: skip


# ---- commands --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ListModels(Command):
    """All there is in the library, also what cannot be opened (ModelCard.state), with pills (ModelCard.fit).

    Done.result: tuple[ModelCard, ...]. settings: those that a model would be opened with, for its pill.
    """

    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadModel(Command):
    """Open a model and make it the current one. Done.result: ModelCard (loaded, with its plan's sentences).

    model: 'builtin', a name in the library, or a path to a store or a checkpoint. settings: names of settings.ENGINE.
    """

    model: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UnloadModel(Command):
    """Release the current model's memory. Done.result: None."""


@dataclass(frozen=True)
class UpdateSettings(Command):
    """Change live settings of the loaded model, mid-answer if need be. Done.result: dict of those in force."""

    settings: dict[str, Any]


@dataclass(frozen=True)
class AskChoices(Command):
    """Which choices of settings cannot be taken here, by this version. Done.result: {setting: {choice: why not}}."""


@dataclass(frozen=True)
class Watch(Command):
    """What Telemetry is to say from now on, of whichever model is open. Done.result: None."""

    look: Look


@dataclass(frozen=True)
class Generate(Command):
    """Answer a chat with the loaded model. sampling: names of settings.SAMPLING. Done.result: Stats.

    continue_last: the last message is an assistant turn that goes on where it was cut.
    thinking: a level of ModelCard.thinking, or on or off; the nearest that the model has. None: as its template does.
    chat: which chat it is, by any name that no other has; what the cache noted of the last chat says little about it.
    """

    messages: tuple[Message, ...]
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    continue_last: bool = False
    thinking: bool | str | None = None
    chat: str = ""


@dataclass(frozen=True)
class CountTokens(Command):
    """How many tokens texts are for the loaded model; also while it answers. Done.result: TokenCount."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Stop(Command):
    """Cancel the command `target` (queued or running) within one token. Done.result: True if it was still there.

    The target ends with Cancelled, whose result is what Done would have carried so far.
    """

    target: str


@dataclass(frozen=True)
class Beat(Command):
    """Asks for a sign of life. Done.result: a number that is another one once the open model has come any further."""


@dataclass(frozen=True)
class Pause(Command):
    """Halt the command `target` at its next step: one that imports, adopts, verifies or moves.

    Done.result: True if it was still there. While it rests, its last Progress says so.
    """

    target: str


@dataclass(frozen=True)
class Resume(Command):
    """Let the command `target` go on. Done.result: True if it had been told to rest."""

    target: str


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


@dataclass(frozen=True)
class ProbeComputer(Command):
    """Measure this computer, with Progress; some 15 seconds, once. Done.result: Computer.

    It waits for an answer that is being made. What is known is not measured again but where `again`.
    """

    again: bool = False


@dataclass(frozen=True)
class Shutdown(Command):
    """Cancel everything, release everything, end the worker. Done is the last event of all."""


# ---- events ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress(Event):
    """Something long goes on. text: a plain phrase ('Reading layer 3 of 16'). total 0: not known. unit: 'bytes' …

    rate: units per second, of late; 0: not known yet. left: seconds that the rest of total will take; None: not known.
    """

    text: Translatable
    done: int = 0
    total: int = 0
    unit: str = ""
    rate: float = 0.0
    left: float | None = None


@dataclass(frozen=True)
class TokenCount:
    """Result of CountTokens: tokens of each text, without what the chat template puts around it.

    context: most tokens that the model, as it is loaded, sees at a time.
    """

    tokens: tuple[int, ...]
    context: int


@dataclass(frozen=True)
class VerifyReport:
    """Result of VerifyModel. damaged: a sentence for everything that is; action: what to do about it."""

    damaged: tuple[Translatable, ...]
    action: Translatable = NO_TEXT


@dataclass(frozen=True)
class PromptRead(Event):
    """Prompt tokens processed so far, of total; reused of them were already in the KV cache.

    dropped: oldest turns left out because the context is full (shown to the user, never silent).
    """

    done: int
    total: int
    reused: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class TextDelta(Event):
    """New text of the answer (whole characters only) and the tokens behind it."""

    text: str
    token_ids: tuple[int, ...]


@dataclass(frozen=True)
class Telemetry(Snapshot, Event):
    """A snapshot for the live panels, at most five a second while something changes. id is empty.

    Its matrices are empty and `expert` is None until a Watch asks for them.
    """


@dataclass(frozen=True)
class PlanChanged(Event):
    """The loaded model runs in another way from now on. id is empty.

    plan: its sentences, as in ModelCard. notice: what happened, where it was not the user who asked for it.
    """

    plan: tuple[Translatable, ...]
    notice: Translatable = NO_TEXT


@dataclass(frozen=True)
class ModelChanged(Event):
    """More is known of the loaded model, or it is busy with something of its own: its card now. id is empty."""

    card: ModelCard


@dataclass(frozen=True)
class Done(Event):
    """Terminal: it worked. result: as the command's docstring says."""

    result: Any = None


@dataclass(frozen=True)
class Cancelled(Event):
    """Terminal: the user stopped it. result: what there is of it (Stats of a Generate)."""

    result: Any = None


@dataclass(frozen=True)
class Failed(Event):
    """Terminal: it went wrong. cause: the technical detail, for the log and 'show details'."""

    kind: Kind
    sentence: Translatable
    action: Translatable = NO_TEXT
    cause: str = ""


TERMINAL = (Done, Cancelled, Failed)  # every command gets exactly one of these, as its last event


GONE = (Kind.STOPPED, Kind.HELD)  # of Failed: there is no engine any more


def stopped(command_id: str, cause: str) -> Failed:
    """Of a command that nothing will be done for any more, because what would have has ended by a defect."""
    return Failed(
        command_id, Kind.STOPPED, msg("The engine has stopped working."),
        msg("Your chats are safe. Start it again to go on."), cause,
    )  # fmt: skip


def held(command_id: str, cause: str) -> Failed:
    """Of a command that was under way when the engine was ended, since it did not answer to Stop."""
    return Failed(
        command_id, Kind.HELD, msg("Something in the engine did not come back, so the engine was ended."),
        msg("Your chats are safe. It starts again, and opens the model."), cause,
    )  # fmt: skip


# ---- the handle ------------------------------------------------------------------------------------------------


class Engine(Protocol):
    """A running engine. Both methods may be called from any thread and never block on the engine's work."""

    def send(self, command: Command) -> None:
        """Queue a command. Stop, UpdateSettings, DeleteModel and Shutdown overtake an answer that is being made."""

    def close(self, timeout: float = 10.0) -> None:
        """Shutdown and wait for the worker to end."""


def start(on_event: Callable[[Event], None]) -> Engine:
    """Start the engine's worker thread. `on_event` is called on threads of the engine: hand over and return.

    torch is loaded on the worker thread at its first need, not here.
    """
    from engine.service import Service

    return Service(on_event)


def start_apart(on_event: Callable[[Event], None]) -> Engine:
    """Start an engine in a process of its own; `on_event` is called on a thread of this one.

    A process that ends by itself, whatever ended it, is told as Failed of Kind.STOPPED, for each command that waits and
    each that is sent later, or, where none waits, for the empty id.
    """
    from engine.apart.parent import Apart

    return Apart(on_event)
