"""Models under the names that a person gave them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import display_name, library, lowering, offline_index, relocation, trash
from engine.store.manifest import Lowering
from engine.store.reader import Store
from engine.store.writer import store_lock
from tests.engine.formats.tiny_checkpoint import write_checkpoint

pytestmark = pytest.mark.long

Put = Callable[..., Path]


def titles() -> dict[str, str]:
    return {card.name: str(card.title) for card in library.listing()}


def test_a_model_is_shown_as_it_was_called_and_asked_for_by_its_own_name(put: Put) -> None:
    path = put("a")
    assert library.rename("a", "  Anna's\n writer ") == path
    assert titles() == {"a": "Anna's writer"}
    assert library.card(path).title == "Anna's writer"
    assert library.prepare("a") == path
    (data, *_) = path.glob("*.safetensors")
    hidden = data.rename(path.parent / "hidden")
    with pytest.raises(UnderhillError, match=r"is missing from Anna's writer\."):
        library.card(path)
    hidden.rename(data)
    library.rename("a", "a")
    assert titles() == {"a": "a"}
    assert not (path / display_name.FILE).exists()


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("", "empty"), (" \n", "empty"), ("x" * 81, "81 characters"), ("a\x00b", "can't be named"),
        ("<b>a", "can't be named"), ("B", "already exists"), ("second", "already exists"), ("SECOND", "already exists"),
    ],
)  # fmt: skip
def test_what_a_model_cannot_be_called(put: Put, title: str, said: str) -> None:
    put("a")
    put("b")
    library.rename("b", "Second")
    with pytest.raises(UnderhillError) as refused:
        library.rename("a", title)
    assert refused.value.kind is Kind.BAD_REQUEST
    assert said in refused.value.sentence
    assert refused.value.action
    assert titles() == {"a": "a", "b": "Second"}


def test_another_case_of_its_own_name_is_free(put: Put) -> None:
    put("writer")
    library.rename("writer", "Writer")
    assert titles() == {"writer": "Writer"}


def test_what_cannot_be_renamed_says_why(put: Put) -> None:
    put("builtin")
    with pytest.raises(UnderhillError, match="built-in"):
        library.rename("builtin", "Mine")
    with pytest.raises(UnderhillError, match="No model named gone"):
        library.rename("gone", "Mine")
    path = put("a")
    with store_lock(path), pytest.raises(UnderhillError) as busy:
        library.rename("a", "Mine")
    assert busy.value.kind is Kind.BUSY
    (path / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UnderhillError):
        library.rename("a", "Mine")
    assert not (path / display_name.FILE).exists()


@pytest.mark.parametrize("kept", ["", "{}", '{"title": 3}', '{"title": ""}', '{"title": "\\u0000"}', "[" * 10_000])
def test_a_damaged_file_shows_the_own_name(put: Put, kept: str) -> None:
    (put("a") / display_name.FILE).write_text(kept, encoding="utf-8")
    assert titles() == {"a": "a"}


def test_the_name_goes_with_the_model(put: Put, other: Path) -> None:
    put("a")
    library.rename("a", "Writer")
    relocation.move("a", other, lambda text, done, total: None)
    assert titles() == {"a": "Writer"}
    library.delete("a")
    assert [(gone.name, gone.title) for gone in trash.deleted()] == [("a", "Writer")]
    trash.restore("a")
    assert titles() == {"a": "Writer"}
    other.rename(other.with_name("unplugged"))
    assert titles() == {"a": "Writer"}
    assert [card.title for card in offline_index.cards(other)] == ["Writer"]


def test_under_another_name_in_the_library_it_is_shown_by_that(put: Put) -> None:
    path = put("a")
    library.rename("a", "Writer")
    library.add(path, "b")
    assert titles() == {"a": "Writer", "b": "b"}
    library.delete("a")
    trash.restore("a", "c")
    assert titles() == {"b": "b", "c": "c"}


def test_a_model_from_another_computer_brings_its_name_along(put: Put, tmp_path: Path) -> None:
    path = put("a")
    library.rename("a", "Writer")
    shutil.copytree(path, tmp_path / "stick" / "a")
    library.delete("a", now=True)
    library.add(tmp_path / "stick" / "a")
    assert titles() == {"a": "Writer"}


def test_a_model_with_fewer_bits_keeps_its_name_and_so_does_its_original(put: Put) -> None:
    path = put("a")
    library.rename("a", "Writer")
    with Store.open(path) as store:
        chosen = {(layer, 0): 2 for layer in store.layers}
        lowering.write_beside(store, chosen, Lowering(0.02, 0.0, 0.001, 100), lambda text, done, total: None)
    lowering.put_in_place(path)
    assert titles() == {"a": "Writer"}
    library.rename("a", "Small writer")
    lowering.restore(path)
    assert titles() == {"a": "Small writer"}
    assert library.card(path).expert_bits == ()


def test_what_comes_in_is_never_shown_as_another_model_is(put: Put, tmp_path: Path) -> None:
    path = put("a")
    library.rename("a", "Writer")
    shutil.copytree(path, tmp_path / "stick" / "b")
    library.add(tmp_path / "stick" / "b")
    shutil.copytree(path, tmp_path / "stick" / "c")
    library.add(tmp_path / "stick" / "c")
    assert titles() == {"a": "Writer", "b": "Writer (2)", "c": "Writer (3)"}
    put("writer (4)")
    library.add(write_checkpoint(tmp_path / "source", layers=1, experts=2), "WRITER")
    assert titles()["WRITER"] == "WRITER (5)"


def test_what_comes_back_is_not_shown_as_one_that_was_renamed_meanwhile(put: Put) -> None:
    put("a")
    put("b")
    library.rename("a", "Writer")
    library.delete("a")
    library.rename("b", "writer")
    library.restore("a")
    assert titles() == {"a": "Writer (2)", "b": "writer"}
    library.delete("a")
    library.restore("a")
    assert titles() == {"a": "Writer (2)", "b": "writer"}


def test_a_long_name_leaves_room_for_the_number(put: Put, tmp_path: Path) -> None:
    path = put("a")
    library.rename("a", "x" * display_name.LONGEST)
    shutil.copytree(path, tmp_path / "stick" / "b")
    library.add(tmp_path / "stick" / "b")
    assert titles()["b"] == "x" * (display_name.LONGEST - 4) + " (2)"
