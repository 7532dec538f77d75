"""The ways of serving that CoServe is compared with decide as they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.service.model_records import ModelRecords
from tests.benchmarks.coserve import WAYS, Fifo, Lru, requests
from tests.engine.service.test_pool import Computer, get
from tests.engine.service.test_request_queue import Clock, drained, program


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelRecords:
    """Of models whose key is their name."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    monkeypatch.setattr(ModelRecords, "key", lambda self, model: str(model))
    return ModelRecords()


@pytest.mark.parametrize(("kind", "gone"), [(Lru, "b-60"), (Fifo, "a-60")])
def test_a_whole_model_leaves_that_was_used_least_recently_or_opened_first(
    records: ModelRecords, kind: type[Lru], gone: str
) -> None:
    computer = Computer()
    pool = kind(computer.make, computer, records)
    models = [get(pool, name) for name in ("a-60", "b-60", "c-60")]
    get(pool, "a-60")
    get(pool, "new-60")
    assert [one.key for one in models if one.closed] == [gone]
    assert all(one.experts == 60 for one in models)


@pytest.mark.parametrize(
    ("way", "order"),
    [("samba", "0123456"), ("EM", "0123456"), ("RA", "0251346"), ("full", "4613025")],
)
def test_requests_come_by_arrival_in_runs_or_with_the_cheapest_run_next(way: str, order: str) -> None:
    costs = {"a": 9.0, "b": 4.0, "c": 2.0}
    waiting = WAYS[way][0](lambda model, n: costs[model], Clock())
    for number, model in enumerate("ababcac"):
        waiting.put(program(str(number), model))
    assert "".join(drained(waiting)) == order


def test_requests_are_chains_in_which_models_share_the_one_that_follows() -> None:
    made = requests(400, seed=1)
    assert sum(len(request.chain) for request in made) == 400
    assert requests(400, seed=1) == made != requests(400, seed=2)
    pairs = {request.chain for request in made if len(request.chain) == 2}
    assert len({then for _, then in pairs}) < len({first for first, _ in pairs})
