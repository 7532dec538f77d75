"""Stories, poems and scripted dialogues, made from templates with slots."""

from __future__ import annotations

import re
from random import Random

from training.generator.arithmetic import Turn
from training.generator.knowledge import article
from training.generator.tables import (
    ANIMALS,
    COLORS,
    DIALOGUES,
    EVERYDAY,
    GIRLS,
    HEROES,
    HOBBIES,
    NAMES,
    PETS,
    POEM_BEGINNINGS,
    POEM_ENDS,
    POEMS,
    STORIES,
    TABLES,
    THINGS,
)

_ADJECTIVES = "little brave happy clever kind shy curious sleepy young old".split()
_CHOICE = re.compile(r"\[([^\]]*/[^\]]*)\]")  # [this/that]
_STORY_REQUESTS = (
    "Tell me a story about {}.",
    "Tell me a story about {}.",
    "Write a short story about {}.",
    "Can you tell me a story about {}?",
    "I would like a story about {}.",
    "Write a story about {}.",
    "Make up a story about {}.",
)
_ANY_STORY = (
    "Tell me a story.",
    "Tell me a short story.",
    "Write a short story.",
    "Can you tell me a story?",
    "Tell me a bedtime story.",
    "I want to hear a story.",
    "Tell me another story.",
)


def fill(template: str, rng: Random, slots: dict[str, str]) -> str:
    """Resolve [this/that] choices, then {slots}."""
    return _CHOICE.sub(lambda m: rng.choice(m[1].split("/")), template).format_map(slots)


def story(rng: Random) -> Turn:
    """A request and a story."""
    request, text, _ = named_story(rng)
    return request, text


def named_story(rng: Random) -> tuple[str, str, str]:
    """A request, a story and the name of its hero."""
    subjects, body = rng.choice(STORIES)
    girls, boys = sorted(GIRLS), [n for n in NAMES if n not in GIRLS]
    pool = girls if "@girl" in subjects else boys if "@boy" in subjects else NAMES
    name = rng.choice(pool)
    female = name in GIRLS
    hero, friend = rng.sample(ANIMALS, 2)
    if rng.random() < 0.6:
        hero = rng.choice(HEROES)
    slots = {
        "name": name,
        "name2": rng.choice([n for n in NAMES if n != name]),
        "girl": rng.choice([n for n in girls if n != name]),
        "he": "she" if female else "he",
        "He": "She" if female else "He",
        "him": "her" if female else "him",
        "his": "her" if female else "his",
        "hero": hero,
        "friend": friend,
        "a_hero": article(rng.choice((f"{rng.choice(_ADJECTIVES)} {hero}", hero))),
        "a_friend": article(friend),
        "pet": rng.choice(PETS),
        "thing": rng.choice(THINGS),
        "color": rng.choice(COLORS),
    }
    subject = rng.choice([s for s in subjects if not s.startswith("@")]).format_map(slots)
    request = rng.choice(_ANY_STORY) if rng.random() < 0.25 else rng.choice(_STORY_REQUESTS).format(subject)
    return request, fill(body, rng, slots), name


def poem(rng: Random) -> Turn:
    if rng.random() < 0.4:  # any subject: a first couplet that only names it
        subject = rng.choice(EVERYDAY)
        lines = [line.format(x=subject) for line in rng.choice(POEM_BEGINNINGS)]
    else:
        subject, *lines = rng.choice(POEMS)
    requests = (
        f"Write a short poem about {subject}.",
        f"Write a poem about {subject}.",
        f"Can you write a poem about {subject}?",
        f"Write me a poem about {subject}.",
        "Write a poem." if rng.random() < 0.3 else f"Poem about {subject}",
    )
    return rng.choice(requests), "\n".join([*lines, *rng.choice(POEM_ENDS)])


def dialogue(rng: Random) -> list[Turn]:
    """One of the scripted dialogues."""
    script = rng.choice(DIALOGUES)
    country, capital = rng.choice(list(TABLES["capitals"].items()))
    a, b, color, hobby = rng.randint(2, 20), rng.randint(1, 20), rng.choice(COLORS), rng.choice(HOBBIES)
    slots = {
        "name": rng.choice(NAMES),
        "pet": rng.choice(PETS),
        "thing": rng.choice(THINGS),
        "hero": rng.choice([n for n in ANIMALS if n[0] not in "aeiou"]),
        "country": country,
        "capital": capital,
        "age": str(rng.randint(6, 90)),
        "a": str(a),
        "b": str(b),
        "sum": str(a + b),
        "color": color,
        "Color": color.capitalize(),
        "hobby": hobby,
        "Hobby": hobby.capitalize(),
    }
    lines = [fill(line, rng, slots) for line in script]
    return [(q.removeprefix("> "), a.replace("\\n", "\n")) for q, a in zip(lines[::2], lines[1::2], strict=True)]
