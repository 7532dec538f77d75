"""What a packed source holds, taken apart and not decoded: the codes mean what the decoded numbers are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load, save_file

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import coded_piece, read_piece
from engine.errors import UnderhillError
from engine.formats.gguf_header import type_sizes
from engine.formats.gguf_rows import StoredRows, coded
from engine.formats.opening import open_source
from tests.engine.formats.forms import FORMS
from tests.engine.formats.gguf_blocks import decoded, random_blocks
from tests.engine.formats.test_packed import pack

KEPT = ("gptq", "gptq symmetric", "gptq version 2", "awq", "compressed-tensors", "compressed-tensors with zeros")
NOT_KEPT = ("gptq reordered", "gptq 8 bits", "float8 in blocks of 16")
BLOCKS = (
    Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS, Type.MXFP4,
)  # fmt: skip


@pytest.mark.parametrize("way", KEPT)
def test_packed_matrices_are_taken_apart(way: str, tmp_path: Path) -> None:
    pack(tmp_path, way)
    source = open_source(tmp_path)
    for experts in find_experts(source).layers.values():
        for piece in experts[0].matrices.values():
            found = coded_piece(source, piece)
            assert found is not None
            whole = read_piece(source, piece)
            grouped = found.grouped(0, len(whole))
            assert grouped.coding == found.coding
            assert int(grouped.codes.max()) < 16
            torch.testing.assert_close(grouped.values(), whole, rtol=1e-6, atol=1e-7)
            assert torch.equal(found.grouped(3, 11).values(), grouped.values()[3:11])


@pytest.mark.parametrize("way", NOT_KEPT)
def test_what_no_record_can_say_is_numbers(way: str, tmp_path: Path) -> None:
    pack(tmp_path, way)
    source = open_source(tmp_path)
    assert coded_piece(source, find_experts(source).layers[0][0].matrices["up"]) is None


def test_inputs_reordered_against_what_config_says_are_refused(tmp_path: Path) -> None:
    pack(tmp_path, "gptq")
    tensors = load((tmp_path / "model.safetensors").read_bytes())
    name = next(n for n in tensors if n.endswith("g_idx") and ".experts." in n)
    tensors[name] = tensors[name].flip(0).contiguous()
    save_file(tensors, tmp_path / "model.safetensors")
    source = open_source(tmp_path)
    found = source.coded(name.replace("g_idx", "weight"))
    assert found is not None
    with pytest.raises(UnderhillError, match="inputs are in order, and g_idx"):
        found.grouped(0, 8)


@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks_of_a_gguf_file_are_taken_apart(kind: Type) -> None:
    shape = (5, 512)
    data = random_blocks(kind, shape)

    class Tensor:
        """As much of a GgufTensor as rows look at."""

        type, offset, file = int(kind), 0, Path("none")

        def __init__(self) -> None:
            self.shape = shape

        @staticmethod
        def read(file: Path, offset: int, into: memoryview) -> None:
            into[:] = data.reshape(-1)[offset : offset + len(into)].data

    assert data.shape[1] == shape[1] // type_sizes()[kind][0] * type_sizes()[kind][1]
    found = coded(StoredRows(Tensor(), 0, shape[0]))  # type: ignore[arg-type]
    assert found is not None
    whole = torch.from_numpy(decoded(kind, data, shape))
    assert torch.equal(found.grouped(0, 5).values(), whole)
    assert torch.equal(found.grouped(2, 4).values(), whole[2:4])


def test_mxfp4_beside_its_scales(tmp_path: Path) -> None:
    FORMS["MXFP4"](tmp_path)
    source = open_source(tmp_path)
    for piece in find_experts(source).layers[0][1].matrices.values():
        found = coded_piece(source, piece)
        assert found is not None
        whole = read_piece(source, piece)
        assert torch.equal(found.grouped(0, len(whole)).values(), whole.float())
        assert torch.equal(found.grouped(4, 9).values(), whole[4:9].float())
