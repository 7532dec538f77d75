"""A random model of a few hundred megabytes, made in seconds: its experts are kept in bf16, as they come."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from engine.convert.importer import import_checkpoint
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.shapes import SHAPES

WORDS = 2000


def shaped_store(folder: Path) -> Path:
    """OLMoE's family, six layers of 32 experts: 311 MB of them, 4 MB of everything else."""
    shape = dataclasses.replace(
        SHAPES["olmoe"], layers=6, hidden=384, intermediate=704, experts=32, top_k=4, heads=6, kv_heads=6, head_dim=64,
        vocabulary=WORDS,
    )  # fmt: skip
    write_checkpoint(shape, folder / "checkpoint")
    import_checkpoint(folder / "checkpoint", folder / "store", top=16, progress=lambda phrase, done, total: None)
    shutil.rmtree(folder / "checkpoint")
    return folder / "store"
