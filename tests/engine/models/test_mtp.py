"""Multi-token prediction against transformers' own layers, and what it knows of a sequence that is cut and goes on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.experts.runtime import open_runtime
from engine.library.facts import activation_of, spec_of
from engine.models import mtp
from engine.models.decoder import Decoder
from engine.models.layers.weight_format import holding
from engine.models.mtp import MtpDrafter, open_drafter
from engine.models.op_graph.executor import GraphExecutor
from engine.native.op_graph import MOST_ROWS
from engine.store.reader import Store
from tests.engine.models.mtp_checkpoint import FAMILIES, Proposer, mtp_store

IDS = random.Random(3).choices(range(3, 97), k=60)


@contextmanager
def opened(store: Path) -> Iterator[tuple[Decoder, MtpDrafter]]:
    """A decoder in float32 with what drafts for it."""
    with Store.open(store) as source:
        spec = spec_of(source)
        assert spec is not None
        runtime = open_runtime(source, activation_of(source, spec), source.expert_bytes(), exact=True, threads=1)
        dense = holding("f32", runtime.kernel)
        decoder = Decoder(spec, source.dense, runtime, dense)
        drafter = open_drafter(decoder, source, runtime.kernel, dense, 32)
        try:
            yield decoder, drafter
        finally:
            drafter.close()
            runtime.close()


def proposed(drafter: MtpDrafter, state: Any, token: int, count: int = 1) -> list[int]:
    return drafter.propose(state, token, count)[0]


@pytest.fixture(scope="module", params=FAMILIES)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Proposer]:
    return mtp_store(request.param, tmp_path_factory.mktemp(request.param))


def test_its_logits_are_those_of_transformers_layers(
    imported: tuple[Path, Proposer], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, oracle = imported
    wanted = oracle.logits(IDS[:40])
    found: list[torch.Tensor] = []
    through = GraphExecutor.forward_sequences

    def noted(graph: GraphExecutor, *given: Any, **more: Any) -> torch.Tensor | None:
        logits = through(graph, *given, **more)
        if logits is not None and not more["kept"]:  # the drafter's own
            found.append(logits.clone())
        return logits

    monkeypatch.setattr(GraphExecutor, "forward_sequences", noted)
    with opened(store) as (decoder, drafter):
        state = decoder.new_state()
        decoder.forward(IDS[:30], state)  # more than few: by torch
        for at in range(30, 39):
            (guess,) = proposed(drafter, state, IDS[at])
            assert guess == int(found[-1].argmax())
            decoder.forward(IDS[at : at + 1], state)
    differences = (torch.cat(found) - wanted[29:38]).abs()
    print(f"{decoder.spec.family}: max {float(differences.max()):.1e} mean {float(differences.mean()):.1e}")
    assert differences.max() < 1e-5


def test_it_goes_on_with_its_own_output(imported: tuple[Path, Proposer]) -> None:
    store, oracle = imported
    with opened(store) as (decoder, drafter):
        state = decoder.new_state()
        decoder.forward(IDS[:20], state)
        assert proposed(drafter, state, IDS[20], 3) == oracle.further(IDS[:21], 3)
        assert proposed(drafter, state, IDS[20], 2) == oracle.further(IDS[:21], 2)
        decoder.forward(IDS[20:23], state)
        assert proposed(drafter, state, IDS[23], 3) == oracle.further(IDS[:24], 3)


def test_what_is_taken_back_is_forgotten(imported: tuple[Path, Proposer]) -> None:
    store, oracle = imported
    with opened(store) as (decoder, drafter):
        state = decoder.new_state()
        decoder.forward(IDS[:24], state)
        proposed(drafter, state, 5, 2)
        state.keeps_start = True
        decoder.forward([5, 6, 7], state)  # a draft of which the first alone was right
        assert state.rollback(25) == 25
        assert proposed(drafter, state, 9) == oracle.further([*IDS[:24], 5, 9], 1)
        decoder.forward([9], state)
        reached = state.rollback(12)  # another chat
        decoder.forward([*IDS[reached:12], *IDS[30:45]], state)
        assert proposed(drafter, state, 8) == oracle.further([*IDS[:12], *IDS[30:45], 8], 1)
        other = decoder.new_state()
        decoder.forward(IDS[5:25], other)
        assert proposed(drafter, state, 8) == []
        assert proposed(drafter, other, 4) == oracle.further([*IDS[5:25], 4], 1)
        decoder.forward_sequences([4, 8], [other, state])  # together they are not followed
        assert proposed(drafter, other, 6) == []
        decoder.forward([6, 7], other)
        assert len(proposed(drafter, other, 5)) == 1


def test_of_a_long_sequence_it_reads_the_end(imported: tuple[Path, Proposer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows count from where it begins, so that what it sees is what the oracle sees of that part."""
    store, _ = imported
    monkeypatch.setattr(mtp, "KEPT", 24)
    monkeypatch.setattr(mtp, "MOST", 40)
    with opened(store) as (decoder, drafter):
        state = decoder.new_state()
        decoder.forward([*IDS, *IDS], state)
        rows: list[int] = []
        for token in IDS:
            assert proposed(drafter, state, token)
            rows.append(drafter.rows)
            decoder.forward([token], state)
        assert max(rows) <= 40
        assert min(rows) == 24
        assert rows[:18] == [*range(24, 41), 24]


def test_how_long_it_takes_counts_only_what_it_does_every_time(imported: tuple[Path, Proposer]) -> None:
    store, _ = imported
    with opened(store) as (decoder, drafter):
        state = decoder.new_state()
        decoder.forward(IDS[: MOST_ROWS + 4], state)
        assert drafter.propose(state, 5, 1)[1] == 0.0  # reads all of it, and experts from the disk
        assert drafter.nbytes
        for token in 2 * IDS:  # until all experts are there
            decoder.forward([token], state)
            drafter.propose(state, token, 1)
        decoder.forward([5], state)
        assert drafter.propose(state, 6, 1)[1] > 0
        assert drafter.propose(decoder.new_state(), 6, 1) == ([], 0.0)
