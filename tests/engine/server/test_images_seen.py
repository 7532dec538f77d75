"""A model that reads images behind the real server: it is told what is on them, and one that reads none refuses."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from engine.convert.importer import import_checkpoint
from engine.library import library
from tests.engine.models.vision import seeing_gemma as gemma
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def seeing(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("gemma")
    gemma.checkpoint(gemma.model(), folder / "checkpoint")
    import_checkpoint(folder / "checkpoint", library.location("seeing"), top=8)
    with Serving() as started:
        yield started


def asked(serving: Serving, model: str, *images: bytes) -> httpx.Response:
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(image).decode()}}
        for image in images
    ]
    messages = [{"role": "user", "content": [*parts, {"type": "text", "text": "w10 w11"}]}]
    body = {"model": model, "messages": messages, "max_tokens": 4, "temperature": 0}
    return httpx.post(f"{serving.url}/v1/chat/completions", json=body, timeout=LONGEST)


def test_it_reads_them_each_anew(seeing: Serving) -> None:
    plain, one, two, other = (
        asked(seeing, "seeing", *images)
        for images in ((), (gemma.picture(1),), (gemma.picture(1), gemma.picture(2)), (gemma.picture(2),))
    )
    assert [answer.status_code for answer in (plain, one, two, other)] == [200] * 4
    tokens = [answer.json()["usage"]["prompt_tokens"] for answer in (plain, one, two)]
    assert tokens[0] < tokens[1] < tokens[2]
    assert asked(seeing, "seeing", gemma.picture(1)).json()["choices"] == one.json()["choices"]


def test_one_that_reads_none_refuses_and_damage_is_told(seeing: Serving) -> None:
    blind = asked(seeing, "builtin", gemma.picture(1))
    assert blind.status_code == 400
    assert "images" in blind.json()["error"]["message"]
    cut = asked(seeing, "seeing", gemma.picture(1)[:200])
    assert cut.status_code == 400, cut.text
    assert "image" in cut.json()["error"]["message"]
    assert asked(seeing, "seeing").status_code == 200
