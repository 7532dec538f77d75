"""Four programs ask at once, by HTTP: each gets its own answer, and none waits for another's end."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
import pytest

from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

QUESTIONS = ("Hello! What can you do?", "Tell me a story about a cat.", "Write three short sentences.", "Why is it so?")


def body(question: str, **more: object) -> dict[str, object]:
    asked = [{"role": "user", "content": question}]
    return {"model": "builtin", "messages": asked, "max_tokens": 60, "temperature": 0, **more}


def streamed(serving: Serving, question: str, came: list[str]) -> str:
    """The answer's text; `came` gets the question for every piece of it."""
    text = ""
    url = f"{serving.url}/v1/chat/completions"
    with httpx.stream("POST", url, json=body(question, stream=True), timeout=LONGEST) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data: {"):
                delta = json.loads(line[6:])["choices"][0]["delta"]
                if piece := (delta.get("content") or "") + (delta.get("reasoning_content") or ""):
                    text += piece
                    came.append(question)
    return text


def test_four_clients_at_once_get_their_own_answers_in_turns(serving: Serving) -> None:
    alone = [streamed(serving, question, []) for question in QUESTIONS]
    assert all(alone)
    came: list[str] = []
    begin = threading.Barrier(len(QUESTIONS))

    def ask(question: str) -> str:
        begin.wait()
        return streamed(serving, question, came)

    with ThreadPoolExecutor(len(QUESTIONS)) as clients:
        assert list(clients.map(ask, QUESTIONS)) == alone
    assert sum(one != other for one, other in itertools.pairwise(came)) > 20


def test_one_that_leaves_ends_only_its_own_answer(serving: Serving) -> None:
    url = f"{serving.url}/v1/chat/completions"
    with httpx.stream("POST", url, json=body(QUESTIONS[1], stream=True, max_tokens=4_000), timeout=LONGEST) as leaving:
        assert next(leaving.iter_lines()).startswith("data: ")
        assert streamed(serving, QUESTIONS[0], [])  # is answered while the other one is
    serving.quiet()
