"""A checkpoint of a given shape with random weights, as Hugging Face's tools would have saved it.

Every layer has one random expert; its others are the same rows in another order (Shape.shift), so that quantizing one
of them is enough to know all: hours become seconds, here and for the peer, and every byte is still there to be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor

from tests.random_models.shapes import Shape

SEED = 20
EMBEDDING = 10.0  # deviation of embeddings: well above what all layers add, or tokens, and their routes, grow alike
TEMPLATE = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
FIRST_ONLY = "first_only"  # in the index's metadata: of every layer's experts only the first is written
Tensors = list[tuple[str, tuple[int, ...], Callable[[], Tensor]]]  # name, shape, what makes it


def write_checkpoint(shape: Shape, folder: Path, *, first_only: bool = False) -> None:
    """Write it, one shard per layer and one for the rest. The same shape always gives the same bytes.

    first_only: leave out the experts that are the first one's rows in another order; whoever reads it moves them.
    """
    experts = 1 if first_only else shape.experts
    shards = [_outer(shape), *(_layer(shape, i, experts) for i in range(shape.layers))]
    write_shards(shape, folder, shards, first_only=first_only)


def write_shards(shape: Shape, folder: Path, shards: Sequence[Tensors], *, first_only: bool) -> None:
    """A checkpoint of these shards, with config.json, a tokenizer of the words w0, w1, ... and a chat template."""
    folder.mkdir(parents=True, exist_ok=True)
    index: dict[str, str] = {}
    for number, tensors in enumerate(shards, 1):
        shard = f"model-{number:05}-of-{len(shards):05}.safetensors"
        _write_shard(folder / shard, tensors)
        index |= dict.fromkeys((name for name, _, _ in tensors), shard)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {FIRST_ONLY: first_only}, "weight_map": index}),
        encoding="utf-8",
    )
    (folder / "config.json").write_text(json.dumps(shape.config(), indent=1), encoding="utf-8")
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(shape.vocabulary)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "w0", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")


def _outer(shape: Shape) -> Tensors:
    size = (shape.vocabulary, shape.hidden)
    return [
        ("model.embed_tokens.weight", size, lambda: random_tensor("embedding", size, EMBEDDING)),
        ("model.norm.weight", (shape.hidden,), lambda: torch.ones(shape.hidden)),
        ("lm_head.weight", size, lambda: random_tensor("head", size)),
    ]


def _layer(shape: Shape, layer: int, experts: int) -> Tensors:
    prefix = f"model.layers.{layer}"
    tensors: Tensors = []

    def add(name: str, size: tuple[int, ...], make: Callable[[], Tensor]) -> None:
        tensors.append((f"{prefix}.{name}.weight", size, make))

    for norm in ("input_layernorm", "post_attention_layernorm"):
        add(norm, (shape.hidden,), lambda: torch.ones(shape.hidden))
    for name, size in shape.attention().items():
        add(f"self_attn.{name}", size, lambda name=name, size=size: random_tensor(f"{layer} {name}", size))
    for name, width in shape.qk_norms().items():
        add(f"self_attn.{name}", (width,), lambda width=width: torch.ones(width))
    router = (shape.experts, shape.hidden)
    add(f"{shape.mlp}.gate", router, lambda: random_tensor(f"{layer} router", router))
    for matrix, size in shape.matrices().items():
        rolls = _rolls(shape, layer, matrix)
        tensors += ((shape.expert_tensor(layer, expert, matrix), size, rolls.__next__) for expert in range(experts))
    return tensors


def _rolls(shape: Shape, layer: int, matrix: str) -> Iterator[Tensor]:
    """This matrix of one expert after the other."""
    first = random_tensor(f"{layer} {matrix}", shape.matrices()[matrix])
    for expert in range(shape.experts):
        yield first.roll(shape.shift(matrix, expert), 0)


def random_tensor(what: str, size: tuple[int, ...], deviation: float | None = None) -> Tensor:
    """Gaussian; without a deviation, the one that keeps a vector as large as it was."""
    deviation = size[-1] ** -0.5 if deviation is None else deviation
    generator = torch.Generator().manual_seed(SEED + int.from_bytes(what.encode()) % (1 << 60))
    return torch.randn(size, generator=generator).mul_(deviation).bfloat16()


def _write_shard(path: Path, tensors: Tensors) -> None:
    """safetensors by hand, one tensor at a time: a layer of Mixtral would not fit beside everything else."""
    header, at = {}, 0
    for name, size, _ in tensors:
        end = at + 2 * torch.Size(size).numel()
        header[name] = {"dtype": "BF16", "shape": list(size), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, make in tensors:
            file.write(make().bfloat16().contiguous().view(torch.uint8).numpy().data)
