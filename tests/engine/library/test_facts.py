"""What the planner is told of a model is what it really takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.kernels.native import NativeKernel
from engine.library.facts import model_facts, spec_of
from engine.library.library import card
from engine.models.decoder import Decoder
from engine.models.layers.state import SNAPSHOTS
from engine.models.layers.weight_format import KINDS, holding
from engine.models.op_graph.executor import GraphExecutor
from engine.store import table
from engine.store.reader import Store
from tests.engine.models.families.tiny import tiny
from tests.engine.models.open_decoder import plain_weights
from tests.engine.models.reference_experts import ReferenceExperts

WIDE = {"vocab_size": 8000}  # so that the tables weigh what they weigh in real models


def tensors(thing: Any, found: dict[int, torch.Tensor]) -> dict[int, torch.Tensor]:
    """Every tensor that an object of the decoder holds."""
    if isinstance(thing, torch.Tensor):
        found[thing.data_ptr()] = thing
    elif isinstance(thing, list | tuple):
        for item in thing:
            tensors(item, found)
    elif type(thing).__module__.startswith("engine.models") and not isinstance(
        thing, GraphExecutor
    ):  # which holds scratch
        for value in vars(thing).values():
            tensors(value, found)
    return found


@pytest.fixture(scope="module", params=["deepseek_v2", "qwen3_next", "lfm2_moe"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp(request.param)
    changes = {"q_lora_rank": None} if request.param == "deepseek_v2" else {}
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(tiny(request.param, **WIDE, **changes)).save_pretrained(folder / "checkpoint")
    return Store.open(import_checkpoint(folder / "checkpoint", folder / "store", 32))


@pytest.fixture(scope="module")
def native() -> Iterator[NativeKernel]:
    kernel = NativeKernel(2)
    yield kernel
    kernel.close()


def check_bytes(store: Store, kind: Any, kernel: NativeKernel) -> None:
    spec = spec_of(store)
    assert spec is not None
    told = model_facts(store, card(store.path), spec).dense_bytes[kind]
    decoder = Decoder(spec, store.dense, ReferenceExperts.__new__(ReferenceExperts), holding(kind, kernel))
    taken = sum(t.nbytes for t in tensors(decoder, {}).values())
    assert abs(taken - told) <= 0.005 * told, (taken, told)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_weights_take_what_the_planner_is_told(store: Store, kind: Any, native: NativeKernel) -> None:
    check_bytes(store, kind, native)


def test_rows_that_are_looked_up_are_held_but_not_read(store: Store) -> None:
    facts = model_facts(store, card(store.path), spec_of(store))
    spec = spec_of(store)
    assert spec is not None
    table = spec.vocab * spec.hidden if spec.head is not None else 0
    assert facts.looked_up_bytes["f32"] == 4 * table
    assert set(facts.dense_bytes) == set(KINDS)


def test_a_large_table_stays_on_the_disk_and_its_rows_are_what_they_were(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of(store)
    assert spec is not None
    nothing = ReferenceExperts.__new__(ReferenceExperts)

    def opened() -> tuple[int, int, torch.Tensor]:
        decoder = Decoder(spec, store.dense, nothing, plain_weights())
        told = model_facts(store, card(store.path), spec).dense_bytes["f32"]
        taken = sum(t.nbytes for t in tensors(decoder, {}).values())
        return told, taken, decoder.embedding.rows(torch.tensor([7999, 3, 3, 0]))

    held = opened()
    monkeypatch.setattr(table, "LEAST", spec.vocab * spec.hidden)
    left = opened()
    nbytes = 4 * spec.vocab * spec.hidden if spec.head is not None else 0  # a tied one makes logits
    assert held[1] - left[1] == nbytes
    assert held[0] - left[0] == max(0, nbytes - 4 * spec.vocab)  # less the checksums
    assert torch.equal(left[2], held[2])


def test_a_sequence_takes_what_the_planner_is_told(store: Store) -> None:
    spec = spec_of(store)
    assert spec is not None
    facts = model_facts(store, card(store.path), spec)
    decoder = Decoder(spec, store.dense, ReferenceExperts.__new__(ReferenceExperts), plain_weights(), torch.float32)
    state = decoder.new_state()
    recurrent = state.nbytes
    assert facts.state_bytes == recurrent * (2 + SNAPSHOTS)  # one more for what a draft is checked from
    for layer in state.rows:
        for buffer in layer.buffers:
            buffer.append(torch.zeros(buffer.heads, 256, buffer.dim))
    assert state.nbytes - recurrent == 256 * facts.per_token("f32")


def test_a_sequence_with_rows_of_8_bits_takes_what_the_planner_is_told(store: Store) -> None:
    spec = spec_of(store)
    assert spec is not None
    facts = model_facts(store, card(store.path), spec).with_packed_kv()
    decoder = Decoder(spec, store.dense, ReferenceExperts.__new__(ReferenceExperts), plain_weights(), torch.int8)
    state = decoder.new_state()
    recurrent = state.nbytes
    for layer in state.rows:
        for buffer in layer.buffers:
            buffer.append(torch.zeros(buffer.heads, 256, buffer.dim))
    assert state.nbytes - recurrent == 256 * facts.per_token("bf16")


def test_experts_that_are_not_those_of_the_config_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(n for n in ("n_routed_experts", "num_experts") if n in store.config)
    changed = {**store.config, name: store.config[name] + 4}
    monkeypatch.setattr(store, "manifest", dataclasses.replace(store.manifest, config=changed))
    with pytest.raises(UnderhillError, match="disagree: layer") as caught:
        spec_of(store)
    assert caught.value.kind is Kind.BROKEN_FILE
