"""A scripted engine: it speaks the same events as the real one, from its own thread, at a chosen speed."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from engine import protocol
from engine.translatable import msg, translated
from tests.app.fake_cards import BUILTIN, COMPUTER, LARGE
from tests.app.fake_experts import FakeExperts
from tests.app.fake_hub import FakeHub
from tests.app.fake_recordings import FakeRecordings

_SERVER = (
    protocol.StartServer, protocol.StopServer, protocol.UpdateServer, protocol.AskServerKey, protocol.KeepServerKey,
)  # fmt: skip
_SHARED = (
    protocol.ReadSettings, protocol.KeepSettings, protocol.KeepToken, protocol.ForgetToken, protocol.AskToken,
)  # fmt: skip
_RECORDING = (
    protocol.StartRecording, protocol.StopRecording, protocol.ListRecordings, protocol.DeleteRecording,
    protocol.ReplayRecording, protocol.ReadTimeline,
)  # fmt: skip
_FOLDERS = (protocol.AddFolder, protocol.ForgetFolder, protocol.ListFolders)
SENTENCE = "The hill was quiet, and under it the small lamps were lit one after another. "


def pieces(text: str) -> Iterator[str]:
    """Text in pieces about as long as tokens.

    One by one: all of a long text at once would hold Python's lock, and with it the window, for tens of milliseconds.
    """
    return (match[0] for match in re.finditer(r"\s*\S{1,5}|\s+", text))


class FakeEngine:
    """Implements protocol.Engine. Everything it will say can be set before the window is opened.

    rate: tokens per second, 0 for as fast as can be. script(messages) returns the answer. fail: what the next
    command of that kind fails with. ends: while it is cleared, an answer whose words are all said does not end.
    goes_on: while it is cleared, opening a model, measuring the computer and lowering bits come no further than half
    their way.
    """

    def __init__(self, on_event: Callable[[protocol.Event], None]) -> None:
        self._on_event = on_event
        self.rate = 0.0
        self.ends = threading.Event()
        self.ends.set()
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.probe_seconds = 0.0
        self.cards: tuple[protocol.ModelCard, ...] = (BUILTIN, LARGE)
        self.teams: tuple[protocol.TeamCard, ...] = ()
        self.endpoints: tuple[protocol.EndpointCard, ...] = ()
        self.tool_servers: tuple[protocol.ToolServerCard, ...] = ()
        self.calls: Callable[[tuple[protocol.Message, ...]], tuple[protocol.ToolCall, ...]] = lambda messages: ()
        self.tool: Callable[[protocol.CallTool], protocol.ToolResult] = lambda call: protocol.ToolResult("done")
        self.script: Callable[[tuple[protocol.Message, ...]], str] = lambda messages: SENTENCE * 3
        self.fail: dict[type[protocol.Command], protocol.Failed] = {}
        self.received: list[protocol.Command] = []
        self.dropped = 0
        self.drops_turns = False  # the oldest, where a chat is longer than the context
        self.dead = False  # it fails whatever is asked of it
        self.context = 1024
        self.finish = "stop"
        self.apart: dict[str, str] = {}  # what is answered outside every chat, by quality; otherwise as the script says
        self.divergence: float | None = 0.0123  # None: every expert is in memory
        self.thinking_seconds = 0.0
        self.idle = msg("Idle")  # why the speed is as it is, while nothing is asked
        self.telemetry_every = 0.2
        self.shared: dict[str, Any] = {s.name: s.default for s in protocol.settings.SHARED}
        self.choices: dict[str, dict[str, str]] = {"mode": {}}
        self.token = ""
        self.folders: list[str] = []  # none: those of the hub
        self.server = protocol.ServerState()
        self.server_key = ""  # that the keyring holds
        self._queue: queue.SimpleQueue[protocol.Command | None] = queue.SimpleQueue()
        self._cancelled: set[str] = set()
        self._experts = FakeExperts()
        self._last_telemetry = 0.0
        self.hub = FakeHub(on_event)
        self.recordings = FakeRecordings()
        self.passages: tuple[protocol.Passage, ...] = ()  # that every question finds
        self.searching = threading.Event()  # set: questions find nothing until it is cleared
        self._thread = threading.Thread(target=self._run, name="fake-engine")
        self._thread.start()

    def send(self, command: protocol.Command) -> None:
        """As in protocol.Engine."""
        self.received.append(command)
        if self.dead:
            self._on_event(protocol.Failed(command.id, protocol.Kind.STOPPED, "The engine stopped.", "Start it again."))
            return
        if isinstance(command, protocol.Stop):
            self._cancelled.add(command.target)
            self._on_event(protocol.Done(command.id, True))
        elif isinstance(command, protocol.CountTokens):  # a token is four letters, or 1,000 pixels
            texts, images = (len(t) // 4 for t in command.texts), (w * h // 1000 for w, h in command.images)
            count = protocol.TokenCount(tuple(texts), self.context, tuple(images))
            self._on_event(protocol.Done(command.id, count))
        elif isinstance(command, protocol.UpdateSettings):
            failure = self.fail.pop(type(command), None)
            self._on_event(replace(failure, id=command.id) if failure else protocol.Done(command.id, command.settings))
        else:
            self._queue.put(command)

    def close(self, timeout: float = 10.0) -> None:
        """As in protocol.Engine."""
        self._cancelled.update(c.id for c in self.received)
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (command := self._queue.get()) is not None:
            self._on_event(self._work(command))

    def _work(self, command: protocol.Command) -> protocol.Event:
        failure = self.fail.pop(type(command), None)
        if failure is not None:
            return protocol.Failed(command.id, failure.kind, failure.sentence, failure.action, failure.cause)
        if isinstance(command, protocol.ListModels):
            return protocol.Done(command.id, self.cards)
        if isinstance(command, protocol.RenameModel):
            return self._rename(command)
        if isinstance(command, protocol.ListTeams):
            return protocol.Done(command.id, self.teams)
        if isinstance(command, protocol.ListEndpoints):
            return protocol.Done(command.id, self.endpoints)
        if isinstance(command, protocol.ListToolServers):
            return protocol.Done(command.id, self.tool_servers)
        if isinstance(command, protocol.CallTool):
            return protocol.Done(command.id, self.tool(command))
        if isinstance(command, protocol.AllowTool):
            return protocol.Done(command.id)
        if isinstance(command, protocol.LoadModel):
            return self._load(command)
        if isinstance(command, protocol.ImportModel):
            for done in range(0, 101, 20):
                self._on_event(
                    protocol.Progress(
                        id=command.id,
                        text=msg("Quantizing layer {index} of {last}", index=done // 20 + 1, last=6),
                        done=done,
                        total=100,
                        unit="bytes",
                    )
                )
                if command.id in self._cancelled:
                    return protocol.Cancelled(command.id)
            return protocol.Done(command.id, LARGE)
        if isinstance(command, (protocol.MeasureLowering, protocol.LowerModel, protocol.RestoreOriginal)):
            return self._fewer_bits(command)
        if isinstance(command, protocol.ProbeComputer):
            return self._probe(command)
        if isinstance(command, (protocol.Generate, protocol.GenerateApart)):
            return self._generate(command)
        if isinstance(command, protocol.MeasureDivergence):
            return self._measure_divergence(command)
        if isinstance(command, _SERVER):
            return protocol.Done(command.id, self._serve(command))
        if isinstance(command, _RECORDING):
            return protocol.Done(command.id, self.recordings.answer(command))
        if isinstance(command, protocol.Calibrate):
            return protocol.Done(command.id)
        if isinstance(command, protocol.RecommendSettings):
            return protocol.Done(command.id, protocol.Recommended(9_600_000_000, 16_000_000_000, 1024, 0.62))
        if isinstance(command, protocol.ListUnavailableChoices):
            return protocol.Done(command.id, self.choices)
        if isinstance(command, protocol.IndexDocuments):
            return protocol.Done(command.id, tuple(map(self._indexed, command.paths)))
        if isinstance(command, protocol.FindPassages):
            while self.searching.is_set() and command.id not in self._cancelled:
                time.sleep(0.005)
            if command.id in self._cancelled:
                return protocol.Cancelled(command.id)
            return protocol.Done(command.id, protocol.FoundPassages(self.passages, ()))
        if isinstance(command, protocol.TidyDocuments):
            return protocol.Done(command.id, 0)
        if isinstance(command, _SHARED) or (self.folders and isinstance(command, _FOLDERS)):
            return protocol.Done(command.id, self._shared(command))
        return protocol.Done(command.id, self.hub.answer(command))

    def _indexed(self, path: str) -> protocol.IndexedDocuments:
        left = (
            protocol.LeftOut(
                "notes/photo.jpg", msg("{file} is an image. Only text is read from documents.", file="photo.jpg")
            ),
        )
        return protocol.IndexedDocuments(
            path=path,
            folder=not path.endswith(".txt"),
            files=12,
            passages=340,
            left_out=left,
            left_out_count=1,
            unencoded=0,
        )

    def _serve(self, command: protocol.Command) -> object:
        """The local server; nothing listens."""
        match command:
            case protocol.StartServer():
                key = command.key or self.server_key
                self.server = protocol.ServerState(f"http://{command.host}:{command.port}", bool(key))
                return self.server
            case protocol.StopServer():
                self.server = protocol.ServerState()
                return self.server
            case protocol.AskServerKey():
                return protocol.ServerKey(self.server_key)
            case protocol.KeepServerKey():
                self.server_key = command.key
        return None

    def tell_server(self, **fields: object) -> None:
        """Say how the server is now, with these fields of ServerState."""
        self.server = replace(self.server, **fields)  # type: ignore[arg-type]
        self._on_event(protocol.ServerChanged("", self.server))

    def _shared(self, command: protocol.Command) -> object:
        """Settings of Underhill as a whole, its token and its folders."""
        match command:
            case protocol.ReadSettings() | protocol.KeepSettings():
                self.shared |= command.settings if isinstance(command, protocol.KeepSettings) else {}
                return dict(self.shared)
            case protocol.KeepToken():
                self.token = "keyring"
                return "somebody"
            case protocol.ForgetToken():
                self.token = ""
                return True
            case protocol.AskToken():
                return protocol.TokenState(str(self.shared["endpoint"]) or "https://huggingface.co", self.token)
            case protocol.AddFolder():
                self.folders.remove(command.folder) if command.folder in self.folders else None
                self.folders.insert(0 if command.first else len(self.folders), command.folder)
            case protocol.ForgetFolder():
                self.folders.remove(command.folder)
        return tuple(
            protocol.ModelFolder(
                path=path,
                there=True,
                first=not at,
                own=path == "/data/models",
                writable=True,
                free=40_000_000_000,
                total=90_000_000_000,
            )
            for at, path in enumerate(self.folders)
        )

    def _rename(self, command: protocol.RenameModel) -> protocol.Event:
        now = replace(next(c for c in self.cards if c.name == command.name), title=translated(command.title))
        self.cards = tuple(now if c.name == command.name else c for c in self.cards)
        self._on_event(protocol.ModelChanged("", now))  # which the window takes of the open one only
        return protocol.Done(command.id, now)

    def _load(self, command: protocol.LoadModel) -> protocol.Event:
        steps = 20
        for step in range(steps):
            self._on_event(
                protocol.Progress(id=command.id, text=msg("Loading model"), done=step, total=steps, unit="bytes")
            )
            if self._halts(command, step == steps // 2):
                return protocol.Cancelled(command.id)
        card = next((c for c in self.cards if c.name == command.model), self.cards[0])
        self._on_event(self.snapshot(False))
        return protocol.Done(command.id, card)

    def _probe(self, command: protocol.ProbeComputer) -> protocol.Event:
        for step, what in enumerate((msg("memory"), msg("processor"), msg("disk"), msg("disk"))):
            self._on_event(
                protocol.Progress(
                    id=command.id, text=msg("Measuring {doing}", doing=what), done=step, total=4, unit="steps"
                )
            )
            time.sleep(self.probe_seconds / 4)
            if self._halts(command, step == 2):
                return protocol.Cancelled(command.id)
        return protocol.Done(command.id, COMPUTER)

    def _fewer_bits(
        self, command: protocol.MeasureLowering | protocol.LowerModel | protocol.RestoreOriginal
    ) -> protocol.Event:
        card = next(c for c in self.cards if c.name == command.model)
        bits = ((2, 700), (4, 324))
        for step in range(4):
            self._on_event(
                protocol.Progress(
                    id=command.id, text=msg("Lowering one layer at a time"), done=step, total=4, unit="steps"
                )
            )
            if self._halts(command, step == 2):
                return protocol.Cancelled(command.id)
        if isinstance(command, protocol.MeasureLowering):
            before, after = card.expert_bytes, card.expert_bytes // 3
            kl, gb = command.tolerance / 2, 1_000_000_000
            offer = protocol.LoweringOffer(
                tolerance=command.tolerance, loss=kl, before=before, after=after, bits=bits, kl=kl, tokens=2048,
                needed=after + gb, free=90 * gb, dense_before=gb, dense_after=gb // 2, dense_bits=4,
            )  # fmt: skip
            return protocol.Done(command.id, offer)
        if isinstance(command, protocol.LowerModel):
            nbytes = card.expert_bytes // 3
            now = replace(card, expert_bits=bits, lowered_kl=command.tolerance / 2,
                          lowered_loss=command.tolerance / 2, expert_bytes=nbytes)  # fmt: skip
        else:
            now = replace(card, expert_bits=(), lowered_kl=None, expert_bytes=3 * card.expert_bytes)
        self.cards = tuple(now if c.name == command.model else c for c in self.cards)
        return protocol.Done(command.id, now)

    def _halts(self, command: protocol.Command, half: bool) -> bool:
        """Whether it was cancelled."""
        while half and command.id not in self._cancelled and not self.goes_on.wait(0.005):
            pass
        return command.id in self._cancelled

    def _measure_divergence(self, command: protocol.MeasureDivergence) -> protocol.Event:
        count = len(command.answer)
        for done in (0, count // 2, count):
            self._on_event(
                protocol.Progress(id=command.id, text=msg("Measuring KL"), done=done, total=count, unit="tokens")
            )
            if self._halts(command, done == count // 2):
                return protocol.Cancelled(command.id)
        return protocol.Done(command.id, protocol.Divergence(self.divergence or 0.0, count, self.divergence is None))

    def _said(self, command: protocol.Generate | protocol.GenerateApart) -> tuple[tuple[protocol.Message, ...], str]:
        """The messages that are answered, and the answer."""
        if isinstance(command, protocol.Generate):
            return command.messages, self.script(command.messages)
        messages = command.question.messages
        return messages, self.apart.get(command.dial) or self.script(messages)

    def _generate(self, command: protocol.Generate | protocol.GenerateApart) -> protocol.Event:
        started = time.monotonic()
        messages, whole = self._said(command)
        prompt = self._prompt_tokens(messages)
        for done in range(0, prompt + 1, max(1, prompt // 4)):
            self._on_event(protocol.PromptRead(command.id, done, prompt, 0, self.dropped))
        self._experts.begin_answer()
        read = time.monotonic()
        text, tokens = "", []
        finish = self.finish
        for number, piece in enumerate(pieces(whole)):
            if command.id in self._cancelled:
                finish = "cancelled"
                break
            text += piece
            tokens.append(number)
            self._on_event(protocol.TextDelta(command.id, piece, (number,)))
            self._experts.run_token()
            self._tell()
            if self.rate:
                time.sleep(max(0.0, read + (number + 1) / self.rate - time.monotonic()))
        while not self.ends.wait(0.005) and finish != "cancelled":
            if command.id in self._cancelled:
                finish = "cancelled"
        c = self._experts.counts
        stats = protocol.Stats(
            text=text,
            token_ids=tuple(tokens),
            finish=finish,
            prompt_tokens=prompt,
            reused_tokens=0,
            dropped_turns=self.dropped,
            prompt_seconds=max(0.01, read - started),
            decode_seconds=time.monotonic() - read,
            hits=c["hits"],
            misses=c["misses"],
            bytes_read=41_000_000,
            precision={k: c[k] for k in ("8", "4", "2", "skipped")},
            peak_rss=900_000_000,
            thinking_seconds=self.thinking_seconds,
            calls=self.calls(messages) if isinstance(command, protocol.Generate) and command.options.tools else (),
        )
        self._on_event(self.snapshot(False))
        return (protocol.Cancelled if finish == "cancelled" else protocol.Done)(command.id, stats)

    def _prompt_tokens(self, messages: tuple[protocol.Message, ...]) -> int:
        roles, sizes = [m.role for m in messages], [len(m.content) // 4 + 4 for m in messages]
        system = sizes.pop(0) if self.drops_turns and roles[0] == "system" else 0
        if not self.drops_turns:
            return sum(sizes)
        return system + protocol.kept_tokens(roles[-len(sizes) :], sizes, self.context, 1024, system)

    def snapshot(self, generating: bool) -> protocol.Telemetry:
        """Telemetry as of now."""
        return self._experts.snapshot(self.rate or 12.0, None if generating else self.idle)

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._last_telemetry >= self.telemetry_every:
            self._last_telemetry = now
            self._on_event(self.snapshot(True))


def scripted(**values: object) -> Callable[[Callable[[protocol.Event], None]], FakeEngine]:
    """A start() for EngineLink, with attributes set before the first command."""

    def start(on_event: Callable[[protocol.Event], None]) -> FakeEngine:
        engine = FakeEngine(on_event)
        for name, value in values.items():
            setattr(engine, name, value)
        return engine

    return start
