"""Commands about the open model, about other commands, and about this computer; the engine that takes them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

from engine.generation.messages import FREE, AnswerOptions, Look, Message


@dataclass(frozen=True)
class Command:
    """A request to the engine. id: unique, chosen by the sender."""

    id: str


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
class ListUnavailableChoices(Command):
    """List the choices of settings that are unavailable on this computer or in this version. Done.result: {setting:
    {choice: why not}}."""


@dataclass(frozen=True)
class RecommendSettings(Command):
    """What Underhill chooses for memory and context where nobody does. Done.result: Recommended."""


@dataclass(frozen=True)
class Calibrate(Command):
    """Measure again what the qualities of the open model are and cost, while nothing else is asked of it.

    ModelChanged tells how far that is. Done.result: None, at once.
    """


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
    Those for one model are answered at once. background: it begins behind those that are not, leaves a place for one,
    ends where the model is needed for something else, and has a sequence beside the chat's. model: the one that is to
    answer, as of LoadModel; '' for the current one. Another than that is opened for it with `settings`, and does not
    become the current one.
    'team:NAME' asks a team: TeamChanged and StepText tell of its steps. models: settings of single models that it asks,
    where they differ. attached: files came with the message.
    chain: the models that answer one behind another, each going on from the one before it, this one among them; ()
    where it is asked alone. A model that only goes on from others makes way first while none of those is open.
    """

    messages: tuple[Message, ...]
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    continue_last: bool = False
    thinking: bool | str | None = None
    chat: str = ""
    _: KW_ONLY
    options: AnswerOptions = FREE
    background: bool = False
    model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    attached: bool = False
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class CountTokens(Command):
    """How many tokens texts and images are for the loaded model; also while it answers. Done.result: TokenCount.

    images: width and height of each, in pixels.
    """

    texts: tuple[str, ...]
    images: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Stop(Command):
    """Cancel the command `target` (queued or running) within one token. Done.result: True if it was still there.

    The target ends with Cancelled, whose result is what Done would have carried so far.
    """

    target: str


@dataclass(frozen=True)
class Ping(Command):
    """Ask whether the engine is alive. Done.result: a counter that changes whenever the open model makes progress."""


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
class ProbeComputer(Command):
    """Measure this computer, with Progress; some 15 seconds, once. Done.result: Computer.

    It waits for an answer that is being made. What is known is not measured again but where `again`.
    """

    again: bool = False


@dataclass(frozen=True)
class Shutdown(Command):
    """Cancel everything, release everything, end the worker. Done is the last event of all."""


class Engine(Protocol):
    """A running engine. Both methods may be called from any thread and never block on the engine's work."""

    def send(self, command: Command) -> None:
        """Queue a command. Stop, UpdateSettings, DeleteModel and Shutdown overtake an answer that is being made."""

    def close(self, timeout: float = 10.0) -> None:
        """Shutdown and wait for the worker to end."""
