"""Reading ahead with a real model: learnt at calibration, the same words with it and without, off where told so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.calibration.teaching import teach_gates
from engine.experts.predictors import Blend
from engine.experts.predictors.gates import LinearMap
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.models.decoder import Decoder
from engine.models.gates import gates_of
from engine.session import Session, predictor_store
from tests.engine.calibration.captured import capture_routing
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

HELLO = (Message("user", "Hello! What can you do?"),)
SMALL = {"dial": "exact", "threads": 1, "cache_fraction": 0.4}


def answered(session: Session) -> Stats:
    return session.generate(HELLO, Sampling(temperature=0, max_tokens=24), (), Listener())


def test_the_same_words_with_it_and_without(home: Path) -> None:
    with open_calibrated("builtin", {**SMALL, "prefetch": "off"}) as opened:
        assert opened.runtime.prefetch is None
        without = answered(opened)
    with open_calibrated("builtin", SMALL) as opened:
        assert opened.runtime.prefetch is not None
        ours = answered(opened)
        seen = opened.runtime.prefetch.stats
    assert ours.token_ids == without.token_ids
    assert seen.started > 0
    assert seen.useful > 0
    assert seen.recall[0] > 0.5


def test_it_can_be_turned_off_and_on_while_the_model_is_open(home: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        first = answered(opened)
        opened.update({"prefetch": "off"})
        assert opened.runtime.prefetch is None
        assert answered(opened).token_ids == first.token_ids
        opened.update({"prefetch": "auto", "prefetch_depth": 1})
        assert opened.runtime.prefetch is not None
        assert answered(opened).token_ids == first.token_ids


def test_with_all_in_memory_there_is_nothing_to_read_ahead(session: Session) -> None:
    assert session.all_in_memory
    assert session.runtime.prefetch is None


def test_taught_gates_come_back_from_disk_and_find_more(session: Session, tmp_path: Path) -> None:
    text = sequences(session.chat, resources.path("calibration", "calibration.jsonl"), 512, 1500)
    run = capture_routing(session, text, 1500)
    assert run.ids.shape[1] == len(run.tokens) >= 1400
    assert isinstance(session.decoder, Decoder)
    gates = gates_of(session.decoder)
    assert predictor_store.read(tmp_path / predictor_store.FILE, gates) is None
    teach_gates(session, run)
    kept = predictor_store.read(session.store.path / predictor_store.FILE, gates)
    assert kept is not None
    assert [len(own) for own in kept.maps] == [3, 3, 3, 2, 1, 0]
    experts, hidden = gates[0].weight.shape
    assert {one.weight.shape for own in kept.maps for one in own} == {(experts, 2 * hidden)}
    assert (kept.weights[:2, 0] > 0).all()
    found = session.ahead.choose("auto")
    assert isinstance(found.predictor, Blend)
    assert found.words == "trained gates and token table"
    np.testing.assert_array_equal(found.predictor.weights, kept.weights)
    together = session.ahead.choose("blend")
    assert isinstance(together.predictor, Blend)
    assert [part.name for part in together.predictor.parts] == ["gates", "tokens", "coactivation", "paths", "eam"]
    np.testing.assert_array_equal(together.predictor.weights, kept.all_weights)


def test_a_file_of_a_version_that_knew_less_still_serves(session: Session, tmp_path: Path) -> None:
    assert isinstance(session.decoder, Decoder)
    gates = gates_of(session.decoder)
    learnt = predictor_store.read(session.store.path / predictor_store.FILE, gates)
    assert learnt is not None
    path = tmp_path / predictor_store.FILE
    experts, hidden = gates[0].weight.shape
    narrow = [[LinearMap(one.weight[:, :hidden], one.bias) for one in own] for own in learnt.maps]
    predictor_store.write(path, predictor_store.Learnt(narrow, learnt.weights))
    found = predictor_store.read(path, gates)
    assert found is not None
    assert found.all_weights is None
    assert {one.weight.shape for own in found.maps for one in own} == {(experts, hidden)}
    np.testing.assert_array_equal(found.weights, learnt.weights)


@pytest.mark.parametrize("harm", ["cut", "other"])
def test_a_damaged_file_is_not_believed(session: Session, tmp_path: Path, harm: str) -> None:
    assert isinstance(session.decoder, Decoder)
    gates = gates_of(session.decoder)
    learnt = predictor_store.read(session.store.path / predictor_store.FILE, gates)
    assert learnt is not None
    path = tmp_path / predictor_store.FILE
    predictor_store.write(path, learnt)
    assert predictor_store.read(path, gates) is not None
    if harm == "cut":
        path.write_bytes(path.read_bytes()[:-100])
        assert predictor_store.read(path, gates) is None
    else:
        assert predictor_store.read(path, gates[:3] + gates[:2]) is not None  # fewer layers of the same shape
        assert predictor_store.read(path, [*gates, gates[0]]) is None
