"""`underhill-cli pull` as a whole, killed at random moments and at the worst ones, until it has been let through."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from engine.library import folders, library
from engine.library.home import HOME
from engine.store.journal import PARTIAL
from engine.store.verify import verify
from tests.hubserver import Fault, HubServer

REPO, NAME = "owner/moe", "moe"
CHUNK = 1 << 18  # bytes of a chunk, where models of this size are one or two as a rule
MOST = 1 << 20  # bytes that a kill may cost: what four connections have received, and nobody has read
BATCH = 1 << 20  # bytes between two syncs of the store
LOOK = 1 << 12  # bytes that a header is looked for in, first
SECONDS = 1.2  # that the weights take to arrive
SPOTS = ("manifest", "before the rename", "after the rename", "before the download is removed")
LAST_BYTE = "last byte"
HELD = "held"  # it comes to no end by itself, however late it is killed


@dataclass(frozen=True)
class Outcome:
    """total: bytes of the files that hold weights. fetched: those handed out for them, looks at headers left out.

    left: names that should not be there in the end. different: files of the store that
    are not those of a pull that nobody killed, the manifest among them.
    """

    kills: int
    total: int
    fetched: int
    different: tuple[str, ...]
    left: tuple[str, ...]


def pull(endpoint: str, home: Path, spot: str, log: Path) -> None:
    """The command, in a process of its own, which kills itself at this spot; or waits to be killed, where HELD."""
    import huggingface_hub.constants

    from engine.cli.main import main
    from engine.hub import download, outline
    from engine.store import writer

    with log.open("a", encoding="utf-8") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.environ |= {HOME: str(home), "HF_ENDPOINT": endpoint}
    huggingface_hub.constants.HF_HUB_OFFLINE = False
    download.CHUNK, writer.BATCH, outline.FIRST_LOOK, outline.FIRST = CHUNK, BATCH, LOOK, LOOK
    _arm(spot)
    sys.exit(main(["pull", REPO]))


def _arm(spot: str) -> None:
    from engine.hub import pull as way
    from engine.store import manifest
    from engine.store.writer import StoreWriter

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    replace, write_small = os.replace, StoreWriter.write_small

    def renamed(source: Path, target: Path) -> None:
        final = str(source).endswith(PARTIAL)
        if final and spot == "before the rename":
            die()
        replace(source, target)
        if final and spot == "after the rename":
            die()

    def written(self: StoreWriter, name: str, data: bytes) -> None:
        while name == manifest.NAME and spot == HELD:
            signal.pause()
        write_small(self, name, data)
        if name == manifest.NAME and spot == "manifest":
            die()

    os.replace, StoreWriter.write_small = renamed, written  # type: ignore[assignment, method-assign]
    if spot == SPOTS[-1]:
        way.discard = die


@contextmanager
def at(home: Path) -> Iterator[None]:
    """This process sees the library in `home`."""
    before = os.environ.get(HOME)
    os.environ[HOME] = str(home)
    try:
        yield
    finally:
        os.environ.pop(HOME)
        if before is not None:
            os.environ[HOME] = before


class Killer:
    """A hub with one model, and pulls of it into the library of `home`."""

    def __init__(self, server: HubServer, served: Path, home: Path, chance: random.Random) -> None:
        self._server, self._home, self._chance = server, home, chance
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["engine.cli.hub", "engine.hub.streaming", "engine.convert.importer"])
        files = server.add(REPO, served).files
        self._weights = [name for name, path in files.items() if path.suffix in (".safetensors", ".gguf")]
        self.total = sum(files[name].stat().st_size for name in self._weights)
        self.log = home.with_name("log")
        server.faults = []
        self._look = 0
        with at(home):
            self._look = self._sent_by_a_look()

    def whole(self) -> dict[str, bytes]:
        """What an uninterrupted pull makes, taken away again."""
        child = self._start("")
        child.join()
        assert child.exitcode == 0, self.log.read_text(encoding="utf-8")
        with at(self._home):
            store = folders.location(NAME)
            made = contents(store)
            library.delete(NAME, now=True)
        return made

    def kill(self, rounds: int) -> Outcome:
        """Kill it so many times at random moments, then when the last byte has come, then at every spot."""
        wanted = self.whole()
        self._server.faults = [Fault("model", rate=self.total / SECONDS / 4)]
        moments: list[float | str] = sorted(self._chance.uniform(0.02, 0.97) for _ in range(rounds))
        fetched = 0
        for moment in [*moments, LAST_BYTE, *SPOTS]:
            child = self._start(str(moment) if moment in SPOTS else HELD)
            if moment not in SPOTS:
                until = self.total if moment == LAST_BYTE else float(moment) * self.total
                self._kill_at(child, until - fetched, 0.0 if moment == LAST_BYTE else self._chance.random() * 0.03)
            child.join()
            self._server.heard = None
            assert child.exitcode == -signal.SIGKILL, self.log.read_text(encoding="utf-8")
            self._server.settle()
            fetched += self._weights_sent()
            self._check(complete=moment in SPOTS[2:])
        self._server.faults = []
        child = self._start("")
        child.join()
        assert child.exitcode == 0, self.log.read_text(encoding="utf-8")
        self._server.settle()
        fetched += self._weights_sent()
        with at(self._home):
            made = contents(folders.location(NAME))
        different = tuple(sorted(name for name in made.keys() | wanted.keys() if made.get(name) != wanted.get(name)))
        places = (self._home / "downloads", folders_of(self._home))
        left = tuple(p.name for place in places for p in place.iterdir() if p.suffix != ".lock" and p.name != NAME)
        return Outcome(rounds + 1 + len(SPOTS), self.total, fetched, different, left)

    def _check(self, complete: bool) -> None:
        """Nothing that is not whole is ready; what is ready is whole."""
        with at(self._home):
            cards = {card.name: card for card in library.listing()}
            store = folders.location(NAME)
            assert store.exists() == complete
            assert (NAME in {path.name for path in library.models()}) == complete
            if complete:
                assert cards[NAME].usable
                assert verify(store) == ()
            elif NAME in cards:
                assert (cards[NAME].state, cards[NAME].usable) == ("unfinished", False)
                assert "again" in cards[NAME].action

    def _start(self, spot: str) -> BaseProcess:
        self._server.forget()
        child = self._context.Process(target=pull, args=(self._server.url, self._home, spot, self.log))
        child.start()
        return child

    def _kill_at(self, child: BaseProcess, sent: float, later: float) -> None:
        """Kill it so many seconds after these bytes of weights were handed out: at once, by the thread that did it."""

        def heard() -> None:
            if self._weights_sent() >= sent:
                time.sleep(later)
                child.kill()

        self._server.heard = heard

    def _sent(self) -> int:
        return sum(self._server.sent.get(name, 0) for name in self._weights)

    def _weights_sent(self) -> int:
        """Bytes of weights handed out since the last start, beyond what looking at the model takes."""
        return max(0, self._sent() - self._look)

    def _sent_by_a_look(self) -> int:
        child = self._context.Process(target=look, args=(self._server.url, self._home))
        child.start()
        child.join()
        assert child.exitcode == 0
        return self._sent()


def look(endpoint: str, home: Path) -> None:
    """What every pull begins with."""
    import huggingface_hub.constants

    from engine.hub import outline
    from engine.hub.client import connect

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    outline.FIRST_LOOK, outline.FIRST = LOOK, LOOK
    with connect({"endpoint": endpoint}) as hub:
        outline.read_outline(hub, REPO)


def folders_of(home: Path) -> Path:
    """Where models live there."""
    with at(home):
        return folders.own()


def contents(store: Path) -> dict[str, bytes]:
    """Every file."""
    return {p.name: p.read_bytes() for p in store.iterdir()}
