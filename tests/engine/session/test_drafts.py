"""Answers that are drafted from earlier text are the same to the last token, and leave the session as it would be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.generation import drafts
from engine.generation.drafts import DraftCosts
from engine.generation.messages import AnswerOptions, Message, Stats
from engine.generation.sampling import Sampling
from engine.models.layers.state import RecurrentState, SequenceState
from engine.session.session import Session
from tests.engine.models.families.tiny import tiny
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import tiny_store
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

EXACT = {"dial": "exact", "threads": 1}
COUNT = "Count to twenty."
SCHEMA = {"type": "array", "items": {"enum": ["one", "two"]}, "minItems": 12, "maxItems": 12}


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts whatever a pass takes, so that chance decides nothing: each is tried, the wrong ones too."""
    monkeypatch.setattr(DraftCosts, "of", lambda costs, tokens: 1.0)
    monkeypatch.setattr(DraftCosts, "single", 1.0)
    monkeypatch.setattr(drafts, "BEHIND", 1)


@pytest.fixture
def session(home: Path, always: None) -> Iterator[Session]:
    opened = open_calibrated("builtin", EXACT)
    yield opened
    opened.close()


def ask(session: Session, chat: list[Message], **more: object) -> Stats:
    sampling = more.pop("sampling", Sampling(temperature=0.0, max_tokens=120))
    return session.generate(tuple(chat), sampling, more.pop("stop", ()), Listener(), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sampling": Sampling(temperature=0.9, seed=5, max_tokens=150)},
        {"sampling": Sampling(temperature=0.0, max_tokens=7)},
        {"stop": ("12",)},
        {"options": AnswerOptions(json=SCHEMA)},
        {"options": AnswerOptions(logprobs=3)},
    ],
    ids=["greedy", "drawn", "short", "stop text", "schema", "logprobs"],
)
def test_the_same_answers_with_drafts_as_without(session: Session, how: dict[str, object]) -> None:
    chats: list[list[Message]] = []
    accepted = 0
    for setting in ("off", "auto"):
        session.update({"speculation": setting})
        session.context.clear()
        chat: list[Message] = []
        for text in (COUNT, "Tell me a story about a cat.", COUNT):
            chat.append(Message("user", text))
            stats = ask(session, chat, **how)
            chat.append(Message("assistant", stats.text, stats.token_ids))
            assert (stats.drafted > 0) <= (setting == "auto")
            accepted += stats.accepted
        chats.append(chat)
    assert chats[0] == chats[1]
    assert accepted > 0 or how.get("sampling") == Sampling(temperature=0.0, max_tokens=7)


def test_wrong_drafts_leave_nothing_behind(session: Session) -> None:
    """The next turn reuses what it would have reused, and is answered as from the beginning."""
    first = [Message("user", COUNT)]
    stats = ask(session, first)
    assert 0 < stats.accepted < stats.drafted
    assert len(session.context.tokens) == stats.prompt_tokens + len(stats.token_ids) - (stats.finish != "stop")
    chat = [*first, Message("assistant", stats.text, stats.token_ids), Message("user", "Why?")]
    second = ask(session, chat)
    assert second.reused_tokens >= stats.prompt_tokens
    session.context.clear()
    assert ask(session, chat).token_ids == second.token_ids


@pytest.mark.parametrize("family", ["qwen3_next", "lfm2_moe"])
def test_recurrent_layers_take_back_what_was_wrong_without_reading_it_again(
    family: str, tmp_path: Path, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a chat, and once more when the model was opened anew; no token of an answer is fed twice."""
    store = tiny_store(hf_model(tiny(family)), tmp_path, top=8)
    again: list[int] = []
    prepared = SequenceState.prepared_again
    monkeypatch.setattr(SequenceState, "prepared_again", lambda state: (again.append(state.length), prepared(state))[1])
    monkeypatch.setattr(SequenceState, "_restore", lambda state, length: pytest.fail("it went back to a snapshot"))
    answers: list[list[tuple[int, ...]]] = []
    for setting in ("off", "auto", "auto"):
        with Session.open(str(store), {**EXACT, "memory_gb": 3.0, "speculation": setting}) as opened:
            chat: list[Message] = []
            answers.append([])
            for text in ("w5 w6 w7 w8", "w9 w5 w6 w7", "w5 w5 w6 w7"):
                chat.append(Message("user", text))
                stats = ask(opened, chat, sampling=Sampling(temperature=0.7, seed=4, max_tokens=60))
                chat.append(Message("assistant", stats.text, stats.token_ids))
                answers[-1].append(tuple(stats.token_ids))
                assert (stats.drafted > 0) == (setting == "auto")
                layers = opened.context.sequences()[0].state.layers
                assert not any(layer.before for layer in layers if isinstance(layer, RecurrentState))
        assert bool(again) == (setting == "auto")
    assert answers[0] == answers[1] == answers[2]


def test_the_expected_speed_learns_nothing_of_them(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr("engine.library.speed_record.judge", lambda *args: counted.append(1))
    for _ in range(8):
        assert ask(session, [Message("user", COUNT)]).accepted
        session.context.clear()
    assert counted == []


def test_nothing_is_drafted_where_experts_are_read_from_disk_or_answers_are_made_together(
    home: Path, always: None
) -> None:
    with open_calibrated("builtin", {**EXACT, "cache_fraction": 0.5}) as opened:
        assert ask(opened, [Message("user", COUNT)]).drafted == 0
    with open_calibrated("builtin", EXACT) as opened:
        made = [
            opened.begin(
                (Message("user", COUNT),), Sampling(temperature=0.0, max_tokens=60), (), Listener(), background=beside
            )
            for beside in (False, True)
        ]
        while not all(one.over for one in made):
            opened.answers.advance()
        results = [one.result() for one in made]
        assert results[0].token_ids == results[1].token_ids
        assert [stats.drafted for stats in results] == [0, 0]


def test_the_app_drafts_by_default(home: Path) -> None:
    """With the costs that this machine has: a list that repeats itself is long enough for it to be tried."""
    with open_calibrated("builtin", EXACT) as opened:
        sampling = Sampling(temperature=0.0, max_tokens=400)
        assert ask(opened, [Message("user", "Count to one hundred.")], sampling=sampling).drafted
