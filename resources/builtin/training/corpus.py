"""Sources of training text: where they lie, how they are mixed, and how each row becomes a chat."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

Message = dict[str, str]

# Share of each source in the sequences of a batch.
MIX = {
    "own": 78.0,
    "tinystories": 4.0,
    "sgd": 5.0,
    "topical_chat": 4.0,
    "gsm8k": 3.0,
    "synthetic_persona_chat": 6.0,
}

# Tells the model which voice to use, so that bookings and chatter do not leak into plain questions.
SYSTEM = {
    "tinystories": "You tell children's stories.",
    "sgd": "You help the user to book and find things.",
    "topical_chat": "You are chatting with a friend.",
    "gsm8k": "Solve the problem step by step.",
}

_HERO = (
    r"(an? (?:[a-z]+ ){0,2}(?:girl|boy|cat|dog|bird|bear|fish|rabbit|bunny|frog|fox|mouse|lion|monkey|car|tree|man"
    r"|woman|princess|duck|puppy|kitten|squirrel|dragon|robot|butterfly|elephant))"
)
_NAMED_HERO = re.compile(r"(?:there was|there lived|saw|met) " + _HERO + r" (?:named|called) ([A-Z][a-z]+)")
_PLAIN_HERO = re.compile(r"(?:there was|there lived) " + _HERO + r"\b")
_TWO_NAMES = re.compile(r"(?:One day, |Once upon a time, )?([A-Z][a-z]+) and ([A-Z][a-z]+) ")
_ASK_ABOUT = (
    "Tell me a story about {}.",
    "Write a short story about {}.",
    "Tell me a story with {}.",
    "Can you tell me a story about {}?",
)
_ASK = ("Tell me a story.", "Write a short story.", "Tell me a short story, please.", "Can you tell me a story?")


def story_request(story: str, rng: random.Random) -> str:
    """A request that the story answers: it names the story's hero where one is found."""
    if m := _NAMED_HERO.search(story):
        return rng.choice(_ASK_ABOUT).format(f"{m[1]} named {m[2]}")
    if m := _PLAIN_HERO.search(story):
        return rng.choice(_ASK_ABOUT).format(m[1])
    if m := _TWO_NAMES.match(story):
        return rng.choice(_ASK_ABOUT).format(f"{m[1]} and {m[2]}")
    return rng.choice(_ASK)


def rows(data: Path, source: str, split: str) -> Iterator[list[Message]]:
    """The chats of DATA/SOURCE/SPLIT.jsonl; raises FileNotFoundError when that file is missing."""
    rng = random.Random(0)
    with open(data / source / f"{split}.jsonl", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "text" in row:
                request = story_request(row["text"], rng)
                messages = [{"role": "user", "content": request}, {"role": "assistant", "content": row["text"]}]
            else:
                messages = row["messages"]
            yield [{"role": "system", "content": SYSTEM[source]}, *messages] if source in SYSTEM else messages
