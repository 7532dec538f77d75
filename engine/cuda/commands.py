"""Work for a card that is written down once and handed to its driver in one call (engine/native/src/card.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import addressof, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

from engine.native.library import load_library

COPY_IN, COPY_OUT, LAUNCH, RECORD, QUERY = range(5)  # as in card.h
# Functions that commands call, in the order of uh_card_driver; by place, which of them each kind of command calls.
FUNCTIONS = (
    "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuLaunchKernel", "cuEventRecord", "cuEventQuery",
    "cuEventSynchronize", "cuCtxSetCurrent", "cuGraphLaunch",
)  # fmt: skip


class CardCommand(ctypes.Structure):
    # As uh_card_command: one that differs makes the driver read and write anywhere.
    _fields_ = (
        ("kind", c_int32),
        ("grid", c_uint32 * 3),
        ("block", c_uint32),
        ("handle", c_void_p),
        ("host", c_void_p),
        ("device", c_uint64),
        ("nbytes", c_size_t),
        ("parameters", c_void_p),
    )


class CommandList:
    """Commands of one stream, to be submitted any number of times with the same arguments.

    What changes from time to time lies in memory that they copy. Handles and addresses are ints, and must be valid
    whenever it is submitted.
    """

    def __init__(self) -> None:
        self._commands: list[CardCommand] = []
        self._kept: list[Any] = []  # what commands point to
        self._packed: ctypes.Array[CardCommand] | None = None

    def copy_in(self, device: int, host: int, nbytes: int) -> None:
        """Copy to the card. host: pinned, and left alone until that is done."""
        self._add(CardCommand(kind=COPY_IN, device=device, host=host, nbytes=nbytes))

    def copy_out(self, host: int, device: int, nbytes: int) -> None:
        """Copy from the card. host: pinned."""
        self._add(CardCommand(kind=COPY_OUT, device=device, host=host, nbytes=nbytes))

    def launch(self, function: int, grid: Sequence[int], block: int, parameters: Sequence[Any]) -> None:
        """Run a kernel. grid: blocks in x, y and z. block: threads of each. parameters: ctypes values, copied here."""
        own = [type(value).from_buffer_copy(value) for value in parameters]
        at = (c_void_p * (len(own) + 1))(*map(addressof, own), None)
        self._kept += [own, at]
        command = CardCommand(kind=LAUNCH, block=block, handle=function, parameters=addressof(at))
        command.grid[:] = grid
        self._add(command)

    def record(self, event: int) -> None:
        """Put an event behind what comes before."""
        self._add(CardCommand(kind=RECORD, handle=event))

    def query(self, event: int) -> None:
        """Ask about an event, for nothing but that a driver that gathers work hands it on."""
        self._add(CardCommand(kind=QUERY, handle=event))

    def again(self, command: CardCommand) -> None:
        """One that another list has, which has to live as long as this one."""
        self._add(command)

    def _add(self, command: CardCommand) -> None:
        self._commands.append(command)
        self._packed = None

    def packed(self) -> ctypes.Array[CardCommand]:
        """All of them as one array."""
        if self._packed is None:
            self._packed = (CardCommand * len(self._commands))(*self._commands)
        return self._packed


class Submitter:
    """Hands lists of commands to a driver. calls: its functions by name, ctypes function pointers. driver:
    uh_card_driver."""

    def __init__(self, calls: Mapping[str, Any]) -> None:
        self._kept = [calls[name] for name in FUNCTIONS]
        self.driver = (c_void_p * len(FUNCTIONS))(*(ctypes.cast(call, c_void_p) for call in self._kept))
        self._submit = _native().uh_card_submit

    def submit(self, commands: CommandList, stream: int) -> tuple[int, str]:
        """0, or what the driver returned, and the function that did; commands behind that one were not handed on."""
        packed, at = commands.packed(), c_int32()
        code: int = self._submit(self.driver, packed, len(packed), stream, ctypes.byref(at))
        return code, FUNCTIONS[packed[at.value].kind] if code else ""


@lru_cache(maxsize=1)
def _native() -> ctypes.CDLL:
    library = load_library()  # Python's lock is free meanwhile: a driver may wait for room in its queue
    library.uh_card_submit.argtypes = (c_void_p, c_void_p, c_int32, c_void_p, c_void_p)
    library.uh_card_submit.restype = c_int
    return library
