"""The config of a GGUF file from its first kilobytes, for an estimate: what only its tensors would say is presumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.formats.gguf_header import GgufTensor, parse_gguf_beginning
from engine.formats.gguf_metadata import Metadata
from engine.formats.gguf_source import known_architecture

GLANCE = 64 << 10  # bytes: llama.cpp's converter writes sizes first and the vocabulary, which is long, behind them
_TIED = {"granitemoe", "lfm2moe"}  # whose published models have no output matrix of their own
_F32 = 0
_INTERVAL = 4  # layers of Qwen3-Next for each one with attention, where the file does not say


def glanced_config(path: Path, data: bytes) -> dict[str, Any]:
    """As GgufSource.config, but for flags that change no size. data: the first bytes of the file `path`.

    Raises UnderhillError: UNSUPPORTED_MODEL as GgufSource.open; BROKEN_FILE where the sizes do not come first.
    """
    values, lengths = parse_gguf_beginning(path, data)
    metadata = Metadata(values)
    architecture = known_architecture(metadata)
    return architecture.config(metadata, _presumed(path, metadata, lengths.get("tokenizer.ggml.tokens", 0)))


def _presumed(path: Path, m: Metadata, tokens: int) -> dict[str, GgufTensor]:
    """Tensors that a config is made with, as large as the metadata has them. tokens: of the vocabulary."""
    hidden, layers = m.integer("embedding_length"), m.integer("block_count")
    width = m.integer("expert_feed_forward_length", m.integer("feed_forward_length", 0))
    shared = m.integer("expert_shared_feed_forward_length", m.integer("expert_shared_count", 0) * width)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (m.integer("vocab_size", tokens), hidden),
        "blk.0.ffn_up_exps.weight": (m.integer("expert_count"), width, hidden),
    }
    if m.architecture not in _TIED:
        shapes["output.weight"] = shapes["token_embd.weight"]
    if shared:
        for layer in {0, m.integer("leading_dense_block_count", 0)}:
            shapes[f"blk.{layer}.ffn_up_shexp.weight"] = (shared, hidden)
    if m.has("attention.q_lora_rank"):
        shapes["blk.0.attn_q_a.weight"] = (m.integer("attention.q_lora_rank"), hidden)
    for layer in range(m.integer("leading_dense_block_count", 1 if m.architecture == "mimo2" else 0), layers):
        shapes[f"blk.{layer}.ffn_gate_inp.weight"] = (m.integer("expert_count"), hidden)
    if m.has("attention.indexer.head_count"):  # of all layers, at most
        for layer in range(layers):
            shapes[f"blk.{layer}.indexer.proj.weight"] = (m.integer("attention.indexer.head_count"), hidden)
    every = max(1, m.integer("full_attention_interval", _INTERVAL))
    for layer in range(every - 1, layers, every):
        shapes[f"blk.{layer}.attn_q.weight"] = (hidden, hidden)
    return {name: GgufTensor(name, path, _F32, shape, 0, 0) for name, shape in shapes.items()}
