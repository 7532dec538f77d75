"""Questions with one right answer about the world, and questions that the model should decline."""

from __future__ import annotations

from random import Random

from training.generator.arithmetic import Turn
from training.generator.tables import (
    DAYS,
    DEFINITIONS,
    FACTS,
    MIXED_COLORS,
    MONTH_DAYS,
    MONTHS,
    NAMES,
    PLACES,
    TABLES,
    TALK,
    TOPICS,
    UNKNOWN,
)

DECLINE = (
    "I do not know that. I am a very small demo model. A bigger model may know the answer.",
    "Sorry, that is too hard for me. Add a bigger model to Underhill for questions like this.",
    "I am not sure about that. I am only a small demo model and know simple things.",
)
_THE = frozenset(("sky", "sun", "ocean"))
_BARE = frozenset(("grass", "snow", "coal", "blood", "milk", "chocolate"))


def article(noun: str) -> str:
    """The noun with `a` or `an`; `unicorn` and `ukulele` begin with a consonant's sound."""
    vowel = noun[0].lower() in "aeiou" and not noun.startswith(("uni", "uku"))
    return f"{'an' if vowel else 'a'} {noun}"


def capital(rng: Random) -> Turn:
    country, city = rng.choice(list(TABLES["capitals"].items()))
    kind = rng.random()
    if kind < 0.7:
        question = rng.choice(
            (
                f"What is the capital of {country}?",
                f"Capital of {country}?",
                f"Tell me the capital of {country}.",
                f"Which city is the capital of {country}?",
                f"Do you know the capital of {country}?",
                f"What's the capital city of {country}?",
            )
        )
        return question, f"The capital of {country} is {city}."
    if kind < 0.85:
        return rng.choice(
            (f"{city} is the capital of which country?", f"Where is {city}?")
        ), f"{city} is the capital of {country}."
    country, continent = rng.choice(list(TABLES["continents"].items()))
    question = rng.choice(
        (f"Where is {country}?", f"Which continent is {country} in?", f"On which continent is {country}?")
    )
    return question, f"{country} is in {continent}."


def animal(rng: Random) -> Turn:
    kind = rng.randrange(3)
    if kind == 0:
        name, sound = rng.choice(list(TABLES["sounds"].items()))
        question = rng.choice((f"What sound does {article(name)} make?", f"What does {article(name)} say?"))
        return question, f"{article(name).capitalize()} says {sound}."
    if kind == 1:
        name, young = rng.choice(list(TABLES["babies"].items()))
        question = rng.choice((f"What is a baby {name} called?", f"What do you call a baby {name}?"))
        return question, f"A baby {name} is called {article(young)}."
    name, legs = rng.choice(list(TABLES["legs"].items()))
    number = "no" if legs == "zero" else legs
    return f"How many legs does {article(name)} have?", f"{article(name).capitalize()} has {number} legs."


def color(rng: Random) -> Turn:
    if rng.random() < 0.4:
        first, second, result = rng.choice(MIXED_COLORS)
        if rng.random() < 0.5:
            first, second = second, first
        question = rng.choice(
            (f"What color do you get when you mix {first} and {second}?", f"What do {first} and {second} make?")
        )
        return question, f"Mixing {first} and {second} makes {result}."
    thing, shade = rng.choice(list(TABLES["colors"].items()))
    named = f"the {thing}" if thing in _THE else thing if thing in _BARE else article(thing)
    return f"What color is {named}?", f"{named[0].upper()}{named[1:]} is {shade}."


def calendar(rng: Random) -> Turn:
    day, month = rng.randrange(7), rng.randrange(12)
    after, before = DAYS[(day + 1) % 7], DAYS[day - 1]
    turns: tuple[tuple[tuple[str, ...], str], ...] = (
        (
            (f"What day comes after {DAYS[day]}?", f"Which day is after {DAYS[day]}?"),
            f"{after} comes after {DAYS[day]}.",
        ),
        ((f"If today is {DAYS[day]}, what day is tomorrow?",), f"Tomorrow is {after}."),
        ((f"What day comes before {DAYS[day]}?",), f"{before} comes before {DAYS[day]}."),
        ((f"If today is {DAYS[day]}, what day was yesterday?",), f"Yesterday was {before}."),
        (
            (f"What month comes after {MONTHS[month]}?", f"Which month follows {MONTHS[month]}?"),
            f"{MONTHS[(month + 1) % 12]} comes after {MONTHS[month]}.",
        ),
        (
            (f"How many days are in {MONTHS[month]}?", f"How many days does {MONTHS[month]} have?"),
            f"{MONTHS[month]} has {MONTH_DAYS[month]} days{', and 29 in a leap year' if month == 1 else ''}.",
        ),
        (
            ("What are the days of the week?", "List the days of the week.", "Name the days of the week."),
            f"The days of the week are {', '.join(DAYS[:-1])} and {DAYS[-1]}.",
        ),
    )
    questions, answer = rng.choice(turns)
    return rng.choice(questions), answer


def fact(rng: Random) -> Turn:
    exchange = rng.choice(FACTS)
    return rng.choice(exchange.questions), rng.choice(exchange.answers)


def definition(rng: Random) -> Turn:
    word, meaning = rng.choice(DEFINITIONS)
    plain = word == "scissors"
    named = word if plain else article(word)
    question = rng.choice(
        (
            f"What {'are' if plain else 'is'} {named}?",
            f"What {'are' if plain else 'is'} {named}?",
            f"Define {word}.",
            f"Explain what {named} {'are' if plain else 'is'}.",
            f"What does the word {word} mean?",
            f"Tell me what {named} {'are' if plain else 'is'}.",
        )
    )
    return question, f"{named[0].upper()}{named[1:]} {'are' if plain else 'is'} {meaning}."


def talk(rng: Random) -> Turn:
    exchange = rng.choice(TALK)
    return rng.choice(exchange.questions), rng.choice(exchange.answers)


def greeting(rng: Random) -> Turn:
    """The first rows of small talk, which almost every chat begins with."""
    exchange = rng.choice(TALK[:16])
    return rng.choice(exchange.questions), rng.choice(exchange.answers)


def unknown(rng: Random) -> Turn:
    place, place2 = rng.sample(PLACES, 2)
    topic, topic2 = rng.sample(TOPICS, 2)
    question = rng.choice(UNKNOWN).format(
        year=rng.randint(1950, 2030),
        country=rng.choice(list(TABLES["capitals"])),
        place=place,
        place2=place2,
        number=rng.randint(101, 9999),
        number2=rng.randint(101, 9999),
        topic=topic,
        topic2=topic2,
        name=rng.choice(NAMES),
        language=rng.choice(("French", "Spanish", "German", "Italian", "Japanese")),
        ordinal=rng.choice(("third", "fourth", "fifth", "sixth", "ninth")),
    )
    return question, rng.choice(DECLINE)
