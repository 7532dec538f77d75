"""Programs ask a team as they ask a model."""

from __future__ import annotations

import anthropic
import ollama
import openai
import pytest

from engine.protocol import DeleteTeam, LoadModel, SaveTeam, Team, TeamStep
from tests.engine.server.serving import SETTINGS, Serving

pytestmark = pytest.mark.long

HELLO = [{"role": "user", "content": "Tell me a story about a brave dog."}]
TWICE = Team(
    "Two of us",
    (TeamStep(name="First", model="builtin", note=True), TeamStep(name="Second", model="builtin", tell="{First}")),
)
FAR = Team("Far", (TeamStep(name="A", model="nowhere"),))


@pytest.fixture
def ask(serving: Serving) -> openai.OpenAI:
    for team in (TWICE, FAR):
        serving.send(DeleteTeam, team.id)
        serving.result(SaveTeam, team)
    return openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0, timeout=120)


def test_a_team_is_listed_and_answers_streamed_and_whole(ask: openai.OpenAI) -> None:
    names = [model.id for model in ask.models.list()]
    assert "team:two-of-us" in names
    assert "team:far" not in names  # it cannot be asked now
    asked = {"model": "team:two-of-us", "messages": HELLO, "temperature": 0, "max_tokens": 12}
    whole = ask.chat.completions.create(**asked)
    assert whole.choices[0].message.content
    chunks = list(ask.chat.completions.create(**asked, stream=True))
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == whole.choices[0].message.content
    first = ask.chat.completions.create(model="builtin", messages=HELLO, temperature=0, max_tokens=12)
    assert first.choices[0].message.content
    second = [{"role": "user", "content": first.choices[0].message.content}]
    again = ask.chat.completions.create(model="builtin", messages=[*HELLO[:-1], *second], temperature=0, max_tokens=12)
    assert again.choices[0].message.content == whole.choices[0].message.content


def test_a_missing_model_and_what_a_team_cannot_do_are_refused(ask: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="asks nowhere, which isn't in the library"):
        ask.chat.completions.create(model="team:far", messages=HELLO)
    with pytest.raises(openai.NotFoundError, match="There is no model called"):
        ask.chat.completions.create(model="team:none", messages=HELLO)
    with pytest.raises(openai.BadRequestError, match="text alone"):
        ask.chat.completions.create(model="team:two-of-us", messages=HELLO, response_format={"type": "json_object"})


def test_steps_without_a_model_ask_the_open_one(ask: openai.OpenAI, serving: Serving) -> None:
    serving.result(LoadModel, "builtin", SETTINGS)
    found = ask.chat.completions.create(model="team:Draft and check", messages=HELLO, temperature=0, max_tokens=12)
    assert found.choices[0].message.content


def test_the_other_apis_ask_teams_too(ask: openai.OpenAI, serving: Serving) -> None:
    client = ollama.Client(serving.url)
    assert "team:two-of-us" in [model.model for model in client.list().models]
    options = {"temperature": 0, "num_predict": 12}
    assert client.chat("team:two-of-us", HELLO, options=options).message.content
    message = anthropic.Anthropic(base_url=serving.url, api_key="none", max_retries=0).messages.create(
        model="team:two-of-us", messages=HELLO, max_tokens=12
    )
    assert message.content[0].text
