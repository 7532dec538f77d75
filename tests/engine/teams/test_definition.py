"""Teams are read from JSON of whoever, and written so that they are read again."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.regular_file import parse_json
from engine.teams import folder
from engine.teams.definition import (
    FINISH,
    MARK,
    NEXT,
    RESERVED,
    Condition,
    Team,
    TeamStep,
    as_json,
    checked,
    from_json,
    team_id,
)
from engine.teams.language import LANGUAGES

NAMES = st.text(string.ascii_letters + "äß漢字 -'", min_size=1, max_size=20).map(str.strip).filter(bool)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40)
VALUES = TEXTS.map(str.strip).filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@st.composite
def teams(draw: Any) -> Team:
    """Teams that hold together."""
    names = draw(
        st.lists(NAMES.filter(lambda n: n.casefold() not in RESERVED), min_size=1, max_size=5, unique_by=str.casefold)
    )
    steps = []
    for number, name in enumerate(names):
        earlier, later = names[:number], names[number + 1 :]
        about = draw(st.sampled_from(["message", *earlier]))
        condition = draw(
            st.sampled_from([
                Condition("code", about), Condition("longer", about, length=draw(st.integers(1, 9999))),
                Condition("contains", about, (draw(VALUES),), unless=draw(st.booleans())), Condition("attachment"),
                Condition("language", about, (draw(st.sampled_from(sorted(LANGUAGES))),)),
            ])
        )  # fmt: skip
        tell = draw(TEXTS.filter(lambda t: "{" not in t)) + draw(st.sampled_from(["", "{message}", "{last} {odd}"]))
        steps.append(
            TeamStep(
                name=name,
                model=draw(st.sampled_from(["", "builtin"])),
                tell=tell,
                choices=draw(st.sampled_from([(), ("yes", "no")])),
                when=draw(st.sampled_from([(), (condition,)])),
                then=draw(st.sampled_from([NEXT, FINISH, *later])),
                note=number > 0 and draw(st.booleans()),
                history=draw(st.booleans()),
            )
        )
    return Team(draw(NAMES.filter(team_id)), tuple(steps), draw(TEXTS))


def plain(**changes: Any) -> dict[str, Any]:
    """A small team as JSON, with other steps or whatever else."""
    return {MARK: 1, "name": "Two", "about": "", "steps": [{"name": "A"}, {"name": "B"}], **changes}


def refused(found: object) -> str:
    """Why it is refused."""
    with pytest.raises(UnderhillError) as caught:
        from_json(found)
    assert caught.value.kind is Kind.BAD_REQUEST
    assert len(caught.value.sentence) < 500
    return str(caught.value.message)


@given(teams())
def test_a_team_is_read_as_it_was_written(team: Team) -> None:
    assert from_json(parse_json(folder.written(team))) == team == checked(team)


@given(JSON)
def test_whatever_json_is_a_team_or_refused(found: Any) -> None:
    refused(found)


@settings(max_examples=300)
@given(teams(), st.data())
def test_one_changed_value_is_a_team_or_refused_in_a_sentence(team: Team, data: Any) -> None:
    found = json.loads(json.dumps(as_json(team)))
    places: list[tuple[Any, Any]] = []
    within = [found]
    while within:
        value = within.pop()
        for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
            places.append((value, key))
            if isinstance(inner, dict | list):
                within.append(inner)
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(JSON)
    try:
        read = from_json(found)
    except UnderhillError as error:
        assert error.kind is Kind.BAD_REQUEST  # noqa: PT017 - it need not be refused
    else:
        assert checked(read) == read


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"steps": []}, "no steps"),
        ({"steps": [{"name": f"S{n}"} for n in range(limits.TEAM_STEPS + 1)]}, "more than 12 steps"),
        ({"steps": [{"name": "A"}, {"name": "a"}]}, "Two steps are named a"),
        ({"steps": [{"name": "A"}, {"name": "B", "then": "A"}]}, "round in circles"),
        ({"steps": [{"name": "A", "then": "A"}]}, "round in circles"),
        ({"steps": [{"name": "A", "then": "Z"}]}, "isn't there"),
        ({"steps": [{"name": "A", "tell": "{B}"}, {"name": "B"}]}, "needs step B, which comes later"),
        ({"steps": [{"name": "A", "tell": "{A}"}]}, "which comes later"),
        ({"steps": [{"name": "A", "when": [{"test": "code", "about": "B"}]}, {"name": "B"}]}, "comes later"),
        ({"steps": [{"name": "A", "when": [{"test": "mood"}]}]}, "not one that is known"),
        ({"steps": [{"name": "A", "when": [{"test": "language", "values": ["xx"]}]}]}, "no language"),
        ({"steps": [{"name": "A", "when": [{"test": "longer"}]}]}, "above 0"),
        ({"steps": [{"name": "A", "when": [{"test": "contains"}]}]}, "nothing to look for"),
        ({"steps": [{"name": "A", "choices": ["one"]}]}, "two or more"),
        ({"steps": [{"name": "A", "note": True}]}, "no answer"),
        ({"steps": [{"name": "A", "model": "team:Two"}]}, "can't ask a team"),
        ({"steps": [{"name": "A", "tell": "x" * 8001}]}, "at most 8000"),
        ({"steps": [{"name": "A", "tell": "{message}" * 9}]}, "more than 8"),
        ({"steps": [{"name": "A", "tell": "\ud800"}]}, "can't be shown"),
        ({"steps": [{"name": "next"}]}, "can't be named"),
        ({"steps": [{"name": "A", "run": "rm"}]}, "'run' is not known"),
        ({"name": "…"}, "can't be named"),
        ({"name": "a\nb"}, "can't be a name"),
        ({"name": "x" * 61}, "can't be a name"),
        ({MARK: 2}, "newer version"),
        ({MARK: True}, "not a team"),
    ],
)  # fmt: skip
def test_what_does_not_hold_together_is_named(changes: dict[str, Any], why: str) -> None:
    from_json(plain())
    assert why in refused(plain(**changes))


def test_files_that_are_no_teams(tmp_path: Path) -> None:
    deep, large, other, empty = (tmp_path / name for name in ("deep", "large", "other", "empty"))
    deep.write_text("[" * 100_000)
    large.write_bytes(b'"' + b"x" * limits.TEAM_BYTES + b'"')
    other.write_bytes(b"\xff\xfe\x00")
    empty.touch()
    for file in (deep, large, other, empty, tmp_path):
        with pytest.raises(UnderhillError) as caught:
            folder.read(file)
        assert caught.value.kind in (Kind.BROKEN_FILE, Kind.DISK_ERROR)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Draft and check", "draft-and-check"),
        ("  A_b/..\\c ", "a-b-c"),
        ("代码", "代码"),
        ("../../etc", "etc"),
        ("!", ""),
    ],
)
def test_ids_are_safe_names(name: str, wanted: str) -> None:
    assert team_id(name) == wanted == team_id(team_id(name))
