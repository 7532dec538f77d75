"""Makes questions look as people type them: without capitals, without full stops, politely, with slips."""

from __future__ import annotations

from random import Random

_COMMANDS = frozenset(
    "Tell Write Give Say List Name Calculate Spell Count Sort Translate Repeat Explain Put Define".split()
)
_SHORT = (
    ("What is ", ("What's ", "Whats ")),
    ("Who is ", ("Who's ",)),
    ("Where is ", ("Where's ",)),
    ("I am ", ("I'm ", "Im ")),
)
_ASIDES = ("Can you tell me: ", "Hey, ", "Tell me, ", "I have a question. ", "Please tell me: ", "Quick question: ")


def _slip(text: str, rng: Random) -> str:
    """Swap two neighboring letters inside one longer word, or drop one."""
    words = text.split(" ")
    long = [i for i, w in enumerate(words) if len(w) > 4 and w.isalpha()]
    if not long:
        return text
    i = rng.choice(long)
    at = rng.randrange(1, len(words[i]) - 2)
    w = words[i]
    words[i] = w[:at] + (w[at + 1] + w[at] if rng.random() < 0.5 else "") + w[at + (2 if rng.random() < 0.5 else 1) :]
    return " ".join(words)


def casual(question: str, rng: Random, slips: bool = True) -> str:
    """`slips` also allows spelling mistakes; leave it off where the question's words must be copied."""
    kind = rng.random()
    if rng.random() < 0.12:
        for long, short in _SHORT:
            if question.startswith(long):
                question = rng.choice(short) + question.removeprefix(long)
    if slips and rng.random() < 0.04:
        question = _slip(question, rng)
    if kind < 0.12:
        return question.rstrip(".?!")
    if kind < 0.18:
        return question[0].lower() + question[1:]
    if kind < 0.28 and slips:
        return question.lower().rstrip(".?!") if rng.random() < 0.6 else question.lower()
    if kind < 0.32 and question.split(" ")[0] in _COMMANDS:
        return f"Please {question[0].lower()}{question[1:]}"
    if kind < 0.34 and question.endswith("?"):
        return rng.choice(_ASIDES) + question
    return question
