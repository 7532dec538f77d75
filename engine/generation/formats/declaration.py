"""What is said of a family of chat models: its marks, its ends, its switch, and what it wants of its own past."""

from __future__ import annotations

from dataclasses import dataclass

# Declaration.history: where a thought goes in a message that the chat template is given
REASONING_CONTENT = "reasoning_content"
REASONING = "reasoning"
THINKING = "thinking"
PARTS = "parts"  # the content is a list, one entry of which is the thought
IN_CONTENT = "content"  # before the answer, in the model's own marks
NOWHERE = ""  # the template wants the answer alone
AS_READ = "?"  # whichever of the fields the template reads; none, where it reads none

# names of levels of thinking, from least to most; a family has some of them
LEVELS = ("off", "minimal", "low", "auto", "medium", "on", "high", "xhigh", "max")


@dataclass(frozen=True)
class Level:
    """One position of the switch. values: variables of the chat template and what they are set to."""

    name: str
    values: tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Switch:
    """levels: from least to most. on: the level that is meant where only "think" is asked for."""

    levels: tuple[Level, ...]
    on: str


@dataclass(frozen=True)
class Calls:
    """How a tool is called. open, close: the marks around; no close: to the end. grammar: of formats.calls.

    whole: the grammar is given the marks, too. bare: they are no marks but how a call begins and ends, which counts
    where an answer begins with it, and only as far as it is one: see calls.bare.
    """

    open: str
    close: str
    grammar: str
    whole: bool = False
    bare: bool = False


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A family. Marks are texts; of those that are tokens of the vocabulary, the token counts.

    template: by what it is known: all of these texts stand in its template. own: the template for models of the family
    that come without one, known by tokens: all of `vocabulary`.
    thoughts: pairs of marks. answer: marks around the answer; they are taken off. calls: ways to call a tool.
    header: marks that begin a message's header and the one that ends it; the header tells what the message is.
    silent: marks that mean nothing to a reader. ends: tokens that end an answer, beside those that the model's files
    state. lasting: tokens that do not, whatever the files and others say. spelled_ends: texts that end one.
    again: where an answer is written anew from its text: what begins a thought, what leads from it to the answer, what
    begins an answer without one; None: the marks of `thoughts`, and nothing.
    arguments_as_text: a template of it that turns nothing into JSON wants arguments as JSON already.
    history: one of the names above. switches: the first one that the template reads any variable of is the model's.
    """

    name: str
    template: tuple[str, ...] = ()
    own: str = ""
    vocabulary: tuple[str, ...] = ()
    thoughts: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    answer: tuple[tuple[str, str], ...] = ()
    calls: tuple[Calls, ...] = ()
    header: tuple[tuple[str, ...], str] = ((), "")
    silent: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    spelled_ends: tuple[str, ...] = ()
    again: tuple[str, str, str] | None = None
    arguments_as_text: bool = False
    history: str = AS_READ
    switches: tuple[Switch, ...] = ()

    def written(self, thought: str, answer: str, ended: bool, opened: bool) -> str:
        """An answer in the family's own marks. ended: its thought is over. opened: the prompt has begun the thought."""
        begins, leads, alone = self.again or _by_marks(self.thoughts)
        if not (thought or opened):
            return alone + answer
        return ("" if opened else begins) + thought + (leads + answer if ended else "")


def _by_marks(thoughts: tuple[tuple[str, str], ...]) -> tuple[str, str, str]:
    opens, closes = thoughts[0] if thoughts else ("", "")
    return f"{opens}\n", f"\n{closes}\n\n", ""


def level(name: str, **values: object) -> Level:
    """A position of a switch."""
    return Level(name, tuple(values.items()))


def nearest(levels: tuple[str, ...], on: str, wanted: bool | str | None) -> str:
    """The level of `levels` that comes nearest to what is wanted; '' where nothing is, or there are no levels.

    wanted: True: thinking, however much; False: as little as there is; or one of LEVELS.
    """
    if wanted is None or not levels:
        return ""
    if isinstance(wanted, bool):
        return on if wanted else levels[0]
    if wanted in levels:
        return wanted
    if wanted == "on" or wanted not in LEVELS:
        return on
    if wanted == "off":
        return levels[0]
    thinking = [name for name in levels if name != "off"] or list(levels)
    return min(thinking, key=lambda name: abs(LEVELS.index(name) - LEVELS.index(wanted)))
