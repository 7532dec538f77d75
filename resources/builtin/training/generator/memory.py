"""Chats in which something is told and asked for later, in a vocabulary without end: `text/told.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from training.generator.arithmetic import Turn
from training.generator.tables import TEXT
from training.generator.words import value

_FORMS = tomllib.loads((TEXT / "told.toml").read_text(encoding="utf-8"))
# The name is told more often than anything else, and is often the first of two things in a sentence.
_NAME = {
    "value": "name",
    "say": ["my name is {v}", "I am {v}", "I'm {v}", "I am called {v}", "people call me {v}", "my friends call me {v}"],
    "ask": [
        "What is my name?",
        "What's my name?",
        "Do you remember my name?",
        "Who am I?",
        "What am I called?",
        "Do you know my name?",
        "How am I called?",
    ],
    "answer": "Your name is {v}.",
}
_HELLO = ("Hello, ", "Hi, ", "Hey, ", "Hello! ", "Hi! ", "Good morning! ", "Hey! ")
_REPLIES = (
    "I will remember that.",
    "Good to know!",
    "Thank you for telling me.",
    "That is nice to hear!",
    "How nice!",
    "I see. I will keep that in mind.",
)
_JOINS = (" and ", " and ", " and ", ". ", ", and ", ", ", ". And ", " but ")


@dataclass(frozen=True)
class Fact:
    """One thing that is told: a clause to say it, and how it is asked for."""

    key: str  # no two facts of a chat have the same
    clause: str  # small at the beginning unless it begins with "I" or the value
    asked: tuple[str, ...]
    answer: str
    value: str


def _fact(form: dict[str, object], name: str, rng: Random, kind: str | None = None) -> Fact:
    kinds = str(form.get("kinds", "")).split()
    k = (kind or rng.choice(kinds)).replace("-", " ") if kinds else ""
    v = value(str(form["value"]), rng)
    told = re.sub(r"\b(my|our) ", "your ", v)

    def fill(text: str, thing: str = v) -> str:
        return text.replace("{k}", k).replace("{v}", thing)

    says, asks = form["say"], form["ask"]
    assert isinstance(says, list)
    assert isinstance(asks, list)
    return Fact(
        f"{name} {k}", fill(rng.choice(says)), tuple(fill(a) for a in asks), fill(str(form["answer"]), told), told
    )


def _pair(rng: Random) -> Fact:
    """Two of a kind in one clause: both are asked for at once."""
    kind = rng.choice("cat dog rabbit sister brother son daughter horse friend bird hamster mother cousin".split())
    a, b = value("name", rng), value("name", rng)
    say = rng.choice(
        (
            f"I have two {kind}s, {a} and {b}",
            f"my two {kind}s are called {a} and {b}",
            f"my {kind}s are called {a} and {b}",
            f"I have two {kind}s called {a} and {b}",
            f"my {kind}s are {a} and {b}",
            f"I have two {kind}s named {a} and {b}",
        )
    )
    asked = (
        f"What are my {kind}s called?",
        f"What are the names of my {kind}s?",
        f"Who are my {kind}s?",
        f"What are my {kind}s' names?",
    )
    return Fact(f"pet {kind}", say, asked, f"Your {kind}s are called {a} and {b}.", f"{a} and {b}")


def _remember(rng: Random) -> Fact:
    """An order to keep something in mind."""
    kind = rng.choice(("number", "word", "name", "color", "code", "place"))
    v = value({"number": "number", "name": "name", "code": "number", "place": "place"}.get(kind, "word"), rng)
    say = rng.choice(
        (
            f"remember the {kind} {v}",
            f"please remember the {kind} {v}",
            f"please keep the {kind} {v} in mind",
            f"do not forget the {kind} {v}",
            f"remember this {kind}: {v}",
        )
    )
    asked = (
        f"Which {kind} should you remember?",
        f"What {kind} should you remember?",
        f"What was the {kind}?",
        f"What is the {kind}?",
        f"Which {kind} did I tell you?",
        f"Do you remember the {kind}?",
    )
    return Fact(f"secret {kind}", say, asked, f"The {kind} is {v}.", v)


def _two_of_one(rng: Random) -> list[Fact]:
    """Two facts about the same person or animal, the second with "it", "he" or "she"."""
    people = rng.random() < 0.5
    kinds = str(_FORMS["person" if people else "pet"]["kinds"]).split()
    kind = rng.choice(kinds)
    first = _fact(_FORMS["person" if people else "pet"], "person" if people else "pet", rng, kind)
    form = _FORMS[rng.choice(("home_of", "age_of", "taste_of", "job_of") if people else ("age_of", "taste_of"))]
    second = _fact(form, f"more {rng.random()}", rng, kind)
    k = kind.replace("-", " ")
    pronoun = rng.choice(("he", "she")) if people else rng.choice(("it", "it", "he", "she"))
    if rng.random() < 0.6:
        clause = second.clause.replace(f"my {k}", pronoun, 1)
    else:
        clause = second.clause.replace(f"my {k}", first.value, 1)
    return [first, Fact(second.key, clause, second.asked, second.answer, second.value)]


def _with_name(rng: Random) -> Fact:
    """The name within a clause about something else: `My daughter Runa likes horses`."""
    kind = rng.choice(str(_FORMS["person"]["kinds"]).split())
    fact = _fact({**_FORMS["person"], "say": ["my {k} {v}"]}, "person", rng, kind)
    rest = rng.choice(("likes", "loves", "wants", "plays", "has", "hates", "is afraid of", "lives near", "works with"))
    return Fact(fact.key, f"{fact.clause} {rest} {value('word', rng)}", fact.asked, fact.answer, fact.value)


def _facts(rng: Random) -> list[Fact]:
    """Those that are told in one message."""
    kind = rng.random()
    if kind < 0.1:
        return [_pair(rng)]
    if kind < 0.17:
        return [_remember(rng)]
    if kind < 0.29:
        return _two_of_one(rng)
    if kind < 0.34:
        return [_with_name(rng)]
    names = list(_FORMS)
    some = [rng.choice(names) if rng.random() < 0.6 else rng.choice(("pet", "person"))]
    if rng.random() < 0.45:
        some.append(rng.choice(names) if rng.random() < 0.6 else some[0])
    facts = [_fact(_FORMS[name], name, rng) for name in some]
    if rng.random() < 0.35:
        facts.insert(rng.randrange(len(facts) + 1), _fact(_NAME, "name", rng))
    return facts[:3]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _message(facts: list[Fact], rng: Random) -> str:
    join = rng.choice(_JOINS)
    clauses = [f.clause for f in facts]
    text = clauses[0]
    for clause in clauses[1:]:
        text += join + (_sentence(clause) if join == ". " else clause)
    if rng.random() < 0.15:
        hello = rng.choice(_HELLO)
        return hello + (_sentence(text) if hello.endswith("! ") else text) + "."
    return _sentence(text) + rng.choice((".", ".", ".", ".", ".", "", "!"))


def _reply(facts: list[Fact], rng: Random) -> str:
    names = [f.value for f in facts if f.key == "name "]
    if names:
        reply = rng.choice(("Nice to meet you, {}!", "Hello {}! How can I help you?", "Hi {}, nice to meet you!"))
        return reply.format(names[0])
    if rng.random() < 0.35:
        return _sentence(rng.choice(facts).answer.rstrip(".")) + rng.choice((". I will remember that.", ". Good!"))
    return rng.choice(_REPLIES)


def told_and_asked(rng: Random, other: Callable[[Random], Turn]) -> list[Turn]:
    """One to four messages that tell something, `other` talk in between, and questions about all of it."""
    turns: list[Turn] = []
    known: dict[str, Fact] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        facts = [f for f in _facts(rng) if f.key not in known]
        if len({f.key for f in facts}) < len(facts) or not facts:
            continue
        known |= {f.key: f for f in facts}
        turns.append((_message(facts, rng), _reply(facts, rng)))
        if rng.random() < 0.2:
            turns.append(other(rng))
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        turns.append(other(rng))
    facts = list(known.values())
    for fact in rng.sample(facts, len(facts)):
        question = rng.choice(fact.asked)
        kind = rng.random()
        if kind < 0.12:
            question = question.rstrip("?.")
        elif kind < 0.18:
            question = f"And {question[0].lower()}{question[1:]}"
        turns.append((question, fact.answer))
    if rng.random() < 0.12:
        return [(q.lower().rstrip("?."), a if a in _REPLIES else _small(a, known)) for q, a in turns]
    return turns


def _small(answer: str, known: dict[str, Fact]) -> str:
    """A chat typed in small letters throughout gets its words back as they were typed."""
    for fact in known.values():
        if fact.value in answer:
            answer = answer.replace(fact.value, fact.value.lower())
    return answer
