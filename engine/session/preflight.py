"""What can be known of a checkpoint before hours go into importing it: that its model could be opened."""

from __future__ import annotations

import json
from pathlib import Path

from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from engine.models.families import is_known, read_spec


def check(folder: Path) -> None:
    """Raise what opening the imported model would raise for its config, its tokenizer or its chat template.

    A folder whose config.json does not read is left to the importer, which says what is wrong with it; so are families
    of the compatibility backend, whose outline the importer builds before it reads a weight.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if not isinstance(config, dict):
        return
    if is_known(config):
        read_spec(config)
    if any(folder.glob("*.safetensors")):  # else the importer names what is missing
        ChatFormat(folder).prompt([Message("user", "Hello")])
