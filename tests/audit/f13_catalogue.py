"""The catalogue is of today: every model opens, is as large as its makers say, and comes in four bits first."""

from __future__ import annotations

from engine.formats.families import opens
from engine.formats.gguf_names import ARCHITECTURES
from engine.library import catalogue
from tests.audit.finding import Finding

WANTED = (
    "Qwen3.6-35B-A3B", "Qwen3.5-122B-A10B", "GLM-4.7", "GLM-5", "DeepSeek-V3.2", "DeepSeek-V4-Flash",
    "Nemotron-3-Nano", "Kimi-K2.6",
    "Mistral-Small-4", "MiniMax-M2.5", "MiniMax-M3", "LFM2.5-8B-A1B", "Trinity", "Hunyuan-A13B", "Hy3",
)  # fmt: skip
DATED = ("Mixtral", "DeepSeek-V2", "DeepSeek-V3.1", "Phi-3.5", "GLM-4.6", "LFM2-8B", "Qwen3.5-35B")
OFF = 0.05  # of the parameters that makers state


def examine() -> Finding:
    """Of the catalogue that is shipped."""
    entries = catalogue.load()
    repos = [entry.repo for entry in entries]
    missing = [name for name in WANTED if not any(name in repo for repo in repos)]
    dated = [repo for repo in repos if any(name in repo for name in DATED)]
    unknown = [entry.repo for entry in entries if not opens(entry.model_type)]
    off = {entry.repo: round(entry.shape.parameters / entry.parameters - 1, 3) for entry in entries}
    small = [entry.repo for entry in entries if entry.sources or entry.native]
    largest = max(abs(value) for value in off.values())
    found = {
        "models": len(entries), "missing": missing, "dated": dated, "not_opened": unknown,
        "largest_difference": largest, "in_four_bits": len(small), "gguf_architectures": len(ARCHITECTURES),
    }  # fmt: skip
    return Finding(not (missing or dated or unknown) and largest <= OFF and 2 * len(small) > len(entries), found)
