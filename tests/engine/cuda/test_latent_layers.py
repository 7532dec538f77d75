"""Latent attention of whole models on the card: the processor's answer, its rows in ordinary memory as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import torch

from engine.cuda import layer_proof
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.layer_proof import open_layers
from engine.cuda.layer_runs import cache_bytes, runs_of, weight_bytes, whole_runs
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.layers import state as state_module
from engine.models.layers.weight_format import Kind, WeightFormat
from engine.native.op_slots import OpKind
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver, interpreted
from tests.engine.cuda.test_layers import IDS, LOOSE, PTX, ROOM, TOTAL, Model, close, opened
from tests.engine.models.families.tiny import tiny
from tests.engine.models.parity import make_pair
from tests.engine.models.reference_experts import ReferenceExperts

pytestmark = pytest.mark.long

WHOLE = {"v_head_dim": 16}  # tiles fit a head's rows
FAMILIES = {
    "glm4_moe_lite": {},  # some heads' matrices are raw
    "deepseek_v3": WHOLE,  # its choice among groups stays here
    "deepseek_v2": {**WHOLE, "q_lora_rank": None, "first_k_dense_replace": 2},
}


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    with closing(NativeKernel(1, exact=True)) as made:
        yield made


@pytest.fixture(autouse=True)
def _fast_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_proof, "measure", lambda *args: (0.5, 1.0))
    monkeypatch.setattr(layer_proof, "ROWS", 5)


def model(
    name: str, path: Path, kernel: NativeKernel, kind: Kind = "int8", kv_dtype: torch.dtype = torch.float32
) -> Model:
    made = make_pair(tiny(name, **FAMILIES[name]), path)
    dense = WeightFormat(kind, kernel=kernel, head="int8", table="f32")
    return Model(Decoder(made.ours.spec, made.weights, ReferenceExperts(made.model), dense, kv_dtype))


@pytest.fixture
def glm(tmp_path: Path, kernel: NativeKernel) -> Model:
    return model("glm4_moe_lite", tmp_path, kernel)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_of_latent_attention_says_the_same_with_the_card(
    name: str, tmp_path: Path, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 3)  # rows lie in several pieces
    made = model(name, tmp_path, kernel)
    prompt, ids = IDS[:3], IDS[3:]
    expected_state = made.decoder.new_state()
    made.decoder.forward(prompt, expected_state, "none")
    expected = made.say(ids, expected_state)
    simulated = SimulatedDriver(len(name), TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened(device, made, kernel)
        assert sum(op.kind is OpKind.LATENT_ATTEND for run in layers.runs for op in run.ops) == len(made.decoder.layers)
        assert layers.whole == (name != "deepseek_v3")
        before, state = layers.computed, made.decoder.new_state()
        made.decoder.forward(prompt, state, "none")
        found = made.say(ids, state)
        assert layers.computed == before + len(ids) * len(layers.runs)
        assert close(found, expected)
        layers.stop()
        # What was kept is in ordinary memory: without the card the sequence goes on.
        assert close(made.say([4, 7], state), made.say([4, 7], expected_state))
    assert simulated.leaks == []


@pytest.mark.parametrize("kind", ["int4", "int8"])
@pytest.mark.parametrize("kv_dtype", [torch.float32, torch.bfloat16])
def test_with_activations_in_8_bits_and_every_kind_of_rows(kind: Kind, kv_dtype: torch.dtype, tmp_path: Path) -> None:
    with closing(NativeKernel(1)) as coarse:
        made = model("deepseek_v2", tmp_path, coarse, kind, kv_dtype)
        expected = made.say(IDS, made.decoder.new_state())
        with closing(CardDevice(Driver(SimulatedDriver(1, TOTAL, interpreted)), 0)) as device:
            layers = opened(device, made, coarse)
            found = made.say(IDS, made.decoder.new_state())
            assert layers.worst <= layer_proof.TOLERANCE
        assert close(found, expected, LOOSE)
        assert torch.equal(found.argmax(1), expected.argmax(1))


def test_cuts_and_other_sequences_are_followed(glm: Model, kernel: NativeKernel) -> None:
    def run() -> list[torch.Tensor]:
        one, other = glm.decoder.new_state(), glm.decoder.new_state()
        found = [glm.say(IDS[:4], one), glm.say(IDS[4:], other)]
        glm.decoder.forward([9, 8, 7], one, "none")
        one.rollback(5)
        return [*found, glm.say([11, 12], one), glm.say([13], other)]

    expected = run()
    with closing(CardDevice(Driver(SimulatedDriver(2, TOTAL, interpreted)), 0)) as device:
        layers = opened(device, glm, kernel)
        before = layers.computed
        assert all(close(found, own) for found, own in zip(run(), expected, strict=True))
        assert layers.computed > before


def test_a_card_that_is_lost_loses_no_row(glm: Model, kernel: NativeKernel) -> None:
    expected = glm.say(IDS, glm.decoder.new_state())
    simulated = SimulatedDriver(5, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        layers = opened(device, glm, kernel)
        simulated.fail["cuEventSynchronize"] = [0] * 9 + [LAUNCH_FAILED]
        assert close(glm.say(IDS, glm.decoder.new_state()), expected)
        assert layers.error is not None
    assert simulated.leaks == []


def test_its_room_is_that_of_matrices_and_latents(glm: Model, kernel: NativeKernel) -> None:
    runs = whole_runs(glm.places.graphs)
    assert cache_bytes(runs, glm.tokens, torch.float32) == len(glm.decoder.layers) * glm.tokens * (16 + 16) * 4
    needed = weight_bytes(runs) + cache_bytes(runs, glm.tokens, torch.float32)
    simulated = SimulatedDriver(0, TOTAL, interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        assert open_layers(device, PTX, kernel, glm.places, needed - 1) is None
        assert simulated.allocated == {}
        layers = open_layers(device, PTX, kernel, glm.places, needed)
        assert layers is not None
        assert layers.nbytes == needed
    assert simulated.leaks == []


@pytest.mark.parametrize(("kernel_name", "at"), [("uh_latent", 1), ("uh_attend_latent_32", 4)])
def test_a_kernel_that_computes_something_else_is_found(
    kernel_name: str, at: int, glm: Model, kernel: NativeKernel
) -> None:
    def wrong(ptx: bytes) -> object:
        found = dict(interpreted(ptx))
        right = found[kernel_name]
        run = right.run

        def spoiled(memory: object, grid: object, block: int, shared: int, arguments: list[bytes]) -> object:
            touched = run(memory, grid, block, shared, arguments)  # type: ignore[arg-type]
            where = int.from_bytes(arguments[at], "little") + 8
            data = memory.read(where, 32)  # type: ignore[attr-defined]
            memory.write(where, data[::-1])  # type: ignore[attr-defined]
            return touched

        right.run = spoiled  # type: ignore[method-assign, assignment]
        return found

    simulated = SimulatedDriver(0, TOTAL, wrong)  # type: ignore[arg-type]
    with closing(CardDevice(Driver(simulated), 0)) as device, pytest.raises(CardError, match="attention differs"):
        open_layers(device, PTX, kernel, glm.places, ROOM)
    assert simulated.leaks == []


def test_latents_of_odd_widths_stay_on_the_processor(tmp_path: Path, kernel: NativeKernel) -> None:
    made = make_pair(tiny("glm4_moe_lite", qk_rope_head_dim=12), tmp_path)
    dense = WeightFormat("int8", kernel=kernel, head="int8", table="f32")
    decoder = Decoder(made.ours.spec, made.weights, ReferenceExperts(made.model), dense)
    assert runs_of(Model(decoder).places.graphs) == []
