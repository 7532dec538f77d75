"""Whatever fuzzing has found, and what it began with: read again in every run of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("name", TARGETS)
def test_every_file_ends_in_a_value_or_a_sentence(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())
    assert files, "nothing to read"
    for file in files:
        try:
            TARGETS[name](file.read_bytes())
        except Exception as e:
            raise AssertionError(f"{file.name} is not foreseen") from e


def test_the_corpus_has_no_files_for_nobody() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)
