"""What the service does with endpoints: keeps them, tests them, and has them answer, beside the models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from engine import protocol
from engine.endpoints.definition import PREFIX
from engine.errors import Kind, UnderhillError
from engine.service.command_worker import CancelledWork, CommandWorker
from engine.service.named_workers import NamedWorkers
from engine.translatable import msg

KEPT = (protocol.ListEndpoints, protocol.SaveEndpoint, protocol.DeleteEndpoint)
NEEDS = ("engine.endpoints.asking", "engine.endpoints.folder", "engine.library.settings_file")
_TESTS, _KEPT = "tests", "kept"  # ids of workers that have none answer; a keyring may wait for a password
Emit = Callable[[protocol.Event], None]


def keep(command: protocol.Command) -> Any:
    """One of KEPT."""
    from engine.endpoints import folder

    match command:
        case protocol.SaveEndpoint():
            return folder.save(command.endpoint, command.replacing, command.key)
        case protocol.DeleteEndpoint():
            return folder.delete(command.endpoint)
    return folder.endpoints()


class Endpoints(NamedWorkers):
    """Answers by endpoints: those of one endpoint one after the other, each endpoint on a thread of its own, so that
    none waits for another or for a model."""

    def __init__(self, emit: Emit) -> None:
        super().__init__(lambda _: CommandWorker("endpoint", self._do, emit, needs=NEEDS))
        self._emit = emit
        self._offline = threading.Event()

    @staticmethod
    def takes(command: protocol.Command) -> bool:
        """Whether it is about endpoints alone."""
        if isinstance(command, protocol.Generate | protocol.GenerateApart):
            return command.model.startswith(PREFIX)
        return isinstance(command, (protocol.CheckEndpoint, *KEPT))

    def worker(self, command: protocol.Command) -> CommandWorker | None:
        """The thread for a command that it takes; None for any other command."""
        if not self.takes(command):
            return None
        name = _TESTS if isinstance(command, protocol.CheckEndpoint) else _KEPT
        if isinstance(command, protocol.Generate | protocol.GenerateApart):
            name = command.model
        return self.of(name)

    def go_offline(self) -> None:
        """From now on nothing is asked; answers that are under way end."""
        self._offline.set()

    def answer(self, command: protocol.Generate, cancelled: Callable[[], bool], emit: Emit) -> protocol.Stats:
        """Have a command answered on this thread. emit: told of the text. Raises UnderhillError, CancelledWork."""
        from engine.endpoints import asking, folder
        from engine.endpoints.request import ChatRequest

        if command.continue_last:
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("An endpoint can't continue an answer."), msg("Regenerate it instead.")
            )
        self._demand_network()
        card = folder.find(command.model)
        request = ChatRequest(command.messages, command.sampling, command.stop, command.options)

        def told(text: str) -> None:
            emit(protocol.TextDelta(command.id, text, ()))

        def ended() -> bool:
            return cancelled() or self._offline.is_set()

        try:
            return asking.ask(card.endpoint, folder.key_of(card), request, told, ended)
        except asking.Stopped as stopped:
            if not cancelled():
                self._demand_network()
            raise CancelledWork(stopped.stats) from None

    def _do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        if isinstance(command, KEPT):
            return keep(command)
        match command:
            case protocol.CheckEndpoint():
                return self._test(command, cancelled)
            case protocol.GenerateApart():
                question = command.question
                command = protocol.Generate(
                    command.id, question.messages, question.sampling, question.stop, thinking=question.thinking,
                    model=command.model,
                )  # fmt: skip
        assert isinstance(command, protocol.Generate)
        return self.answer(command, cancelled, self._emit)

    def _test(self, command: protocol.CheckEndpoint, cancelled: Callable[[], bool]) -> protocol.EndpointCheck:
        from engine.endpoints import asking, folder
        from engine.endpoints.definition import checked

        self._demand_network()
        endpoint, key = checked(command.endpoint, model_needed=False), command.key
        if key is None and command.replacing:
            card = folder.find(command.replacing)
            key = folder.key_of(card) if folder.same_server(card.endpoint, endpoint) else ""
        found = asking.test(endpoint, key or "", cancelled)
        if found is None:
            raise CancelledWork()
        return found

    def _demand_network(self) -> None:
        """Raises UnderhillError(OFFLINE) where the settings or the environment say so."""
        from engine.hub import errors
        from engine.library import settings_file

        if not settings_file.hub()["offline"] and not errors.is_offline_mode():
            self._offline.clear()
            return
        problem = errors.offline()
        raise UnderhillError(
            Kind.OFFLINE, msg("Offline mode is on, and this answer would come from another computer."), problem.action
        )
