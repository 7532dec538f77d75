"""What a team is: steps in order, each asking one model under conditions; read from JSON of whoever, and written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.teams.language import LANGUAGES
from engine.translatable import NO_TEXT, Translatable, msg

PREFIX = "team:"  # of a team where a model is named
FORMAT, MARK = 1, "underhill_team"
MESSAGE = "message"  # what a condition is about, and a hole: what was asked
LAST, LANGUAGE = "last", "language"  # holes: what was said last, and the language of the message
NEXT, FINISH = "next", "finish"  # TeamStep.then: go on with the next step, or end here
RESERVED = (MESSAGE, LAST, LANGUAGE, NEXT, FINISH)
TESTS = ("language", "contains", "says", "code", "attachment", "longer")
HOLE = re.compile(r"\{([^{}\n]{1,64})\}")
_WITH_VALUES = ("language", "contains", "says")
_OF_MESSAGE = ("attachment",)  # tests that are of nothing else


@dataclass(frozen=True)
class Condition:
    """Something to be found in a text. about: MESSAGE, or the name of an earlier step, whose answer is looked at.

    test: one of TESTS; 'language' holds of no text whose language cannot be told, with `unless` either. values: of
    'language' codes of LANGUAGES, of 'contains' and 'says' texts, one of which has to be there, or be all that was
    said. length: of 'longer', in characters. unless: it must not be so.
    """

    test: str
    about: str = MESSAGE
    values: tuple[str, ...] = ()
    length: int = 0
    unless: bool = False


@dataclass(frozen=True, kw_only=True)
class TeamStep:
    """One model is asked once. model: a name of the library, or '' for the one that is open.

    tell: what it is sent in place of the message, with holes: {message}, {last}, {language}, and names of earlier
    steps; '' sends the message as it is. choices: where it is only to pick one of these. when: all must hold, else the
    step is skipped. then: NEXT, FINISH, or the name of a later step. note: its answer is for the team, not the person.
    history: whether it sees the earlier turns of the chat.
    """

    name: str
    model: str = ""
    tell: str = ""
    choices: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()
    then: str = NEXT
    note: bool = False
    history: bool = True


@dataclass(frozen=True)
class Team:
    """A team by its name. about: what it is good for, in a sentence."""

    name: str
    steps: tuple[TeamStep, ...]
    about: str = ""

    @property
    def id(self) -> str:
        """What files and programs call it."""
        return team_id(self.name)


@dataclass(frozen=True)
class TeamCard:
    """A team as lists show it. shipped: it comes with Underhill; changed: as such, and was changed by the user.

    team: None where its file cannot be read; `problem` says why. missing: names of models that are not in the library.
    """

    id: str
    team: Team | None
    shipped: bool = False
    changed: bool = False
    problem: Translatable = NO_TEXT
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """To be shown."""
        return self.id if self.team is None else self.team.name


def team_id(name: str) -> str:
    """The name as file names and programs have it: small letters, with - between words; '' where nothing is left."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return re.sub(r"[\W_]+", "-", folded).strip("-")


def checked(team: Team) -> Team:
    """The team, where it holds together. Raises UnderhillError(BAD_REQUEST)."""
    return from_json(as_json(team))


def as_json(team: Team) -> dict[str, Any]:
    """As it is kept and shared; what is as ever is left out."""
    return {MARK: FORMAT, "name": team.name, "about": team.about, "steps": [_step_json(s) for s in team.steps]}


def _step_json(step: TeamStep) -> dict[str, Any]:
    blank = TeamStep(name="")
    found: dict[str, Any] = {"name": step.name}
    for name in ("model", "tell", "choices", "then", "note", "history"):
        value = getattr(step, name)
        if value != getattr(blank, name):
            found[name] = list(value) if isinstance(value, tuple) else value
    if step.when:
        found["when"] = [_condition_json(c) for c in step.when]
    return found


def _condition_json(condition: Condition) -> dict[str, Any]:
    found: dict[str, Any] = {"test": condition.test}
    if condition.about != MESSAGE:
        found["about"] = condition.about
    if condition.values:
        found["values"] = list(condition.values)
    if condition.length:
        found["length"] = condition.length
    if condition.unless:
        found["unless"] = True
    return found


def from_json(plain: object) -> Team:
    """A team from JSON of whoever. Raises UnderhillError(BAD_REQUEST), saying what is wrong with it."""
    if not isinstance(plain, dict) or MARK not in plain:
        raise _wrong(msg("This is not a team."))
    version = plain[MARK]
    if not _is_whole(version) or version < 1:
        raise _wrong(msg("This is not a team."))
    if version > FORMAT:
        raise _wrong(msg("This team was made by a newer version of the app."), msg("Install that version to use it."))
    where = msg("The team")
    _only(plain, (MARK, "name", "about", "steps"), where)
    name = _name(plain.get("name"))
    if not team_id(name) or len(team_id(name).encode()) > limits.TEAM_ID_BYTES:
        raise _wrong(msg("A team can't be named {name}.", name=limits.shown(name)), msg("Use letters and digits."))
    about = _text(plain, "about", limits.TEAM_TEXT, where)
    listed = plain.get("steps")
    if not isinstance(listed, list) or not listed:
        raise _wrong(msg("The team has no steps."))
    if len(listed) > limits.TEAM_STEPS:
        raise _wrong(msg("The team has more than {most} steps.", most=limits.TEAM_STEPS))
    steps = tuple(_step(each) for each in listed)
    for number, step in enumerate(steps):
        _check_step(number, steps)
        _check_then(step, number, steps)
    if all(step.note for step in steps):
        raise _wrong(msg("Every step is a note for the team, so there would be no answer."))
    return Team(name, steps, about)


def _step(plain: object) -> TeamStep:
    if not isinstance(plain, dict):
        raise _wrong(msg("A step of the team is damaged."))
    name = _name(plain.get("name"))
    if name.casefold() in RESERVED:
        raise _wrong(msg("A step can't be named {name}.", name=name), msg("Choose another name."))
    where = msg("Step {name}", name=name)
    _only(plain, ("name", "model", "tell", "choices", "when", "then", "note", "history"), where)
    listed = plain.get("when", [])
    if not isinstance(listed, list) or len(listed) > limits.TEAM_CONDITIONS:
        raise _wrong(msg("{where}: its conditions are damaged, or too many.", where=where))
    choices = _texts(plain, "choices", limits.TEAM_CHOICES, where)
    if len(choices) == 1 or len({c.casefold() for c in choices}) != len(choices):
        raise _wrong(msg("{where}: choices have to be two or more, and different.", where=where))
    tell = _text(plain, "tell", limits.TEAM_TEXT, where)
    if len(HOLE.findall(tell)) > limits.TEAM_HOLES:
        raise _wrong(msg("{where}: more than {most} texts in braces.", where=where, most=limits.TEAM_HOLES))
    model = _text(plain, "model", limits.TEAM_VALUE, where)
    if model.startswith(PREFIX):
        raise _wrong(msg("{where}: a team can't ask a team.", where=where), msg("Choose a model."))
    then = _text(plain, "then", limits.TEAM_NAME, where) if "then" in plain else NEXT
    return TeamStep(
        name=name,
        model=model,
        tell=tell,
        choices=choices,
        when=tuple(_condition(each, where) for each in listed),
        then=then,
        note=_flag(plain, "note", False, where),
        history=_flag(plain, "history", True, where),
    )


def _condition(plain: object, where: Translatable) -> Condition:
    if not isinstance(plain, dict) or plain.get("test") not in TESTS:
        raise _wrong(msg("{where}: a condition is not one that is known.", where=where))
    test = str(plain["test"])
    _only(plain, ("test", "about", "values", "length", "unless"), where)
    about = _text(plain, "about", limits.TEAM_NAME, where) if "about" in plain else MESSAGE
    values = _texts(plain, "values", limits.TEAM_VALUES, where)
    if bool(values) != (test in _WITH_VALUES):
        raise _wrong(msg("{where}: a condition says nothing to look for, or too much.", where=where))
    if test == "language" and (unknown := next((v for v in values if v not in LANGUAGES), None)) is not None:
        raise _wrong(msg("{where}: {name} is no language that is known.", where=where, name=limits.shown(unknown)))
    length = plain.get("length", 0)
    if not _is_whole(length) or not (1 <= length <= limits.BODY_BYTES if test == "longer" else length == 0):
        raise _wrong(msg("{where}: a length has to be a number above 0.", where=where))
    if about != MESSAGE and test in _OF_MESSAGE:
        raise _wrong(msg("{where}: only a message has attachments.", where=where))
    return Condition(test, about, values, length, _flag(plain, "unless", False, where))


def _check_step(number: int, steps: Sequence[TeamStep]) -> None:
    """Whether all that a step refers to comes before it."""
    step, names = steps[number], [s.name for s in steps]
    earlier = names[:number]
    if step.name.casefold() in (name.casefold() for name in earlier):
        raise _wrong(msg("Two steps are named {name}.", name=step.name), msg("Give each a name of its own."))
    for condition in step.when:
        if condition.about != MESSAGE and condition.about not in earlier:
            raise _not_earlier(step, condition.about, names)
    for hole in HOLE.findall(step.tell):
        if hole in names and hole not in earlier:
            raise _not_earlier(step, hole, names)


def _not_earlier(step: TeamStep, named: str, names: Sequence[str]) -> UnderhillError:
    if named in names:
        return _wrong(msg("Step {name} needs step {other}, which comes later.", name=step.name, other=named))
    return _wrong(msg("Step {name} needs step {other}, which isn't there.", name=step.name, other=limits.shown(named)))


def _check_then(step: TeamStep, number: int, steps: Sequence[TeamStep]) -> None:
    if step.then in (NEXT, FINISH):
        return
    at = next((i for i, other in enumerate(steps) if other.name == step.then), -1)
    if at < 0:
        named = limits.shown(step.then)
        raise _wrong(msg("Step {name} needs step {other}, which isn't there.", name=step.name, other=named))
    if at <= number:
        raise _wrong(
            msg("Step {name} goes back to {other}, so the team would go round in circles.",
                name=step.name, other=step.then),
            msg("Choose a later step."),
        )  # fmt: skip


def _name(value: object) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or value != value.strip()
        or len(value) > limits.TEAM_NAME
        or not value.isprintable()
        or any(c in "{}" for c in value)
    ):
        raise _wrong(
            msg("{name} can't be a name.", name=limits.shown(value)),
            msg("Use 1 to {most} letters, on one line, without braces.", most=limits.TEAM_NAME),
        )
    return value


def _text(plain: Mapping[str, Any], name: str, most: int, where: Translatable) -> str:
    value = plain.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise _wrong(msg("{where}: {name} has to be a text of at most {most} characters.",
                         where=where, name=name, most=most))  # fmt: skip
    # A lone half of a character can be written in JSON, and in no file.
    if any(0xD800 <= ord(c) < 0xE000 or (ord(c) < 32 and c not in "\n\t") for c in value):
        raise _wrong(msg("{where}: {name} holds characters that can't be shown.", where=where, name=name))
    return value


def _texts(plain: Mapping[str, Any], name: str, most: int, where: Translatable) -> tuple[str, ...]:
    values = plain.get(name, [])
    if not isinstance(values, list) or len(values) > most:
        raise _wrong(msg("{where}: {name} has to be a list of at most {most} texts.",
                         where=where, name=name, most=most))  # fmt: skip
    found = tuple(_text({name: value}, name, limits.TEAM_VALUE, where) for value in values)
    if any(not value.strip() or value != value.strip() for value in found):
        raise _wrong(msg("{where}: {name} holds an empty text.", where=where, name=name))
    return found


def _flag(plain: Mapping[str, Any], name: str, usual: bool, where: Translatable) -> bool:
    value = plain.get(name, usual)
    if not isinstance(value, bool):
        raise _wrong(msg("{where}: {name} has to be true or false.", where=where, name=name))
    return value


def _only(plain: Mapping[str, Any], known: Sequence[str], where: Translatable) -> None:
    other = next((key for key in plain if key not in known), None)
    if other is not None:
        raise _wrong(msg("{where}: {name} is not known.", where=where, name=limits.shown(other)))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(sentence: Translatable, action: Translatable = NO_TEXT) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence, action)
