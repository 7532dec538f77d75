"""Every MoE text family that transformers knows: does it open, and do its logits agree? Prints, and writes the docs.

python -m tests.engine.models.compat.sweep --write
python -m tests.engine.models.compat.sweep FAMILY ...
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from transformers import CONFIG_MAPPING
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES, model_type_to_module_name
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)
from transformers.utils import logging

from engine.models.families import FAMILIES
from tests.engine.models.compat.parity import Parity, measure, refusal
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.families import seeing, test_bailing_moe
from tests.engine.models.families.test_bailing_moe import by_hand

# MoE families whose experts are not in the interface: open by a file of their own, or refused with a sentence.
OUTSIDE = ("dbrx", "doge", "jetmoe", "llama4", "longcat_flash", "nllb-moe", "step3p7", "switch_transformers")

# Families that transformers has no class of its own for, or saves under other names: see tests/engine/models/families.
UNKNOWN: dict[str, Callable[[], Parity]] = {
    "bailing_moe": lambda: by_hand(test_bailing_moe.FIRST),
    "bailing_moe_v2": lambda: by_hand({**test_bailing_moe.SECOND, "model_type": "bailing_moe_v2"}),
    "step3p5": lambda: replace(measure(tiny_config("step3p7"), lean=True), model_type="step3p5"),
    "kimi_k2": lambda: replace(measure(tiny_config("deepseek_v3"), lean=True), model_type="kimi_k2"),
    "kimi_k25": lambda: measure(seeing.config("kimi_k25"), lean=True, save=seeing.save),
    "mistral3": lambda: measure(seeing.config("mistral3"), lean=True, save=seeing.save),
}

DOCS = Path(__file__).parents[4] / "docs" / "model-families.md"
BEGIN, END = "<!-- the sweep writes from here -->", "<!-- to here -->"


@dataclass(frozen=True)
class Row:
    """One family: its parity on the lean decoder (None where it has no file), and on the compatibility backend."""

    model_type: str
    lean: Parity | None
    compat: Parity

    @property
    def used(self) -> Parity:
        return self.lean or self.compat

    @property
    def backend(self) -> str:
        return "–" if self.used.reason else "lean" if self.lean else "compatibility"


def families() -> list[str]:
    """model_types of the experts interface that read and write text, one at least per model file; then OUTSIDE."""
    by_module: dict[str, list[str]] = {}
    for model_type in CONFIG_MAPPING_NAMES:
        by_module.setdefault(model_type_to_module_name(model_type), []).append(model_type)
    found = []
    for module, model_types in sorted(by_module.items()):
        spec = importlib.util.find_spec(f"transformers.models.{module}")
        assert spec is not None
        folder = Path(spec.submodule_search_locations[0])  # type: ignore[index]
        if not any(
            "@use_experts_implementation" in file.read_text(encoding="utf-8") for file in folder.glob("modeling_*.py")
        ):
            continue
        writing = [
            model_type
            for model_type in model_types
            if model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
            or model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        ]
        found += writing or [module]
    return [*found, *OUTSIDE, "llama4_text", *UNKNOWN]


def examine(model_type: str) -> Row:
    """One family, as a tiny random checkpoint."""
    if model_type in UNKNOWN:
        return Row(model_type, UNKNOWN[model_type](), Parity(model_type, reason="transformers does not know it"))
    known = model_type in FAMILIES
    config = CONFIG_MAPPING[model_type]() if model_type in OUTSIDE and not known else tiny_config(model_type)
    reason = refusal(config.to_dict())
    lean = measure(config, lean=True) if known else None
    return Row(model_type, lean, Parity(model_type, reason=reason) if reason else measure(config))


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| family (`model_type`) | backend | prompt | answer | after rollback | through compatibility | note |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        phases = (
            ["–"] * 3
            if row.used.reason
            else [_number(x) for x in (row.used.prefill, row.used.decode, row.used.rollback)]
        )
        compat = "–" if row.compat.reason else _number(row.compat.worst)
        lines.append(f"| {row.model_type} | {row.backend} | {' | '.join(phases)} | {compat} | {row.used.reason} |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """One sentence of figures."""
    lean = sum(row.lean is not None and row.lean.ok for row in rows)
    compat = sum(row.lean is None and row.compat.ok for row in rows)
    off = [row.model_type for row in rows if not row.used.reason and not row.used.ok]
    refused = sum(bool(row.used.reason) for row in rows)
    wrong = f" Not at parity: {', '.join(off)}." if off else ""
    return (
        f"{len(rows)} model types: {lean} open on the lean decoder and {compat} through the compatibility backend, all "
        f"with parity; {refused} are refused with a reason.{wrong}"
    )


def _number(x: float) -> str:
    return f"{x:.1e}"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help="only these model_types")
    parser.add_argument("--write", action="store_true", help=f"put the whole table into docs/{DOCS.name}")
    args = parser.parse_args()
    quiet()
    rows = []
    for model_type in args.families or families():
        rows.append(examine(model_type))
        print(table(rows).splitlines()[-1], flush=True)
    print(summary(rows))
    if args.write and not args.families:
        text = DOCS.read_text(encoding="utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        DOCS.write_text(f"{before}{BEGIN}\n\n{summary(rows)}\n\n{table(rows)}\n\n{END}{after}", encoding="utf-8")


def quiet() -> None:
    """No bars and no advice from transformers; one thread, which is fastest for models this small."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
