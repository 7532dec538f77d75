"""Attention, routers and shared experts of whole models on the card: the processor's answer, whatever becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig

from engine.cuda import layer_proof
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.layer_proof import open_layers
from engine.cuda.layer_runs import Asked, LayerPlaces, LayerRun, SequenceRows, cache_bytes, runs_of, weight_bytes
from engine.cuda.layers import CardLayers
from engine.cuda.ptx_files import read_ptx
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.layers import state as state_module
from engine.models.layers.state import SequenceState
from engine.models.layers.weight_format import Kind, WeightFormat
from engine.native.op_graph import GraphStep
from engine.native.op_slots import OpKind
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, MIB, OUT_OF_MEMORY, SimulatedDriver, interpreted
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.parity import DirectoryWeights, make_pair
from tests.engine.models.reference_experts import ReferenceExperts

pytestmark = pytest.mark.long

PTX = read_ptx("sm_80") + b"\0"
IDS = [5, 17, 3, 88, 41, 2, 60, 9]
ROOM, TOTAL = 64 * MIB, 256 * MIB
WIDE = {"head_dim": 64, "hidden_size": 64}
# With activations in float32 nothing is rounded to codes, so that only the order of sums differs.
CLOSE, LOOSE = 2e-5, 3e-2
FAMILIES = ("qwen3_moe", "qwen2_moe with windows", "gpt_oss", "glm4_moe", "granitemoeshared", "mixtral", "olmoe")


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    with closing(NativeKernel(1, exact=True)) as made:
        yield made


@dataclass
class Model:
    """A tiny model, and what the card is told of it."""

    decoder: Decoder
    tokens: int = 40

    @property
    def places(self) -> LayerPlaces:
        executor = self.decoder.executor
        assert executor is not None

        def follow(told: Callable[[SequenceRows], None] | None) -> None:
            executor.before_token = told

        def ahead(told: Callable[[int, GraphStep], int] | None) -> None:
            executor.run_ahead = told

        return LayerPlaces(
            graphs=executor.graphs,
            asked=[Asked(layer, step.x, step.ids, step.weights, step.y) for layer, step in executor.asked],
            logits=executor.logits,
            tokens=self.tokens,
            kv_dtype=self.decoder.kv_dtype,
            trial=self.decoder.trial_state,
            follow=follow,
            ahead=ahead,
        )

    def say(self, ids: list[int], state: SequenceState) -> Tensor:
        """Logits of every token, one at a time."""
        found = [self.decoder.forward([token], state) for token in ids]
        return torch.cat([own for own in found if own is not None])


def model(
    name: str, path: Path, kernel: NativeKernel, kind: Kind = "int8", kv_dtype: torch.dtype = torch.float32
) -> Model:
    model_type, changes = CASES[name]
    wide = {**WIDE, "num_attention_heads": 1, "num_key_value_heads": 1} if name == "olmoe" else WIDE
    made = make_pair(AutoConfig.for_model(model_type, **{**COMMON, **changes, **wide}), path)
    dense = WeightFormat(kind, kernel=kernel, head="int8", table="f32")
    return Model(Decoder(made.ours.spec, made.weights, ReferenceExperts(made.model), dense, kv_dtype))


def attentions(runs: Sequence[LayerRun]) -> int:
    """Layers whose attention is in them."""
    return sum(op.kind is OpKind.ATTEND for run in runs for op in run.ops)


@pytest.fixture
def qwen(tmp_path: Path, kernel: NativeKernel) -> Model:
    return model("qwen3_moe", tmp_path, kernel)


@pytest.fixture(autouse=True)
def _fast_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (0.5, 1.0))
    monkeypatch.setattr(layer_proof, "ROWS", 5)


def opened(device: CardDevice, made: Model, kernel: NativeKernel) -> CardLayers:
    layers = open_layers(device, PTX, kernel, made.places, ROOM)
    assert layers is not None
    return layers


def close(found: Tensor, expected: Tensor, tolerance: float = CLOSE) -> bool:
    return bool(((found - expected).norm(dim=1) <= tolerance * expected.norm(dim=1)).all())


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_of_plain_attention_says_the_same_with_the_card(
    name: str, tmp_path: Path, kernel: NativeKernel
) -> None:
    made = model(name, tmp_path, kernel)
    expected = made.say(IDS, made.decoder.new_state())
    simulated = SimulatedDriver(len(name), TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened(device, made, kernel)
        assert attentions(layers.runs) == len(made.decoder.layers)
        before, state = layers.computed, made.decoder.new_state()
        found = made.say(IDS, state)
        assert layers.computed == before + len(IDS) * len(layers.runs)
        assert close(found, expected)
        layers.stop()
        # What was kept is in ordinary memory: without the card the sequence goes on.
        again = made.decoder.new_state()
        made.say(IDS, again)
        assert close(made.say([4, 7], state), made.say([4, 7], again))
    assert simulated.leaks == []


@pytest.mark.parametrize("kind", ["int4", "int8"])
@pytest.mark.parametrize("kv_dtype", [torch.float32, torch.bfloat16])
def test_with_activations_in_8_bits_and_every_kind_of_rows(kind: Kind, kv_dtype: torch.dtype, tmp_path: Path) -> None:
    with closing(NativeKernel(1)) as coarse:
        made = model("qwen3_moe", tmp_path, coarse, kind, kv_dtype)
        expected = made.say(IDS, made.decoder.new_state())
        with closing(CardDevice(Driver(SimulatedDriver(1, TOTAL, interpreted)), 0)) as device:
            layers = opened(device, made, coarse)
            found = made.say(IDS, made.decoder.new_state())
            assert layers.worst <= layer_proof.TOLERANCE
        assert close(found, expected, LOOSE)
        assert torch.equal(found.argmax(1), expected.argmax(1))


@pytest.mark.parametrize("seed", range(6))
def test_prompts_cuts_and_other_sequences_are_followed_in_every_order(
    seed: int, qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 3)  # rows lie in several pieces
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 4)
    random = torch.Generator().manual_seed(seed)

    def drawn(n: int) -> list[int]:
        return torch.randint(3, 90, (n,), generator=random).tolist()

    plan: list[tuple[int, str, list[int], int]] = []
    for _ in range(10):
        which, what = (int(torch.randint(0, n, (1,), generator=random)) for n in (2, 4))
        plan.append((which, ("prompt", "tokens", "tokens", "cut")[what], drawn(3), int(drawn(1)[0])))

    def run() -> list[Tensor]:
        states, found = [qwen.decoder.new_state() for _ in range(2)], []
        for which, what, ids, cut in plan:
            state = states[which]
            if what == "cut":
                state.rollback(min(state.length, cut % 7))
            elif what == "prompt":
                qwen.decoder.forward(ids, state, "none")
            else:
                found.append(qwen.say(ids, state))
        return [*found, *(qwen.say([11], state) for state in states)]

    expected = run()
    simulated = SimulatedDriver(seed, TOTAL, interpreted, eagerness=seed / 6)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened(device, qwen, kernel)
        before = layers.computed
        assert all(close(one, other) for one, other in zip(run(), expected, strict=True))
        assert layers.computed > before
    assert simulated.leaks == []


def test_a_sequence_that_outgrows_the_card_goes_on_here_and_comes_back(qwen: Model, kernel: NativeKernel) -> None:
    qwen.tokens = 6
    ids = [*IDS, 4, 7]

    def run() -> Tensor:
        state = qwen.decoder.new_state()
        first = qwen.say(ids, state)
        state.rollback(4)
        return torch.cat((first, qwen.say(ids[4:6], state)))

    expected = run()
    with closing(CardDevice(Driver(SimulatedDriver(0, TOTAL, interpreted)), 0)) as device:
        layers = opened(device, qwen, kernel)
        before = layers.computed
        assert close(run(), expected)
        assert layers.computed == before + 8 * len(layers.runs)


@pytest.mark.parametrize(
    "call", ["cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize", "cuCtxSetCurrent"]
)
@pytest.mark.parametrize("after", [0, 1, 7, 11])
def test_a_card_that_is_lost_loses_no_row(call: str, after: int, qwen: Model, kernel: NativeKernel) -> None:
    expected = qwen.say(IDS, qwen.decoder.new_state())
    simulated = SimulatedDriver(after, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened(device, qwen, kernel)
        state = qwen.decoder.new_state()
        found = [qwen.say(IDS[:2], state)]
        simulated.fail[call] = [0] * after + [LAUNCH_FAILED]
        found.append(qwen.say(IDS[2:], state))
        assert close(torch.cat(found), expected)
        assert layers.error is not None
        assert layers.error.code == LAUNCH_FAILED
        launched = simulated.launches
        qwen.say([4], state)
        assert simulated.launches == launched  # it is left alone
    assert simulated.leaks == []


def test_memory_that_is_refused_at_any_moment_leaves_all_to_the_processor(qwen: Model, kernel: NativeKernel) -> None:
    expected = qwen.say(IDS[:2], qwen.decoder.new_state())
    counted = SimulatedDriver(0, TOTAL, interpreted)
    with closing(CardDevice(Driver(counted), 0)) as device:
        opened(device, qwen, kernel)
    for at in range(0, counted.calls["cuMemAlloc_v2"], 5):
        simulated = SimulatedDriver(0, TOTAL, interpreted)
        with closing(CardDevice(Driver(simulated), 0)) as device:
            simulated.fail["cuMemAlloc_v2"] = [0] * at + [OUT_OF_MEMORY]
            assert open_layers(device, PTX, kernel, qwen.places, ROOM) is None
            assert torch.equal(qwen.say(IDS[:2], qwen.decoder.new_state()), expected)
        assert simulated.leaks == []


def test_what_is_no_faster_there_or_has_no_room_stays_here(
    qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = qwen.say(IDS[:2], qwen.decoder.new_state())
    runs = runs_of(qwen.places.graphs)
    needed = weight_bytes(runs) + cache_bytes(runs, qwen.tokens, torch.float32)
    simulated = SimulatedDriver(0, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        assert open_layers(device, PTX, kernel, qwen.places, needed - 1) is None
        assert simulated.allocated == {}
        monkeypatch.setattr(layer_proof, "measure", lambda *args: (1.0, 1.0))
        assert open_layers(device, PTX, kernel, qwen.places, needed) is None
        launched = simulated.launches
        assert torch.equal(qwen.say(IDS[:2], qwen.decoder.new_state()), expected)
        assert simulated.launches == launched


def test_both_sides_are_measured_on_the_same_tokens(
    qwen: Model, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(layer_proof, "ROWS", 5)
    simulated = SimulatedDriver(0, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        assert open_layers(device, PTX, kernel, qwen.places, ROOM) is None  # an interpreter is no card
        assert simulated.launches > 100
    assert simulated.leaks == []


@pytest.mark.parametrize("kernel_name", ["uh_norm", "uh_heads_finish", "uh_merge", "uh_raw", "uh_route", "uh_add"])
def test_a_kernel_that_computes_something_else_is_found(kernel_name: str, qwen: Model, kernel: NativeKernel) -> None:
    def wrong(ptx: bytes) -> object:
        found = dict(interpreted(ptx))
        right = found[kernel_name]
        run, at = (
            right.run,
            {"uh_norm": 1, "uh_heads_finish": 0, "uh_merge": 3, "uh_raw": 3, "uh_route": 3, "uh_add": 0},
        )

        def spoiled(memory: object, grid: object, block: int, shared: int, arguments: list[bytes]) -> object:
            touched = run(memory, grid, block, shared, arguments)  # type: ignore[arg-type]
            where = int.from_bytes(arguments[at[kernel_name]], "little")
            data = memory.read(where, 64)  # type: ignore[attr-defined]
            memory.write(where, data[::-1])  # type: ignore[attr-defined]
            return touched

        right.run = spoiled  # type: ignore[method-assign, assignment]
        return found

    simulated = SimulatedDriver(0, TOTAL, wrong)  # type: ignore[arg-type]
    with closing(CardDevice(Driver(simulated), 0)) as device:
        with pytest.raises(CardError, match="attention differs"):
            open_layers(device, PTX, kernel, qwen.places, ROOM)
        state = qwen.decoder.new_state()
        launched = simulated.launches
        qwen.say(IDS[:2], state)
        assert simulated.launches == launched
    assert simulated.leaks == []


def test_layers_of_another_kind_stay_on_the_processor(tmp_path: Path, kernel: NativeKernel) -> None:
    narrow = model("glm4_moe in groups", tmp_path / "groups", kernel)
    runs = runs_of(narrow.places.graphs)
    # The choice among groups has no kernel: attention runs there all the same, and the router's choice here.
    assert attentions(runs) == len(narrow.decoder.layers)
    assert not any(op.kind is OpKind.ROUTE for run in runs for op in run.ops)
    model_type, changes = CASES["qwen3_moe"]
    made = make_pair(AutoConfig.for_model(model_type, **{**COMMON, **changes}), tmp_path / "narrow")
    dense = WeightFormat("int8", kernel=kernel, head="int8", table="f32")
    weights: DirectoryWeights = made.weights  # type: ignore[assignment]
    decoder = Decoder(made.ours.spec, weights, ReferenceExperts(made.model), dense)
    assert runs_of(Model(decoder).places.graphs) == []  # heads of 16
