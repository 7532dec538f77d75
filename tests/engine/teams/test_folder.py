"""Teams are kept, shared, and those that come with Underhill can be changed and are as they were again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library.home import HOME
from engine.teams import folder
from engine.teams.definition import Team, TeamStep

SHIPPED = ["answer-in-my-language", "code-or-talk", "draft-and-check"]
MINE = Team("Mine", (TeamStep(name="One", model="x"), TeamStep(name="Two")))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))


def ids() -> list[str]:
    return [card.id for card in folder.teams()]


def test_three_come_with_underhill() -> None:
    assert ids() == SHIPPED
    assert all(card.shipped and not card.changed and card.team for card in folder.teams())


def test_saved_renamed_and_deleted() -> None:
    card = folder.save(MINE)
    assert (card.id, card.team, card.shipped) == ("mine", MINE, False)
    renamed = replace(MINE, name="Yours")
    folder.save(renamed, "mine")
    assert ids() == [*SHIPPED, "yours"]
    assert folder.delete("yours") == renamed
    assert ids() == SHIPPED
    with pytest.raises(UnderhillError) as caught:
        folder.find("team:yours")
    assert caught.value.kind is Kind.NOT_FOUND
    assert "draft-and-check" in caught.value.action


def test_a_name_is_taken_once() -> None:
    folder.save(MINE)
    with pytest.raises(UnderhillError, match="named mine! already"):
        folder.save(replace(MINE, name="mine!"))
    with pytest.raises(UnderhillError, match="already"):
        folder.save(replace(MINE, name="Draft and Check"), "mine")
    assert folder.renamed_if_taken(MINE).name == "Mine 2"


def test_one_that_comes_with_underhill_is_changed_and_restored() -> None:
    team = folder.find("draft-and-check")
    changed = replace(team, about="other")
    card = folder.save(changed, "draft-and-check")
    assert (card.shipped, card.changed, folder.find("draft-and-check")) == (True, True, changed)
    folder.delete("draft-and-check")
    assert folder.find("draft-and-check") == team
    with pytest.raises(UnderhillError):
        folder.delete("draft-and-check")  # there is nothing of the user's


def test_shared_as_a_file(tmp_path: Path) -> None:
    folder.save(MINE)
    folder.export_file("mine", tmp_path / "mine.json")
    assert folder.import_file(tmp_path / "mine.json").team == replace(MINE, name="Mine 2")
    folder.delete("mine")
    assert folder.import_file(tmp_path / "mine.json").team == MINE


def test_a_damaged_file_is_listed_with_what_is_wrong() -> None:
    path = Path(folder.home()) / "teams" / "team-broken.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    (card,) = [card for card in folder.teams() if card.id == "broken"]
    assert card.team is None
    assert card.problem == "team-broken.json isn't valid JSON."
    assert folder.delete("broken") is None
    assert ids() == SHIPPED


def test_missing_models_are_named() -> None:
    assert folder.missing(MINE, ()) == ("x",)
    with pytest.raises(UnderhillError, match="Step One of Mine asks x, which isn't in the library"):
        folder.check_models(MINE, (), True)
    with pytest.raises(UnderhillError, match="Step Two of Mine asks the open model, and none is open"):
        folder.check_models(MINE, ("x",), False)
    folder.check_models(MINE, ("x",), True)
