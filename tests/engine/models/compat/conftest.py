"""Tiny checkpoints on disk, built once per family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.models.compat.checkpoint import random_model
from tests.engine.models.compat.sweep import quiet
from tests.engine.models.compat.tiny import tiny_config


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    quiet()


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Any]]:
    """Family -> (its checkpoint directory, transformers' model of the same weights)."""
    built: dict[str, tuple[Path, Any]] = {}

    def build(model_type: str) -> tuple[Path, Any]:
        if model_type not in built:
            path = tmp_path_factory.mktemp(model_type)
            model = random_model(tiny_config(model_type))
            model.save_pretrained(path)
            built[model_type] = path, model
        return built[model_type]

    return build
