"""The CUDA driver API by ctypes: the few functions that a graphics mode needs, each error a CardError.

`Driver` takes the library as an argument, so that tests can put a simulated one in its place
(tests/engine/cuda/simulated_driver.py). Names and signatures are those of NVIDIA's CUDA Driver API reference; functions
with a newer version are asked for by it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, NamedTuple, Protocol

from engine.cuda.commands import CommandList, Submitter
from engine.cuda.errors import NOT_READY, no_driver, old_driver, refused

_P = POINTER
# By name; every function returns a CUresult. ctypes checks nothing: an argument added here and not there is a crash.
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (_P(c_int),),
    "cuDeviceGetCount": (_P(c_int),),
    "cuDeviceGet": (_P(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (_P(c_int), c_int, c_int),
    "cuDeviceGetPCIBusId": (c_char_p, c_int, c_int),
    "cuDeviceTotalMem_v2": (_P(c_size_t), c_int),
    "cuDevicePrimaryCtxRetain": (_P(c_void_p), c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxSetCurrent": (c_void_p,),
    "cuMemGetInfo_v2": (_P(c_size_t), _P(c_size_t)),
    "cuModuleLoadData": (_P(c_void_p), c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuModuleGetFunction": (_P(c_void_p), c_void_p, c_char_p),
    "cuMemAlloc_v2": (_P(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemHostAlloc": (_P(c_void_p), c_size_t, c_uint),
    "cuMemFreeHost": (c_void_p,),
    "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, c_uint64, c_size_t, c_void_p),
    "cuMemcpyDtoDAsync_v2": (c_uint64, c_uint64, c_size_t, c_void_p),
    "cuStreamCreate": (_P(c_void_p), c_uint),
    "cuStreamDestroy_v2": (c_void_p,),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "cuEventCreate": (_P(c_void_p), c_uint),
    "cuEventDestroy_v2": (c_void_p,),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventSynchronize": (c_void_p,),
    "cuEventQuery": (c_void_p,),
    "cuEventElapsedTime": (_P(c_float), c_void_p, c_void_p),
    "cuStreamBeginCapture_v2": (c_void_p, c_int),
    "cuStreamEndCapture": (c_void_p, _P(c_void_p)),
    "cuGraphInstantiateWithFlags": (_P(c_void_p), c_void_p, c_uint64),
    "cuGraphLaunch": (c_void_p, c_void_p),
    "cuGraphExecDestroy": (c_void_p,),
    "cuGraphDestroy": (c_void_p,),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, _P(c_void_p), _P(c_void_p)),
}
NEWER = {"cuGraphInstantiateWithFlags"}  # of CUDA 11.4; older drivers do without graphs
_THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do meanwhile is not looked at
NON_BLOCKING, UNTIMED = 1, 2  # CU_STREAM_NON_BLOCKING: not ordered with the default stream; CU_EVENT_DISABLE_TIMING
# CUdevice_attribute
_MULTIPROCESSORS, _INTEGRATED, _CLOCK_KHZ, _BUS_BITS, _MAJOR, _MINOR = 16, 18, 36, 37, 75, 76
_SYSTEM32 = 0x800  # LOAD_LIBRARY_SEARCH_SYSTEM32: no nvcuda.dll from the folder of whoever starts the program


class Library(Protocol):
    """The driver's library, or what stands for it: every function of SIGNATURES as an attribute."""

    def __getattr__(self, name: str) -> Any: ...


class CardFacts(NamedTuple):
    """A card as its driver tells without a context. total: bytes. capability: (7, 5) is Turing. rate: bytes a second of
    its memory, by clock and width; 0: not told. unified: its memory is the computer's. bus: its PCI address."""

    name: str
    total: int
    capability: tuple[int, int]
    multiprocessors: int
    rate: float
    unified: bool
    bus: str


class Driver:
    """The driver's functions with Python's types. Handles and addresses are ints.

    submitter: hands lists of commands on; native code calls the driver by its functions.

    Functions that touch memory, streams or modules need a context of the calling thread: `make_current`. Every call
    lets go of Python's lock. Raises CardError wherever the driver does not return 0.
    """

    def __init__(self, library: Library) -> None:
        """Raises CardError where a function is missing, or the driver cannot start."""
        self._calls: dict[str, Callable[..., int]] = {}
        for name, arguments in SIGNATURES.items():
            try:
                function = getattr(library, name)
            except AttributeError as cause:
                if name in NEWER:
                    continue
                raise old_driver(name) from cause
            function.argtypes, function.restype = arguments, c_int
            self._calls[name] = function
        self.submitter = Submitter(self._calls)
        self._call("cuInit", 0)

    def _call(self, name: str, *arguments: Any) -> None:
        if code := self._calls[name](*arguments):
            raise refused(name, code)

    def _new(self, name: str, kind: Any, *arguments: Any) -> int:
        made = kind()
        self._call(name, byref(made), *arguments)
        return int(made.value or 0)

    # ---- cards, without a context -----------------------------------------------------------------------------------

    def version(self) -> int:
        """The CUDA version it knows: 12040 is 12.4."""
        return self._new("cuDriverGetVersion", c_int)

    def count(self) -> int:
        """Cards there are."""
        return self._new("cuDeviceGetCount", c_int)

    def card(self, index: int) -> CardFacts:
        """What one of them is."""
        device = self._new("cuDeviceGet", c_int, index)
        name, bus = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64)
        self._call("cuDeviceGetName", name, len(name), device)
        self._call("cuDeviceGetPCIBusId", bus, len(bus), device)
        clock, width = self._attribute(device, _CLOCK_KHZ), self._attribute(device, _BUS_BITS)
        return CardFacts(
            name.value.decode("utf-8", "replace"),
            self._new("cuDeviceTotalMem_v2", c_size_t, device),
            (self._attribute(device, _MAJOR), self._attribute(device, _MINOR)),
            self._attribute(device, _MULTIPROCESSORS),
            2 * clock * 1000 * width / 8,  # twice a clock: the memory of these cards has double data rate
            bool(self._attribute(device, _INTEGRATED)),
            bus.value.decode("ascii", "replace"),
        )

    def _attribute(self, device: int, which: int) -> int:
        return self._new("cuDeviceGetAttribute", c_int, which, device)

    # ---- a context --------------------------------------------------------------------------------------------------

    def retain(self, index: int) -> int:
        """The card's primary context: the one that other libraries in this process would share."""
        return self._new("cuDevicePrimaryCtxRetain", c_void_p, self._new("cuDeviceGet", c_int, index))

    def release(self, index: int) -> None:
        """Give it back."""
        self._call("cuDevicePrimaryCtxRelease_v2", self._new("cuDeviceGet", c_int, index))

    def make_current(self, context: int) -> None:
        """Use this context on the calling thread from now on; 0: none. Another model may use another card there."""
        self._call("cuCtxSetCurrent", context)

    def memory(self) -> tuple[int, int]:
        """Bytes of the card's memory that are free, and in all."""
        free, total = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value, total.value

    def load_module(self, ptx: bytes) -> int:
        """Kernels from PTX, ended by a zero byte, which the driver compiles for its card (a second at first, then from
        its cache)."""
        return self._new("cuModuleLoadData", c_void_p, ptx)

    def unload_module(self, module: int) -> None:
        """Let go of its kernels."""
        self._call("cuModuleUnload", module)

    def function(self, module: int, name: str) -> int:
        """A kernel by its entry name."""
        return self._new("cuModuleGetFunction", c_void_p, module, name.encode())

    # ---- memory -----------------------------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> int:
        """The address of so many bytes of the card, aligned to 256."""
        return self._new("cuMemAlloc_v2", c_uint64, nbytes)

    def free(self, address: int) -> None:
        """Give them back; waits for what runs."""
        self._call("cuMemFree_v2", address)

    def allocate_pinned(self, nbytes: int) -> int:
        """The address of ordinary memory that the card copies from and to while all else goes on."""
        return self._new("cuMemHostAlloc", c_void_p, nbytes, 0)

    def free_pinned(self, address: int) -> None:
        """Give it back."""
        self._call("cuMemFreeHost", address)

    def copy_in(self, device: int, host: int, nbytes: int, stream: int) -> None:
        """Copy to the card when the stream comes to it. host: pinned, and left alone until then."""
        self._call("cuMemcpyHtoDAsync_v2", device, host, nbytes, stream)

    def copy_out(self, host: int, device: int, nbytes: int, stream: int) -> None:
        """Copy from the card when the stream comes to it. host: pinned."""
        self._call("cuMemcpyDtoHAsync_v2", host, device, nbytes, stream)

    def copy_within(self, to: int, source: int, nbytes: int, stream: int) -> None:
        """Copy from one place of the card's memory to another when the stream comes to it."""
        self._call("cuMemcpyDtoDAsync_v2", to, source, nbytes, stream)

    # ---- order ------------------------------------------------------------------------------------------------------

    def create_stream(self) -> int:
        """A queue of work that runs in its order, beside other queues."""
        return self._new("cuStreamCreate", c_void_p, NON_BLOCKING)

    def destroy_stream(self, stream: int) -> None:
        """Let go of it once it is through."""
        self._call("cuStreamDestroy_v2", stream)

    def synchronize(self, stream: int) -> None:
        """Wait until the stream is through."""
        self._call("cuStreamSynchronize", stream)

    def create_event(self, timed: bool = False) -> int:
        """A mark to put into streams."""
        return self._new("cuEventCreate", c_void_p, 0 if timed else UNTIMED)

    def destroy_event(self, event: int) -> None:
        """Let go of it."""
        self._call("cuEventDestroy_v2", event)

    def record(self, event: int, stream: int) -> None:
        """Put it behind what the stream has to do now."""
        self._call("cuEventRecord", event, stream)

    def wait(self, stream: int, event: int) -> None:
        """What comes into the stream from now on runs after the event's last `record`."""
        self._call("cuStreamWaitEvent", stream, event, 0)

    def wait_for(self, event: int) -> None:
        """Wait here until the event's last `record` was reached."""
        self._call("cuEventSynchronize", event)

    def reached(self, event: int) -> bool:
        """Whether it was, without waiting."""
        code = self._calls["cuEventQuery"](event)
        if code not in (0, NOT_READY):
            raise refused("cuEventQuery", code)
        return code == 0

    def seconds(self, begin: int, end: int) -> float:
        """Between two timed events that were reached."""
        found = c_float()
        self._call("cuEventElapsedTime", byref(found), begin, end)
        return float(found.value) / 1000

    # ---- work -------------------------------------------------------------------------------------------------------

    def submit(self, commands: CommandList, stream: int) -> None:
        """Have the stream do all of these, in their order. Raises CardError; some of them may be under way then."""
        code, function = self.submitter.submit(commands, stream)
        if code:
            raise refused(function, code)

    def graph_of(self, commands: CommandList, stream: int) -> int | None:
        """These commands as a graph, which the driver launches in one go; None: it is too old for that. They may not
        record or ask about events. Whoever asked gives it to `destroy_graph`. Raises CardError.
        """
        if "cuGraphInstantiateWithFlags" not in self._calls:
            return None
        self._call("cuStreamBeginCapture_v2", stream, _THREAD_LOCAL)
        graph = c_void_p()
        try:
            self.submit(commands, stream)
        finally:
            self._call("cuStreamEndCapture", stream, byref(graph))
        try:
            return self._new("cuGraphInstantiateWithFlags", c_void_p, graph, 0)
        finally:
            self._call("cuGraphDestroy", graph)

    def destroy_graph(self, graph: int) -> None:
        """Let go of it; it may not be under way."""
        self._call("cuGraphExecDestroy", graph)


def open_driver() -> Driver:
    """The driver of this computer, started; no context is made. Raises CardError where there is none."""
    try:
        if sys.platform == "win32":
            library: Library = ctypes.WinDLL("nvcuda.dll", winmode=_SYSTEM32)
        else:
            library = ctypes.CDLL("libcuda.so.1")
    except OSError as cause:
        raise no_driver() from cause
    return Driver(library)
