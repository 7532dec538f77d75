"""A CUDA driver without a card: the functions of engine/cuda/driver.py, taken from the real ctypes arguments.

Native code calls those that commands are made of, as it calls a real driver's.

Work runs in a random legal order (schedule.py) on memory that checks every access (ptx/memory.py). The host's side is
checked as well: what is to be copied from may not change before the copy has run, and what is copied to is poisoned
until then, so that a missing wait gives wrong numbers at once.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.cuda.commands import FUNCTIONS
from engine.cuda.driver import SIGNATURES
from tests.engine.cuda.ptx.memory import DeviceMemory
from tests.engine.cuda.ptx.module import Module, PtxKernel
from tests.engine.cuda.schedule import Fault, Schedule, Touched, read_written

OUT_OF_MEMORY, NOT_READY, LAUNCH_FAILED, NOT_FOUND, INVALID_CONTEXT = 2, 600, 719, 500, 201
MIB = 1 << 20


class SimulatedKernel(Protocol):
    """parameters: bytes of each."""

    name: str
    parameters: Sequence[int]

    def run(
        self, memory: DeviceMemory, grid: tuple[int, int, int], block: int, shared: int, arguments: Sequence[bytes]
    ) -> Touched:
        """Compute; returns what was read and written."""


Compiler = Callable[[bytes], Mapping[str, SimulatedKernel]]


def nothing(ptx: bytes) -> Mapping[str, SimulatedKernel]:
    """A compiler for drivers that run no kernels."""
    return {}


class InterpretedKernel:
    """A kernel of real PTX, run instruction by instruction."""

    def __init__(self, module: Module, kernel: PtxKernel, name: str) -> None:
        self._module, self.name = module, name
        self.parameters = [parameter.nbytes for parameter in kernel.params]
        self._seed = 0

    def run(
        self, memory: DeviceMemory, grid: tuple[int, int, int], block: int, shared: int, arguments: Sequence[bytes]
    ) -> Touched:
        """See SimulatedKernel. Warps take turns in another order each time."""
        self._seed += 1
        report = self._module.launch(self.name, grid, (block, 1, 1), shared, arguments, memory, self._seed)
        return list(report.reads), list(report.writes)


def interpreted(ptx: bytes) -> Mapping[str, SimulatedKernel]:
    """A compiler for the shipped kernels."""
    module = Module(ptx.decode("ascii"))
    return {name: InterpretedKernel(module, kernel, name) for name, kernel in module.kernels.items()}


class SimulatedDriver:
    """The library. total: bytes of its card. compiler: from PTX to kernels by name.

    fail: by function, what calls of it return instead of being done, one after the other; 0: it is done. lost: the code
    that everything returns once the card is gone; 0: it is there.
    """

    def __init__(
        self,
        seed: int = 0,
        total: int = 64 * MIB,
        compiler: Compiler = nothing,
        *,
        eagerness: float = 0.3,
        cards: int = 1,
        schedule: Schedule | None = None,
    ) -> None:
        self.memory, self.schedule = DeviceMemory(total), schedule or Schedule(seed, eagerness)
        self.cards, self.reserved = cards, 0
        self.allocated: dict[int, int] = {}  # bytes by address
        self.fail: dict[str, list[int]] = {}
        self.lost = 0
        self.calls: dict[str, int] = {}
        self.retained = 0
        self.moved = 0  # bytes that were copied to the card
        self.launches = 0
        self._compiler = compiler
        self._handles: dict[int, Any] = {}
        self._captured: dict[int, list[Callable[[int], None]]] = {}  # by stream
        self._last = 0x1000
        self._pinned: dict[int, tuple[Any, int]] = {}
        self._pointers: dict[str, Any] = {}
        self._fault: BaseException | None = None  # of a call by native code
        self._lock = threading.RLock()  # the model's thread and the one that loads experts both call
        self._context = threading.local()

    def __getattr__(self, name: str) -> Any:
        own = type(self).__dict__.get("_" + name.removesuffix("_v2"))
        if not name.startswith("cu") or own is None:
            raise AttributeError(name)

        def call(*arguments: Any) -> int:
            with self._lock:
                if self._fault is not None and name not in FUNCTIONS:
                    fault, self._fault = self._fault, None
                    raise fault
                self.calls[name] = self.calls.get(name, 0) + 1
                if self.lost and name not in ("cuInit", "cuDeviceGet", "cuMemFreeHost"):
                    return self.lost
                if (codes := self.fail.get(name)) and (code := codes.pop(0)):
                    return code
                if (
                    name.startswith(("cuMem", "cuStream", "cuEvent", "cuLaunch", "cuModule", "cuGraph"))
                    and not self._entered()
                ):
                    return INVALID_CONTEXT
                if name == "cuLaunchKernel":
                    self.launches += 1
                self.schedule.some()
                # As ctypes would: values out of their boxes, but not those that are written to.
                values = [
                    a if hasattr(a, "_obj") or isinstance(a, ctypes.Array) else getattr(a, "value", a)
                    for a in arguments
                ]
                return int(own(self, *values) or 0)

        return self._pointer(name, call) if name in FUNCTIONS else call

    def _pointer(self, name: str, call: Callable[..., int]) -> Any:
        """As native code calls it. No exception goes through that, so the next call from Python raises it."""
        if name not in self._pointers:

            def called(*arguments: Any) -> int:
                try:
                    return call(*arguments)
                except BaseException as fault:
                    self._fault = self._fault or fault
                    return 0

            self._pointers[name] = ctypes.CFUNCTYPE(ctypes.c_int, *SIGNATURES[name])(called)
        return self._pointers[name]

    def _entered(self) -> bool:
        return bool(self.retained and getattr(self._context, "current", 0))

    @property
    def leaks(self) -> list[str]:
        """What was not given back."""
        kinds = [f"{what}" for what in self._handles.values()]
        blocks = [f"{nbytes} bytes of the card" for nbytes in self.allocated.values()]
        return [*kinds, *blocks, *(f"{n} pinned bytes" for _, n in self._pinned.values()), *["context"] * self.retained]

    def _made(self, out: Any, what: Any) -> int:
        self._last += 16
        self._handles[self._last] = what
        out._obj.value = self._last
        return self._last

    def _cuInit(self, flags: int) -> None:
        pass

    def _cuDriverGetVersion(self, out: Any) -> None:
        out._obj.value = 12040

    def _cuDeviceGetCount(self, out: Any) -> None:
        out._obj.value = self.cards

    def _cuDeviceGet(self, out: Any, index: int) -> int:
        out._obj.value = index
        return 0 if index < self.cards else 101

    def _cuDeviceGetName(self, buffer: Any, length: int, device: int) -> None:
        ctypes.memmove(buffer, f"Simulated {device}".encode() + b"\0", 12)

    def _cuDeviceGetPCIBusId(self, buffer: Any, length: int, device: int) -> None:
        ctypes.memmove(buffer, f"0000:0{device}:00.0".encode() + b"\0", 13)

    def _cuDeviceGetAttribute(self, out: Any, which: int, device: int) -> None:
        out._obj.value = {75: 8, 76: 9, 16: 24, 36: 8_000_000, 37: 128}.get(which, 0)

    def _cuDeviceTotalMem(self, out: Any, device: int) -> None:
        out._obj.value = self.memory.capacity

    def _cuDevicePrimaryCtxRetain(self, out: Any, device: int) -> None:
        self.retained += 1
        out._obj.value = 0xC0DE

    def _cuDevicePrimaryCtxRelease(self, device: int) -> None:
        self.retained -= 1

    def _cuCtxSetCurrent(self, context: int | None) -> None:
        self._context.current = context

    def _cuMemGetInfo(self, free: Any, total: Any) -> None:
        free._obj.value = max(0, self.memory.capacity - self.memory.used - self.reserved)
        total._obj.value = self.memory.capacity

    def _cuModuleLoadData(self, out: Any, ptx: bytes) -> None:
        self._made(out, ("module", self._compiler(ptx.rstrip(b"\0"))))

    def _cuModuleUnload(self, module: int) -> None:
        self.schedule.finish_all()
        _, kernels = self._handles.pop(module)
        self._handles = {h: what for h, what in self._handles.items() if not any(what is k for k in kernels.values())}

    def _cuModuleGetFunction(self, out: Any, module: int, name: bytes) -> int:
        kernel = self._handles[module][1].get(name.decode())
        if kernel is None:
            return NOT_FOUND
        self._made(out, kernel)
        return 0

    def _cuMemAlloc(self, out: Any, nbytes: int) -> int:
        if nbytes > self.memory.capacity - self.memory.used - self.reserved:
            return OUT_OF_MEMORY
        try:
            out._obj.value = self.memory.alloc(nbytes)
            self.allocated[out._obj.value] = nbytes
        except MemoryError:
            return OUT_OF_MEMORY
        return 0

    def _cuMemFree(self, address: int) -> None:
        self.schedule.finish_all()
        del self.allocated[address]
        self.memory.free(address)

    def _cuMemHostAlloc(self, out: Any, nbytes: int, flags: int) -> None:
        owner = (ctypes.c_uint8 * (nbytes + 4096))()
        address = -(-ctypes.addressof(owner) // 4096) * 4096
        self._pinned[address] = owner, nbytes
        out._obj.value = address

    def _cuMemFreeHost(self, address: int) -> None:
        self.schedule.finish_all()
        del self._pinned[address]

    def _host(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        if not any(start <= address and address + nbytes <= start + n for start, (_, n) in self._pinned.items()):
            raise Fault("a copy between the card and memory that is not pinned holds up whoever asks for it")
        return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), np.uint8)

    def _kept(self, stream: int, again: Callable[[int], None]) -> bool:
        """Whether a stream is being captured: then this is done when the graph is launched, on that one's stream."""
        if stream not in self._captured:
            return False
        self._captured[stream].append(again)
        return True

    def _cuStreamBeginCapture(self, stream: int, mode: int) -> None:
        self._captured[stream] = []

    def _cuStreamEndCapture(self, stream: int, out: Any) -> None:
        self._made(out, ("graph", self._captured.pop(stream)))

    def _cuGraphInstantiateWithFlags(self, out: Any, graph: int, flags: int) -> None:
        self._made(out, ("graph that runs", self._handles[graph][1]))

    def _cuGraphLaunch(self, graph: int, stream: int) -> None:
        kind, captured = self._handles[graph]
        assert kind == "graph that runs"
        self.launches += len(captured)
        for again in captured:
            again(stream)

    def _cuGraphExecDestroy(self, graph: int) -> None:
        self.schedule.finish_all()
        del self._handles[graph]

    def _cuGraphDestroy(self, graph: int) -> None:
        del self._handles[graph]

    def _cuMemcpyHtoDAsync(self, to: int, host: int, nbytes: int, stream: int) -> None:
        if self._kept(stream, lambda other: self._cuMemcpyHtoDAsync(to, host, nbytes, other)):
            return
        source, self.moved = self._host(host, nbytes), self.moved + nbytes
        before = source.copy()
        self.schedule.sends(host, source)

        def run() -> Touched:
            if not np.array_equal(source, before):
                raise Fault("what was to be copied to the card changed before the copy ran")
            self.memory.write(to, before.tobytes())
            return [(host, nbytes)], [(to, nbytes)]

        self.schedule.add("copy to the card", stream, run)

    def _cuMemcpyDtoHAsync(self, host: int, source: int, nbytes: int, stream: int) -> None:
        if self._kept(stream, lambda other: self._cuMemcpyDtoHAsync(host, source, nbytes, other)):
            return
        to = self._host(host, nbytes)
        to[:] = 0xFF  # not a number, as float32

        def run() -> Touched:
            to[:] = np.frombuffer(read_written(self.memory, source, nbytes), np.uint8)
            return [(source, nbytes)], [(host, nbytes)]

        self.schedule.add("copy from the card", stream, run)

    def _cuMemcpyDtoDAsync(self, to: int, source: int, nbytes: int, stream: int) -> None:
        def run() -> Touched:
            self.memory.write(to, read_written(self.memory, source, nbytes))
            return [(source, nbytes)], [(to, nbytes)]

        self.schedule.add("copy within the card", stream, run)

    def _cuStreamCreate(self, out: Any, flags: int) -> int:
        if flags != 1:
            raise Fault("a stream that waits for the default stream")
        self.schedule.open(self._made(out, "stream"))
        return 0

    def _cuStreamDestroy(self, stream: int) -> None:
        self.schedule.finish(stream)
        del self.schedule.streams[stream], self._handles[stream]

    def _cuStreamSynchronize(self, stream: int) -> None:
        self.schedule.finish(stream)

    def _cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        self.schedule.wait(stream, event)

    def _cuEventCreate(self, out: Any, flags: int) -> None:
        self.schedule.new_event(self._made(out, "timed event" if not flags else "event"))

    def _cuEventDestroy(self, event: int) -> None:
        self.schedule.forget_event(event)
        del self._handles[event]

    def _cuEventRecord(self, event: int, stream: int) -> None:
        self.schedule.record(event, stream)

    def _cuEventSynchronize(self, event: int) -> None:
        self.schedule.finish_event(event)

    def _cuEventQuery(self, event: int) -> int:
        return 0 if self.schedule.reached(event) else NOT_READY

    def _cuEventElapsedTime(self, out: Any, begin: int, end: int) -> int:
        if self._handles[begin] != "timed event" or self._handles[end] != "timed event":
            return 400
        if not (self.schedule.reached(begin) and self.schedule.reached(end)):
            return NOT_READY
        out._obj.value = 1.0  # ms
        return 0

    def _cuLaunchKernel(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int,
        parameters: Any, extra: Any,
    ) -> None:  # fmt: skip
        kernel: SimulatedKernel = self._handles[function]
        # Read now, as a driver does: the caller's boxes may be gone when the kernel runs.
        at = list(itertools.takewhile(bool, (parameters[i] for i in range(len(kernel.parameters) + 1))))
        arguments = [ctypes.string_at(own, nbytes) for nbytes, own in zip(kernel.parameters, at, strict=True)]

        def run() -> Touched:
            return kernel.run(self.memory, (gx, gy, gz), bx, shared, arguments)

        if not self._kept(stream, lambda other: self._launched(kernel.name, other, run)):
            self._launched(kernel.name, stream, run)

    def _launched(self, name: str, stream: int, run: Callable[[], Touched]) -> None:
        self.schedule.add(name, stream, run)
