"""A scripted engine: it speaks the same events as the real one, from its own thread, at a chosen speed."""

from __future__ import annotations

import queue
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from engine import protocol
from engine.hardware.computer import describe
from engine.hardware.machine import DiskPoint, Machine, Memory
from engine.hardware.processor import Processor
from engine.hardware.rates import Rates
from engine.library.listing import note_of
from engine.session.bottleneck import Pace, why
from engine.session.prefetch_choice import BESIDE
from engine.translatable import msg
from tests.app.fake_hub import FITS, IN_MEMORY, FakeHub
from tests.app.fake_recordings import FakeRecordings

LAYERS, EXPERTS = 16, 32
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
BUILTIN = protocol.ModelCard(
    name="builtin",
    title="Little Hill 21M",
    family="olmoe",
    path="/models/builtin",
    parameters=21_000_000,
    active_parameters=8_000_000,
    disk_bytes=38_000_000,
    expert_bytes=30_000_000,
    layers=LAYERS,
    moe_layers=LAYERS,
    experts=EXPERTS,
    experts_per_token=4,
    context_length=1024,
    tiers=(2, 4, 8),
    backend="lean",
    note=note_of("builtin", 21_000_000, lean=True),
    plan=(
        msg(
            "All experts ({whole}) fit in memory and run at {tier}-bit, whatever the quality setting.",
            whole="38.0 MB",
            tier=8,
        ),
        msg("Native kernels ({names}), {threads} {threads2}.", names="AVX2", threads=4, threads2=msg("threads")),
    ),
    fit=IN_MEMORY,
)
LARGE = protocol.ModelCard(
    name="olmoe-1b-7b",
    title="OLMoE 1B-7B Instruct",
    family="olmoe",
    path="/models/olmoe",
    parameters=6_900_000_000,
    active_parameters=1_300_000_000,
    disk_bytes=7_400_000_000,
    expert_bytes=6_900_000_000,
    layers=LAYERS,
    moe_layers=LAYERS,
    experts=EXPERTS,
    experts_per_token=8,
    context_length=4096,
    tiers=(2, 4, 8),
    backend="lean",
    plan=(
        msg(
            "Experts in memory: {cache} of {whole} ({whole2}%) at {tier}-bit; the rest is read from disk.",
            cache="1.7 GB",
            whole="6.9 GB",
            whole2=25,
            tier=8,
        ),
    ),
    fit=FITS,
)
POINTS = (DiskPoint(4_000_000, 4, True, 3.4e9), DiskPoint(1_000_000, 4, True, 3.1e9))
MACHINE = Machine(
    cores=8,
    memory=Memory(16_000_000_000, 11_200_000_000),
    memory_rate=52e9,
    disk_rate=3.1e9,
    disk_free=212_000_000_000,
    isa="avx512vnni",
    disk_points=POINTS,
)
COMPUTER = describe(
    Processor("AMD Ryzen 7 7840U", 8, 8, 16), MACHINE, Rates(52e9, 8, POINTS, {2: 0.9, 4: 0.97, 8: 0.98})
)
AHEAD = msg("Prefetch: {correct}% correct, {wasted}% wasted ({words})", correct=83, wasted=6, words=BESIDE["taught"])
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
        self._random = random.Random(7)
        self._used = [[0] * EXPERTS for _ in range(LAYERS)]
        self._held = [[self._random.choice((0, 0, 2, 4, 8, 8, 8)) for _ in range(EXPERTS)] for _ in range(LAYERS)]
        self._taste = [[self._random.paretovariate(1.2) for _ in range(EXPERTS)] for _ in range(LAYERS)]
        self._counts = {"hits": 0, "misses": 0, "8": 0, "4": 0, "2": 0, "skipped": 0, "tokens": 0}
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
                tolerance=command.tolerance, before=before, after=after, bits=bits, kl=kl, tokens=2048,
                needed=after + gb, free=90 * gb, dense_before=gb, dense_after=gb // 2, dense_bits=4,
            )  # fmt: skip
            return protocol.Done(command.id, offer)
        if isinstance(command, protocol.LowerModel):
            nbytes = card.expert_bytes // 3
            now = replace(card, expert_bits=bits, lowered_kl=command.tolerance / 2, expert_bytes=nbytes)
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
        prompt = sum(len(m.content) // 4 + 4 for m in messages)
        for done in range(0, prompt + 1, max(1, prompt // 4)):
            self._on_event(protocol.PromptRead(command.id, done, prompt, 0, self.dropped))
        self._used = [[0] * EXPERTS for _ in range(LAYERS)]
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
            self._use_experts()
            self._tell()
            if self.rate:
                time.sleep(max(0.0, read + (number + 1) / self.rate - time.monotonic()))
        while not self.ends.wait(0.005) and finish != "cancelled":
            if command.id in self._cancelled:
                finish = "cancelled"
        c = self._counts
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

    def _use_experts(self) -> None:
        c = self._counts
        c["tokens"] += 1
        for layer in range(LAYERS):
            for expert in self._random.choices(range(EXPERTS), self._taste[layer], k=4):
                self._used[layer][expert] += 1
                held = self._held[layer][expert]
                c["hits" if held else "misses"] += 1
                c[str(held) if held else self._random.choice(("8", "2", "skipped"))] += 1
                if not held and self._random.random() < 0.02:
                    self._held[layer][expert] = 8

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._last_telemetry >= self.telemetry_every:
            self._last_telemetry = now
            self._on_event(self.snapshot(True))

    def snapshot(self, generating: bool) -> protocol.Telemetry:
        """Telemetry as of now."""
        c = self._counts
        wobble = self._random.uniform(0.9, 1.1)
        return protocol.Telemetry(
            id="",
            activations=tuple(map(tuple, self._used)),
            residency=tuple(map(tuple, self._held)),
            layer_names=tuple(range(LAYERS)),
            hits=c["hits"],
            misses=c["misses"],
            bytes_read=c["misses"] * 60_000,
            precision={k: c[k] for k in ("8", "4", "2", "skipped")},
            tokens=c["tokens"],
            tokens_per_second=(self.rate or 12.0) * wobble if generating else 0.0,
            disk_bytes_per_second=62e6 * wobble if generating else 0.0,
            cache_bytes=1_730_000_000,
            cache_capacity=1_900_000_000,
            rss=3_150_000_000,
            generating=generating,
            why=why(
                Pace(
                    prompt=False,
                    tokens=12.0,
                    prompt_tokens=118.0,
                    waiting=0.64,
                    read=62e6,
                    misses=40.0,
                    weights=6 * 10**9,
                    memory=52e9,
                )
            )
            if generating
            else self.idle,
            uses=tuple(map(tuple, self._used)),
            gates=tuple(tuple(min(0.6, taste / 12) for taste in row) for row in self._taste),
            places=tuple(tuple(int(held > 0) for held in row) for row in self._held),
            foreseen=c["hits"] // 6,
            foreseen_late=c["misses"] // 5,
            prompt_tokens_per_second=118.0,
            waiting=0.64 * wobble if generating else 0.0,
            ahead=AHEAD,
            memory=protocol.MemoryUse(
                ceiling=4_000_000_000,
                taken=3_150_000_000,
                program=270_000_000,
                dense=890_000_000,
                context=120_000_000,
                buffers=140_000_000,
                cached=1_730_000_000,
                room=170_000_000,
                aside=338_000_000,
                spare=342_000_000,
            ),
        )


def scripted(**values: object) -> Callable[[Callable[[protocol.Event], None]], FakeEngine]:
    """A start() for EngineLink, with attributes set before the first command."""

    def start(on_event: Callable[[protocol.Event], None]) -> FakeEngine:
        engine = FakeEngine(on_event)
        for name, value in values.items():
            setattr(engine, name, value)
        return engine

    return start
