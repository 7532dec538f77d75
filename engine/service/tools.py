"""What the service does with tool servers: keeps them, has them run, and has their tools called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.import_lock import ALONE
from engine.service.command_worker import CancelledWork, CommandWorker
from engine.service.named_workers import NamedWorkers

if TYPE_CHECKING:
    from engine.toolservers.connections import Connections

KEPT = (
    protocol.ListToolServers, protocol.SaveToolServer, protocol.DeleteToolServer, protocol.RestartToolServer,
    protocol.AllowTool,
)  # fmt: skip
NEEDS = ("engine.toolservers.folder", "engine.library.settings_file")


class ToolServers:
    """One thread for what is kept, and one for each server's calls, which come one after the other."""

    def __init__(self, emit: Callable[[protocol.Event], None]) -> None:
        self._emit = emit
        self._connections: Connections | None = None
        self._keeping = CommandWorker("toolservers", self._keep, emit, needs=NEEDS)
        # By the server's id.
        self._calling = NamedWorkers(lambda _: CommandWorker("toolcalls", self._call, emit, needs=NEEDS))

    def worker(self, command: protocol.Command) -> CommandWorker | None:
        """The thread for a command about tools; None for any other command."""
        if isinstance(command, KEPT):
            return self._keeping
        return self._calling.of(command.server) if isinstance(command, protocol.CallTool) else None

    def cancel(self, target: str) -> bool:
        """As of CommandWorker."""
        return self._keeping.cancel(target) or self._calling.cancel(target)

    def look_again(self) -> None:
        """Offline mode is another now."""
        if self._connections is not None:
            self._connections.look_again()

    def close(self) -> None:
        """Cancel everything and take nothing more; `join` waits for the end."""
        self._keeping.close()
        self._calling.close()

    def join(self) -> None:
        """Wait for the threads to end after `close`, and end all servers."""
        self._keeping.join()
        self._calling.join()
        if self._connections is not None:
            self._connections.close()

    def _keep(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        from engine.toolservers import folder

        result: Any = None
        match command:
            case protocol.SaveToolServer():
                result = folder.save(command.server, command.replacing, command.secrets)
            case protocol.DeleteToolServer():
                result = folder.delete(command.server)
            case protocol.AllowTool():
                folder.allow(command.server, command.tool, command.allowed)
        kept = folder.servers()
        if not kept and self._connections is None:  # most have none: what speaks with them is not even imported
            return () if isinstance(command, protocol.ListToolServers) else result
        connections = self._connected()
        connections.follow(kept)
        if isinstance(command, protocol.RestartToolServer):
            connections.restart(folder.find(command.server).id)
        return connections.cards if isinstance(command, protocol.ListToolServers) else result

    def _call(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        assert isinstance(command, protocol.CallTool)
        result = self._connected().call(command.server, command.tool, command.arguments, cancelled)
        if result is None:
            raise CancelledWork()
        return result

    def _connected(self) -> Connections:
        """The connections, made by the first that needs them."""
        with ALONE:  # of two threads that need them at once one makes them
            if self._connections is None:
                from engine.hub.errors import is_offline_mode
                from engine.library import settings_file
                from engine.toolservers import folder
                from engine.toolservers.connections import Connections

                self._connections = Connections(
                    lambda cards: self._emit(protocol.ToolServersChanged("", cards)), folder.variables_of,
                    lambda: bool(settings_file.hub()["offline"]) or is_offline_mode(),
                )  # fmt: skip
            return self._connections
