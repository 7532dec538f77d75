"""The built-in model remembers what it was told within a chat, and adds numbers of two digits."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.session import Session
from tests.audit.finding import Finding
from tests.audit.unheard import Unheard

QUESTIONS = Path(__file__).resolve().parents[1] / "resources" / "builtin" / "memory_questions.json"
REMEMBERED, SUMMED = 0.9, 0.95  # least shares of right answers
SUMS = 100
GREEDY = Sampling(temperature=0, max_tokens=60)


class _Heard(Unheard):
    """Keeps the answer."""

    def __init__(self) -> None:
        self.answer = ""

    def text(self, text: str, token_ids: object) -> None:
        """More of the answer."""
        self.answer += text


def _ask(session: Session, messages: list[Message]) -> str:
    heard = _Heard()
    session.generate(tuple(messages), GREEDY, (), heard)
    return heard.answer.strip()


def _forgotten(session: Session) -> tuple[int, list[str]]:
    """How many questions the list has, and those answered without the word that was told."""
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    wrong = []
    for question in questions:
        chat: list[Message] = []
        for told in question["told"]:
            chat.append(Message("user", told))
            chat.append(Message("assistant", _ask(session, chat)))
        answer = _ask(session, [*chat, Message("user", question["asked"])])
        if not re.search(rf"\b{re.escape(question['expected'])}\b", answer, re.IGNORECASE):
            wrong.append(f"{question['asked']} {question['expected']}: {answer}")
    return len(questions), wrong


def _miscounted(session: Session) -> list[str]:
    """Sums answered with another number."""
    draw = random.Random(14)
    wrong = []
    for _ in range(SUMS):
        a, b = draw.randint(10, 99), draw.randint(10, 99)
        answer = _ask(session, [Message("user", f"What is {a} + {b}?")])
        numbers = re.findall(r"\d+", answer)
        if not numbers or int(numbers[-1]) != a + b:
            wrong.append(answer)
    return wrong


def examine() -> Finding:
    """Both through the session that the window opens, at its default settings but for the draws."""
    with open_calibrated("builtin", {}) as session:
        asked, forgotten = _forgotten(session)
        miscounted = _miscounted(session)
    remembered, summed = 1 - len(forgotten) / asked, 1 - len(miscounted) / SUMS
    return Finding(
        remembered >= REMEMBERED and summed >= SUMMED and asked >= 20,
        {
            "memory questions": asked,
            "remembered": round(remembered, 3),
            "forgotten": forgotten,
            "sums": SUMS,
            "summed": round(summed, 3),
            "miscounted": miscounted[:10],
        },
    )
