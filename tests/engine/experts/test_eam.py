"""The collection of activation matrices: bounded, diverse, kept on disk, never taken from a bad file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import Kind, UnderhillError
from engine.experts import eam
from engine.experts.eam import EamCollection, EamMatcher


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


def test_expectations_are_counts_of_the_closest_together_as_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eam, "MATCHES", 2)
    collection = EamCollection(2, 4)
    collection.add(matrix(0, 0, 1), matrix(3))
    collection.add(matrix(0))
    collection.add(matrix(3), matrix(1))
    found = EamMatcher(collection)
    assert found.changed()
    assert not found.changed()
    none = np.zeros(8, np.float32)
    token = found.begun(none, none) + found.used([0, 4])  # expert 0 of both rows
    np.testing.assert_allclose(found.expected(found.closest(token)), [[0.75, 0.25, 0, 0]] * 2)
    np.testing.assert_allclose(found.row(found.closest(token), 1), [3, 1, 0, 0])
    asked = found.closest(found.begun(none, matrix(1).reshape(-1)))  # a prompt is matched with prompts alone
    assert asked[0] == 2
    so_far = found.closest(found.begun(matrix(3).reshape(-1), matrix(3).reshape(-1)))  # an answer with answers
    assert so_far[0] == 2


def test_a_collection_is_forgotten_in_place_and_a_copy_is_not() -> None:
    collection = EamCollection(2, 4)
    collection.add(matrix(0), matrix(1))
    copied, before = collection.copy(), collection.changes
    collection.clear()
    assert (len(collection), len(copied)) == (0, 1)
    assert collection.changes > before
    assert copied.prompts[0].tolist() == matrix(1).tolist()


def test_nothing_is_learnt_from_a_request_that_did_nothing() -> None:
    collection = EamCollection(2, 4)
    collection.add(matrix())
    collection.add(matrix(), matrix(1))  # a prompt alone says nothing of answers
    assert len(collection) == 0


def test_it_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    collection = EamCollection(2, 4, capacity=3)
    for one in (matrix(0), matrix(1, 2), matrix(3)):
        collection.add(one, 2 * one)
    collection.save(tmp_path / "eam.npz")
    again = EamCollection.load(tmp_path / "eam.npz", 2, 4, 3)
    np.testing.assert_array_equal(again.counts, collection.counts)
    np.testing.assert_array_equal(again.prompts, 2 * collection.counts)
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
        np.savez(path, version=2, counts=counts, prompts=np.zeros_like(counts))
        with pytest.raises(UnderhillError, match="no activation matrices"):
            EamCollection.load(path, 2, 4)
    good = np.ones((1, 2, 4), np.float32)
    for version, prompts in ((1, good), (2, np.ones((2, 2, 4), np.float32)), (3, good)):  # 1: prompts were in counts
        np.savez(path, version=version, counts=good, prompts=prompts)
        with pytest.raises(UnderhillError, match="no activation matrices"):
            EamCollection.load(path, 2, 4)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UnderhillError, match="no activation matrices"):
        EamCollection.load(path, 2, 4)
