"""Vectors of texts, as OpenAI's and Ollama's own clients ask for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2 as httpx
import numpy as np
import ollama
import openai
import pytest

from engine import limits
from engine.documents.encoder import Encoder
from engine.protocol import ServerChanged
from engine.server.embeddings import MODEL
from engine.service.answering import Answering
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

TEXTS = ["A feline hunts mice.", "The vessel sailed north.", "你好，世界", ""]


@pytest.fixture
def ask(serving: Serving) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0, timeout=LONGEST)


def test_openai_gets_the_vectors_of_the_encoder_in_their_order(ask: openai.OpenAI) -> None:
    expected = Encoder().encode(TEXTS)
    for packed in ("float", "base64"):  # its client unpacks the second
        found = ask.embeddings.create(model=MODEL, input=TEXTS, encoding_format=packed)  # type: ignore[arg-type]
        assert [one.index for one in found.data] == [0, 1, 2, 3]
        vectors: Any = [one.embedding for one in found.data]
        if packed == "float":
            assert float(np.abs(np.array(vectors) - expected).max()) < 1e-5
        assert found.usage.prompt_tokens == found.usage.total_tokens > len(TEXTS)
    plain = ask.embeddings.create(model=MODEL, input=TEXTS[0], dimensions=384)
    assert float(np.abs(np.array(plain.data[0].embedding) - expected[0]).max()) < 1e-5


def test_ollama_gets_them_too(serving: Serving) -> None:
    whale = ollama.Client(serving.url, timeout=LONGEST)
    expected = Encoder().encode(TEXTS)
    found = whale.embed("all-minilm", TEXTS)
    assert float(np.abs(np.array(found.embeddings) - expected).max()) < 1e-5
    assert found.prompt_eval_count is not None
    assert found.prompt_eval_count > len(TEXTS)
    one = whale.embeddings("all-minilm:latest", TEXTS[1])
    assert float(np.abs(np.array(one.embedding) - expected[1]).max()) < 1e-5


def test_no_end_of_a_long_text_is_left_out(ask: openai.OpenAI) -> None:
    cat, ship = "A feline hunts mice at dusk. " * 60, "The vessel left the harbour and sailed north. " * 60
    found = ask.embeddings.create(model=MODEL, input=[cat, cat + ship, ship])
    a, both, b = (np.array(one.embedding) for one in found.data)
    assert found.usage.prompt_tokens > 1200
    assert float(np.linalg.norm(both)) == pytest.approx(1, abs=1e-5)
    assert a @ both > a @ b + 0.2
    assert b @ both > a @ b + 0.2


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"model": "builtin"}, 404),
        ({"input": []}, 400),
        ({"input": ["x"] * (limits.EMBEDDED_TEXTS + 1)}, 400),
        ({"input": ["x" * (limits.TEXT_CHARACTERS // 2 + 1)] * 2}, 413),
        ({"input": [1, 2, 3]}, 400),  # tokens of another model
        ({"dimensions": 100}, 400),
    ],
)
def test_what_cannot_be_embedded_is_refused(serving: Serving, asked: dict[str, Any], status: int) -> None:
    body = {"model": MODEL, "input": TEXTS[0], **asked}
    refused = httpx.post(f"{serving.url}/v1/embeddings", json=body, timeout=LONGEST)
    assert refused.status_code == status, refused.text
    assert refused.json()["error"]["message"]


def test_it_waits_for_a_persons_answer_is_shown_and_ends_with_its_listener(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = threading.Event()
    answering.set()
    monkeypatch.setattr(Answering, "for_person", property(lambda self: answering.is_set()))
    serving.events.clear()
    url, body = f"{serving.url}/v1/embeddings", {"model": MODEL, "input": TEXTS}

    def waits(event: Any) -> bool:
        return isinstance(event, ServerChanged) and any(one.way == "/v1/embeddings" for one in event.state.requests)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(httpx.post, url, json=body, timeout=LONGEST)
        told = serving.first(waits)
        assert isinstance(told, ServerChanged)
        assert told.state.requests[0].model == MODEL
        assert not asked.done()
        answering.clear()
        assert asked.result().status_code == 200
    answering.set()
    serving.quiet()
    serving.events.clear()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(url, json=body, timeout=0.5)
    serving.quiet()
    answering.clear()
    assert httpx.post(url, json=body, timeout=LONGEST).status_code == 200
