"""A model of the catalogue is got in four bits: from a hub on this computer, streamed in, and kept to the bit."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import huggingface_hub.constants
import torch

from engine.convert.expert_plan import find_experts
from engine.convert.pieces import read_piece
from engine.formats.opening import open_source
from engine.hub import listings
from engine.hub.client import connect
from engine.hub.pull import look, pull
from engine.library.fit_estimates import FitEstimates
from engine.store.reader import Store
from tests.audit.finding import Finding
from tests.engine.formats.forms import FORMS
from tests.engine.quantization.reference import decode_expert
from tests.engine.store.tiny_store import read
from tests.hubserver import HubServer

SAME = 1e-3  # relative error against what the source means


def examine() -> Finding:
    """What the catalogue offers first, pulled as the window does it, beside a finer file and the original."""
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, {"UNDERHILL_HOME": f"{home}/home"}),
        patch.object(huggingface_hub.constants, "HF_HUB_OFFLINE", False),
    ):
        found = _pulled(Path(home))
    offered = [m for m in listings.of_catalogue(FitEstimates()) if m.original]
    found["smaller_by"] = round(sum(m.original_bytes for m in offered) / sum(m.download_bytes for m in offered), 2)
    found["told"] = sum(bool(m.lost and m.form and m.original_bytes) for m in offered)
    right = found["error"] <= SAME and found["files"] == ["model-Q4_K_M.gguf"] and found["left"] == 0
    return Finding(right and found["smaller_by"] > 2 and found["told"] == len(offered) > 0, found)


def _pulled(folder: Path) -> dict[str, object]:
    model = next(m for m in listings.of_catalogue(FitEstimates()) if m.gguf_name)
    for kind in ("Q4_K", "Q8_0"):
        FORMS[f"GGUF {kind}"](folder / kind)
    served = folder / "Q4_K"
    (served / "model-Q4_K.gguf").rename(served / "model-Q4_K_M.gguf")
    (folder / "Q8_0" / "model-Q8_0.gguf").rename(served / "model-Q8_0.gguf")
    with HubServer() as server:
        server.add(model.repo, served)
        with connect({"endpoint": server.url}) as hub:
            store = pull(hub, look(hub, model.repo, gguf=model.gguf_name, top=4), "mine", 4)
        server.settle()
        files = sorted(name for name, nbytes in server.sent.items() if nbytes > 100_000)
    source = open_source(served / "model-Q4_K_M.gguf")
    plan, error = find_experts(source), 0.0
    with Store.open(store) as opened:
        for layer, experts in plan.layers.items():
            spec = opened.spec(layer, 0)
            got = decode_expert(read(opened, layer, 0, range(len(spec.layout.parts))), spec, 4)
            for part, weight in got.items():
                meant = read_piece(source, experts[0].matrices[part]).float()
                error = max(error, float((torch.as_tensor(weight) - meant).norm() / meant.norm()))
    left = len(list((folder / "home").rglob("*.gguf")))
    return {"repo": model.repo, "files": files, "error": error, "left": left}
