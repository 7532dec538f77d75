"""The collection of activation matrices: bounded, diverse, kept on disk, never taken from a bad file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.eam import EamCollection


def matrix(*used: int) -> np.ndarray:
    made = np.zeros((2, 4), np.float32)
    for expert in used:
        made[:, expert] += 1
    return made


def test_the_closest_is_found_whatever_the_length_of_a_request() -> None:
    collection = EamCollection(2, 4)
    for one in (matrix(0, 1), matrix(2), 50 * matrix(3)):
        collection.add(one)
    assert collection.closest(7 * matrix(0, 0, 1)).tolist() == [0]
    assert collection.closest(matrix(3, 3, 3, 2), 2).tolist() == [2, 1]
    assert collection.closest(matrix(1), 9).tolist()[0] == 0


def test_a_full_collection_gives_up_the_entry_most_like_the_newcomer() -> None:
    collection = EamCollection(2, 4, capacity=3)
    for one in (matrix(0), matrix(1), matrix(2)):
        collection.add(one)
    collection.add(matrix(1, 1, 3))
    assert len(collection) == 3
    kept = {tuple(one[0].tolist()) for one in collection.counts}
    assert kept == {(1, 0, 0, 0), (0, 2, 0, 1), (0, 0, 1, 0)}


def test_expectations_are_shares_of_the_closest_together() -> None:
    collection = EamCollection(2, 4)
    collection.add(matrix(0, 0, 1))
    collection.add(matrix(0))
    collection.add(matrix(3))
    np.testing.assert_allclose(collection.expected(matrix(0), 2), [[0.75, 0.25, 0, 0]] * 2)


def test_nothing_is_learnt_from_a_request_that_did_nothing() -> None:
    collection = EamCollection(2, 4)
    collection.add(matrix())
    assert len(collection) == 0
    assert collection.expected(matrix(1)).tolist() == [[0] * 4] * 2


def test_it_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    collection = EamCollection(2, 4, capacity=3)
    for one in (matrix(0), matrix(1, 2), matrix(3)):
        collection.add(one)
    collection.save(tmp_path / "eam.npz")
    again = EamCollection.load(tmp_path / "eam.npz", 2, 4, 3)
    np.testing.assert_array_equal(again.counts, collection.counts)
    assert len(EamCollection.load(tmp_path / "eam.npz", 2, 4, 2)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["eam.npz"]


def test_a_bad_file_is_named_and_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "eam.npz"
    with pytest.raises(UnderhillError) as caught:
        EamCollection.load(path, 2, 4)
    assert caught.value.kind is Kind.MISSING_FILE
    for counts in (
        np.full((1, 2, 4), np.nan, np.float32),
        np.ones((1, 2, 5), np.float32),
        -np.ones((1, 2, 4), np.float32),
    ):
        np.savez(path, version=1, counts=counts)
        with pytest.raises(UnderhillError, match="no activation matrices"):
            EamCollection.load(path, 2, 4)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UnderhillError, match="no activation matrices"):
        EamCollection.load(path, 2, 4)
