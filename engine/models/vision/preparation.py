"""What a model's files say of preparing its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.models.config import Config, unsupported
from engine.regular_file import read_json
from engine.translatable import msg


def preparation(folder: Path) -> Config:
    """The settings beside config.json; none where there is no such file. Raises UnderhillError(BROKEN_FILE)."""
    for name, inner in (("processor_config.json", "image_processor"), ("preprocessor_config.json", "")):
        try:
            found = read_json(folder / name)
            found = found.get(inner) if inner else found
        except FileNotFoundError:
            continue
        except (OSError, ValueError, AttributeError) as cause:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("Can't read the model's {name}.", name=name), msg("Import it again.")
            ) from cause
        if isinstance(found, Mapping):
            return Config(found)
    return Config({})


def not_known() -> UnderhillError:
    """For settings that Underhill would have to guess at."""
    return unsupported(msg("How this model wants its images prepared isn't known."))
