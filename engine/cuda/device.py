"""A graphics card in use: its primary context, two streams, kernels, and all that has to be given back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from engine.cuda.driver import CardFacts, Driver
from engine.cuda.errors import CardError


class CardDevice:
    """An open card. compute: the stream of kernels; copy: of what comes to the card beside them.

    Used from the threads that call `use` first. After `close` nothing of it may be used.
    """

    def __init__(self, driver: Driver, index: int) -> None:
        """Raises CardError; nothing is held then."""
        self.driver, self.index = driver, index
        self.facts: CardFacts = driver.card(index)
        self._undo: list[Callable[[], object]] = []  # of what was opened, in that order
        self._modules: dict[bytes, int] = {}
        self._functions: dict[tuple[int, str], int] = {}
        self._closing = threading.Lock()  # `close` comes from the model's thread and from error paths
        try:
            self.context = driver.retain(index)
            self._undo.append(lambda: driver.release(index))
            driver.make_current(self.context)
            self._undo.append(lambda: driver.make_current(0))
            self.compute, self.copy = self.stream(), self.stream()
        except BaseException:
            self._give_back()
            raise

    def use(self) -> None:
        """Make the calling thread one that may use it."""
        self.driver.make_current(self.context)

    def free_memory(self) -> int:
        """Bytes of its memory that nobody has."""
        return self.driver.memory()[0]

    # ---- what is given back with it -----------------------------------------------------------------------------

    def stream(self) -> int:
        """A stream for as long as the card is open."""
        made = self.driver.create_stream()
        self._undo.append(lambda: self.driver.destroy_stream(made))
        return made

    def event(self, *, timed: bool = False) -> int:
        """An event for as long as the card is open."""
        made = self.driver.create_event(timed)
        self._undo.append(lambda: self.driver.destroy_event(made))
        return made

    def memory(self, nbytes: int) -> int:
        """Bytes of the card for as long as it is open; `allocate` is for those that may go earlier."""
        made = self.driver.allocate(nbytes)
        self._undo.append(lambda: self.driver.free(made))
        return made

    def pinned(self, nbytes: int) -> int:
        """Pinned ordinary memory for as long as the card is open."""
        made = self.driver.allocate_pinned(nbytes)
        self._undo.append(lambda: self.driver.free_pinned(made))
        return made

    def on_close(self, undo: Callable[[], object]) -> None:
        """Call this before what was opened until now is given back."""
        self._undo.append(undo)

    def kernel(self, ptx: bytes, name: str) -> int:
        """A kernel of a module, which is compiled for this card the first time."""
        module = self._modules.get(ptx)
        if module is None:
            loaded = module = self._modules[ptx] = self.driver.load_module(ptx)
            self._undo.append(lambda: self.driver.unload_module(loaded))
        found = self._functions.get((module, name))
        if found is None:
            found = self._functions[module, name] = self.driver.function(module, name)
        return found

    def name_of(self, kernel: int) -> str:
        """Of a kernel that `kernel` has given. Raises StopIteration for another."""
        return next(name for (_, name), found in self._functions.items() if found == kernel)

    def close(self) -> None:
        """Give everything back. Safe to call twice, and on a card that is lost."""
        with self._closing:
            with suppress(CardError):  # the context may be gone; what follows is tried all the same
                self.use()
            self._give_back()

    def _give_back(self) -> None:
        # One by one, since a lost card refuses each, and the next still counts (pinned memory, the context).
        while self._undo:
            with suppress(CardError):
                self._undo.pop()()
