"""Questions whose answer stands in the question, or earlier in the chat."""

from __future__ import annotations

from random import Random

from training.generator.arithmetic import Turn
from training.generator.knowledge import article
from training.generator.tables import ANIMALS, COLORS, FOODS, HOBBIES, JOBS, NAMES, PETS, TABLES, THINGS

_SITES = "park school beach market library garden zoo farm".split()


def passage(rng: Random) -> Turn:
    (name, name2), (thing, thing2) = rng.sample(NAMES, 2), rng.sample(THINGS, 2)
    (shade, shade2), (site, site2) = rng.sample(COLORS, 2), rng.sample(_SITES, 2)
    first = rng.random() < 0.5
    kind = rng.randrange(6)
    if kind == 0:
        asked, answer = (thing, shade) if first else (thing2, shade2)
        text = f"{name} has {article(shade)} {thing}. {name2} has {article(shade2)} {thing2}."
        return f"{text} What color is the {asked}?", f"The {asked} is {answer}."
    if kind == 1:
        who, asked = (name, thing) if first else (name2, thing2)
        return (
            f"{name} has {article(thing)}. {name2} has {article(thing2)}. Who has the {asked}?",
            f"{who} has the {asked}.",
        )
    if kind == 2:
        who, where = (name, site) if first else (name2, site2)
        return f"{name} went to the {site}. {name2} went to the {site2}. Where is {who}?", f"{who} is at the {where}."
    if kind == 3:
        if first:
            return f"{name} is taller than {name2}. Who is taller?", f"{name} is taller than {name2}."
        return f"{name} is older than {name2}. Who is younger?", f"{name2} is younger than {name}."
    if kind == 4:
        box = rng.choice(("box", "bag"))
        return f"{name} put the {thing} in the {box}. Where is the {thing}?", f"The {thing} is in the {box}."
    likes = rng.sample(FOODS, 2)
    who, food = (name, likes[0]) if first else (name2, likes[1])
    return f"{name} likes {likes[0]}. {name2} likes {likes[1]}. What does {who} like?", f"{who} likes {food}."


def introduction(rng: Random) -> list[tuple[Turn, Turn | None]]:
    """What people tell about themselves, each with a later question about it; the first is always the name."""
    name = rng.choice(NAMES)
    told: list[tuple[Turn, Turn | None]] = []
    color, hobby, job, food = rng.choice(COLORS), rng.choice(HOBBIES), rng.choice(JOBS), rng.choice(FOODS)
    pet, animal, city, age = (
        rng.choice(PETS),
        rng.choice(ANIMALS),
        rng.choice(list(TABLES["capitals"].values())),
        rng.randint(6, 90),
    )
    told.append(
        (
            (f"My favorite color is {color}.", f"{color.capitalize()} is a nice color!"),
            (rng.choice(("What is my favorite color?", "Which color do I like?")), f"Your favorite color is {color}."),
        )
    )
    told.append(
        (
            (rng.choice((f"I like {hobby}.", f"My hobby is {hobby}.")), f"{hobby.capitalize()} is fun!"),
            (rng.choice(("What is my hobby?", "What do I like to do?", "What do I like?")), f"You like {hobby}."),
        )
    )
    told.append(
        (
            (rng.choice((f"I am {job}.", f"I work as {job}.")), "That sounds like an interesting job!"),
            (rng.choice(("What is my job?", "What do I do?")), f"You are {job}."),
        )
    )
    told.append(
        (
            (f"My favorite food is {food}.", f"{food.capitalize()}, how tasty!"),
            ("What is my favorite food?", f"Your favorite food is {food}."),
        )
    )
    told.append(
        (
            (f"I have {article(animal)} named {pet}.", f"How nice! {pet} is a good name for {article(animal)}."),
            (f"What is the name of my {animal}?", f"Your {animal} is called {pet}."),
        )
    )
    told.append(
        ((f"I live in {city}.", f"{city} is a nice place to live."), ("Where do I live?", f"You live in {city}."))
    )
    told.append(((f"I am {age} years old.", f"{age} is a good age!"), ("How old am I?", f"You are {age} years old.")))
    rng.shuffle(told)
    greeting = (
        rng.choice(
            (
                f"My name is {name}.",
                f"Hi, I am {name}.",
                f"Hello, my name is {name}.",
                f"I am {name}. Nice to meet you.",
            )
        ),
        rng.choice(
            (f"Nice to meet you, {name}!", f"Hello {name}! How can I help you?", f"Hi {name}, nice to meet you!")
        ),
    )
    asked = (rng.choice(("What is my name?", "Do you remember my name?", "Who am I?")), f"Your name is {name}.")
    return [(greeting, asked), *told[: rng.randint(0, 3)]]
