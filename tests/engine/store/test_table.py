"""Rows that stay on the disk: what they are, that each is checked, and that little of the file is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.store import table as module
from engine.store.disk import PosixFile, open_file
from engine.store.manifest import DenseTensor
from engine.store.table import TensorTable

ROWS, COLS, OFFSET = 50, 48, 1000


@pytest.fixture(params=[torch.bfloat16, torch.float16, torch.float32])
def values(request: pytest.FixtureRequest) -> torch.Tensor:
    return torch.randn(ROWS, COLS, generator=torch.Generator().manual_seed(1)).to(request.param)


@pytest.fixture
def bf16() -> torch.Tensor:
    return torch.randn(ROWS, COLS, generator=torch.Generator().manual_seed(2)).bfloat16()


def written(folder: Path, values: torch.Tensor) -> tuple[Path, DenseTensor]:
    data = values.view(torch.uint8).numpy().tobytes()
    (path := folder / "dense").write_bytes(b"x" * OFFSET + data + b"y" * 5000)
    name = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}[values.dtype]
    return path, DenseTensor("embed.weight", name, (ROWS, COLS), OFFSET, len(data), crc32(data))


@pytest.fixture
def opened(tmp_path: Path, bf16: torch.Tensor) -> Iterator[TensorTable]:
    path, entry = written(tmp_path, bf16)
    file = open_file(path, direct=False)
    yield TensorTable(file, path, entry)
    file.close()


@pytest.mark.parametrize("step", [1, 3 * COLS * 2, 1 << 20])
def test_rows_are_those_that_are_stored_in_any_order(
    tmp_path: Path, values: torch.Tensor, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", step)
    path, entry = written(tmp_path, values)
    file = open_file(path, direct=False)
    table = TensorTable(file, path, entry)
    assert table.shape == (ROWS, COLS)
    for ids in ([7], [49, 0, 7, 7, 48], list(range(ROWS)), [3] * 9, []):
        found = table.rows(torch.tensor(ids, dtype=torch.int64))
        assert found.dtype == torch.float32
        assert torch.equal(found, values[torch.tensor(ids, dtype=torch.int64)].float())
        if ids:
            table.write(ids, out := torch.full((len(ids), COLS), 7.0))
            assert torch.equal(out, found)
    file.close()


@pytest.mark.parametrize("ids", [[50], [-1], [3, 50]])
def test_a_row_that_there_is_not_is_no_other_tensors_bytes(opened: TensorTable, ids: list[int]) -> None:
    with pytest.raises(IndexError):
        opened.rows(torch.tensor(ids))


def test_what_was_changed_before_it_was_opened_is_named(tmp_path: Path, bf16: torch.Tensor) -> None:
    path, entry = written(tmp_path, bf16)
    data = bytearray(path.read_bytes())
    data[OFFSET + 77] ^= 1
    path.write_bytes(data)
    file = open_file(path, direct=False)
    with pytest.raises(UnderhillError, match=r"embed\.weight does not match") as raised:
        TensorTable(file, path, entry)
    assert raised.value.kind is Kind.BROKEN_FILE
    file.close()


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_what_is_changed_while_it_is_open_is_not_computed_with(
    opened: TensorTable, tmp_path: Path, bf16: torch.Tensor
) -> None:
    with (tmp_path / "dense").open("r+b") as file:
        file.seek(OFFSET + 5 * COLS * 2)
        file.write(b"?")
    assert torch.equal(opened.rows(torch.tensor([4, 6])), bf16[[4, 6]].float())
    with pytest.raises(UnderhillError, match=r"row 5 of tensor embed\.weight") as raised:
        opened.rows(torch.tensor([4, 5]))
    assert raised.value.kind is Kind.BROKEN_FILE


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_what_is_cut_off_while_it_is_open_is_said(opened: TensorTable, tmp_path: Path, bf16: torch.Tensor) -> None:
    with (tmp_path / "dense").open("r+b") as file:
        file.truncate(OFFSET + 20 * COLS * 2 + 10)
    assert torch.equal(opened.rows(torch.tensor([19])), bf16[[19]].float())
    with pytest.raises(UnderhillError, match="cut short"):
        opened.rows(torch.tensor([20]))


@pytest.mark.skipif(sys.platform == "win32", reason="other systems are not told")
def test_the_system_keeps_copies_only_where_it_may(
    tmp_path: Path, bf16: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[tuple[int, int]] = []
    expected: list[int] = []
    monkeypatch.setattr(PosixFile, "forget", lambda self, offset, nbytes: forgotten.append((offset, nbytes)))
    monkeypatch.setattr(PosixFile, "expect", lambda self, offset, nbytes: expected.append(offset))
    path, entry = written(tmp_path, bf16)
    file = open_file(path, direct=False)
    TensorTable(file, path, entry).rows(torch.tensor([40, 3, 3]))
    assert not forgotten
    assert expected == [OFFSET + 3 * COLS * 2, OFFSET + 40 * COLS * 2]
    table = TensorTable(file, path, entry, kept=False)
    assert forgotten == [(OFFSET, ROWS * COLS * 2)]
    table.rows(torch.tensor([40]))
    assert forgotten[1:] == [(4096, 4096)]  # whole pages: 4840 to 4936 are in the second
    assert len(expected) == 2
    file.close()


def test_a_row_that_comes_again_is_not_read_again(
    opened: TensorTable, bf16: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    kept = TensorTable._read
    monkeypatch.setattr(TensorTable, "_read", lambda self, row, view: (read.append(row), kept(self, row, view)))
    monkeypatch.setattr(opened, "_most", 3)
    for row in (4, 5, 4, 6, 4, 7, 4, 5):  # 5 is the one that was asked for least recently when 7 comes
        found = opened.rows(torch.tensor([row]))
        assert torch.equal(found, bf16[[row]].float())
        found.zero_()  # by a caller: it is no other's
    assert read == [4, 5, 6, 7, 5]
    with pytest.raises(IndexError):
        opened.rows(torch.tensor([50]))
