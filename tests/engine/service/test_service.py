"""The engine as the window sees it: real model, real threads, and the order of events."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import client, protocol
from engine.experts.runtime import ExpertRuntime
from engine.generation import model_files
from engine.generation.chat import ChatFormat
from engine.hardware.pressure import Reading
from engine.protocol import (
    TERMINAL,
    Cancelled,
    CountTokens,
    DeleteModel,
    Done,
    Event,
    Failed,
    Generate,
    ImportModel,
    Kind,
    ListModels,
    LoadModel,
    Look,
    Message,
    ModelCard,
    PlanChanged,
    Progress,
    PromptRead,
    Shutdown,
    Stats,
    Stop,
    Telemetry,
    TextDelta,
    UnderhillError,
    UnloadModel,
    UpdateSettings,
    Watch,
)
from engine.server.serving_engine import ServingEngine
from engine.service.answer_follower import AnswerFollower
from engine.translatable import translated
from tests.engine.generation.test_hostile_templates import LOOPS, having, late
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

SETTINGS = {"dial": "exact", "threads": 1}
GREEDY = {"temperature": 0.0, "max_tokens": 30}
HELLO = (Message("user", "Tell me a story about a brave dog."),)


class Desk:
    """Sends commands and keeps what comes back."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._arrived = threading.Condition()
        self._numbers = itertools.count()
        self.engine = client.start(self.on_event)

    def on_event(self, event: Event) -> None:
        assert threading.current_thread().name.startswith("underhill-")
        with self._arrived:
            self.events.append(event)
            self._arrived.notify_all()

    def id(self) -> str:
        return f"c{next(self._numbers)}"

    def send(self, kind: type[protocol.Command], *values: Any, **fields: Any) -> str:
        command = kind(self.id(), *values, **fields)
        self.engine.send(pickle.loads(pickle.dumps(command)))
        return command.id

    def wait(self, command: str, timeout: float = 120.0) -> Event:
        """The terminal event of a command."""
        return self.first(lambda e: e.id == command and isinstance(e, TERMINAL), timeout)

    def first(self, wanted: Any, timeout: float = 120.0) -> Event:
        end = time.monotonic() + timeout
        with self._arrived:
            while True:
                for event in self.events:
                    if wanted(event):
                        return event
                assert self._arrived.wait(max(0.0, end - time.monotonic())), "no such event came"

    def result(self, kind: type[protocol.Command], *values: Any, **fields: Any) -> Any:
        event = self.wait(self.send(kind, *values, **fields))
        assert isinstance(event, Done), event
        return event.result

    def of(self, command: str) -> list[Event]:
        return [e for e in self.events if e.id == command]


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    d = Desk()
    yield d
    d.engine.close()
    alive = [t.name for t in threading.enumerate() if t.name.startswith("underhill-")]
    assert alive == []


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    desk.result(LoadModel, "builtin", SETTINGS)
    return desk


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Answers rest after their first words until this is set or they are stopped, however late a test says its own."""
    go = threading.Event()
    said: set[str] = set()
    text, cancelled = AnswerFollower.text, AnswerFollower.cancelled

    def tell(self: AnswerFollower, *words: Any) -> None:
        text(self, *words)
        said.add(self._id)

    def rest(self: AnswerFollower) -> bool:
        while not (stopped := cancelled(self)) and self._id in said and not go.wait(0.005):
            pass
        return stopped

    monkeypatch.setattr(AnswerFollower, "text", tell)
    monkeypatch.setattr(AnswerFollower, "cancelled", rest)
    return go


def test_each_chat_is_a_sequence_of_its_own(loaded: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    monkeypatch.setattr(ExpertRuntime, "begin_sequence", lambda _: begun.append(1))
    for chat in ("1", "1", "2", "2", "1"):
        loaded.result(Generate, HELLO, {"temperature": 0.0, "max_tokens": 2}, chat=chat)
    assert len(begun) == 3


def test_an_answer_comes_in_the_promised_order_and_adds_up(loaded: Desk) -> None:
    command = loaded.send(Generate, HELLO, GREEDY)
    stats = loaded.wait(command).result  # type: ignore[attr-defined]
    assert isinstance(stats, Stats)
    events = loaded.of(command)
    kinds = [type(e) for e in events]
    assert kinds[-1] is Done
    assert sum(k in TERMINAL for k in kinds) == 1
    assert max(i for i, k in enumerate(kinds) if k is PromptRead) < min(
        i for i, k in enumerate(kinds) if k is TextDelta
    )
    deltas = [e for e in events if isinstance(e, TextDelta)]
    assert "".join(d.text for d in deltas) == stats.text
    assert tuple(t for d in deltas for t in d.token_ids) == stats.token_ids
    assert len(deltas) > 10


def test_loading_says_how_far_it_is_and_returns_the_card(desk: Desk) -> None:
    command = desk.send(LoadModel, "builtin", SETTINGS)
    card = desk.wait(command).result  # type: ignore[attr-defined]
    assert isinstance(card, ModelCard)
    assert card.loaded
    assert card.plan
    assert "tiny" in card.note
    assert any(isinstance(e, Progress) for e in desk.of(command))
    models = desk.result(ListModels)
    assert [(m.name, m.loaded) for m in models] == [("builtin", True)]


def test_tokens_are_counted_while_an_answer_is_made(loaded: Desk, go_on: threading.Event) -> None:
    command = loaded.send(Generate, HELLO, GREEDY)
    loaded.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    found = loaded.wait(loaded.send(CountTokens, ("", "Hello there.", "Hello there. " * 50, "\ud83d"))).result  # type: ignore[attr-defined]
    assert not any(isinstance(e, TERMINAL) and e.id == command for e in loaded.of(command))
    loaded.send(Stop, command)
    none, some, many, half = found.tokens
    assert none == 0 < some < 8
    assert some * 40 < many < some * 80
    assert half > 0
    assert found.context >= 64
    assert loaded.result(CountTokens, ("Hello there.",), ((64, 64),)).images == (0,)  # it reads none


def test_tokens_cannot_be_counted_without_a_model(desk: Desk) -> None:
    assert isinstance(desk.wait(desk.send(CountTokens, ("Hello",))), Failed)


def test_stop_ends_an_answer_with_what_there_is(loaded: Desk, go_on: threading.Event) -> None:
    command = loaded.send(Generate, HELLO, GREEDY)
    loaded.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    stop = loaded.send(Stop, command)
    event = loaded.wait(command)
    assert isinstance(event, Cancelled)
    assert event.result.finish == "cancelled"
    assert event.result.text
    assert loaded.wait(stop) == Done(stop, True)
    assert loaded.wait(loaded.send(Stop, command)).result is False  # type: ignore[attr-defined]


def test_a_queued_answer_can_be_stopped_before_it_starts(loaded: Desk, go_on: threading.Event) -> None:
    running = loaded.send(Generate, HELLO, GREEDY)
    queued = loaded.send(Generate, HELLO, GREEDY)
    loaded.send(Stop, queued)
    assert isinstance(loaded.wait(queued), Cancelled)
    go_on.set()
    assert isinstance(loaded.wait(running), Done)
    assert len(loaded.of(queued)) == 1


def test_settings_change_in_the_middle_of_an_answer(loaded: Desk, go_on: threading.Event) -> None:
    command = loaded.send(Generate, HELLO, {"temperature": 0.0, "max_tokens": 60})
    loaded.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    update = loaded.send(UpdateSettings, {"tier": "2"})
    loaded.wait(update)
    go_on.set()
    stats = loaded.wait(command).result  # type: ignore[attr-defined]
    order = [e.id for e in loaded.events if isinstance(e, TERMINAL)]
    assert order.index(update) < order.index(command)
    assert stats.precision["8"] > 0
    assert stats.precision["2"] > 0


def test_a_changed_plan_is_told_whoever_changed_it(loaded: Desk) -> None:
    loaded.result(UpdateSettings, {"cache_fraction": 0.5})
    (changed,) = [e for e in loaded.events if isinstance(e, PlanChanged)]
    assert any("in memory" in sentence for sentence in changed.plan)
    assert changed.notice == ""
    assert isinstance(loaded.engine, ServingEngine)
    session = loaded.engine.service.session
    assert session is not None
    watch = threading.Thread(target=session.cache_budget.see, args=(Reading(10**12, 0), 0.0), name="underhill-memory")
    watch.start()
    watch.join()
    (told,) = [e for e in loaded.events if isinstance(e, PlanChanged) and e.notice]
    assert "Memory is low" in told.notice
    assert told.plan[-1] == told.notice


def test_telemetry_comes_while_generating_at_most_five_times_a_second(loaded: Desk) -> None:
    arrivals: list[float] = []
    inner = loaded.on_event

    def timed(event: Event) -> None:
        if isinstance(event, Telemetry):
            arrivals.append(time.monotonic())
        inner(event)

    loaded.engine._on_event = timed  # type: ignore[attr-defined]
    loaded.result(Watch, Look(maps=True, expert=(0, 3)))
    loaded.result(Generate, HELLO, {"temperature": 0.0, "max_tokens": 200})
    last = loaded.first(lambda e: isinstance(e, Telemetry) and not e.generating and e.tokens > 0)
    assert isinstance(last, Telemetry)
    assert all(b - a > 0.15 for a, b in itertools.pairwise(arrivals))
    assert len(last.activations) == len(last.residency) == len(last.gates) == len(last.layer_names) == 6
    assert last.expert is not None
    assert (last.expert.layer, last.expert.expert) == (0, 3)
    assert last.expert.answer == last.activations[0][3]
    assert last.hits + last.misses > 0


def test_asking_without_a_model_and_with_impossible_settings_fails_with_a_sentence(desk: Desk) -> None:
    for kind, values in ((Generate, (HELLO,)), (UpdateSettings, ({"dial": "fast"},))):
        event = desk.wait(desk.send(kind, *values))
        assert isinstance(event, Failed)
        assert event.kind is Kind.BAD_REQUEST
        assert event.sentence == "No model loaded."
    event = desk.wait(desk.send(LoadModel, "builtin", {"readers": 0}))
    assert isinstance(event, Failed)
    assert "1 to 32" in event.action


def test_after_a_failure_the_engine_goes_on(loaded: Desk) -> None:
    event = loaded.wait(loaded.send(Generate, (), GREEDY))
    assert isinstance(event, Failed)
    assert loaded.result(Generate, HELLO, GREEDY).text


def test_unloading_gives_the_model_up(loaded: Desk) -> None:
    assert loaded.result(UnloadModel) is None
    assert isinstance(loaded.wait(loaded.send(Generate, HELLO, GREEDY)), Failed)
    assert not any(m.loaded for m in loaded.result(ListModels))


def test_a_model_is_imported_listed_used_and_deleted(loaded: Desk, root: Path) -> None:
    command = loaded.send(ImportModel, str(root / "resources" / "builtin" / "model"), "copy", 4)
    answer = loaded.result(Generate, HELLO, GREEDY)  # meanwhile, the chat goes on
    assert answer.text
    card = loaded.wait(command).result  # type: ignore[attr-defined]
    assert (card.name, card.tiers) == ("copy", (2, 4))
    assert any(isinstance(e, Progress) and e.total > 0 for e in loaded.of(command))
    assert {m.name for m in loaded.result(ListModels)} == {"builtin", "copy"}
    loaded.result(LoadModel, "copy", SETTINGS)
    busy = loaded.wait(loaded.send(DeleteModel, "copy"))
    assert isinstance(busy, Failed)
    assert busy.kind is Kind.BUSY
    loaded.result(LoadModel, "builtin", SETTINGS)
    loaded.result(DeleteModel, "copy")
    assert [m.name for m in loaded.result(ListModels)] == ["builtin"]


def test_a_model_deleted_and_imported_anew_is_not_the_one_that_was_open_before(
    loaded: Desk, root: Path, go_on: threading.Event
) -> None:
    source = str(root / "resources" / "builtin" / "model")
    loaded.result(ImportModel, source, "again", 4)
    assert loaded.result(LoadModel, "again", SETTINGS).tiers == (2, 4)
    loaded.result(LoadModel, "builtin", SETTINGS)
    running = loaded.send(Generate, HELLO, GREEDY)
    loaded.first(lambda e: isinstance(e, TextDelta) and e.id == running)
    deleted = loaded.send(DeleteModel, "again")
    assert isinstance(loaded.wait(deleted), Done)
    go_on.set()
    assert isinstance(loaded.wait(running), Done)
    order = [e.id for e in loaded.events if isinstance(e, TERMINAL)]
    assert order.index(deleted) < order.index(running)  # an answer is not waited for
    loaded.result(ImportModel, source, "again", 8)
    assert loaded.result(LoadModel, "again", SETTINGS).tiers == (2, 4, 8)
    assert loaded.result(Generate, HELLO, GREEDY).precision["8"] > 0
    loaded.result(LoadModel, "builtin", SETTINGS)
    loaded.result(DeleteModel, "again", True)


def test_shutdown_cancels_what_runs_and_its_done_is_the_last_word(home: Path, go_on: threading.Event) -> None:
    desk = Desk()
    desk.result(LoadModel, "builtin", SETTINGS)
    running = desk.send(Generate, HELLO, GREEDY)
    waiting = desk.send(Generate, HELLO, GREEDY)
    desk.first(lambda e: isinstance(e, TextDelta))
    end = desk.send(Shutdown)
    desk.wait(end)
    desk.engine.close()
    assert isinstance(desk.wait(running), Cancelled)
    assert isinstance(desk.wait(waiting), Cancelled)
    assert desk.events[-1] == Done(end, None)
    with pytest.raises(RuntimeError, match="shut down"):
        desk.send(ListModels)


def test_every_event_can_be_pickled(loaded: Desk) -> None:
    loaded.result(Generate, HELLO, GREEDY)
    loaded.wait(loaded.send(Generate, (), GREEDY))
    for event in loaded.events:
        assert pickle.loads(pickle.dumps(event)) == event


def test_importing_the_api_loads_neither_torch_nor_transformers(root: Path) -> None:
    import subprocess
    import sys

    code = "import sys; from engine import client; client.start(print).close(); print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    assert not {"torch", "transformers", "PySide6"} & set(out.split())


def test_the_computer_is_measured_with_progress_and_can_be_told_to_stop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.hardware.load import Load
    from engine.library import computer

    monkeypatch.setattr(computer, "wait_for_quiet", lambda *_: Load())  # whatever runs beside the tests
    going, may_end = threading.Event(), threading.Event()

    def probe_fully(place: Path, files: Any, report: Any, cancelled: Any) -> Any:
        report("Measuring memory", 1, 4)
        going.set()
        while not may_end.wait(0.01):
            if cancelled():
                raise UnderhillError(Kind.CANCELLED, translated("Stopped."))
        raise UnderhillError(Kind.DISK_FULL, translated("The disk is too full to be measured."))

    monkeypatch.setattr(computer, "probe_fully", probe_fully)
    command = desk.send(protocol.ProbeComputer, again=True)
    assert going.wait(LONGEST)
    assert desk.result(Stop, command)
    assert isinstance(desk.wait(command), Cancelled)
    assert [(e.text, e.done, e.total) for e in desk.of(command) if isinstance(e, Progress)] == [
        ("Measuring memory", 1, 4)
    ]
    may_end.set()
    failed = desk.wait(desk.send(protocol.ProbeComputer, again=True))
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.DISK_FULL


def test_a_mode_that_cannot_run_is_refused_before_the_open_model_is_touched(loaded: Desk) -> None:
    told = loaded.wait(loaded.send(protocol.ListUnavailableChoices))
    assert isinstance(told, Done)
    assert set(told.result) == {"mode"}
    assert set(told.result["mode"]) == {"cpu-assisted", "gpu"}
    refused = loaded.wait(loaded.send(LoadModel, "builtin", {**SETTINGS, "mode": "gpu"}))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.BAD_REQUEST
    assert refused.sentence == f"GPU can't run here. {told.result['mode']['gpu']}"
    answer = loaded.wait(loaded.send(Generate, HELLO, {**GREEDY, "max_tokens": 3}))
    assert isinstance(answer, Done)  # by the model that was open before
    forced = loaded.wait(loaded.send(LoadModel, "builtin", {**SETTINGS, "mode": "cpu"}))
    assert isinstance(forced, Done)


def test_stop_ends_a_template_that_does_not_end(loaded: Desk, tmp_path: Path) -> None:
    service: Any = loaded.engine.service  # type: ignore[attr-defined]
    usual = service.session.chat
    service.session.chat = ChatFormat(having(tmp_path / "evil", late(LOOPS)))
    try:
        command = loaded.send(Generate, (*HELLO, Message("assistant", "No."), *HELLO), GREEDY)
        loaded.send(Stop, command)
        assert isinstance(loaded.wait(command, model_files.WRITE_SECONDS), Cancelled)
    finally:
        service.session.chat = usual
    assert loaded.result(Generate, HELLO, GREEDY).token_ids
