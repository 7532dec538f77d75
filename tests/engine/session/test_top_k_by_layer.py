"""A model whose layers choose different numbers of experts: chats, calibration, predictors and traces of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoConfig

from engine.calibration.calibrator import open_calibrated
from engine.calibration.teaching import teach_gates
from engine.experts.precision import EXACT
from engine.experts.predictors import NONE, RoutingContext, RoutingShape, TokenTable
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.session import predictor_store
from engine.tracing.recall import recall, trace_view
from engine.tracing.recorder import Recorder
from engine.tracing.trace import NO_EXPERT, load
from engine.tracing.visits import visits_of
from tests.engine.calibration.captured import capture_routing
from tests.engine.models.families.test_plain_attention import COMMON, HUNYUAN
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import tiny_store
from tests.engine.session.test_session import Listener

TOP_K = [1, 6, 2]
TEXT = (Message("user", " ".join(f"w{i}" for i in range(3, 60))),)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = AutoConfig.for_model("hunyuan_v1_moe", **{**COMMON, **HUNYUAN, "moe_topk": TOP_K, "eos_token_id": None})
    return tiny_store(hf_model(config), tmp_path_factory.mktemp("hunyuan"))


@pytest.mark.parametrize("predictor", ["tokens", "pairs", "paths", "gates"])
def test_chats_are_read_ahead(store: Path, home: Path, predictor: str) -> None:
    settings = {"dial": "exact", "threads": 1, "cache_fraction": 0.4, "predictor": predictor}
    with open_calibrated(str(store), settings) as opened:
        assert opened.runtime.prefetch is not None
        for _ in range(2):
            opened.generate(TEXT, Sampling(temperature=0, max_tokens=12), (), Listener())
        assert opened.runtime.prefetch is not None


def test_gates_are_taught(store: Path, home: Path) -> None:
    with open_calibrated(str(store), {"dial": "exact", "threads": 1}) as opened:
        ids = [number % 90 + 3 for number in range(120)]
        run = capture_routing(opened, [ids], 100)
        assert [(row != NONE).sum(-1).tolist()[0] for row in run.ids] == TOP_K
        teach_gates(opened, run)
        assert (opened.store.path / predictor_store.FILE).exists()


def test_a_trace_is_kept_and_replayed(store: Path, home: Path, tmp_path: Path) -> None:
    with open_calibrated(str(store), {"dial": "exact", "threads": 1}) as opened:
        recorder = Recorder(opened.store.layers, 8)
        with opened.listening(recorder):
            opened.context.run_through([number % 90 + 3 for number in range(40)])
            opened.context.run_through([5])
    trace = recorder.trace()
    assert [(row != NO_EXPERT).sum(-1).tolist()[0] for row in trace.ids] == TOP_K
    trace.save(tmp_path / "t.npz")
    trace = load(tmp_path / "t.npz")
    for visit in visits_of(trace.one_by_one(), EXACT):
        assert len(visit.experts) == len(visit.demands) == TOP_K[visit.row]
    for visit in visits_of(trace, EXACT):
        assert sum(visit.counts) == visit.tokens * TOP_K[visit.row]
    assert trace_view(trace).ids.min() == NONE
    assert recall(trace.one_by_one())


def test_a_table_counts_what_is_there_and_nothing_else() -> None:
    table, sight = TokenTable(RoutingShape(2, 8, 3)), RoutingContext()
    for _ in range(3):
        sight.begin(7)
        for chosen in ([5], [1, 2, 3]):
            sight.routed(chosen, None)
            table.learn(sight)
    for row, chosen in enumerate(([5], [1, 2, 3])):
        counted = np.zeros(8, int)
        np.add.at(counted, table.experts[0, row], table.counts[0, row])
        assert np.flatnonzero(counted).tolist() == chosen
        assert set(counted[chosen]) == {3}
