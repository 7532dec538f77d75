"""Layers that choose different numbers, routers beyond their groups, time steps, and letters of mathematics."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, pre_tokenizers
from transformers import AutoConfig
from transformers.utils import logging

from engine.calibration.calibrator import open_calibrated
from engine.calibration.teaching import teach_gates
from engine.errors import Kind, UnderhillError
from engine.formats.gguf_tokenizer import SPLITS
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.models.families import read_spec
from engine.tracing.recorder import Recorder
from engine.tracing.trace import NO_EXPERT
from tests.audit.finding import Finding
from tests.audit.unheard import Unheard
from tests.engine.calibration.captured import capture_routing
from tests.engine.models.compat.checkpoint import random_model
from tests.engine.models.compat.parity import open_compat, open_lean
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.families.test_plain_attention import COMMON, HUNYUAN
from tests.engine.models.families.tiny import raw
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import tiny_store

TOP_K = [1, 6, 2]
TEXT = Message("user", " ".join(f"w{n}" for n in range(5, 45)))
MOST = 1e-5


def examine() -> Finding:
    """All four, each through what the app uses."""
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    found = {
        "top_k_by_layer": _top_k_by_layer(),
        "beyond_groups": _beyond_groups(),
        "time_steps": _time_steps(),
        "letters": _letters(),
    }
    return Finding(ok=all(one["ok"] for one in found.values()), found=found)


def _top_k_by_layer() -> dict[str, Any]:
    config = AutoConfig.for_model("hunyuan_v1_moe", **{**COMMON, **HUNYUAN, "moe_topk": TOP_K, "eos_token_id": None})
    answered = 0
    with tempfile.TemporaryDirectory() as folder:
        store = tiny_store(hf_model(config), Path(folder))
        for predictor in ("tokens", "pairs", "paths"):
            settings = {"dial": "exact", "threads": 1, "cache_fraction": 0.4, "predictor": predictor}
            with open_calibrated(str(store), settings) as session:
                recorder = Recorder(session.store.layers, 8)
                with session.listening(recorder):
                    for _ in range(2):
                        stats = session.generate((TEXT,), Sampling(temperature=0, max_tokens=6), (), Unheard())
                        answered += len(stats.token_ids)
                if predictor == "tokens":
                    teach_gates(session, capture_routing(session, [[n % 90 + 3 for n in range(80)]], 60))
                chosen = [(row != NO_EXPERT).sum(-1).tolist()[0] for row in recorder.trace().ids]
    return {"ok": answered == 36 and chosen == TOP_K, "answered": answered, "chosen": chosen}


def _beyond_groups() -> dict[str, Any]:
    refused = 0
    for changes in ({"topk_group": 1}, {"n_group": 8, "topk_group": 4}):
        try:
            read_spec(raw("deepseek_v3", **changes))
        except UnderhillError as e:
            refused += e.kind is Kind.UNSUPPORTED_MODEL
    return {"ok": refused == 2, "refused": refused}


def _time_steps() -> dict[str, Any]:
    """Nemotron-H, fed in whatever pieces, against one pass of transformers."""
    model = random_model(tiny_config("nemotron_h", time_step_min=0.02))
    ids = torch.randint(3, 96, (40,), generator=torch.Generator().manual_seed(5))
    off = {}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder)
        wanted = model(ids[None], use_cache=False).logits[0]
        for name, opened in (("lean", open_lean), ("compatibility", open_compat)):
            decoder, _ = opened(Path(folder))
            for pieces in ([20, 20], [39, 1], [7, 1, 7, 15, 10], [1] * 40):
                state = decoder.new_state()
                said = torch.cat([x for p in ids.split(pieces) if (x := decoder.forward(p, state, "all")) is not None])
                off[name] = max(off.get(name, 0.0), float((said - wanted).abs().max()))
    return {"ok": max(off.values()) <= MOST, **off}


def _letters() -> dict[str, Any]:
    """deepseek-llm's first vocabularies take no letter of mathematics for a letter."""
    cut = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in SPLITS["deepseek-llm"].patterns])
    pieces = [piece for piece, _ in cut.pre_tokenize_str("let \U0001d400\U0001d44f ab")]
    return {"ok": pieces == ["let", " \U0001d400\U0001d44f", " ab"], "pieces": pieces}
