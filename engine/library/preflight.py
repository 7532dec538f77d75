"""What can be known of a checkpoint before hours go into importing it: that its model could be opened."""

from __future__ import annotations

from pathlib import Path

from engine.formats.opening import gguf_file, open_source
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from engine.limits import CONFIG_BYTES
from engine.models.families import is_known, read_spec
from engine.regular_file import read_json


def check(source: Path) -> None:
    """Raise what opening the imported model would raise for its config, its tokenizer or its chat template.

    Of a GGUF file, these are made of its metadata first.
    A folder whose config.json does not read is left to the importer, which says what is wrong with it; so are families
    of the compatibility backend, whose outline the importer builds before it reads a weight.
    """
    if gguf_file(source) is None:
        check_files(source, any(source.glob("*.safetensors")))  # without any, the importer names what is missing
        return
    with open_source(source).companions() as files:
        check_files(files[0].parent)


def check_files(folder: Path, weights: bool = True) -> None:
    """The same, of the small files in a folder. weights: whether there are weights to go with them."""
    try:
        config = read_json(folder / "config.json", CONFIG_BYTES)
    except (OSError, ValueError):
        return
    if not isinstance(config, dict):
        return
    if is_known(config):
        read_spec(config)
    if weights:
        ChatFormat(folder).prompt([Message("user", "Hello")])
