"""The full probe: everything that a plan would like to know of this computer, in small steps that can be stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from engine.errors import Kind, UnderhillError
from engine.hardware import compute_speed, disk_speed, graphics
from engine.hardware.compute_speed import Experts
from engine.hardware.disk_speed import scratch_file
from engine.hardware.fingerprint import existing
from engine.hardware.load import LoadWatch
from engine.hardware.machine import DiskPoint
from engine.hardware.processor import processor
from engine.hardware.rates import Rates
from engine.kernels.native import NativeKernel
from engine.translatable import NO_TEXT, Translatable, msg, system_reason

TIERS = (2, 4, 8)  # bits of experts: one kernel each
FASTER = 1.03  # by which more threads must be faster to be taken: the others have the computer's other programs to run
PASSES = 5  # over the kernels, for one alone may meet a moment that does not last
Report = Callable[[Translatable, int, int], None]


def probe_fully(
    place: Path,
    files: Sequence[Path] = (),
    report: Report = lambda text, done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Rates:
    """Measure everything now: some 15 seconds. See `Probe`; CANCELLED ends it between two steps."""
    probe = Probe(place, files, cancelled)
    try:
        while not probe.complete:
            if cancelled():
                raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
            report(msg("Measuring {doing}", doing=probe.doing), probe.done, probe.total)
            probe.step()
        return probe.rates
    finally:
        probe.close()


class Probe:
    """One measurement at a time. place: a folder on the disk that will hold models. files: large ones there that can be
    read; without, a file is written for it and removed again. Where none can be written, all but the disk is measured.

    doing: what comes next, in two words. Raises UnderhillError(DISK_ERROR) where reading fails.
    """

    def __init__(self, place: Path, files: Sequence[Path] = (), cancelled: Callable[[], bool] = lambda: False) -> None:
        self._place, self._files, self._cancelled = place, tuple(files), cancelled
        self._stack = ExitStack()
        self._points: list[DiskPoint] = []
        self._shares: dict[int, float] = {}
        self._products: dict[int, float] = {}
        self._memory_rate = 0.0
        self._cards: dict[str, tuple[float, float]] = {}
        self._taken = self._busy = 0.0
        self._unread = NO_TEXT
        self._result: Rates | None = None
        self.threads = processor().performance
        self.doing = msg("memory")
        self.done = 0
        self.total = 3 + PASSES * len(TIERS) + 2 * len(disk_speed.SIZES) * len(disk_speed.DEPTHS)
        self._steps = self._run()

    @property
    def complete(self) -> bool:
        """Whether there is nothing more to do."""
        return self._result is not None

    @property
    def rates(self) -> Rates:
        """What was measured, once it is complete."""
        assert self._result is not None, "the probe is not complete"
        return self._result

    def step(self) -> None:
        """One measurement: a tenth of a second to a second, or the writing of the file."""
        start, watch = time.perf_counter(), LoadWatch()
        try:
            next(self._steps)
            self.done += 1
            load, seconds = watch.load, time.perf_counter() - start
            self._busy += seconds * (load.others if load.busy else 0.0)
        except StopIteration:
            self._result = Rates(
                self._memory_rate, self.threads, tuple(self._points), self._shares, self._products, self._cards,
                seconds=self._taken + time.perf_counter() - start, when=time.time(), unread=self._unread,
                busy=self._busy / self._taken if self._taken else 0.0,
            )  # fmt: skip
            self.close()
        except OSError as cause:
            self.close()
            text = msg(
                "Can't read the disk of {place} ({strerror}).",
                place=self._place,
                strerror=system_reason(cause),
            )
            raise UnderhillError(Kind.DISK_ERROR, text, msg("Check the disk.")) from cause
        except BaseException:
            self.close()
            raise
        self._taken += time.perf_counter() - start

    def close(self) -> None:
        """Let go of everything, the file included. Safe to call twice."""
        self._steps.close()
        self._stack.close()

    def _run(self) -> Generator[None, None, None]:
        self._memory_rate = compute_speed.quickly(self.threads)
        yield
        self.doing = msg("processor")
        yield from self._kernels()
        self.doing = msg("GPUs")
        self._cards = {card.name: (card.pinned, card.rate) for card in graphics.measured()}
        yield
        self.doing = msg("disk")
        files = self._files or self._scratch()
        self.total = self.done + 1 + (disk_speed.count(files) if files else 0)
        yield
        for point in disk_speed.points(files) if files else ():
            self._points.append(point)
            yield
        self._memory_again()

    def _scratch(self) -> tuple[Path, ...]:
        """A file to read; none where the disk is too full for one, or cannot be written to, which is noted."""
        try:
            return (self._stack.enter_context(scratch_file(existing(self._place), self._cancelled)),)
        except UnderhillError as refused:
            if refused.kind is Kind.CANCELLED:
                raise
            self._unread = refused.message
            return ()

    def _kernels(self) -> Generator[None, None, None]:
        experts = Experts()
        kernel = NativeKernel(self.threads)
        self._stack.callback(kernel.close)
        seen: dict[int, list[float]] = {tier: [] for tier in TIERS}
        for _ in range(PASSES):
            for tier, shares in seen.items():
                shares.append(experts.share(kernel, tier, self._memory_rate, self.threads))
                yield
            products = experts.products(kernel, self.threads)
            self._products = {n: max(rate, self._products.get(n, 0.0)) for n, rate in products.items()}
        self._shares = {tier: median(shares) for tier, shares in seen.items()}
        yield from self._more_threads(experts)

    def _memory_again(self) -> None:
        """The same of memory: what the kernels add to its time for a byte stays as it is."""
        # The geometric mean: rates differ by factors, and of a half and a double the middle is 1.
        rate = math.sqrt(self._memory_rate * compute_speed.quickly(self.threads))
        at = Rates(self._memory_rate, self.threads, (), self._shares).at(rate)
        self._memory_rate, self._shares = rate, dict(at.kernel_shares)

    def _more_threads(self, experts: Experts) -> Generator[None, None, None]:
        """Where there are slow cores too: whether they help."""
        every = processor().physical
        if every > self.threads:
            more = NativeKernel(every)
            self._stack.callback(more.close)
            rate = compute_speed.quickly(every)
            share, products = experts.share(more, 4, rate, every), experts.products(more, every)
            # By 4 bits, the tier that most models are opened with.
            if share * rate > FASTER * self._shares[4] * self._memory_rate:
                self.threads, self._memory_rate, self._products = every, rate, products
                self._shares = {tier: share if tier == 4 else experts.share(more, tier, rate, every) for tier in TIERS}
        yield
