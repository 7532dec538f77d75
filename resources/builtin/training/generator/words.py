"""Names and words without end: what is told in a chat must be copied, not known."""

from __future__ import annotations

import re
from random import Random

from training.generator.tables import (
    COLORS,
    DEFINITIONS,
    EVERYDAY,
    FACTS,
    HEROES,
    HOBBIES,
    JOBS,
    MONTHS,
    NAMES,
    PETS,
    TABLES,
    THINGS,
    TOPICS,
    WORDS,
)

_OPENINGS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kn kr l m n p ph pl pr qu r rh s sc sh sk sl sm sn sp st str sv "
    "t th tr ts v w wh y z"
).split()
_VOWELS = "a e i o u a e i o u a e i o ai au ea ee ei ie oa oo ou ia io y".split()
_ENDINGS = (
    "b ck d f g k l ld ll m n n n nd ng nn nt p r r rd rn rt s s sh ss st t th tt x z a o a e i y ie us er el en in on "
    "an ina ette ko ka ro ra na no mo ma ta to bert fried hilde mund wen son ton ley field ville burg"
).split()
_RELATIVES = "aunt uncle cousin sister brother friend grandmother teacher boss neighbor mother father doctor".split()


def _known() -> list[str]:
    """Every longer word of the own text, whatever it means: a word to be copied can be any word."""
    text = " ".join([*(e.answers[0] for e in FACTS), *(" ".join(d) for d in DEFINITIONS), *EVERYDAY, *TOPICS])
    return sorted(set(re.findall(r"[a-z]{4,}", text.lower())) | set(WORDS) | set(THINGS) | set(HEROES))


KNOWN = _known()
_CITIES = [*TABLES["capitals"].values(), *TABLES["capitals"]]


def syllables(rng: Random) -> str:
    """A word that nobody has heard of: one to three syllables, in small letters."""
    parts = []
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        parts.append((rng.choice(_OPENINGS) if rng.random() < 0.85 else "") + rng.choice(_VOWELS))
    return (
        "".join(parts)
        + rng.choice(_OPENINGS)
        + rng.choice(_VOWELS)
        + (rng.choice(_ENDINGS) if rng.random() < 0.75 else "")
    )


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _name(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.12:
        return rng.choice(NAMES)
    if kind < 0.16:
        return rng.choice(PETS)
    return (rng.choice(KNOWN) if kind < 0.3 else syllables(rng)).capitalize()


def _place(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(_CITIES)
    if kind < 0.36:
        return f"{rng.choice(('New', 'Port', 'Saint', 'Bad', 'Fort'))} {syllables(rng).capitalize()}"
    return syllables(rng).capitalize()


def _word(rng: Random) -> str:
    return rng.choice(KNOWN) if rng.random() < 0.6 else syllables(rng)


def _job(rng: Random) -> str:
    if rng.random() < 0.2:
        return rng.choice(JOBS)
    stem = _word(rng)
    return _article(stem + rng.choice(("", "er", "er", "ist", " maker", " seller")))


def _hobby(rng: Random) -> str:
    kind = rng.random()
    return rng.choice(HOBBIES) if kind < 0.2 else _word(rng) + ("ing" if kind < 0.7 else "")


def _number(rng: Random) -> str:
    return str(rng.randint(*rng.choice(((2, 9), (10, 99), (10, 99), (10, 99), (100, 999), (1000, 9999)))))


def _spot(rng: Random) -> str:
    return f"{rng.choice(('in', 'in', 'on', 'under', 'behind', 'near'))} the {_word(rng)}"


def _date(rng: Random) -> str:
    month, day = rng.choice(MONTHS), rng.randint(1, 28)
    return rng.choice((f"in {month}", f"on {month} {day}", f"on {day} {month}", f"on the {day}th of {month}"))


def _relative(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return f"{rng.choice(('my', 'my', 'our'))} {rng.choice(_RELATIVES)} {_name(rng)}"
    return _name(rng)


_SOURCES = {
    "name": _name,
    "title": lambda rng: f"{rng.choice(('Mr.', 'Mrs.', 'Ms.', 'Dr.', 'Miss', 'Mr'))} {_name(rng)}",
    "place": _place,
    "age": lambda rng: str(rng.randint(2, 99)),
    "number": _number,
    "word": _word,
    "Word": lambda rng: _word(rng).capitalize(),
    "any": lambda rng: rng.choice((_word, _word, _name, _number))(rng),
    "thing": _word,
    "job": _job,
    "hobby": _hobby,
    "spot": _spot,
    "color": lambda rng: rng.choice(COLORS) if rng.random() < 0.5 else _word(rng),
    "date": _date,
    "relative": _relative,
}


def value(source: str, rng: Random) -> str:
    """Something to tell, of the kinds named in `text/told.toml`."""
    return _SOURCES[source](rng)
