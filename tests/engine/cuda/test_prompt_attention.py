"""Attention of prompts on the card: the processor's answer, of whatever sequence, whatever becomes of the card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.cuda import layer_proof, prompt_attention
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.layers import CardLayers
from engine.cuda.prefill import SideCost
from engine.cuda.prompt_attention import CardAttention, pairs_of
from engine.kernels import prefill_attention as processor
from engine.kernels.attending import Attending
from engine.kernels.native import NativeKernel
from engine.models.layers import state as state_module
from engine.planning.offload import ATTENDED
from tests.engine.cuda.command_stream import RecordedSchedule, check_orders, check_waits
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver, interpreted
from tests.engine.cuda.test_layers import CLOSE, PTX, TOTAL, Model, close, model
from tests.engine.cuda.test_layers import opened as opened_layers
from tests.engine.cuda.test_prefill import FAST, ORDERS, SLOW
from tests.engine.cuda.test_prefill import measured as measured_prefill

pytestmark = pytest.mark.long

LONG = [(7 * i * i + 3 * i + 5) % 90 + 3 for i in range(40)]  # more tokens than a step of native ops takes
FAMILIES = ("qwen3_moe", "qwen2_moe with windows", "gpt_oss")  # plain, with windows, and with sinks as well


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    with closing(NativeKernel(1, exact=True)) as made:
        yield made


@pytest.fixture(autouse=True)
def _fast_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (0.5, 1.0))
    monkeypatch.setattr(layer_proof, "ROWS", 5)
    monkeypatch.setattr(prompt_attention, "measure", measured_prefill(FAST, SLOW))
    monkeypatch.setattr(prompt_attention, "ROWS", 40)
    monkeypatch.setattr(prompt_attention, "PIECE", 16)


@pytest.fixture
def qwen(tmp_path: Path, kernel: NativeKernel) -> Model:
    return model("qwen3_moe", tmp_path, kernel)


@contextmanager
def opened(made: Model, kernel: NativeKernel, simulated: SimulatedDriver) -> Iterator[tuple[CardLayers, CardAttention]]:
    """With its layers on the card; all is given back in the end."""
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened_layers(device, made, kernel)
        yield layers, CardAttention(device, PTX, kernel, layers)
    assert simulated.leaks == []
    assert kernel.attends is None


def ask(made: Model, ids: list[int], state: state_module.SequenceState) -> Tensor:
    """Logits of every token of a prompt."""
    found = made.decoder.forward(ids, state, "all")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "kv_dtype"), [*((name, torch.float32) for name in FAMILIES), ("gpt_oss", torch.bfloat16)]
)
def test_a_chat_of_two_turns_says_the_same_with_the_card(
    name: str, kv_dtype: torch.dtype, tmp_path: Path, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 8)  # rows lie in several pieces
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 8)
    made = model(name, tmp_path, kernel, "int8", kv_dtype)
    made.tokens = 100

    def chat() -> Tensor:
        state = made.decoder.new_state()
        first = ask(made, LONG[:17], state), ask(made, LONG[17:], state), made.say([4, 7], state)
        state.rollback(37)  # the last answer is written anew
        return torch.cat((*first, ask(made, LONG[:20], state), made.say([9], state)))

    expected = chat()
    with opened(made, kernel, SimulatedDriver(len(name), TOTAL, interpreted)) as (layers, card):
        found = chat()
        assert (card.computed, len(card.least)) == (3 * len(made.decoder.layers), len(made.decoder.layers))
        assert layers.computed > 0
        assert card.worst <= layer_proof.TOLERANCE
    # Rows of bf16: a number on the border between two of them is rounded to the other.
    assert close(found, expected, CLOSE if kv_dtype == torch.float32 else 1e-2)


@pytest.mark.parametrize("seed", range(3))
def test_prompts_of_several_sequences_meet_their_own_rows(seed: int, qwen: Model, kernel: NativeKernel) -> None:
    qwen.tokens = 100

    def run() -> Tensor:
        one, other = qwen.decoder.new_state(), qwen.decoder.new_state()
        found = [ask(qwen, LONG, one), qwen.say([5], other), qwen.say([6], one), ask(qwen, LONG[::-1], other)]
        other.rollback(11)
        # Side by side: each layer meets one after the other.
        parts = [(torch.tensor(LONG[:18]), state, "all", 0) for state in (one, other)]
        found += [own.clone() for own in qwen.decoder.forward_parts(parts) if own is not None]  # type: ignore[arg-type]
        return torch.cat((*found, qwen.say([8], one), qwen.say([8], other)))

    expected = run()
    with opened(qwen, kernel, SimulatedDriver(seed, TOTAL, interpreted, eagerness=seed / 3)) as (_, card):
        assert close(run(), expected)
        assert card.computed == 4 * len(qwen.decoder.layers)


def test_a_pass_that_breaks_off_leaves_no_row_of_its_own(qwen: Model, kernel: NativeKernel) -> None:
    qwen.tokens = 100

    def run(card: CardAttention | None) -> Tensor:
        state = qwen.decoder.new_state()
        ask(qwen, LONG[:20], state)
        if card is not None:  # another prompt gets as far as the first layer's attention
            attends, calls = kernel.attends, []
            assert attends is not None

            def broken(call: Attending) -> bool:
                attends(call)
                calls.append(call)
                raise KeyboardInterrupt

            kernel.attends = broken
            with pytest.raises(KeyboardInterrupt):
                ask(qwen, LONG[20:], state)
            assert len(calls) == 1
            kernel.attends = attends
        return torch.cat((ask(qwen, LONG[::-1], state), qwen.say([4], state)))

    expected = run(None)
    with opened(qwen, kernel, SimulatedDriver(0, TOTAL, interpreted)) as (_, card):
        assert close(run(card), expected)


def test_beyond_the_cards_rows_and_below_the_crossing_the_processor_computes(
    qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With 20 tokens there are 210 pairs, and 820 with 40.
    monkeypatch.setattr(prompt_attention, "measure", measured_prefill(SideCost(300.0, 0.1), SideCost(0.0, 1.0)))
    qwen.tokens = 45
    layers = len(qwen.decoder.layers)
    with opened(qwen, kernel, SimulatedDriver(0, TOTAL, interpreted)) as (_, card):
        assert set(card.least.values()) == {334}
        state = qwen.decoder.new_state()
        for ids, there in ((LONG[:20], 0), (LONG[:20], 1), (LONG[:20], 1)):  # up to 20, 40 and 60 tokens
            ask(qwen, ids, state)
            assert card.computed == there * layers


def test_what_is_no_faster_stays_here(qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_attention, "measure", measured_prefill(SLOW, FAST))
    with opened(qwen, kernel, SimulatedDriver(0, TOTAL, interpreted)) as (_, card):
        assert (card.least, kernel.attends) == ({}, None)


def test_both_sides_are_measured_on_the_same_calls(
    qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (0.5, 1.0))
    monkeypatch.setattr(layer_proof, "ROWS", 5)
    now, there, here = [0.0], CardAttention.attend, processor.prefill_attention

    def slow(card: CardAttention, call: Attending) -> None:
        there(card, call)
        now[0] += 500.0 + 0.5 * pairs_of(call)

    def fast(*args: object, **named: object) -> Tensor:
        q, pieces = args[1], args[2]
        n, rows = len(q), sum(keys.shape[1] for keys, _ in pieces)  # type: ignore[arg-type, attr-defined]
        now[0] += n * rows - n * (n - 1) // 2
        return here(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(prompt_attention.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(CardAttention, "attend", slow)
    monkeypatch.setattr(prompt_attention, "prefill_attention", fast)
    qwen.tokens = 60
    with opened(qwen, kernel, SimulatedDriver(0, TOTAL, interpreted)) as (_, card):
        assert set(card.least.values()) == {1001}


FAILING = ("cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize", "cuCtxSetCurrent")


@pytest.mark.parametrize("name", FAILING)
def test_a_card_that_fails_in_the_middle_leaves_attention_to_the_processor(
    qwen: Model, kernel: NativeKernel, name: str
) -> None:
    qwen.tokens = 100
    expected = ask(qwen, LONG, qwen.decoder.new_state())
    for done in (0, 1, 2):
        simulated = SimulatedDriver(done, TOTAL, interpreted)
        with opened(qwen, kernel, simulated) as (_, card):
            simulated.fail[name] = [0] * done + [LAUNCH_FAILED]
            assert close(ask(qwen, LONG, qwen.decoder.new_state()), expected)
            assert card.error is not None
            assert card.error.code == LAUNCH_FAILED
            launched = simulated.launches
            assert close(ask(qwen, LONG, qwen.decoder.new_state()), expected)
            assert simulated.launches == launched  # it is left alone


def test_other_numbers_than_the_processors_are_refused(
    qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    attend = CardAttention.attend
    monkeypatch.setattr(CardAttention, "attend", lambda card, call: attend(card, call._replace(scale=call.scale / 2)))
    simulated = SimulatedDriver(0, TOTAL, interpreted)
    with pytest.raises(CardError, match="attention differs"), opened(qwen, kernel, simulated):
        pass
    assert simulated.leaks == []


def test_no_more_lies_on_the_card_than_it_says_and_the_plan_leaves_room_for(qwen: Model, kernel: NativeKernel) -> None:
    simulated = SimulatedDriver(0, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened_layers(device, qwen, kernel)
        before = sum(simulated.allocated.values())
        card = CardAttention(device, PTX, kernel, layers)
        assert sum(simulated.allocated.values()) == before + card.nbytes
    assert 2 * 2 * prompt_attention.ROOM <= ATTENDED


def test_no_order_of_pieces_is_wrong(qwen: Model, kernel: NativeKernel) -> None:
    """UNDERHILL_ORDERS=10000 draws so many orders."""
    qwen.tokens, recorded = 100, []
    for seed in range(2):
        schedule = RecordedSchedule(seed)
        with opened(qwen, kernel, SimulatedDriver(0, TOTAL, interpreted, schedule=schedule)):
            state = qwen.decoder.new_state()
            for ids in (LONG, LONG[:20]):
                ask(qwen, ids, state)
                qwen.say([5], state)
        recorded.append(schedule.stream)
    check_orders(recorded, ORDERS)
    check_waits(recorded, 300)
