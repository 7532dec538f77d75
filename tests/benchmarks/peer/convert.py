"""Runs in the peer's Python: a checkpoint of ours as GGUF, quantized by llama.cpp's own functions to its own choices.

Which tensor gets which type is llama.cpp's decision: its quantizer is asked with a narrow model of zeros that has the
same layers, experts and heads. Experts are one expert's rows in another order, and every row is
quantized by itself, so the rows of one expert are quantized and then moved.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import llama_cpp as llama
import numpy as np

from tests.random_models.shapes import Shape

FTYPES = {
    "F16": llama.LLAMA_FTYPE_MOSTLY_F16,
    "Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0,
    "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0,
    "Q4_K_M": llama.LLAMA_FTYPE_MOSTLY_Q4_K_M,
    "Q2_K": llama.LLAMA_FTYPE_MOSTLY_Q2_K,
}
TYPE = gguf.GGMLQuantizationType
NARROW = 256  # the smallest width of the types with super-blocks
STACKED = {"gate": "ffn_gate_exps", "up": "ffn_up_exps", "down": "ffn_down_exps"}
Sizes = dict[str, tuple[int, ...]]


class Checkpoint:
    """The bf16 tensors of a checkpoint, as the bits they are stored as."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        self._map: dict[str, str] = index["weight_map"]
        self.first_only = bool(index["metadata"].get("first_only"))  # see random_models/checkpoint.py
        self._folder = folder
        self._headers: dict[str, tuple[int, dict[str, Any]]] = {}

    def bits(self, name: str) -> Any:
        """uint16, in the tensor's shape."""
        path = self._folder / self._map[name]
        if path.name not in self._headers:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                self._headers[path.name] = 8 + length, json.loads(file.read(length))
        start, header = self._headers[path.name]
        entry = header[name]
        begin, end = entry["data_offsets"]
        return np.fromfile(path, np.uint16, (end - begin) // 2, offset=start + begin).reshape(entry["shape"])


def wide(bits: Any) -> Any:
    """bf16 bits as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def sizes(shape: Shape) -> Sizes:
    """Every tensor by the name GGUF has for it, rows before columns."""
    table = (shape.vocabulary, shape.hidden)
    found: Sizes = {"token_embd": table, "output_norm": (shape.hidden,), "output": table}
    for i in range(shape.layers):
        block = f"blk.{i}"
        found |= {f"{block}.attn_norm": (shape.hidden,), f"{block}.ffn_norm": (shape.hidden,)}
        found |= {f"{block}.{_attention(name)}": size for name, size in shape.attention().items()}
        found |= {f"{block}.attn_{name}": (width,) for name, width in shape.qk_norms().items()}
        found[f"{block}.ffn_gate_inp"] = (shape.experts, shape.hidden)
        found |= {f"{block}.{STACKED[m]}": (shape.experts, *size) for m, size in shape.matrices().items()}
    return {f"{name}.weight": size for name, size in found.items()}


def _attention(name: str) -> str:
    return "attn_output" if name == "o_proj" else f"attn_{name[0]}"


def types_chosen(shape: Shape, kind: str) -> dict[str, Any]:
    """The type that llama.cpp's quantizer gives each tensor."""
    narrow = dataclasses.replace(
        shape, hidden=NARROW, intermediate=NARROW, head_dim=NARROW // min(shape.heads, 16), vocabulary=NARROW
    )
    plain = {name: TYPE.F16 if plain_rows(name, size) else TYPE.F32 for name, size in sizes(narrow).items()}
    if kind == "F16":
        return plain
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "zeros.gguf", Path(folder) / "chosen.gguf"
        writer = _begin(narrow, source, "F16", plain)
        for name, size in sizes(narrow).items():
            writer.write_tensor_data(np.zeros(size, np.float16 if plain[name] == TYPE.F16 else np.float32))
        writer.close()
        params = llama.llama_model_quantize_default_params()
        params.nthread, params.ftype = 2, FTYPES[kind]
        if llama.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(params)):
            raise SystemExit("llama_model_quantize failed")
        return {t.name: t.tensor_type for t in gguf.GGUFReader(target).tensors}


def plain_rows(name: str, size: tuple[int, ...]) -> bool:
    """Whether a tensor is one of those that are quantized at all."""
    return len(size) > 1 and "ffn_gate_inp" not in name


def convert(shape: Shape, checkpoint: Path, target: Path, kind: str) -> None:
    """Write the checkpoint as GGUF of this kind; `target` appears when it is whole."""
    source, types = Checkpoint(checkpoint), types_chosen(shape, kind)
    partial = target.with_suffix(".partial")
    writer = _begin(shape, partial, kind, types)
    for name, data in _tensors(shape, source, types):
        print(name, file=sys.stderr)
        writer.write_tensor_data(data)
    writer.close()
    partial.replace(target)


def _begin(shape: Shape, path: Path, kind: str, types: dict[str, Any]) -> gguf.GGUFWriter:
    """A writer that is ready for the tensors in the order of `sizes`."""
    w = gguf.GGUFWriter(path, shape.peer_family)
    w.add_file_type(FTYPES[kind])
    w.add_vocab_size(shape.vocabulary)
    w.add_context_length(4096)
    w.add_embedding_length(shape.hidden)
    w.add_block_count(shape.layers)
    w.add_feed_forward_length(shape.intermediate)
    w.add_expert_feed_forward_length(shape.intermediate)
    w.add_expert_count(shape.experts)
    w.add_expert_used_count(shape.top_k)
    w.add_head_count(shape.heads)
    w.add_head_count_kv(shape.kv_heads)
    w.add_key_length(shape.head_dim)
    w.add_value_length(shape.head_dim)
    w.add_rope_dimension_count(shape.head_dim)
    w.add_rope_freq_base(shape.theta)
    w.add_layer_norm_rms_eps(shape.eps)
    _add_words(w, shape.vocabulary)
    for name, size in sizes(shape).items():
        packed = _packed(size, types[name])
        w.add_tensor_info(name, size, np.dtype(np.float32), packed, types[name])
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    return w


def _add_words(w: gguf.GGUFWriter, count: int) -> None:
    """The words of the checkpoint's tokenizer: llama.cpp's server writes what it answers, and cannot without."""
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("default")
    w.add_token_list([f"w{number}" for number in range(count)])
    w.add_token_types([gguf.TokenType.NORMAL] * count)
    w.add_token_merges(["w 0"])  # it wants one at least


def _packed(size: tuple[int, ...], kind: Any) -> int:
    values, per_block = gguf.GGML_QUANT_SIZES[kind]
    return int(np.prod(size)) // values * per_block


def _tensors(shape: Shape, source: Checkpoint, types: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors in the order of `sizes`, packed."""
    originals = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    for full in sizes(shape):
        name = full.removesuffix(".weight")
        if name in originals:
            yield full, _encode(wide(source.bits(f"{originals[name]}.weight")), types[full])
            continue
        _, number, what = name.split(".")
        matrix = next((m for m, stacked in STACKED.items() if stacked == what), None)
        if matrix is not None:
            yield full, _experts(shape, source, int(number), matrix, types[full])
            continue
        w = wide(source.bits(f"model.layers.{number}.{_original(shape, what)}.weight"))
        if shape.permute and what in ("attn_q", "attn_k"):
            w = _permuted(w, shape.heads if what == "attn_q" else shape.kv_heads)
        yield full, _encode(w, types[full])


def _original(shape: Shape, what: str) -> str:
    norms = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    names = {**norms, "ffn_gate_inp": f"{shape.mlp}.gate"}
    names |= {_attention(name): f"self_attn.{name}" for name in shape.attention()}
    names |= {f"attn_{name}": f"self_attn.{name}" for name in shape.qk_norms()}
    return names[what]


def _permuted(w: Any, heads: int) -> Any:
    """Rows of each head with the two halves that rotate together taken in turns, as llama.cpp's llama wants them."""
    rows, cols = w.shape
    return w.reshape(heads, 2, rows // heads // 2, cols).swapaxes(1, 2).reshape(rows, cols)


def _experts(shape: Shape, source: Checkpoint, layer: int, matrix: str, kind: Any) -> Any:
    """All experts' matrices, packed, [E, rows, bytes]."""
    first = source.bits(shape.expert_tensor(layer, 0, matrix))
    packed = _encode(wide(first), kind)
    out = np.empty((shape.experts, *packed.shape), packed.dtype)
    for expert in range(shape.experts):
        shift = shape.shift(matrix, expert)
        name = shape.expert_tensor(layer, expert, matrix)
        if not source.first_only and not np.array_equal(source.bits(name), np.roll(first, shift, 0)):
            raise SystemExit(f"{matrix} of expert {expert} in layer {layer} is not expert 0's in another order")
        out[expert] = np.roll(packed, shift, 0)
    return out


def _encode(w: Any, kind: Any) -> Any:
    """float32 rows, packed by llama.cpp."""
    if kind == TYPE.F32:
        return np.ascontiguousarray(w, np.float32)
    if kind == TYPE.F16:
        return w.astype(np.float16)
    w = np.ascontiguousarray(w, np.float32)
    rows, cols = w.shape
    out = np.empty((rows, _packed((cols,), kind)), np.uint8)
    written = _quantize_chunk()(int(kind), w.ctypes.data, out.ctypes.data, 0, rows, cols, None)
    if written != out.nbytes:
        raise SystemExit(f"ggml_quantize_chunk wrote {written} bytes instead of {out.nbytes}")
    return out


def _quantize_chunk() -> Any:
    folder = Path(llama.__file__).parent / "lib"
    library = ctypes.CDLL(str(next(p for p in folder.iterdir() if "ggml-base" in p.name)))
    function = library.ggml_quantize_chunk
    pointer, i64 = ctypes.c_void_p, ctypes.c_int64
    function.argtypes, function.restype = (ctypes.c_int, pointer, pointer, i64, i64, i64, pointer), ctypes.c_size_t
    return function


def main() -> None:
    """Arguments: a JSON object of a Shape; the checkpoint; the file to write; its kind."""
    what, checkpoint, target, kind = sys.argv[1:]
    shape = Shape(**{k: tuple(v) if k == "names" else v for k, v in json.loads(what).items()})
    convert(shape, Path(checkpoint), Path(target), kind)


if __name__ == "__main__":
    main()
