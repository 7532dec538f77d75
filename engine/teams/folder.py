"""Where teams are kept: those that come with Underhill, and the user's own, each a JSON file."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from engine import limits, resources
from engine.errors import Kind, UnderhillError, as_error
from engine.filesystem import remove, replace_file
from engine.library.home import BUILTIN, home
from engine.regular_file import FileTooLarge, parse_json, read_regular
from engine.store.output import writing
from engine.teams.definition import PREFIX, Team, TeamCard, as_json, checked, from_json, team_id
from engine.translatable import msg

_FIRST, _LAST = "team-", ".json"  # of a file's name, so that none is one that Windows keeps for itself


def teams(models: Collection[str] | None = None) -> tuple[TeamCard, ...]:
    """All teams, those that come with Underhill first. models: names that can be asked, for TeamCard.missing."""
    shipped = [path.name[len(_FIRST) : -len(_LAST)] for path in sorted(_files(resources.path("teams")))]
    own = [path.name[len(_FIRST) : -len(_LAST)] for path in _files(_folder())]
    cards = [_card(each, shipped=True, changed=each in own) for each in shipped]
    others = [_card(each, shipped=False, changed=False) for each in own if each not in shipped]
    cards += sorted(others, key=lambda card: card.name.casefold())
    return tuple(card if models is None else replace(card, missing=missing(card.team, models)) for card in cards)


def find(name: str) -> Team:
    """The team of a name, or of an id, with or without PREFIX. Raises UnderhillError: NOT_FOUND, BROKEN_FILE."""
    wanted = team_id(name.removeprefix(PREFIX))
    for folder in (_folder(), resources.path("teams")):
        if (path := folder / f"{_FIRST}{wanted}{_LAST}").is_file():
            return read(path)
    raise UnderhillError(
        Kind.NOT_FOUND,
        msg("There is no team called {name}.", name=limits.shown(name.removeprefix(PREFIX))),
        msg("Those that can be asked: {names}.", names=", ".join(card.id for card in teams() if card.team)),
    )


def missing(team: Team | None, models: Collection[str]) -> tuple[str, ...]:
    """Names of models that a team asks and that are not among these; each once."""
    named = dict.fromkeys(step.model for step in team.steps) if team is not None else ()
    return tuple(name for name in named if name and name != BUILTIN and name not in models)


def check_models(team: Team, models: Collection[str], opened: bool) -> None:
    """Whether all can be asked. opened: a model is open, for steps that name none. Raises UnderhillError(NOT_FOUND)."""
    absent = missing(team, models)
    if absent:
        asker = next(step.name for step in team.steps if step.model == absent[0])
        raise UnderhillError(
            Kind.NOT_FOUND,
            msg("Step {step} of {team} asks {model}, which isn't in the library.",
                step=asker, team=team.name, model=absent[0]),
            msg("Import it, or choose another model in the team."),
        )  # fmt: skip
    asker = next((step.name for step in team.steps if not step.model), "")
    if asker and not opened:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("Step {step} of {team} asks the open model, and none is open.", step=asker, team=team.name),
            msg("Select a model first, or choose one in the team."),
        )


def read(path: Path) -> Team:
    """A team from a file of whoever. Raises UnderhillError: BAD_REQUEST, BROKEN_FILE, MISSING_FILE, DISK_ERROR."""
    try:
        return from_json(parse_json(read_regular(path, limits.TEAM_BYTES)))
    except FileNotFoundError as cause:
        raise UnderhillError(Kind.MISSING_FILE, msg("There is no file {file}.", file=path)) from cause
    except FileTooLarge as cause:
        raise UnderhillError(Kind.BROKEN_FILE, msg("{file} is too large for a team.", file=path.name)) from cause
    except OSError as cause:
        raise as_error(cause) from cause
    except ValueError as cause:
        raise UnderhillError(Kind.BROKEN_FILE, msg("{file} isn't valid JSON.", file=path.name)) from cause


def save(team: Team, replacing: str = "") -> TeamCard:
    """Keep a team. replacing: id of the one it was until now; '' for a new one.

    Raises UnderhillError: BAD_REQUEST, also where another has the name; DISK_FULL, DISK_ERROR.
    """
    team = checked(team)
    known = {card.id: card for card in teams()}
    if team.id in known and team.id != replacing:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There is a team named {name} already.", name=team.name), msg("Choose another name.")
        )
    if replacing not in known and len(known) >= limits.TEAMS:
        raise UnderhillError(Kind.BAD_REQUEST, msg("There are {most} teams already.", most=limits.TEAMS),
                             msg("Delete one first."))  # fmt: skip
    path = _own(team.id)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, written(team))
        if replacing and replacing != team.id:
            remove(_own(replacing), missing_ok=True)
    return next(card for card in teams() if card.id == team.id)


def delete(name: str) -> Team | None:
    """Delete a team of the user's; one that comes with Underhill is again as it came. The team as it was, for an undo;
    None where it could not be read. Raises UnderhillError: NOT_FOUND, DISK_ERROR.
    """
    path = _own(team_id(name))
    if not path.is_file():
        raise UnderhillError(Kind.NOT_FOUND, msg("There is no team called {name}.", name=limits.shown(name)))
    try:
        team = read(path)
    except UnderhillError:
        team = None
    with writing(path):
        remove(path)
    return team


def import_file(path: Path) -> TeamCard:
    """Add the team of a file, under another name where its own is taken. Raises as `read` and `save`."""
    return save(renamed_if_taken(read(path)))


def renamed_if_taken(team: Team) -> Team:
    """The team, with a number behind its name where that is taken."""
    known = {card.id for card in teams()}
    number, name = 2, team.name
    while team_id(name) in known:
        name = f"{team.name[: limits.TEAM_NAME - 4].rstrip()} {number}"
        number += 1
    return replace(team, name=name)


def export_file(name: str, path: Path) -> None:
    """Write a team for somebody else. Raises UnderhillError as `find`; DISK_FULL, DISK_ERROR."""
    content = written(find(name))
    with writing(path):
        replace_file(path, content)


def written(team: Team) -> bytes:
    """A team as files have it."""
    return (json.dumps(as_json(team), ensure_ascii=False, indent=2) + "\n").encode()


def _card(name: str, *, shipped: bool, changed: bool) -> TeamCard:
    path = resources.path("teams", f"{_FIRST}{name}{_LAST}") if shipped and not changed else _own(name)
    try:
        return TeamCard(name, read(path), shipped, changed)
    except UnderhillError as error:
        return TeamCard(name, None, shipped, changed, error.sentence)


def _files(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.iterdir() if path.name.startswith(_FIRST) and path.name.endswith(_LAST)]
    except OSError:
        return []
    return sorted(path for path in found if path.is_file())[: limits.TEAMS]


def _folder() -> Path:
    return home() / "teams"


def _own(name: str) -> Path:
    return _folder() / f"{_FIRST}{name}{_LAST}"
