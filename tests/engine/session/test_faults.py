"""What may befall a model's files in the middle of an answer: one clear sentence, and the chat goes on afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.session import Session

GREEDY = Sampling(temperature=0, max_tokens=24)
HELLO = (Message("user", "Hello! What can you do?"),)
SETTINGS = {"dial": "exact", "threads": 1, "cache_fraction": 0.0}  # nearly nothing fits in the cache: every token reads
Mend = Callable[[], None]


class Listener:
    """Calls `strike` once, after the first words of the answer."""

    def __init__(self, strike: Callable[[], None] | None = None) -> None:
        self.strike = strike
        self.shown = ""

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        self.shown += text
        if self.strike is not None:
            strike, self.strike = self.strike, None
            strike()

    def cancelled(self) -> bool:
        return False


@pytest.fixture
def store(home: Path, tmp_path: Path) -> Path:
    """A copy of the built-in model that may be hurt."""
    return Path(shutil.copytree(home / "models" / "builtin", tmp_path / "store"))


@pytest.fixture
def session(store: Path) -> Iterator[Session]:
    with open_calibrated(str(store), SETTINGS) as opened:
        yield opened


def ask(session: Session, listener: Listener | None = None) -> Stats:
    return session.generate(HELLO, GREEDY, (), listener or Listener())


def struck(session: Session, strike: Callable[[], None]) -> UnderhillError:
    """The error that an answer ends with when this happens in the middle of it."""
    listener = Listener(strike)
    with pytest.raises(UnderhillError) as caught:
        ask(session, listener)
    assert listener.shown  # it happened after some words
    return caught.value


def files(store: Path) -> list[Path]:
    return sorted(store.glob("experts-*"))


def cut_short(store: Path) -> Mend:
    whole = {file: file.stat().st_size for file in files(store)}
    copies = {file: file.read_bytes() for file in files(store)}
    for file in whole:
        os.truncate(file, 8192)

    def mend() -> None:
        for file, content in copies.items():
            file.write_bytes(content)

    return mend


def overwritten(store: Path) -> Mend:
    copies = {file: file.read_bytes() for file in files(store)}
    for file, content in copies.items():
        with file.open("r+b") as opened:
            opened.write(bytes(len(content)))

    def mend() -> None:
        for file, content in copies.items():
            file.write_bytes(content)

    return mend


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
@pytest.mark.parametrize(
    ("happens", "words"), [(cut_short, "is cut short"), (overwritten, "does not match its checksum")]
)
def test_files_that_change_while_open_end_the_answer_and_no_more(
    happens: Callable[[Path], Mend], words: str, session: Session, store: Path
) -> None:
    before = ask(session)
    mend: list[Mend] = []
    error = struck(session, lambda: mend.append(happens(store)))
    assert error.kind is Kind.BROKEN_FILE
    assert words in error.sentence
    assert "expert " in error.sentence
    assert error.action.startswith("Import it again. ")
    assert "Verify its files" in error.action
    with pytest.raises(UnderhillError, match=words):
        ask(session)
    mend[0]()
    assert ask(session).token_ids == before.token_ids


def test_files_replaced_by_others_while_open_change_nothing(session: Session, store: Path) -> None:
    before = ask(session)

    def replace() -> None:
        for file in files(store):
            other = file.with_suffix(".new")
            other.write_bytes(bytes(file.stat().st_size))
            other.replace(file)

    if os.name == "nt":
        pytest.skip("Windows does not let a file that is open be replaced")
    assert ask(session, Listener(replace)).token_ids == before.token_ids
    assert ask(session).token_ids == before.token_ids


@contextlib.contextmanager
def failing_disk(store: Path) -> Iterator[None]:
    """Every read of the experts' files is refused by the system: their descriptors lead where nothing can be read."""
    opened = [int(fd.name) for fd in Path("/proc/self/fd").iterdir() if fd.exists() and fd.resolve() in files(store)]
    assert opened
    nothing = os.open("/proc/self/mem", os.O_RDONLY)  # its first pages are nobody's
    kept = {fd: os.dup(fd) for fd in opened}
    try:
        for fd in opened:
            os.dup2(nothing, fd)
        yield
    finally:
        for fd, whole in kept.items():
            os.dup2(whole, fd)
            os.close(whole)
        os.close(nothing)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux'")
def test_a_disk_error_ends_the_answer_and_no_more(session: Session, store: Path) -> None:
    before = ask(session)
    with contextlib.ExitStack() as failing:
        error = struck(session, lambda: failing.enter_context(failing_disk(store)))
    assert error.kind is Kind.DISK_ERROR
    assert "could not read expert" in error.sentence
    assert "Input/output error" in error.sentence
    assert ask(session).token_ids == before.token_ids


@pytest.mark.parametrize("name", ["chat_template.jinja", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("harm", ["a bit", "the end", "a longer one", "none"])
def test_a_small_file_that_was_changed_is_never_answered_with(store: Path, name: str, harm: str) -> None:
    """A flipped bit in a template changes every answer, and nothing else would find it."""
    data = bytearray((store / name).read_bytes())
    match harm:
        case "a bit":
            data[len(data) // 2] ^= 1
        case "the end":
            del data[-1]
        case "a longer one":
            data += bytes(1 << 24)
    if harm == "none":
        (store / name).unlink()
    else:
        (store / name).write_bytes(data)
    with pytest.raises(UnderhillError, match=name.replace(".", r"\.")) as told:
        open_calibrated(str(store), SETTINGS)
    assert told.value.kind in (Kind.BROKEN_FILE, Kind.MISSING_FILE)
    assert told.value.action
