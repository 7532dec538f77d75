"""Small talk about likes and opinions: the answer takes up the thing that was named."""

from __future__ import annotations

from random import Random

from training.generator.arithmetic import Turn
from training.generator.tables import EVERYDAY, TOPICS

_LIKED = (
    "{X}, how nice! What do you like about it?",
    "I can understand that. Many people like {x}.",
    "{X}, a good choice!",
)
_ASKED = (
    "I am a program and have no taste of my own, but many people like {x}. Do you?",
    "I cannot try it, but {x} sounds nice. Do you like it?",
)
_DISLIKED = ("That is fine. Not everybody likes {x}.", "I see. What do you like instead of {x}?")
_OPINION = (
    "I am a small model and have no opinion about {x}. What do you think?",
    "I do not know much about {x}. What do you think about it?",
)
_LIKE = (
    "I like {x}.",
    "I love {x}.",
    "I really like {x}.",
    "I enjoy {x}.",
    "My favorite thing is {x}.",
    "I like {x} a lot",
)
_ASK = ("Do you like {x}?", "Do you love {x}?", "How do you like {x}?", "Do you enjoy {x}?")
_DISLIKE = ("I don't like {x}.", "I do not like {x}.", "I hate {x}.")
_THINK = ("What do you think about {x}?", "What do you think of {x}?", "What is your opinion on {x}?")


def taste(rng: Random) -> Turn:
    questions, answers, things = rng.choice(
        (
            (_LIKE, _LIKED, EVERYDAY),
            (_ASK, _ASKED, EVERYDAY),
            (_DISLIKE, _DISLIKED, EVERYDAY),
            (_THINK, _OPINION, EVERYDAY + TOPICS),
        )
    )
    x = rng.choice(things)
    told = x.replace("my ", "your ").replace("your stories", "stories") if x.startswith(("my ", "your ")) else x
    answer = rng.choice(answers).format(x=told, X=told[0].upper() + told[1:])
    return rng.choice(questions).format(x=x), answer
