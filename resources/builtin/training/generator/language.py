"""Words: opposites, plurals, spelling, order, translation, lists, copying."""

from __future__ import annotations

from random import Random

from training.generator.arithmetic import Turn
from training.generator.tables import COLORS, LISTS, NUMBERS, RHYMES, TABLES, THINGS, WORDS


def opposite(rng: Random) -> Turn:
    word, other = rng.choice(list(TABLES["opposites"].items()))
    question = rng.choice(
        (f"What is the opposite of {word}?", f"Opposite of {word}?", f'Give me the opposite of "{word}".')
    )
    return question, f"The opposite of {word} is {other}."


def synonym(rng: Random) -> Turn:
    word, other = rng.choice(list(TABLES["synonyms"].items()))
    return rng.choice(
        (f"What is another word for {word}?", f"Give me a synonym for {word}.")
    ), f"Another word for {word} is {other}."


def grammar(rng: Random) -> Turn:
    if rng.random() < 0.5:
        word, plural = rng.choice(list(TABLES["plurals"].items()))
        return rng.choice(
            (f"What is the plural of {word}?", f"Plural of {word}?")
        ), f"The plural of {word} is {plural}."
    verb, past = rng.choice(list(TABLES["past"].items()))
    return rng.choice(
        (f"What is the past tense of {verb}?", f'Past tense of "{verb}"?')
    ), f"The past tense of {verb} is {past}."


def rhyme(rng: Random) -> Turn:
    word, other = rng.sample(rng.choice(RHYMES), 2)
    return rng.choice(
        (f"What rhymes with {word}?", f"Give me a word that rhymes with {word}.")
    ), f"The word {other} rhymes with {word}."


def spelling(rng: Random) -> Turn:
    word = rng.choice(WORDS)
    kind = rng.randrange(4)
    if kind < 2:
        question = rng.choice((f"How do you spell {word}?", f"Spell the word {word}.", f"Spell {word}."))
        return question, "-".join(word.upper()) + "."
    if kind == 2:
        return f"How many letters are in the word {word}?", f"The word {word} has {len(word)} letters."
    place = rng.choice(("first", "last"))
    return (
        f"What is the {place} letter of {word}?",
        f"The {place} letter of {word} is {word[0 if place == 'first' else -1].upper()}.",
    )


def order(rng: Random) -> Turn:
    words = rng.sample(WORDS, rng.randint(3, 4))
    question = rng.choice(("Sort these words in alphabetical order: {}.", "Put these words in order: {}."))
    return question.format(", ".join(words)), ", ".join(sorted(words)) + "."


def translation(rng: Random) -> Turn:
    language = rng.choice(("French", "Spanish", "German"))
    word, foreign = rng.choice(list(TABLES[language.lower()].items()))
    question = rng.choice(
        (
            f"How do you say {word} in {language}?",
            f'Translate "{word}" to {language}.',
            f"What is {word} in {language}?",
        )
    )
    return question, f'"{word.capitalize()}" in {language} is "{foreign}".'


def listing(rng: Random) -> Turn:
    kind, items = rng.choice(list(LISTS.items()))
    count = min(rng.randint(2, 5), len(items))
    chosen, number = rng.sample(items, count), NUMBERS[count]
    question = rng.choice(
        (
            f"Name {number} {kind}.",
            f"List {number} {kind}.",
            f"Can you name {number} {kind}?",
            f"Give me {number} examples of {kind}.",
            f"Tell me {count} {kind}.",
            f"Name {count} {kind}.",
        )
    )
    text = f"{', '.join(chosen[:-1])} and {chosen[-1]}."
    return question, text[0].upper() + text[1:]


def copying(rng: Random) -> Turn:
    kind = rng.randrange(4)
    if kind < 2:
        words = " ".join(rng.sample(WORDS + THINGS + COLORS, rng.randint(1, 4)))
        question = rng.choice(
            (f'Say "{words}".', f"Repeat after me: {words}", f"Please repeat: {words}", f"Say {words}")
        )
        return question, words[0].upper() + words[1:] + "."
    word = rng.choice(WORDS)
    if kind == 2:
        return f'Write "{word}" in capital letters.', word.upper()
    times = rng.randint(2, 4)
    return f"Write the word {word} {NUMBERS[times]} times.", " ".join([word] * times)
