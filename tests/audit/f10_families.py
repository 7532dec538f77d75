"""Families are opened lean: tiny random checkpoints, imported and opened as any model, say what the reference says."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers.utils import logging

from engine.calibration.calibrator import open_calibrated
from engine.convert.importer import import_checkpoint
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.models.decoder import Decoder
from tests.audit.finding import Finding
from tests.audit.unheard import Unheard
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.families import test_bailing_moe, tiny
from tests.engine.models.families.reference_bailing import logits as bailing_logits
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.parity import hf_model, oracle_logits
from tests.engine.models.tiny_store import give_words

MOST = 1e-5  # of the logits' spread
PIECES = (17, 1, 9, 1, 1, 1)  # a prompt in pieces, then single tokens
OPEN: dict[str, Any] = {"dial": "exact", "threads": 1, "dense": "f32"}
WORDS = Message("user", " ".join(f"w{n}" for n in range(5, 25)))
PLAIN = ("afmoe", "exaone_moe", "llama4")
OTHERS = (
    "kimi_k2", "glm_moe_dsa", "deepseek_v32", "mistral4", "nemotron_h", "granitemoehybrid", "longcat_flash",
    "mimo_v2_flash", "kimi_linear",
)  # fmt: skip
INSIDE = {"step3p5": "step3p7"}  # known to transformers as what is inside one that also sees
SEEING = ("minimax_m3_vl", "deepseek_v4")
VOCABULARY = 96  # of the smallest

Reference = Callable[[list[int]], Tensor]


def examine() -> Finding:
    """By family: backend, largest difference of a logit as a share of their spread, tokens of an answer."""
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    for family in (*PLAIN, *OTHERS, *INSIDE, *SEEING, "bailing_moe", "bailing_moe_v2"):
        with tempfile.TemporaryDirectory() as folder:
            found[family] = _examined(family, Path(folder))
    ok = all(one.get("lean") and one["off"] <= MOST and one["answered"] == 8 for one in found.values())
    return Finding(ok=ok, found=found)


def _examined(family: str, folder: Path) -> dict[str, Any]:
    checkpoint = folder / "checkpoint"
    try:
        reference = _bailing(family, checkpoint) if family.startswith("bailing") else _known(family, checkpoint)
        store = import_checkpoint(checkpoint, folder / "store", top=32, progress=lambda phrase, done, total: None)
        with open_calibrated(str(store), OPEN) as session:
            generator = torch.Generator().manual_seed(1)
            ids = torch.randint(3, VOCABULARY, (sum(PIECES),), generator=generator).tolist()
            wanted, state, at, off = reference(ids), session.decoder.new_state(), 0, 0.0
            for count in PIECES:
                said = session.decoder.forward(ids[at : at + count], state, "all", len(ids))
                assert said is not None
                off = max(off, float((said - wanted[at : at + count]).abs().max()))
                at += count
            stats = session.generate((WORDS,), Sampling(temperature=0, max_tokens=8), (), Unheard())
            lean = isinstance(session.decoder, Decoder)
        return {"lean": lean, "off": round(off / float(wanted.std()), 6), "answered": len(stats.token_ids)}
    except Exception as failed:  # one family that fails must not hide the others
        return {"lean": False, "off": 99.0, "answered": 0, "failed": f"{type(failed).__name__}: {failed}"[:300]}


def _known(family: str, checkpoint: Path) -> Reference:
    """By transformers' own model."""
    if family in PLAIN:
        from transformers import AutoConfig

        model_type, changes = CASES[family]
        config = AutoConfig.for_model(model_type, **{**COMMON, **changes})
    elif family in (*INSIDE, *SEEING):
        config = tiny_config(INSIDE.get(family, family))
    else:
        config = tiny.tiny(tiny.SAME.get(family, family))
    model = hf_model(config)
    model.save_pretrained(checkpoint)
    raw = json.loads((checkpoint / "config.json").read_text(encoding="utf-8")) | {"eos_token_id": None}
    if family in INSIDE:
        raw |= raw.pop("text_config")
    if family in tiny.SAME or family in INSIDE:
        raw["model_type"] = family
    (checkpoint / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    (checkpoint / "generation_config.json").unlink(missing_ok=True)
    give_words(checkpoint, config.get_text_config().vocab_size)
    return lambda ids: oracle_logits(model, ids)


def _bailing(family: str, checkpoint: Path) -> Reference:
    """By a computation in float64: transformers does not know these."""
    first, second = test_bailing_moe.FIRST, {**test_bailing_moe.SECOND, "model_type": family}
    config = first if family == "bailing_moe" else second
    checkpoint.mkdir()
    tensors = test_bailing_moe.checkpoint(config, checkpoint)
    give_words(checkpoint, 97)
    return lambda ids: bailing_logits(config, tensors, ids).float()
