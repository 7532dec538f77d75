"""The word lists and sentences that the generator draws from, read from `training/text`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TEXT = Path(__file__).resolve().parent.parent / "text"

NAMES = (
    "Anna Tom Lily Ben Sara Max Mia Sam Lucy Jack Emma Leo Nina Paul Kate Omar Ravi Mei Carlos Julia Peter Ella David "
    "Sofia Alex Maria John Zoe Adam Ivy Noah Clara Hugo Rosa Felix Tina Oscar Laura Simon Amir Yuki Hana Marta Theo Eva"
).split()
GIRLS = frozenset(
    (
        "Anna Lily Sara Mia Lucy Emma Nina Kate Mei Julia Ella Sofia Maria Zoe Ivy Clara Rosa Tina Laura Yuki Hana "
        "Marta Eva"
    ).split()
)
PETS = "Rex Bella Rocky Luna Milo Simba Coco Daisy Buddy Charlie Nala Oreo Ginger Shadow Lucky Molly".split()
PLACES = "Alton Berwick Carden Delmar Fenwick Glenmore Harlow Kelso Linton Marlow Norwood Oakham Preston".split()
THINGS = "ball book hat cup pen bag kite toy box car key lamp shoe phone scarf ring drum coat map bell".split()
COLORS = "red blue green yellow black white orange purple pink brown".split()
ANIMALS = (
    "cat dog rabbit fox bear bird mouse frog duck turtle squirrel hedgehog pig goat lion elephant monkey owl".split()
)
HOBBIES = "reading swimming cooking painting running singing dancing chess hiking gardening drawing fishing".split()
JOBS = "a teacher,a doctor,a nurse,an engineer,a baker,a student,an artist,a farmer,a pilot,a writer".split(",")
FOODS = "pizza pasta soup rice bread cheese salad curry pancakes chocolate sushi noodles".split()
WORDS = (
    "cat dog house tree apple water happy school friend green table bread music river window garden yellow mother "
    "summer pencil orange flower animal story light chair train paper night heart cloud horse sugar plant money party "
    "smile robot tiger lemon stone beach castle winter button candle mirror"
).split()
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MIXED_COLORS = (
    ("red", "blue", "purple"),
    ("red", "yellow", "orange"),
    ("blue", "yellow", "green"),
    ("red", "white", "pink"),
    ("black", "white", "gray"),
)


@dataclass(frozen=True)
class Exchange:
    """Ways to ask the same thing, and ways to answer."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]


def _lines(name: str) -> list[str]:
    return (TEXT / name).read_text(encoding="utf-8").splitlines()


def _exchanges(name: str, many_answers: bool) -> tuple[Exchange, ...]:
    """Lines of `question;question|answer`; only small talk has several answers, separated likewise."""
    found = []
    for line in _lines(name):
        questions, answer = line.replace("\\n", "\n").split("|")
        answers = tuple(answer.split(";")) if many_answers else (answer,)
        found.append(Exchange(tuple(questions.split(";")), answers))
    return tuple(found)


def _paragraphs(name: str) -> list[list[str]]:
    text = (TEXT / name).read_text(encoding="utf-8").strip()
    return [block.splitlines() for block in text.split("\n\n")]


TABLES: dict[str, dict[str, str]] = tomllib.loads((TEXT / "tables.toml").read_text(encoding="utf-8"))
RHYMES: list[list[str]] = [group.split() for group in TABLES.pop("rhymes")["words"]]
LISTS: dict[str, list[str]] = {kind: items.split(", ") for kind, items in TABLES.pop("lists").items()}
FACTS = _exchanges("facts.txt", many_answers=False)
TALK = _exchanges("talk.txt", many_answers=True)
DEFINITIONS = tuple(tuple(line.split("|")) for line in _lines("things.txt"))  # (word, what it is)
UNKNOWN = tuple(_lines("unknown.txt"))  # questions to decline
TOPICS = tuple(_lines("topics.txt"))  # what such questions are about
EVERYDAY = tuple(_lines("everyday.txt"))  # what people like or dislike
HEROES = tuple(_lines("heroes.txt"))  # whom a story can be about
POEMS = tuple(tuple(line.split("|")) for line in _lines("poems.txt"))  # (subject, line, line)
POEM_BEGINNINGS = tuple(tuple(line.split("|")) for line in _lines("poem_open.txt"))  # for any subject {x}
POEM_ENDS = tuple(tuple(line.split("|")) for line in _lines("poem_ends.txt"))
STORIES = tuple((tuple(head.split(";")), body) for head, body in _paragraphs("stories.txt"))  # (subjects, template)
DIALOGUES = tuple(tuple(block) for block in _paragraphs("dialogues.txt"))  # user lines start with "> "
