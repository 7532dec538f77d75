"""Sums, word problems, comparisons, counting."""

from __future__ import annotations

import re
from random import Random

from training.generator.tables import NAMES

Turn = tuple[str, str]

_WORDS = {"+": "plus", "-": "minus", "*": "times"}


def calculate(a: int, op: str, b: int) -> int:
    """`a op b` for the three operators that are taught."""
    return {"+": a + b, "-": a - b, "*": a * b}[op]


_SUM = re.compile(r"\b([1-9][0-9])\s*(?:\+|plus)\s*([1-9][0-9])\b")


def held_out(a: int, b: int) -> bool:
    """One in 25 sums of two two-digit numbers is in no training text, so that it can be asked for in a test."""
    return a >= 10 and b >= 10 and (7 * a + 3 * b) % 25 == 0


def held_sums(text: str) -> list[tuple[int, int]]:
    """The sums in `text` that are held out."""
    return [(int(a), int(b)) for a, b in _SUM.findall(text) if held_out(int(a), int(b))]


def addition(rng: Random) -> Turn:
    """Of two numbers below 100, mostly of two digits each; never one that is held out."""
    low = 10 if rng.random() < 0.9 else 0
    a, b = rng.randint(low, 99), rng.randint(low, 99)
    while held_out(a, b):
        a, b = rng.randint(low, 99), rng.randint(low, 99)
    question = rng.choice(
        (
            f"What is {a} + {b}?",
            f"What is {a} + {b}?",
            f"What is {a} plus {b}?",
            f"{a} + {b}",
            f"{a}+{b}",
            f"{a} + {b} = ?",
            f"{a}+{b}=",
            f"Calculate {a} + {b}.",
            f"Add {a} and {b}.",
            f"What is the sum of {a} and {b}?",
            f"How much is {a} plus {b}?",
            f"How much is {a} + {b}?",
            f"And {a} + {b}?",
        )
    )
    return question, f"{a} + {b} = {a + b}."


def operation(rng: Random) -> Turn:
    """Mostly small numbers: those the model can get right."""
    op = rng.choice("++--*")
    if op == "*":
        a, b = rng.randint(0, 10), rng.randint(0, 10)
    else:
        top = 20 if rng.random() < 0.6 else 99
        a, b = rng.randint(0, top), rng.randint(0, top)
        if op == "-":
            a, b = max(a, b), min(a, b)
    word = _WORDS[op]
    question = rng.choice(
        (
            f"What is {a} {op} {b}?",
            f"What is {a} {word} {b}?",
            f"{a} {op} {b}",
            f"{a}{op}{b}",
            f"{a} {op} {b} = ?",
            f"{a}{op}{b}=",
            f"Calculate {a} {op} {b}.",
            f"How much is {a} {word} {b}?",
            f"How much is {a} {op} {b}?",
            f"Can you compute {a} {op} {b}?",
        )
    )
    return question, f"{a} {op} {b} = {calculate(a, op, b)}."


def word_problem(rng: Random) -> Turn:
    """One step; the answer shows the sum."""
    name, a, b = rng.choice(NAMES), rng.randint(2, 12), rng.randint(1, 9)
    goods = rng.choice(("apples", "books", "balls", "coins", "cookies", "pens", "cards", "toys", "eggs", "stamps"))
    kind = rng.randrange(4)
    if kind == 0:
        gets = rng.choice(("gets", "buys", "finds"))
        question = f"{name} has {a} {goods}. {name} {gets} {b} more. How many {goods} does {name} have now?"
        return question, f"{name} has {a} + {b} = {a + b} {goods} now."
    if kind == 1:
        a, b = max(a, b), min(a, b)
        loses = rng.choice(("gives away", "loses", "sells"))
        return (
            f"{name} has {a} {goods} and {loses} {b}. How many {goods} are left?",
            f"{name} has {a} - {b} = {a - b} {goods} left.",
        )
    if kind == 2:
        return (
            f"There are {a} boxes with {b} {goods} each. How many {goods} are there?",
            f"There are {a} * {b} = {a * b} {goods}.",
        )
    question = f"If I have {a} {goods} and buy {b} more, how many do I have?"
    return question, f"You have {a} + {b} = {a + b} {goods}."


def comparison(rng: Random) -> Turn:
    a, b = rng.sample(range(101), 2)
    kind = rng.randrange(4)
    if kind < 2:
        question = rng.choice(
            (f"Which is bigger, {a} or {b}?", f"Which number is larger: {a} or {b}?", f"Is {a} or {b} bigger?")
        )
        return question, f"{max(a, b)} is bigger than {min(a, b)}."
    if kind == 2:
        return f"Is {a} greater than {b}?", f"Yes, {a} is greater than {b}." if a > b else f"No, {a} is less than {b}."
    return f"Is {a} even or odd?", f"{a} is {'odd' if a % 2 else 'even'}."


def counting(rng: Random) -> Turn:
    first, last = (n := rng.randint(1, 20)), n + rng.randint(3, 9)
    kind = rng.randrange(4)
    if kind == 0:
        return f"Count from {first} to {last}.", ", ".join(map(str, range(first, last + 1))) + "."
    if kind == 1:
        return f"Count to {last - first}.", ", ".join(map(str, range(1, last - first + 1))) + "."
    if kind == 2:
        return f"Count down from {last - first}.", ", ".join(map(str, range(last - first, 0, -1))) + "."
    step = rng.choice((1, 2, 3, 5, 10))
    series = [first + step * i for i in range(4)]
    return f"What comes next: {', '.join(map(str, series))}?", f"The next number is {series[-1] + step}."
