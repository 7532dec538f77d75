"""Imports: what comes out, with flat memory, and the same bytes after any interruption."""

from __future__ import annotations

import errno
import json
import mmap
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save_file

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.formats.tiny_checkpoint import contents, write_checkpoint
from tests.engine.quantization.reference import decode_expert

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("source") / "model", layers=3)


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an import that nothing interrupted."""
    return import_checkpoint(source, tmp_path_factory.mktemp("whole") / "model")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync after every expert or so, as happens with large ones."""
    monkeypatch.setattr("engine.store.writer.BATCH", 30_000)


def read(store: Store, layer: int, expert: int) -> mmap.mmap:
    """A whole record, in memory that direct I/O can write to."""
    layout = store.spec(layer, expert).layout
    record = mmap.mmap(-1, layout.nbytes)
    views = [memoryview(record)[p.offset : p.offset + p.nbytes] for p in layout.parts]
    store.read_parts(layer, expert, range(len(views)), views)
    return record


def test_experts_come_out_as_they_went_in_but_for_the_rounding(source: Path, whole: Path) -> None:
    errors = dict.fromkeys((2, 4, 8), 0.0)
    norm = 0.0
    with Store.open(whole, "off") as store:
        for layer in store.layers:
            tensors = load((source / f"model-{layer:05d}.safetensors").read_bytes())
            for expert in range(store.experts(layer)):
                record = read(store, layer, expert)
                for tier in errors:
                    decoded = decode_expert(record, store.spec(layer), tier)
                    for name, w in decoded.items():
                        original = tensors[f"model.layers.{layer}.mlp.experts.{expert}.{name}_proj.weight"].float()
                        errors[tier] += float((w - original).double().square().sum())
                        norm += float(original.double().square().sum()) if tier == 8 else 0.0
        stated = {q.tier: q.relative_error for q in store.manifest.quality}
    measured = {tier: (error / norm) ** 0.5 for tier, error in errors.items()}
    assert measured == pytest.approx(stated, rel=1e-4)
    assert measured[8] < 0.006
    assert measured[4] < 0.095
    assert measured[2] < 0.37


def test_other_weights_are_kept_bit_by_bit_in_their_type(source: Path, whole: Path) -> None:
    with Store.open(whole) as store:
        for layer in range(3):
            for name, tensor in load((source / f"model-{layer:05d}.safetensors").read_bytes()).items():
                if ".experts." in name:
                    assert not store.dense.has(name)
                else:
                    assert store.dense.get(name).dtype == tensor.dtype
                    assert torch.equal(store.dense.get(name), tensor)


def test_small_files_travel_along_and_the_source_is_recorded(source: Path, whole: Path) -> None:
    manifest = Store.open(whole).manifest
    assert {f.name for f in manifest.files} == {"config.json", "tokenizer.json", "chat_template.jinja"}
    assert (whole / "chat_template.jinja").read_bytes() == (source / "chat_template.jinja").read_bytes()
    assert manifest.source.path == str(source)
    assert {"model-00000.safetensors", "config.json"} <= {f.name for f in manifest.source.files}
    assert manifest.config == json.loads((source / "config.json").read_text(encoding="utf-8"))


def test_every_data_file_opens_with_the_safetensors_library(whole: Path) -> None:
    for file in whole.glob("*.safetensors"):
        with safe_open(file, "pt") as opened:
            for name in opened.keys():  # noqa: SIM118
                opened.get_tensor(name)


def test_progress_counts_the_bytes_that_are_written(source: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    with Store.open(import_checkpoint(source, tmp_path / "m", progress=lambda *what: seen.append(what))) as store:
        quantized = [(done, total) for phrase, done, total in seen if phrase.startswith("Quantizing")]
        assert quantized[-1] == (store.expert_bytes(), store.expert_bytes())
        assert quantized[:2] == [(0, store.expert_bytes()), (store.spec(0).layout.nbytes, store.expert_bytes())]


@pytest.mark.parametrize("top", [4, 16, 32])
def test_other_top_tiers(top: int, source: Path, tmp_path: Path) -> None:
    with Store.open(import_checkpoint(source, tmp_path / "m", top=top)) as store:
        assert store.spec(0).tiers == ((2, 4) if top == 4 else (top,))
        record = read(store, 1, 2)
        original = load((source / "model-00001.safetensors").read_bytes())[
            "model.layers.1.mlp.experts.2.up_proj.weight"
        ]
        got = decode_expert(record, store.spec(1), top)["up"]
        assert torch.equal(got, original.float()) or top == 4


@pytest.mark.parametrize(("hidden", "inner", "group"), [(128, 64, 64), (64, 96, 32), (80, 64, 16), (40, 24, 16)])
def test_group_is_the_widest_that_fits(hidden: int, inner: int, group: int, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "s", layers=1, experts=1, hidden=hidden, inner=inner)
    with Store.open(import_checkpoint(source, tmp_path / "m")) as store:
        assert store.spec(0).group == group
        assert decode_expert(read(store, 0, 0), store.spec(0), 8)["down"].shape == (hidden, inner)


def test_it_rests_between_experts_for_as_long_as_there_is_a_reason(
    source: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.convert.importer.REST", 0.0)
    reasons = iter(["", "", "", "Resting", "Resting", ""])
    seen: list[tuple[str, int, int]] = []
    import_checkpoint(source, tmp_path / "m", progress=lambda *what: seen.append(what), wait=lambda: next(reasons, ""))
    phrases = [phrase for phrase, _, total in seen if total]
    assert phrases.count("Resting") == 2
    assert phrases.index("Resting") < len(phrases) - 1 - phrases[::-1].index("Quantizing layer 3 of 3")
    assert contents(tmp_path / "m") == contents(whole)


def test_resting_it_can_be_stopped(source: Path, tmp_path: Path) -> None:
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(UnderhillError) as caught:
        import_checkpoint(source, tmp_path / "m", cancel=cancel, wait=lambda: "Resting for ever")
    assert caught.value.kind is Kind.CANCELLED


# ---- interrupted --------------------------------------------------------------------------------------------------


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("seed", range(6))
def test_cancelled_again_and_again_it_ends_in_the_same_bytes(
    seed: int, source: Path, whole: Path, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    destination = tmp_path / "model"
    kinds = set()
    while not destination.exists():
        left = chance.randrange(1, 8)

        def cancel() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        try:
            import_checkpoint(source, destination, cancel=cancel)
        except UnderhillError as error:
            kinds.add(error.kind)
    assert kinds == {Kind.CANCELLED}
    assert contents(destination) == contents(whole)
    assert os.listdir(tmp_path) == ["model"]


def test_what_is_done_is_not_done_again(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.convert import encoding

    encoded: list[tuple[int, int]] = []
    original = encoding.encode

    def counting(matrices: Any, spec: Any, layer: int, expert: int) -> Any:
        encoded.append((layer, expert))
        return original(matrices, spec, layer, expert)

    monkeypatch.setattr(encoding, "encode", counting)

    def stop_in_the_middle(phrase: str, done: int, total: int) -> None:
        if total and done >= total // 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        import_checkpoint(source, tmp_path / "m", progress=stop_in_the_middle)
    import_checkpoint(source, tmp_path / "m")
    assert len(set(encoded)) == 12
    assert len(encoded) <= 12 + encoding.WORKERS


def test_a_changed_source_starts_over(source: Path, tmp_path: Path) -> None:
    copy = write_checkpoint(tmp_path / "s", layers=1)

    def stop(phrase: str, done: int, total: int) -> None:
        if done:
            raise Interrupted

    with pytest.raises(Interrupted):
        import_checkpoint(copy, tmp_path / "m", progress=stop)
    shard = copy / "model-00000.safetensors"
    tensors = load(shard.read_bytes())
    name = "model.layers.0.mlp.experts.0.up_proj.weight"
    save_file({**tensors, name: tensors[name] * 2}, shard)
    with Store.open(import_checkpoint(copy, tmp_path / "m")) as store:
        got = decode_expert(read(store, 0, 0), store.spec(0), 8)["up"]
    assert torch.allclose(got, tensors[name].float() * 2, atol=0.01)


KILLED = """
    import sys
    from engine.store import writer
    writer.BATCH = 30_000
    from engine.convert.importer import import_checkpoint
    def report(phrase, done, total):
        print(done, flush=True)
    import_checkpoint(sys.argv[1], sys.argv[2], progress=report)
"""


def start(source: Path, destination: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(source), str(destination)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
        encoding="utf-8",
    )  # fmt: skip


def test_killed_at_several_points_it_ends_in_the_same_bytes(source: Path, whole: Path, tmp_path: Path) -> None:
    destination = tmp_path / "model"
    for reports in (3, 9, 16):
        process = start(source, destination)
        assert process.stdout is not None
        for _ in range(reports):
            if not process.stdout.readline():
                break
        process.kill()
        process.communicate()
    import_checkpoint(source, destination)
    assert contents(destination) == contents(whole)
    assert os.listdir(tmp_path) == ["model"]


def test_a_second_import_of_the_same_model_is_told_to_wait(source: Path, tmp_path: Path) -> None:
    seen: list[UnderhillError] = []

    def report(phrase: str, done: int, total: int) -> None:
        if done and not seen:
            with pytest.raises(UnderhillError) as caught:
                import_checkpoint(source, tmp_path / "m")
            seen.append(caught.value)

    import_checkpoint(source, tmp_path / "m", progress=report)
    assert seen[0].kind is Kind.BUSY
    assert verify(tmp_path / "m") == ()


# ---- no space left ------------------------------------------------------------------------------------------------


def test_too_little_space_is_noticed_before_the_work(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 50_000})
    monkeypatch.setattr("engine.store.writer.shutil.disk_usage", lambda path: usage)
    with pytest.raises(UnderhillError) as caught:
        import_checkpoint(source, tmp_path / "m")
    assert caught.value.kind is Kind.DISK_FULL
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("after", [0, 1, 5, 14, 20])
def test_a_disk_that_fills_up_keeps_what_is_done(
    after: int, source: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.store.output import OutputFiles

    original, count = OutputFiles.write, 0

    def write(self: OutputFiles, name: str, offset: int, data: memoryview) -> None:
        nonlocal count
        count += 1
        if count > after:
            original(self, name, offset, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        original(self, name, offset, data)

    with monkeypatch.context() as patched:
        patched.setattr(OutputFiles, "write", write)
        with pytest.raises(UnderhillError) as caught:
            import_checkpoint(source, tmp_path / "m")
    assert caught.value.kind is Kind.DISK_FULL
    assert not (tmp_path / "m").exists()
    import_checkpoint(source, tmp_path / "m")
    assert contents(tmp_path / "m") == contents(whole)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_real_full_disk(source: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this system does not let tests mount a disk")
    try:
        with pytest.raises(UnderhillError) as caught:
            import_checkpoint(source, disk / "m")
        assert caught.value.kind is Kind.DISK_FULL
        monkeypatch.setattr("engine.store.writer.StoreWriter._check_space", lambda self: None)
        with pytest.raises(UnderhillError) as caught:
            import_checkpoint(source, disk / "m")
        assert caught.value.kind is Kind.DISK_FULL
        assert not (disk / "m").exists()
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        import_checkpoint(source, disk / "m")
        assert contents(disk / "m") == contents(whole)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ---- broken sources -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_named(value: float, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "s", layers=1)
    shard = source / "model-00000.safetensors"
    tensors = load(shard.read_bytes())
    tensors["model.layers.0.mlp.experts.3.down_proj.weight"][5, 6] = value
    save_file(tensors, shard)
    with pytest.raises(UnderhillError) as caught:
        import_checkpoint(source, tmp_path / "m")
    assert caught.value.kind is Kind.BROKEN_FILE
    assert "Layer 0, expert 3: down" in caught.value.sentence


def test_an_expert_of_another_shape_is_refused(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "s", layers=1)
    shard = source / "model-00000.safetensors"
    tensors = load(shard.read_bytes())
    save_file({**tensors, "model.layers.0.mlp.experts.1.up_proj.weight": torch.ones(32, 64)}, shard)
    with pytest.raises(UnderhillError) as caught:
        import_checkpoint(source, tmp_path / "m")
    assert caught.value.kind is Kind.BROKEN_FILE
    assert "up of expert 1 in layer 0" in caught.value.sentence


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_stays_flat(tmp_path: Path) -> None:
    """200 MB of experts in two tensors, and 200 MB of embeddings, through less than 80 MB."""
    path = tmp_path / "s"
    path.mkdir()
    experts, hidden, inner = 32, 1024, 1024
    tensors = {
        "model.embed_tokens.weight": torch.ones(100_000, hidden, dtype=torch.bfloat16),
        "model.layers.0.mlp.experts.gate_up_proj": torch.ones(experts, 2 * inner, hidden, dtype=torch.bfloat16),
        "model.layers.0.mlp.experts.down_proj": torch.ones(experts, hidden, inner, dtype=torch.bfloat16),
    }
    save_file(tensors, path / "model.safetensors")
    (path / "config.json").write_text(json.dumps({"model_type": "qwen3_moe", "num_hidden_layers": 1}), encoding="utf-8")
    del tensors
    script = """
        import sys, re
        from engine.convert import encoding
        from engine.convert.importer import import_checkpoint
        encoding.WORKERS = 3  # as on two cores
        def high(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
        before = high()
        import_checkpoint(sys.argv[1], sys.argv[2], top=8)
        print(high() - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path), str(tmp_path / "m")],
        capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
        encoding="utf-8",
    )  # fmt: skip
    assert int(done.stdout) < 80_000_000
