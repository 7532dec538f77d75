"""Several tokens in one run of the op graph: the bits that they have one by one, in every family that has one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.layers import state as state_module
from engine.models.layers.state import SequenceState
from engine.models.layers.weight_format import WeightFormat
from engine.models.spec import DecoderSpec, DeltaNetSpec, ShortConvSpec
from engine.native.op_graph import MOST_ROWS
from tests.engine.models.op_graph.test_families import CONFIGS, NOT_NATIVE, SomeWeights

IDS = [(7 * at + at * at) % 90 + 1 for at in range(64)]
SPECS = {name: read_spec(config) for name, config in CONFIGS.items()}
NATIVE = [name for name, spec in SPECS.items() if spec.family not in NOT_NATIVE]
RECURRENT = [
    name
    for name in NATIVE
    if any(isinstance(layer.mixer, DeltaNetSpec | ShortConvSpec) for layer in SPECS[name].layers)
]


class Noise(SomeWeights):
    """Random numbers that depend on a tensor's name alone; what scales is near 1."""

    def get(self, name: str) -> Tensor:
        random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        shape = super().get(name).shape
        size, middle = 0.3 if len(shape) > 1 else 0.1, 1.0 if "norm" in name else 0.0
        return torch.randn(shape, generator=random) * size + middle


class Rolling:
    """Experts that shift their input, each by another distance, number by number: no row can change another's bits."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        columns, total = torch.arange(x.shape[1]), torch.zeros(x.shape)
        for expert, weight in zip(ids.long().T, weights.T, strict=True):
            total = total + weight[:, None] * x.gather(1, (columns - expert[:, None] - layer) % x.shape[1])
        return total


class Breaking(Rolling):
    """In the last layer they are gone while it `breaks`."""

    breaks = False

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        if self.breaks and layer >= 2:
            raise OSError("gone")
        return super().moe(layer, x, ids, weights)


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    made = NativeKernel(2)
    yield made
    made.close()


def decoder_of(
    spec: DecoderSpec, kind: Any, kernel: NativeKernel, kv: torch.dtype, experts: Rolling | None = None
) -> Decoder:
    decoder = Decoder(spec, Noise(spec), experts or Rolling(), WeightFormat(kind, kernel=kernel), kv)
    assert decoder.native_layers
    return decoder


def fed(decoder: Decoder, state: SequenceState, sizes: list[int]) -> Tensor:
    """Logits of every token, fed so many at a time; a snapshot after each."""
    found = []
    for size in sizes:
        ids = IDS[state.length : state.length + size]
        logits = decoder.forward(ids, state, "all", horizon=len(IDS))
        assert logits is not None
        found.append(logits)
        state.snapshot()
    return torch.cat(found)


@pytest.mark.parametrize("name", NATIVE)
def test_rows_give_the_bits_of_single_tokens(name: str, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", MOST_ROWS)  # so that rows of one step lie in several chunks
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", MOST_ROWS)
    for kind, kv in (("bf16", torch.float32), ("int8", torch.bfloat16), ("int4", torch.bfloat16)):
        decoder = decoder_of(SPECS[name], kind, kernel, kv)
        alone, together = decoder.new_state(), decoder.new_state()
        singles = fed(decoder, alone, [1] * 45)
        assert singles.isfinite().all()
        assert singles.std() > 0
        assert torch.equal(fed(decoder, together, [3, 1, 2, MOST_ROWS, 5]), singles[:27])
        # Back to where a step ended, which recurrent layers have a snapshot of, and on in other steps.
        assert together.rollback(22) == 22
        assert torch.equal(fed(decoder, together, [4, 4, 15]), singles[22:])
        last = decoder.forward(IDS[45:52], together, "last", horizon=len(IDS))
        assert last is not None
        assert torch.equal(last, fed(decoder, alone, [1] * 7)[-1:])


def test_nothing_is_wanted_of_rows(kernel: NativeKernel) -> None:
    decoder = decoder_of(SPECS["qwen3_moe"], "int8", kernel, torch.bfloat16)
    alone, together = decoder.new_state(), decoder.new_state()
    wanted = fed(decoder, alone, [1] * 10)
    assert decoder.forward(IDS[:9], together, "none", horizon=len(IDS)) is None
    assert torch.equal(fed(decoder, together, [1]), wanted[9:])


def test_more_tokens_than_a_step_takes_are_a_prompt(kernel: NativeKernel) -> None:
    decoder = decoder_of(SPECS["qwen3_moe"], "bf16", kernel, torch.float32)
    state = decoder.new_state()
    prompt = fed(decoder, state, [MOST_ROWS + 1])
    singles = fed(decoder, decoder.new_state(), [1] * (MOST_ROWS + 1))
    assert not torch.equal(prompt, singles)  # torch multiplies in bf16
    assert (prompt - singles).norm() < 0.05 * singles.norm()
    assert fed(decoder, state, [2]).isfinite().all()


def texts(count: int) -> list[list[int]]:
    """Different ones, of different lengths."""
    return [[(3 * own + 5 * at + at * at * (own + 1)) % 90 + 1 for at in range(9 + 7 * own)] for own in range(count)]


@pytest.mark.parametrize("name", NATIVE)
def test_tokens_of_several_sequences_have_the_bits_of_each_alone(
    name: str, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 8)
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 8)
    for kind, kv in (("bf16", torch.float32), ("int4", torch.bfloat16)):
        decoder = decoder_of(SPECS[name], kind, kernel, kv)
        alone = [singly(decoder, ids) for ids in texts(4)]
        states, found = [decoder.new_state() for _ in alone], [[] for _ in alone]  # type: ignore[var-annotated]
        for at in range(33):  # each begins two tokens after the one before it, and leaves when its text ends
            there = [own for own, ids in enumerate(texts(4)) if 0 <= at - 2 * own < len(ids)]
            if not there:
                continue
            logits = decoder.forward_sequences(
                [texts(4)[own][at - 2 * own] for own in there], [states[o] for o in there]
            )
            for own, row in zip(there, logits, strict=True):
                found[own].append(row)
        for own, wanted in enumerate(alone):
            assert torch.equal(torch.stack(found[own]), wanted[: len(found[own])])
            assert states[own].length == len(found[own]) >= 9


def singly(decoder: Decoder, ids: list[int]) -> Tensor:
    """Logits after each token, fed one by one."""
    state = decoder.new_state()
    steps = [decoder.forward([token], state) for token in ids]
    return torch.cat([logits for logits in steps if logits is not None])


def test_as_many_sequences_as_a_step_takes(kernel: NativeKernel) -> None:
    decoder = decoder_of(SPECS["qwen3_moe"], "int8", kernel, torch.bfloat16)
    states = [decoder.new_state() for _ in range(MOST_ROWS)]
    alone = [singly(decoder, [own + 1, 7]) for own in range(MOST_ROWS)]
    steps = [decoder.forward_sequences(ids, states) for ids in ([own + 1 for own in range(MOST_ROWS)], [7] * MOST_ROWS)]
    for own, wanted in enumerate(alone):
        assert torch.equal(torch.stack([step[own] for step in steps]), wanted)


def test_sequences_that_turn_differently_stay_exact(kernel: NativeKernel) -> None:
    """One is longer than the original context and the other is not."""
    decoder = decoder_of(SPECS["qwen3_moe dynamic"], "int8", kernel, torch.bfloat16)
    long, short = decoder.new_state(), decoder.new_state()
    decoder.forward(IDS[:4], long, horizon=200_000)
    wanted = singly(decoder, [9])[0]
    assert torch.equal(decoder.forward_sequences([5, 9], [long, short])[1], wanted)


def test_an_expert_that_fails_leaves_every_sequence_as_it_was(kernel: NativeKernel) -> None:
    experts = Failing()
    decoder = decoder_of(SPECS["qwen3_moe"], "int8", kernel, torch.bfloat16, experts)
    states = [decoder.new_state() for _ in range(2)]
    decoder.forward_sequences([4, 5], states)
    experts.gone = True
    with pytest.raises(OSError, match="gone"):
        decoder.forward_sequences([6, 7], states)
    experts.gone = False
    assert [state.length for state in states] == [1, 1]
    assert torch.equal(decoder.forward_sequences([6, 7], states)[1], singly(decoder, [5, 7])[1])


class Failing(Rolling):
    """Experts that cannot be read while `gone`."""

    gone = False

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        if self.gone:
            raise OSError("gone")
        return super().moe(layer, x, ids, weights)


@pytest.mark.parametrize("name", RECURRENT)
def test_a_pass_that_keeps_its_start_is_taken_back_to_any_token(name: str, kernel: NativeKernel) -> None:
    decoder = decoder_of(SPECS[name], "int8", kernel, torch.bfloat16)
    singles = fed(decoder, decoder.new_state(), [1] * 55)
    state = decoder.new_state()
    fed(decoder, state, [5])
    assert not state.cuts_anywhere
    assert state.takes_back
    for taken in (1, 2, MOST_ROWS, 3, 0, 4, MOST_ROWS - 1):  # tokens of each pass that stay
        start = state.length
        state.keeps_start = True
        logits = decoder.forward([*IDS[start : start + taken], *([91] * (MOST_ROWS - taken))], state, "all", len(IDS))
        assert logits is not None
        assert torch.equal(logits[:taken], singles[start : start + taken])
        assert state.rollback(start + taken) == start + taken
        # As if nothing had been fed but these: one token more, and back behind it.
        again = decoder.forward([IDS[state.length]], state, "all", horizon=len(IDS))
        assert again is not None
        assert torch.equal(again[0], singles[state.length - 1])


@pytest.mark.parametrize("name", RECURRENT)
def test_a_pass_that_broke_off_goes_back_to_the_start_that_it_kept(name: str, kernel: NativeKernel) -> None:
    experts = Breaking()
    decoder = decoder_of(SPECS[name], "int8", kernel, torch.bfloat16, experts)
    singles = fed(decoder, decoder.new_state(), [1] * 12)
    state = decoder.new_state()
    fed(decoder, state, [2, 3])
    state.keeps_start, experts.breaks = True, True
    with pytest.raises(OSError, match="gone"):
        decoder.forward(IDS[5:9], state, "all", horizon=len(IDS))
    experts.breaks = False
    assert state.length == 5
    assert torch.equal(fed(decoder, state, [7]), singles[5:12])


@pytest.mark.parametrize("name", RECURRENT)
def test_behind_another_pass_a_start_is_of_no_use_any_more(name: str, kernel: NativeKernel) -> None:
    decoder = decoder_of(SPECS[name], "int8", kernel, torch.bfloat16)
    singles = fed(decoder, decoder.new_state(), [1] * 12)
    state, other = decoder.new_state(), decoder.new_state()
    fed(decoder, state, [3, 2])
    for meddling, whose in ((True, other), (True, state), (False, state)):
        state.rollback(5)
        state.keeps_start = True
        decoder.forward(IDS[5:9], state, "all", horizon=len(IDS))
        if meddling:
            decoder.forward([9], whose, "all", horizon=len(IDS))
        reached = state.rollback(7)
        assert reached == (5 if meddling else 7)  # where the last snapshot is
        assert torch.equal(fed(decoder, state, [12 - reached]), singles[reached:12])
        state.rollback(5)
    held = state.nbytes
    state.forget_start()
    assert state.nbytes < held
    assert torch.equal(fed(decoder, state, [2]), singles[5:7])
