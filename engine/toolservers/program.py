"""A server that is a program: started, spoken with by lines, and ended with this process, however that ends."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from engine import limits, windows
from engine.private_files import usual_permissions
from engine.toolservers.definition import ToolServer

ENDING = 2.0  # seconds that a program has to end by itself, once its standard input is closed
_LINES = 20  # of its standard error, that are kept
_PR_SET_PDEATHSIG = 1


class Talk:
    """The last lines that a program wrote to its standard error, and whether a line of its output was too long."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.flooded = False

    @property
    def said(self) -> str:
        """Its lines."""
        return "\n".join(self.lines)


@asynccontextmanager
async def running(server: ToolServer, variables: Mapping[str, str], talk: Talk) -> AsyncIterator[tuple[Any, Any]]:
    """Start it, with these variables beside a few of this process; the streams that mcp.ClientSession takes.

    Raises OSError where it cannot be started.
    """
    with usual_permissions():
        process = await asyncio.create_subprocess_exec(
            server.command, *server.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=get_default_environment() | dict(variables), limit=limits.TOOL_LINE, **_apart(),
        )  # fmt: skip
    windows.end_with_this_process(process._transport.get_extra_info("subprocess"))  # type: ignore[attr-defined]
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(work)
        for work in (_receive(process, incoming, talk), _send(process, outgoing), _listen(process, talk))
    ]
    try:
        yield read, write
    finally:
        await asyncio.shield(asyncio.ensure_future(_end(process, tasks)))


async def _receive(process: asyncio.subprocess.Process, incoming: Any, talk: Talk) -> None:
    assert process.stdout is not None
    async with incoming:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:  # longer than is taken: what comes behind cannot be told apart any more
                    talk.flooded = True
                    return
                if not line:
                    return
                if line.strip():
                    await incoming.send(_parsed(line))


def _parsed(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # some print to their output what is no message
        return error


async def _send(process: asyncio.subprocess.Process, outgoing: Any) -> None:
    assert process.stdin is not None
    async with outgoing:
        with contextlib.suppress(OSError):
            async for message in outgoing:
                process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await process.stdin.drain()


async def _listen(process: asyncio.subprocess.Process, talk: Talk) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(4096):
        *lines, rest = data.decode(errors="replace").splitlines() or [""]
        talk.lines.extend(line[:300] for line in (*lines, rest) if line.strip())


async def _end(process: asyncio.subprocess.Process, tasks: list[asyncio.Task[None]]) -> None:
    """Close its input, wait a little, then end it and all that it has started."""
    for task in tasks[:2]:
        task.cancel()
    if process.stdin is not None:
        process.stdin.close()
    await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=ENDING)
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # of its children, too, where it is gone already
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=ENDING)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    transport = getattr(process, "_transport", None)  # a child that lives on may hold the pipes open
    if transport is not None:
        transport.close()


def _apart() -> dict[str, Any]:
    """A group of its own, that a Ctrl+C at the terminal leaves alone; the system ends it when this process is gone."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    if sys.platform != "linux":
        return {"start_new_session": True}
    prctl = ctypes.CDLL(None).prctl  # found before the fork: little is allowed behind it
    return {"start_new_session": True, "preexec_fn": lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)}
