"""Models bigger than memory: what is written without a checkpoint is what importing one gives, and ours runs in it."""

from __future__ import annotations

import dataclasses
import filecmp
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.store.reader import Store
from tests.benchmarks.ablation import STEPS, pairs, rows, settings_of
from tests.benchmarks.bench import CONTEXT, OVERLAP, calibrated, chosen, counted, fitting
from tests.benchmarks.common import limit_options
from tests.benchmarks.naive import child, narrowest
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.peer.client import PEER, Peer, peer_python
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.prepare import CONVERT, Model, prepare_model, prepare_pair
from tests.benchmarks.roofs import Rates, floors
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.quantized import write_store
from tests.random_models.shapes import SHAPES, large, small
from tests.random_models.tokens import stream

pytestmark = pytest.mark.long

with_peer = pytest.mark.skipif(not os.environ.get(PEER), reason=f"{PEER} names no environment with llama.cpp")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    write_checkpoint(small("qwen3"), folder / "seed", first_only=True)
    return write_store(small("qwen3"), folder / "seed", folder / "store", 8, lambda what: None)


def test_every_large_shape_takes_8_gb_at_4_bits() -> None:
    for name in SHAPES:
        shape = large(name)
        assert 8e9 < Model(shape, 4, Path()).nbytes < 9e9
        assert shape.top_k == SHAPES[name].top_k
    assert large("mixtral", 3).layers == 3
    assert large("mixtral", 3).name != large("mixtral").name


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_ours_in_a_process_of_its_own_counts_what_it_does(store: Path) -> None:
    shape = small("qwen3")
    given = ("cache_fraction=0.5", "dense=f32", "prefetch=off")
    options = ["--shape", "qwen3", "--tier", "8", "--threads", "1", *(x for g in given for x in ("--set", g))]
    args = limit_options("x").parse_args(options)
    tokens = stream("uniform", shape.vocabulary, 48)
    with Store.open(store, "off") as opened:
        record = opened.spec(0).layout.bytes_for(8)
    with OursAlone(store, shape, chosen(args, 4_000_000_000)) as ours:
        assert ours.about["tier"] == 8
        assert 0.4 < ours.about["cache_share"] < 0.6
        turn = ours.turn(tokens[:24])
        again = ours.turn(tokens[24:])
        ours.clear()
        first = ours.turn(tokens[:4], digest=True).digests
        ours.clear()
        assert ours.turn(tokens[:4], digest=True).digests == first
        assert len(set(first)) == 4
    for t in (turn, again):
        assert len(t.seconds) == 24
        assert t.uses == t.hits + t.misses == 24 * shape.layers * shape.top_k
        assert t.coarse == 0
        assert 0 < t.misses < t.uses
        assert t.bytes_read == t.misses * record
        rest = 4 * (shape.dense_weights() + shape.layers * shape.experts * shape.hidden)
        assert t.used_bytes == 24 * (rest + shape.layers * shape.top_k * 3 * 256 * 256 * 8.5 / 8)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_dial_runs_with_thresholds_of_this_model(store: Path) -> None:
    shape = small("qwen3")
    args = limit_options("x").parse_args(["--shape", "qwen3", "--dial", "balanced", "--tier", "8", "--threads", "1"])
    given = {**chosen(args, 4_000_000_000), "cache_fraction": 0.2}
    tokens = stream("uniform", shape.vocabulary, 24)
    with OursAlone(store, shape, given) as ours:
        found = calibrated(args, ours, shape, args.dial)
        assert found is not None
        assert 0 <= found[0] < found[1] < 1  # 0: the first of two experts is more than all that runs at full precision
        turn = ours.turn(tokens)
        assert 0 < turn.coarse < turn.uses
    assert calibrated(args, ours, shape, "exact") is None
    args.set = [("t1", "0.5")]
    assert calibrated(args, ours, shape, "balanced") is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_reading_ahead_is_switched_between_turns_of_one_process(store: Path) -> None:
    shape = small("qwen3")
    args = limit_options("x").parse_args(["--shape", "qwen3", "--tier", "8", "--threads", "1"])
    given = {**chosen(args, 4_000_000_000), "cache_fraction": 0.3, "predictor": "tokens"}
    with OursAlone(store, shape, given) as ours:
        found = pairs(ours, stream("uniform", shape.vocabulary, 3 * 2 * 8), {}, {"prefetch": "off"}, 3, lambda: None)
        ours.update({"prefetch": "auto"})
        again = ours.turn([1, 2, 3, 1, 2, 3])
    assert [len(turns) for turns in found] == [3, 3]
    assert all(len(turn.seconds) == 8 for turns in found for turn in turns)
    assert all(turn.wasted_bytes == 0 for turn in found[1])
    assert again.uses == 6 * shape.layers * shape.top_k


def turn(seconds: float) -> Turn:
    return Turn(
        (seconds, seconds), 1, 1, bytes_read=1200, wasted_bytes=200, used_bytes=3000, system_bytes=0, uses=2, coarse=0,
        reads=1, busy=1, worked=1,
    )  # fmt: skip


def test_what_the_disk_gave_is_told_by_the_time_it_was_busy() -> None:
    found = counted([dataclasses.replace(turn(seconds), bytes_read=3 * 10**9) for seconds in (0.5, 1.5)])
    assert found["disk_busy"] == 0.5
    assert found["disk_given"] == 3.0


def test_the_floor_is_the_slower_of_disk_and_memory() -> None:
    own = turn(0.5)
    assert own.per_token == 0.5
    assert own.moved == (500, 1500)
    assert Rates(1000, 10_000, 1, 1).floor(*own.moved) == 0.5
    assert Rates(1e9, 10_000, 1, 1).floor(*own.moved) == 0.15


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (Rates(1000, 10_000, 1000, 10_000), 0.5),  # neither slows the other: the floor
        (Rates(1000, 10_000, 500, 7500), 0.2 + 0.4),  # 0.2 s of memory, in which 100 bytes come; 400 after it
        (Rates(1000, 1000, 900, 500), 5 / 9 + 1.5 - 5 * 500 / 9 / 1000),  # here it is memory that goes on alone
        (Rates(1000, 10_000, 1, 10), 0.5 + 0.15),  # better one after the other
    ],
)
def test_together_disk_and_memory_slow_each_other(rates: Rates, expected: float) -> None:
    assert rates.together(500, 1500) == pytest.approx(expected)


def test_shares_of_floors_are_medians_over_turns() -> None:
    rates = Rates(1000, 10_000, 500, 7500)
    assert floors([turn(0.5), turn(1.0), turn(2.0)], [rates] * 3) == {
        "floor": 0.5, "of_floor": 0.5, "together": 0.6, "of_together": 0.6,
    }  # fmt: skip


def test_more_tokens_than_the_context_holds_are_refused() -> None:
    assert fitting(CONTEXT) == CONTEXT
    with pytest.raises(SystemExit, match="fewer turns"):
        fitting(CONTEXT + 1)


def test_settings_given_by_hand_come_last() -> None:
    args = limit_options("x").parse_args(["--shape", "olmoe", "--set", "policy=lru", "--set", "memory_gb=3"])
    assert isinstance(args, Namespace)
    assert chosen(args, 10**9) | {"threads": 0} == {
        "dial": "exact", "tier": "4", "dense": "int4", "threads": 0, "context_length": 512, "memory_gb": "3",
        "policy": "lru",
    }  # fmt: skip
    with pytest.raises(SystemExit):
        limit_options("x").parse_args(["--shape", "olmoe", "--set", "policy"])


@with_peer
@pytest.mark.slow
def test_the_peers_file_is_the_one_that_the_whole_checkpoint_gives(tmp_path: Path) -> None:
    shape = small("mixtral")
    model, rival = prepare_pair(shape, 8, tmp_path)
    assert 0.95 < model.nbytes / rival.file.stat().st_size < 1
    assert [p.name for p in rival.file.parent.iterdir() if p.name == "seed"] == []
    write_checkpoint(shape, tmp_path / "checkpoint")
    whole = tmp_path / "whole.gguf"
    arguments = [json.dumps(dataclasses.asdict(shape)), str(tmp_path / "checkpoint"), str(whole), "Q8_0"]
    subprocess.run([peer_python(tmp_path), "-m", CONVERT, *arguments], cwd=ROOT, check=True, capture_output=True)
    assert filecmp.cmp(rival.file, whole, shallow=False)
    tokens = stream("uniform", shape.vocabulary, 8)
    with (
        Peer(rival.python, rival.file, 1, 64, repack=False) as peer,
        OursAlone(model.store, shape, {"threads": 1}) as ours,
    ):
        theirs, mine = peer.logits(tokens), ours.logits(tokens)
        seconds, nbytes = peer.turn(tokens)
    assert seconds > 0
    assert nbytes >= 0
    for a, b in zip(theirs, mine, strict=True):
        gap = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / sum(x * x for x in a)
        assert gap < 0.05**2


def test_other_models_are_removed_only_when_asked(tmp_path: Path) -> None:
    other, alien = tmp_path / "mixtral-10x8", tmp_path / "peer"
    other.mkdir(parents=True)
    alien.mkdir()
    first = prepare_model(small("olmoe"), 4, tmp_path)
    assert [p.name for p in first.store.parent.iterdir() if p.is_dir()] == ["store-4"]
    assert other.exists()
    written = (first.store / "manifest.json").stat().st_mtime_ns
    assert prepare_model(small("olmoe"), 4, tmp_path, keep_only=True) == first
    assert not other.exists()
    assert alien.exists()
    assert (first.store / "manifest.json").stat().st_mtime_ns == written


@pytest.mark.slow
def test_the_naive_floor_reads_what_it_was_not_allowed_to_keep(tmp_path: Path) -> None:
    write_checkpoint(small("qwen3"), tmp_path / "checkpoint")
    with child(tmp_path, room=1_000_000, threads=1) as model:
        assert model.ready["on_disk"] == ["everything"]
        assert len(model.decode([1, 2, 3])) == 3


def test_the_naive_cut_has_room_for_a_layer() -> None:
    assert 2 < narrowest(large("qwen3"), 0.5).layers < narrowest(large("qwen3"), 0.25).layers < 24
    with pytest.raises(SystemExit, match="cannot run"):
        narrowest(large("mixtral"), 0.01)


def test_every_row_of_the_ablation_adds_one_thing_to_the_row_above() -> None:
    table = [{OVERLAP: True, **settings.validated(settings_of(own), settings.ENGINE), **own} for _, own in rows()]
    assert len(table) == len(STEPS) + 1
    for above, here, step in zip(table, table[1:], STEPS):
        changed = {name for name in here if above[name] != here[name]}
        assert changed == set(step.without) | set(step.with_)
        assert changed


def distance(a: Tensor, b: Tensor) -> float:
    return float((a - b).norm() / b.norm())


@with_peer
@pytest.mark.slow
@pytest.mark.parametrize("name", tuple(SHAPES))
def test_llama_cpp_computes_the_same(name: str, tmp_path: Path) -> None:
    """Within what its own quantization does to its own logits; ours at 8 bits lies nearest to the original."""
    shape = small(name)
    model, rival = prepare_pair(shape, 8, tmp_path, ("F16", "Q8_0", "Q4_0", "Q4_K_M", "Q2_K"))
    ids = stream("uniform", shape.vocabulary, 24)
    with open_calibrated(str(model.store), {"dial": "exact", "dense": "f32", "threads": 1}) as session:
        ours = session.logits(ids, one_by_one=True).double()
    theirs = {}
    for kind, path in rival.files.items():
        with Peer(rival.python, path, 2, 64, repack=True) as peer:
            theirs[kind] = torch.tensor(peer.logits(ids)).double()
    assert distance(ours, theirs["F16"]) < 0.01
    for kind, most in (("Q8_0", 0.05), ("Q4_0", 0.3), ("Q4_K_M", 0.25), ("Q2_K", 0.6)):
        assert 1e-4 < distance(theirs[kind], theirs["F16"]) < most
