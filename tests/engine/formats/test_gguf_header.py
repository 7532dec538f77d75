"""GGUF headers: what is wrong with a file is said in a sentence, before anything it claims is believed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Type

from engine.errors import Kind, UnderhillError
from engine.formats import gguf_header
from engine.formats.gguf_header import read_gguf_header


def write(path: Path, split: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    tensors = {f"t{i}": generator.standard_normal((i + 2, 32)).astype(np.float32) for i in range(3)}
    writer = gguf.GGUFWriter(path, "test", split_max_tensors=split)
    writer.add_array("words", ["a", "bc", "\u2581d"])
    writer.add_array("numbers", [1, 2, 3])
    writer.add_float32("half", 0.5)
    writer.add_bool("yes", True)
    for name, array in tensors.items():
        kind = Type.Q8_0 if name == "t1" else Type.F32
        writer.add_tensor(name, gguf.quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def test_what_the_packages_writer_wrote(tmp_path: Path) -> None:
    tensors = write(tmp_path / "m.gguf")
    header = read_gguf_header(tmp_path / "m.gguf")
    assert header.metadata["words"] == ["a", "bc", "\u2581d"]
    assert header.metadata["numbers"] == [1, 2, 3]
    assert (header.metadata["half"], header.metadata["yes"]) == (0.5, True)
    theirs = {t.name: t for t in gguf.GGUFReader(tmp_path / "m.gguf").tensors}
    assert header.tensors.keys() == theirs.keys()
    for name, tensor in header.tensors.items():
        assert tensor.shape == tensors[name].shape
        assert (tensor.offset, tensor.nbytes, tensor.type) == (
            theirs[name].data_offset, theirs[name].n_bytes, theirs[name].tensor_type
        )  # fmt: skip


def test_without_arrays_the_rest_is_the_same(tmp_path: Path) -> None:
    write(tmp_path / "m.gguf")
    whole, short = (read_gguf_header(tmp_path / "m.gguf", arrays) for arrays in (True, False))
    assert short.tensors == whole.tensors
    assert short.metadata == {k: v for k, v in whole.metadata.items() if k not in ("words", "numbers")}


@pytest.mark.parametrize("keep", [0, 3, 23, 30, 60, 150, 250])
def test_a_header_cut_anywhere_is_damaged(tmp_path: Path, keep: int) -> None:
    write(tmp_path / "m.gguf")
    (tmp_path / "m.gguf").write_bytes((tmp_path / "m.gguf").read_bytes()[:keep])
    with pytest.raises(UnderhillError, match="damaged") as caught:
        read_gguf_header(tmp_path / "m.gguf")
    assert caught.value.kind is Kind.BROKEN_FILE


def test_data_cut_short_is_named(tmp_path: Path) -> None:
    write(tmp_path / "m.gguf")
    data = (tmp_path / "m.gguf").read_bytes()
    (tmp_path / "m.gguf").write_bytes(data[:-200])
    with pytest.raises(UnderhillError, match=r"cut short: it should have \d+ bytes and has \d+\."):
        read_gguf_header(tmp_path / "m.gguf")


def replaced(at: int, value: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        (replaced(0, b"GGML"), Kind.BROKEN_FILE, "does not begin like"),
        (replaced(4, struct.pack("<I", 9)), Kind.UNSUPPORTED_MODEL, "version 9"),
        (replaced(4, struct.pack(">I", 3)), Kind.UNSUPPORTED_MODEL, "big-endian"),
        (replaced(8, struct.pack("<Q", 2**62)), Kind.BROKEN_FILE, "impossible number"),
        (replaced(16, struct.pack("<Q", 2**62)), Kind.BROKEN_FILE, "impossible number"),
        (replaced(24, struct.pack("<Q", 2**62)), Kind.BROKEN_FILE, "ends within its header"),
        (lambda d: d.replace(b"t1", b"t0", 1), Kind.BROKEN_FILE, "two t0"),
        (lambda d: d.replace(struct.pack("<QI", 3, Type.Q8_0), struct.pack("<QI", 3, 99)), Kind.UNSUPPORTED_MODEL,
         r"t1 in m\.gguf has the unsupported type a type without a name \(number 99\)"),
        (lambda d: d, Kind.UNSUPPORTED_MODEL, r"t1 in m\.gguf has the unsupported type IQ4_K \(of ik_llama\.cpp\)"),
        (lambda d: d, Kind.UNSUPPORTED_MODEL, r"t1 in m\.gguf has the unsupported type Q4_0_4_4"),
        (lambda d: d.replace(b"numbers" + struct.pack("<IIQ", 9, 5, 3), b"numbers" + struct.pack("<IIQ", 9, 5, 2**60)),
         Kind.BROKEN_FILE, "ends within"),
        (lambda d: d.replace(b"words" + struct.pack("<IIQ", 9, 8, 3), b"words" + struct.pack("<IIQ", 9, 8, 2**60)),
         Kind.BROKEN_FILE, "ends within"),
        (lambda d: d.replace(b"words" + struct.pack("<II", 9, 8), b"words" + struct.pack("<II", 9, 9)),
         Kind.BROKEN_FILE, "array of arrays"),
    ],
)  # fmt: skip
def test_lies_are_found(tmp_path: Path, change: Callable[[bytes], bytes], kind: Kind, sentence: str) -> None:
    write(tmp_path / "m.gguf")
    data = (tmp_path / "m.gguf").read_bytes()
    changed = change(data)
    if "unsupported type" in sentence:
        number = next(n for word, n in (("99", 99), ("IQ4_K", 139), ("Q4_0_4_4", 31)) if word in sentence)
        at = data.index(b"t1", data.index(b"\x02\x00\x00\x00\x00\x00\x00\x00t0")) + 2 + 4 + 16
        changed = replaced(at, struct.pack("<I", number))(data)
    assert changed != data
    (tmp_path / "m.gguf").write_bytes(changed)
    with pytest.raises(UnderhillError, match=sentence) as caught:
        read_gguf_header(tmp_path / "m.gguf")
    assert caught.value.kind is kind


def test_parts_belong_together(tmp_path: Path) -> None:
    write(tmp_path / "m.gguf", split=1)
    names = [f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    for name in names:
        assert [p.name for p in gguf_header.parts(tmp_path / name)] == names
    (tmp_path / "mmproj-m.gguf").touch()
    assert gguf_header.only_model(tmp_path) == tmp_path / names[0]
    assert gguf_header.model_name(tmp_path / names[2]) == "m"
    (tmp_path / names[1]).unlink()
    with pytest.raises(UnderhillError, match=r"m-00002-of-00003\.gguf is missing"):
        gguf_header.parts(tmp_path / names[0])
    (tmp_path / "other.gguf").touch()
    with pytest.raises(UnderhillError, match="2 models") as caught:
        gguf_header.only_model(tmp_path)
    assert "other.gguf" in caught.value.action
