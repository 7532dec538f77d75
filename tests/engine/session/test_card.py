"""A session with a graphics card that is not there: the words of the processor alone, whatever becomes of the card."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from engine.cuda import layer_proof, layer_runs, linears, prefill, prompt_attention, stretches
from engine.cuda.arena import DeviceArena
from engine.cuda.commands import CommandList
from engine.cuda.driver import Driver
from engine.cuda.errors import no_driver
from engine.errors import UnderhillError
from engine.experts import card_mode, lookahead
from engine.experts.card import split
from engine.experts.execution import card_proof
from engine.generation.messages import Look, Message
from engine.generation.sampling import Sampling
from engine.hardware import graphics
from engine.hardware.load import Load, LoadWatch
from engine.library import card_record, computer
from engine.library.facts import activation_of, spec_of
from engine.library.library import prepare
from engine.native.op_graph import GraphStep
from engine.planning import offload
from engine.planning.speed import figure, is_speed_sentence
from engine.session import Session, card_session
from engine.store.reader import Store
from tests.engine.cuda.command_stream import RecordedSchedule, check_orders, check_waits
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, MIB, SimulatedDriver
from tests.engine.cuda.stand_in import StandIn
from tests.engine.cuda.test_linears import measured
from tests.engine.cuda.test_prefill import FAST, SLOW
from tests.engine.cuda.test_prefill import measured as measured_prefill
from tests.engine.experts.card.cards import FAST_CARD, settle
from tests.engine.session.test_session import GREEDY, HELLO, Listener

pytestmark = pytest.mark.long

AGAIN = (Message("user", "Tell me about a fox."),)
LONG = (Message("user", "Tell me about a fox and a crow. " * 8),)  # several pieces of 32 tokens
TOTAL = 2048 * MIB  # of which next to nothing is touched
CHOSEN = {"mode": "cpu-assisted", "threads": 1, "remember_routing": False}


def stand_in_for(path: Path) -> StandIn:
    """A compiler for the experts of this store."""
    with Store.open(path) as store:
        activations = activation_of(store, spec_of(store))
        of = activations if isinstance(activations, dict) else dict.fromkeys(store.layers, activations)
        return StandIn({store.spec(layer, e): of[layer] for layer in store.layers for e in range(store.experts(layer))})


@pytest.fixture(scope="module")
def compiler(home: Path) -> Iterator[StandIn]:
    """For the experts of the built-in model."""
    with closing(stand_in_for(prepare("builtin", lambda *_: None))) as made:
        yield made


@contextmanager
def a_card(compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedDriver]:
    """A computer with a card whose driver is simulated."""
    simulated = SimulatedDriver(3, TOTAL, compiler)
    for module in (graphics, card_session):
        monkeypatch.setattr(module, "open_driver", lambda: Driver(simulated))
    monkeypatch.setattr(graphics, "management_library", lambda: None)
    monkeypatch.setattr(split, "LEARN", 0.0)
    monkeypatch.setattr(card_proof, "measure_rates", lambda *args: FAST_CARD)
    computer.looks.clear()
    yield simulated
    computer.looks.clear()  # or later tests would find the card, too


@pytest.fixture
def card(compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedDriver]:
    """With a stand-in for the built-in model's experts."""
    with a_card(compiler, monkeypatch) as simulated:
        yield simulated


@contextmanager
def opened(model: str = "builtin", **chosen: object) -> Iterator[Session]:
    session = Session.open(model, {**CHOSEN, **chosen})
    try:
        yield session
    finally:
        session.close()


@pytest.fixture(scope="module")
def alone(home: Path) -> str:
    """What the processor alone says."""
    with opened(mode="cpu") as session:
        return session.generate(HELLO, GREEDY, (), Listener()).text


def test_an_answer_with_the_card_is_that_of_the_processor(card: SimulatedDriver, alone: str) -> None:
    with opened() as session:
        assert session.plan.mode == offload.ASSISTED
        told = [sentence for sentence in session.sentences if "of experts in GPU memory" in sentence]
        assert [sentence.startswith("Simulated 0: ") for sentence in told] == [True]
        assert any("was checked against the CPU" in sentence for sentence in session.sentences)
        for _ in range(2):
            assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
        assistant = session.card_mode.mode.assistant  # type: ignore[union-attr]
        assert assistant.ran > 100
        snapshot = session.snapshot(Look(maps=True))
        assert snapshot is not None
        assert any(2 in row for row in snapshot.places)
        before = session.plan
        session.update({"dial": "balanced"})
        assert (session.plan.mode, session.plan.card_bytes, session.plan.speed) == (
            before.mode,
            before.card_bytes,
            before.speed,
        )
        assert snapshot.memory is not None
        assert 0 < snapshot.memory.device_cached <= snapshot.memory.device
    assert card.leaks == []


@pytest.mark.parametrize("room", [None, 600_000])
def test_all_on_the_card_what_it_lacks_crosses_over(
    with_linears: SimulatedDriver, alone: str, monkeypatch: pytest.MonkeyPatch, room: int | None
) -> None:
    if room is not None:  # a few experts, fewer than a token's layers choose
        make = card_session.CardMode
        monkeypatch.setattr(card_session, "CardMode", lambda *args, **named: make(*args[:5], room, **named))
        # Experts are of two sizes: those of one give way to the other's slab by slab.
        monkeypatch.setattr(card_mode, "DeviceArena", lambda device, capacity: DeviceArena(device, capacity, 250_000))
    with opened(mode="gpu", dense="int8") as session:
        assert session.plan.mode == offload.GPU
        assert any("others are copied there when they are needed" in sentence for sentence in session.sentences)
        mode = session.card_mode.mode
        assert mode is not None
        first = session.generate(HELLO, GREEDY, (), Listener()).text
        before = mode.assistant.host_ran, mode.assistant.ran  # what had to be read from disk was computed here
        assert session.generate(HELLO, GREEDY, (), Listener()).text == first
        assert mode.assistant.host_ran == before[0]
        assert mode.assistant.ran > before[1] + 50
        assert room is None or mode.held.sent > 10 * room
        # All lie in memory, so that nothing is read ahead; but what is expected crosses ahead.
        assert session.all_in_memory
        assert session.runtime.prefetch is not None
        assert room is None or session.runtime.prefetch.stats.started > 10
        assert session.ahead.sentence().startswith("Prefetch: ")
    assert with_linears.leaks == []


def test_a_card_that_is_lost_in_the_middle_of_an_answer_is_said_once(card: SimulatedDriver, alone: str) -> None:
    with opened() as session:
        told: list[str] = []
        session.on_notice = told.append
        session.generate(HELLO, GREEDY, (), Listener())
        card.fail["cuLaunchKernel"] = [0] * 50 + [LAUNCH_FAILED]
        assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
        assert [notice for notice in told if notice] == [
            "CPU only. The GPU stopped working (719). "
            "Reload the model. If it happens again, update the driver or restart the computer."
        ]
        assert session.plan.mode == offload.CPU
        assert told[0] in session.sentences
        assert not any("of experts in GPU memory" in sentence for sentence in session.sentences)
        assert sum(map(is_speed_sentence, session.sentences)) == 1
        assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
        session.update({"dial": "fast"})
        assert session.plan.mode == offload.CPU
        assert not any("of experts in GPU memory" in sentence for sentence in session.sentences)
    assert card.leaks == []


def test_another_device_computes_from_the_next_answer_on(card: SimulatedDriver, alone: str) -> None:
    with opened(mode="cpu") as session:
        for mode in ("cpu-assisted", "cpu", "cpu-assisted"):
            session.update({"mode": mode})
            assert session.plan.mode == mode
            assert session.card_mode.alive == (mode != "cpu")
            told = [sentence for sentence in session.sentences if "was checked against the CPU" in sentence]
            assert len(told) == (mode != "cpu")
            assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
            if mode == "cpu":
                assert card.leaks == []
            else:
                assert session.card_mode.mode.assistant.ran > 50  # type: ignore[union-attr]
        session.machine = dataclasses.replace(session.machine, gpus=())
        with pytest.raises(UnderhillError, match="can't run here"):
            session.update({"mode": "gpu"})
        assert session.plan.mode == "cpu-assisted"
    assert card.leaks == []


def take_linears(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have products of other weights cost nothing to hand over, and be twice as fast on the card."""
    monkeypatch.setattr(offload, "ROUND_TRIP", 0.0)
    monkeypatch.setattr(linears, "measure", measured(0.5, 1.0))


def take_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have attention of single tokens be twice as fast on the card."""
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (0.5, 1.0))
    monkeypatch.setattr(layer_proof, "ROWS", 5)
    monkeypatch.setattr(prompt_attention, "measure", measured_prefill(SLOW, FAST))
    monkeypatch.setattr(prompt_attention, "ROWS", 40)
    monkeypatch.setattr(prompt_attention, "PIECE", 32)


def take_prompts_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have prompts' be faster there as well."""
    take_attention(monkeypatch)
    monkeypatch.setattr(prompt_attention, "measure", measured_prefill(FAST, SLOW))


@pytest.fixture
def with_linears(card: SimulatedDriver, monkeypatch: pytest.MonkeyPatch) -> SimulatedDriver:
    """A card that computes products of other weights, and no attention."""
    take_linears(monkeypatch)
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (1.0, 0.5))
    return card


def test_attention_on_the_card_says_the_processors_words(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_attention(monkeypatch)
    with opened(mode="cpu", dense="int8") as session:
        alone = [session.generate(ask, GREEDY, (), Listener()).text for ask in (HELLO, AGAIN)]
    for lost in (None, 10):
        with opened(dense="int8") as session:
            assert sum("of attention in GPU memory" in sentence for sentence in session.sentences) == 1
            mode = session.card_mode.mode
            assert mode is not None
            assert mode.layers is not None
            assert mode.layers.whole
            assert mode.ahead is not None
            keys = list(session.runtime.cache.keys)
            while mode.fill(keys):
                pass
            launched = dict(with_linears.calls)
            found = [session.generate(HELLO, GREEDY, (), Listener()).text]
            assert mode.ahead.ran > 5 * len(session.decoder.layers)
            assert with_linears.calls["cuGraphLaunch"] > launched.get("cuGraphLaunch", 0) + 5
            if lost is not None:
                with_linears.fail["cuEventSynchronize"] = [0] * lost + [LAUNCH_FAILED]
            found.append(session.generate(AGAIN, GREEDY, (), Listener()).text)
            assert found == alone
            assert (session.plan.mode == offload.CPU) == (lost is not None)
            with_linears.fail.clear()
        assert with_linears.leaks == []


@pytest.mark.parametrize("seed", range(2))
def test_experts_that_come_and_go_change_no_word(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    take_attention(monkeypatch)
    monkeypatch.setattr(lookahead, "LIKELY", 0.0)  # it goes as far as there are layers, and stops again and again
    random = Random(seed)
    with opened(mode="cpu", dense="int8") as session:
        alone = session.generate(HELLO, GREEDY, (), Listener()).text
    with opened(dense="int8") as session:
        mode = session.card_mode.mode
        assert mode is not None
        assert mode.ahead is not None
        keys, ahead, stops = list(session.runtime.cache.keys), mode.ahead, list[int]()

        def disturbed(first: int, step: GraphStep) -> int:
            for key in random.sample(keys, 2):
                if mode.held.tier(key):
                    mode.held.leave(key)
                else:
                    mode.fill([key])
            stops.append(asked := ahead(first, step))
            return asked

        half = keys[::2]
        while mode.fill(half):
            pass
        executor = session.decoder.executor
        assert executor is not None
        executor.run_ahead = disturbed
        assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
        assert {*stops} == set(range(len(session.decoder.layers) + 1))
        assert ahead.ran > 20
    assert with_linears.leaks == []


def test_no_order_of_whole_layers_on_the_card_is_wrong(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches, their graphs, prompts' rows that follow, and experts that come beside them.

    UNDERHILL_ORDERS=10000 draws so many orders.
    """
    take_prompts_attention(monkeypatch)
    monkeypatch.setattr(lookahead, "LIKELY", 0.0)
    monkeypatch.setattr(stretches, "OFTEN", 2)
    monkeypatch.setattr(prefill, "measure", measured_prefill(FAST, SLOW))
    monkeypatch.setattr(prefill, "PIECE", 32)
    schedule = with_linears.schedule = RecordedSchedule(1)
    with opened(dense="int8") as session:
        mode = session.card_mode.mode
        assert mode is not None
        assert mode.ahead is not None
        most = list(session.runtime.cache.keys)[::2]
        while mode.fill(most):
            pass
        for ask in (HELLO, AGAIN, HELLO):
            session.generate(ask, Sampling(temperature=0, max_tokens=6), (), Listener())
            settle(mode)
        assert mode.ahead.ran > 10
        assert mode.prefill.computed > 10
        assert mode.attention is not None
        assert mode.attention.computed > 2
        assert with_linears.calls["cuGraphLaunch"] > 2
    check_orders([schedule.stream], int(os.environ.get("UNDERHILL_ORDERS", "20")))
    # What these copy is not met before others wait.
    unneeded = {"expert_kernels._send_slots", "stretches.__init__"}
    check_waits([schedule.stream], 500, unneeded)


def watch_pieces(
    monkeypatch: pytest.MonkeyPatch, mode: card_mode.CardMode, told: Callable[[CommandList], None]
) -> None:
    """Have this told of each piece of a prompt that goes to the card, which have streams of their own."""
    submit, others = mode.device.driver.submit, (mode.device.compute, mode.device.copy)

    def submitted(commands: CommandList, stream: int) -> None:
        if stream not in others:
            told(commands)
        submit(commands, stream)

    monkeypatch.setattr(mode.device.driver, "submit", submitted)


@pytest.mark.parametrize("attention", [False, True], ids=["products", "layers"])
def test_a_prompt_meets_shared_weights_on_the_card(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch, attention: bool
) -> None:
    monkeypatch.setattr(prefill, "measure", measured_prefill(FAST, SLOW))
    monkeypatch.setattr(prefill, "PIECE", 32)
    brief = Sampling(temperature=0, max_tokens=8)
    if attention:
        take_attention(monkeypatch)
    with opened(mode="cpu", dense="int8") as session:
        alone = session.generate(LONG, brief, (), Listener()).text
    with opened(dense="int8") as session:
        mode = session.card_mode.mode
        assert mode is not None
        assert (mode.layers is not None) == attention
        assert mode.prefill.count >= 2 * len(session.decoder.layers)
        # What its rows take there comes out of what experts have.
        lying = mode.linears.nbytes + mode.prefill.nbytes + (mode.layers.nbytes if mode.layers is not None else 0)
        assert mode.held.capacity <= session.plan.card_bytes + session.plan.card_linear_bytes - lying
        assert 0 < mode.prefill.nbytes <= offload.PREFILL
        products, pieces = mode.prefill.computed, list[CommandList]()
        watch_pieces(monkeypatch, mode, pieces.append)
        assert session.generate(LONG, brief, (), Listener()).text == alone
        assert mode.prefill.computed == products + mode.prefill.count - 1  # but the head, which meets one row
        assert len(pieces) > mode.prefill.count  # in pieces
    assert with_linears.leaks == []


@pytest.mark.parametrize("call", [0, 7, 20])
def test_a_card_that_is_lost_in_a_prompt_is_said_once(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    monkeypatch.setattr(prefill, "measure", measured_prefill(FAST, SLOW))
    monkeypatch.setattr(prefill, "PIECE", 32)
    brief = Sampling(temperature=0, max_tokens=8)
    with opened(mode="cpu", dense="int8") as session:
        alone = session.generate(LONG, brief, (), Listener()).text
    with opened(dense="int8") as session:
        told: list[str] = []
        session.on_notice = told.append
        mode = session.card_mode.mode
        assert mode is not None
        pieces = list[CommandList]()

        def submitted(commands: CommandList) -> None:
            pieces.append(commands)
            if len(pieces) == call + 1:
                with_linears.fail["cuLaunchKernel"] = [LAUNCH_FAILED]

        watch_pieces(monkeypatch, mode, submitted)
        assert session.generate(LONG, brief, (), Listener()).text == alone
        assert len(pieces) == call + 1
        assert mode.prefill.error is not None
        assert [notice.split(".")[0] for notice in told if notice] == ["CPU only"]
        assert session.plan.mode == offload.CPU
        assert session.generate(LONG, brief, (), Listener()).text == alone
    assert with_linears.leaks == []


@pytest.mark.parametrize("lost", [None, 5])
def test_a_prompt_meets_its_rows_on_the_card(
    with_linears: SimulatedDriver, monkeypatch: pytest.MonkeyPatch, lost: int | None
) -> None:
    """lost: the card, after so many pieces of the second prompt."""
    take_prompts_attention(monkeypatch)
    monkeypatch.setattr(prefill, "measure", measured_prefill(SLOW, FAST))
    brief = Sampling(temperature=0, max_tokens=4)

    def chat(session: Session, between: Callable[[], object]) -> list[str]:
        first = session.generate(LONG, brief, (), Listener()).text
        between()
        turns = (*LONG, Message("assistant", first), *LONG)
        return [first, session.generate(turns, brief, (), Listener()).text]

    with opened(mode="cpu", dense="int8") as session:
        alone, layers = chat(session, list), len(session.decoder.layers)
    with opened(dense="int8") as session:
        told: list[str] = []
        session.on_notice = told.append
        mode = session.card_mode.mode
        assert mode is not None
        assert mode.attention is not None
        lying = [part.nbytes for part in (mode.linears, mode.prefill, mode.attention, mode.layers) if part is not None]
        assert mode.held.capacity <= session.plan.card_bytes + session.plan.card_linear_bytes - sum(lying)
        assert 0 < mode.attention.nbytes <= offload.ATTENDED
        pieces, before = list[CommandList](), list[int]()

        def submitted(commands: CommandList) -> None:
            pieces.append(commands)
            if lost is not None and before and len(pieces) == before[0] + lost + 1:
                with_linears.fail["cuLaunchKernel"] = [LAUNCH_FAILED]

        watch_pieces(monkeypatch, mode, submitted)
        assert chat(session, lambda: before.append(len(pieces))) == alone
        assert before[0] > layers  # in pieces
        assert (mode.attention.error is not None) == (lost is not None)
        assert [notice.split(".")[0] for notice in told if notice] == ["CPU only"] * (lost is not None)
        assert mode.attention.computed >= (2 * layers if lost is None else layers)
    assert with_linears.leaks == []


def test_the_shared_weights_of_a_token_lie_on_the_card(with_linears: SimulatedDriver) -> None:
    with opened(mode="cpu", dense="int8") as session:
        first = session.generate(HELLO, GREEDY, (), Listener()).text
        second = session.generate(AGAIN, GREEDY, (), Listener()).text
    for _ in range(2):  # a restart finds it the same
        with opened(dense="int8") as session:
            assert any("of shared weights in GPU memory" in sentence for sentence in session.sentences)
            assert "The CPU computes attention: Simulated 0 is no faster." in session.sentences
            assert session.generate(HELLO, GREEDY, (), Listener()).text == first
            mode = session.card_mode.mode  # type: ignore[union-attr]
            assert mode is not None
            before = mode.linears.computed
            assert session.generate(AGAIN, GREEDY, (), Listener()).text == second
            assert mode.linears.computed > before + mode.linears.count
        assert with_linears.leaks == []


def test_what_stays_on_the_processor_is_said(card: SimulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    for runs, why in ((layer_runs.runs_of, "it would take "), (lambda graphs: [], "this model's kind of it can't run")):
        monkeypatch.setattr(card_session, "runs_of", runs)
        with opened() as session:
            assert sum(s.startswith(f"The CPU computes attention: {why}") for s in session.sentences) == 1


def test_a_card_that_is_lost_in_a_product_of_shared_weights_loses_no_word(with_linears: SimulatedDriver) -> None:
    with opened(mode="cpu", dense="int8") as session:
        alone = session.generate(HELLO, GREEDY, (), Listener()).text
    for call in (40, 43, 61):
        with opened(dense="int8") as session:
            told: list[str] = []
            session.on_notice = told.append
            session.generate(HELLO, GREEDY, (), Listener())
            with_linears.fail["cuEventSynchronize"] = [0] * call + [LAUNCH_FAILED]
            assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
            assert [notice.split(".")[0] for notice in told if notice] == ["CPU only"]
            assert session.plan.mode == offload.CPU
            with_linears.fail.clear()
            assert session.generate(HELLO, GREEDY, (), Listener()).text == alone
        assert with_linears.leaks == []


def test_the_speed_that_was_seen_with_a_card_is_expected_from_then_on(
    card: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(0.8)
    monkeypatch.setattr(LoadWatch, "load", property(lambda watch: load))
    with opened() as session:
        path = session.store.path / card_record.FILE
        expected = session.plan.speed
        for _ in range(6):
            session.generate(HELLO, GREEDY, (), Listener())
        assert session.plan.speed == expected  # what others slow down says nothing of the next time
        load = Load()
        for _ in range(12):
            session.generate(HELLO, GREEDY, (), Listener())
        assert path.exists()
        seen = session.plan.speed
        assert seen != expected
        assert [s for s in session.sentences if s.startswith("Speed: ")] == [
            f"Speed: about {figure(seen[0])} tok/s (measured with the GPU)."
        ]
    with opened() as session:
        assert session.plan.speed == seen
    with opened(threads=2) as session:
        assert session.plan.speed != seen
    path.write_text('{"speed": "fast"}', encoding="utf-8")
    with opened() as session:
        assert session.plan.speed == expected


def test_auto_leaves_a_card_alone_that_was_seen_to_be_slower(
    card: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoadWatch, "load", property(lambda watch: Load()))
    monkeypatch.setattr(offload, "FASTER", 0.0)  # by arithmetic the card would be taken
    with opened(mode="auto") as session:
        path = session.store.path / card_record.FILE
        assert session.plan.mode == offload.ASSISTED
        for _ in range(12):
            session.generate(HELLO, GREEDY, (), Listener())
        assert path.exists()  # simulated, it takes many times as long
    for _ in range(2):  # restarts
        with opened(mode="auto") as session:
            assert session.plan.mode == offload.CPU
            assert sum("isn't used: " in s and s.endswith("the CPU alone is faster.") for s in session.sentences) == 1
            session.generate(HELLO, GREEDY, (), Listener())
    with opened() as session:  # wanted all the same
        assert session.plan.mode == offload.ASSISTED


def test_where_the_card_does_not_open_the_model_does(
    card: SimulatedDriver, alone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Driver:
        raise no_driver()

    monkeypatch.setattr(card_session, "open_driver", none)
    with opened() as session:
        assert session.plan.mode == offload.CPU
        assert any(s.startswith("CPU only. No NVIDIA") for s in session.sentences)
        assert session.generate(HELLO, GREEDY, (), Listener()).text == alone


def test_by_itself_a_card_is_taken_where_the_arithmetic_says_so(card: SimulatedDriver) -> None:
    with opened(mode="auto") as session:
        # The built-in model is so small that handing over costs more than computing.
        assert session.plan.mode == offload.CPU
        for _ in range(2):
            assert any("isn't used: the CPU is as fast" in sentence for sentence in session.sentences)
            session.update({"dial": "fast"})
    assert "cuDevicePrimaryCtxRetain" not in card.calls
