"""`underhill-cli chat`: chat in the terminal, with recordings of routing and time."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.cli.documents import Documents
from engine.cli.images import Images
from engine.cli.output import ProgressBar, say
from engine.cli.parser import given
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.sandbox import stoppable
from engine.session import Session
from engine.session.trace_replay import recorder_of
from engine.tracing.timeline import Timeline
from engine.translatable import msg, system_reason

_OVER = b"\0"  # no signal has that number


@contextlib.contextmanager
def interrupts(first: Callable[[], None], second: Callable[[], None]) -> Iterator[None]:
    """Each is called once, on a thread of its own, `second` from the second time on.

    Python calls handlers of signals on the first thread, between two of its steps; where that thread is inside a native
    call, it calls none. What it writes to a descriptor, it writes in the signal itself.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def listen() -> None:
        times = 0
        while (found := ours.recv(1)) not in (_OVER, b""):
            if found[0] == signal.SIGINT:
                times += 1
                (first if times == 1 else second)()

    thread = threading.Thread(target=listen, name="interrupts", daemon=True)
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    descriptor = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, before)
        with contextlib.suppress(OSError):
            theirs.send(_OVER)
        thread.join()
        ours.close()
        theirs.close()


class TraceFile:
    """Writes the routing of a chat to a file after every answer; a disk that refuses does not end the chat."""

    def __init__(self, session: Session, file: Path) -> None:
        self._file = file
        self.recorder = recorder_of(session)
        self.failed = False

    def answered(self) -> bool:
        """One more answer is there; False when it could not be kept. The first refusal is told."""
        if not self.failed:
            try:
                self.recorder.trace().save(self._file)
            except UnderhillError as e:
                self.failed = True
                say(f"{e.sentence} {e.action}")
        return not self.failed


@contextmanager
def recording(session: Session, file: str | None) -> Iterator[TraceFile | None]:
    """Record the routing of what goes on inside."""
    if file is None:
        yield None
        return
    made = TraceFile(session, Path(file))
    with session.listening(made.recorder, made.recorder.begin_pass):
        yield made
    if made.recorder.passes and not made.failed:
        say(f"Routing recorded in {file}.")


@contextmanager
def timed(session: Session, file: str | None) -> Iterator[None]:
    """Record what happens when inside, and write it at the end."""
    if file is None:
        yield
        return
    timeline = Timeline()
    with session.observing(timeline):
        yield
    _save(timeline.save, file, "timeline")
    say(f"Timeline written to {file}; chrome://tracing and ui.perfetto.dev open it.")


def _save(save: Callable[[Path], None], file: str, what: str) -> None:
    try:
        save(Path(file))
    except OSError as e:
        full = e.errno == errno.ENOSPC
        raise UnderhillError(
            Kind.DISK_FULL if full else Kind.DISK_ERROR,
            msg(
                "The {what} cannot be written to {file} ({strerror}).", what=what, file=file, strerror=system_reason(e)
            ),
            msg("Free some space and record again.") if full else msg("Check the folder."),
        ) from e


NEW_CHAT = "/new"
HELP = "Commands: /new starts over, /stats shows what the last answer took, /exit leaves. Ctrl+C stops an answer."


class Terminal:
    """Shows an answer as it comes; Ctrl+C stops the answer, and a second one the program, if the first did not."""

    def __init__(self, *, show: bool, progress: bool) -> None:
        self._show = show
        self._bar = ProgressBar(progress)
        self._stop = False
        self._ending = ExitStack()

    def __enter__(self) -> Terminal:
        self._ending.enter_context(interrupts(self._interrupted, self._leave))
        self._ending.enter_context(stoppable(self.cancelled))
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()
        self._bar.close()

    def _interrupted(self) -> None:
        self._stop = True

    def _leave(self) -> None:
        """What holds this program holds its first thread, which can do nothing any more."""
        say("\nThe answer could not be stopped, so underhill-cli exits. The text so far is above.")
        os._exit(130)

    def turns_dropped(self, count: int) -> None:
        """Listener."""
        if count:
            say(f"[{count} older messages not included: the context is full]")

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        """Listener."""
        self._bar.show("Reading", done - reused, total - reused, "tokens")
        if done >= total:
            self._bar.close()

    def text(self, text: str, token_ids: Sequence[int]) -> None:
        """Listener."""
        if self._show:
            print(text, end="", flush=True)

    def cancelled(self) -> bool:
        """Listener."""
        return self._stop


def run_chat(args: argparse.Namespace) -> int:
    """Load the model and answer."""
    if args.json and args.prompt is None:
        raise UnderhillError(Kind.BAD_REQUEST, msg("--json answers one prompt."), msg("Add --prompt TEXT."))
    sampling = given(args, settings.SAMPLING)
    if args.greedy:
        sampling["temperature"] = 0.0
    bar = ProgressBar(sys.stderr.isatty())
    documents, images = Documents(args.documents), Images(args.images)
    with open_calibrated(args.model, given(args, settings.ENGINE), bar.report) as session:
        bar.close()
        session.on_notice = lambda notice: say(notice) if notice else None
        if args.thinking and not session.chat.levels:
            say("[this model has no thinking levels]")
        elif args.thinking and (taken := session.chat.level(args.thinking)) != args.thinking:
            say(f"[this model has the levels {', '.join(session.chat.levels)}: it thinks at {taken}]")
        system = [Message("system", args.system)] if args.system else []
        documents.count = lambda text: len(session.chat.encode(text))
        documents.context = session.context.limit
        turn = _Turn(session, args, Sampling(**sampling), documents, images)  # type: ignore[arg-type]
        work = _converse if args.prompt is None else _once
        with recording(session, args.trace) as kept, timed(session, args.timeline):
            return work(turn, system, kept)


@dataclass(frozen=True)
class _Turn:
    """What each answer is made with."""

    session: Session
    args: argparse.Namespace
    sampling: Sampling
    documents: Documents
    images: Images

    def generate(self, messages: Sequence[Message], terminal: Terminal, chat: str = "") -> Stats:
        """Answer. Raises UnderhillError."""
        args = self.args
        return self.session.generate(
            tuple(messages), self.sampling, tuple(args.stop), terminal, thinking=args.thinking, chat=chat
        )


def _once(turn: _Turn, system: list[Message], kept: TraceFile | None) -> int:
    args = turn.args
    prompt = sys.stdin.read() if args.prompt == "-" else args.prompt
    with Terminal(show=not args.json, progress=sys.stderr.isatty()) as terminal:
        question = turn.documents.asked(prompt, terminal.cancelled)
        stats = turn.generate((*system, turn.images.with_images(Message("user", question))), terminal)
    if args.json:
        print(json.dumps(as_json(stats) | turn.documents.as_json(), ensure_ascii=False))
    else:
        print()
        turn.documents.show_sources()
    if kept is not None and not kept.answered():
        return 1
    return 130 if stats.finish == "cancelled" else 0


def _converse(turn: _Turn, system: list[Message], kept: TraceFile | None) -> int:
    card = turn.session.card
    say(f"{card.title}: {card.parameters / 1e6:,.0f} M parameters, {card.experts} experts in {card.moe_layers} layers.")
    for sentence in (card.note, *card.plan):
        if sentence:
            say(sentence)
    messages = list(system)
    chat = 0
    lines = TypedLines()
    for line in lines:
        if line == NEW_CHAT:
            messages, chat = list(system), chat + 1
            continue
        lines.last = _answer(turn, messages, line, str(chat))
        if kept is not None:
            kept.answered()
    return 0


class TypedLines:
    """What a person types until they leave: messages, and NEW_CHAT where they begin anew. Iterate once.

    last: Stats of the last answer, None where there is none; to be set by who answers.
    """

    def __init__(self) -> None:
        self.last: Stats | None = None

    def __iter__(self) -> Iterator[str]:
        say(HELP)
        while True:
            try:
                line = (input("\nyou> ") if sys.stdin.isatty() else input()).strip()
            except EOFError:
                return
            if line in ("/exit", "/quit"):
                return
            if line == NEW_CHAT:
                say("New chat.")
                yield line
            elif line == "/stats":
                say("\n".join(summary(self.last)) if self.last else "No answer yet.")
            elif line.startswith("/"):
                say(HELP)
            elif line:
                yield line


def _answer(turn: _Turn, messages: list[Message], line: str, chat: str) -> Stats | None:
    """Answer a line that was typed; both are added to the messages. None where that failed, which is told."""
    print(f"\n{turn.session.card.title}> " if sys.stdin.isatty() else "", end="", flush=True)
    try:
        with Terminal(show=True, progress=False) as terminal:
            question = turn.images.with_images(Message("user", turn.documents.asked(line, terminal.cancelled)))
            stats = turn.generate((*messages, question), terminal, chat)
    except UnderhillError as e:
        say(f"{e.sentence} {e.action}")
        return None
    print(flush=True)
    turn.documents.show_sources()
    messages += [question, Message("assistant", stats.text, stats.token_ids)]
    if stats.finish == "context":
        say("[the context is full; /new starts over]")
    return stats


_STATS = (  # of an answer, what scripts are told
    "finish", "prompt_tokens", "reused_tokens", "dropped_turns", "prompt_seconds", "decode_seconds",
    "prompt_tokens_per_second", "decode_tokens_per_second", "hits", "misses", "bytes_read", "precision", "peak_rss",
    "drafted", "accepted", "substituted",
)  # fmt: skip


def as_json(stats: Stats) -> dict[str, object]:
    """What scripts rely on: text, token_ids, stats; calls, where the model called tools."""
    called = {"calls": [asdict(call) for call in stats.calls]} if stats.calls else {}
    return called | {
        "text": stats.text,
        "token_ids": list(stats.token_ids),
        "stats": {name: getattr(stats, name) for name in _STATS} | {"decode_tokens": len(stats.token_ids)},
    }


def summary(stats: Stats) -> list[str]:
    """The same in words."""
    drafts = f"; {stats.accepted} of {stats.drafted} drafted tokens accepted" if stats.drafted else ""
    replaced = f", {stats.substituted} of these replaced by an expert in memory" if stats.substituted else ""
    used = ", ".join(f"{n} {_precision(kind)}" for kind, n in stats.precision.items() if n)
    return [
        f"prompt {stats.prompt_tokens} tokens ({stats.reused_tokens} reused), "
        f"{stats.prompt_tokens_per_second:.1f} tokens/s; answer {len(stats.token_ids)} tokens, "
        f"{stats.decode_tokens_per_second:.1f} tokens/s{drafts}",
        f"expert cache: {stats.hits} hits, {stats.misses} misses, {stats.bytes_read / 1e6:.1f} MB read; "
        f"expert uses: {used}{replaced}; memory at most {stats.peak_rss / 1e9:.2f} GB",
    ]


def _precision(kind: str) -> str:
    return kind if kind == "skipped" else f"at {kind} bits"
