"""A chat is one sequence for policies, predictors and traces, whatever of it the context still holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calibration.calibrator import Calibrator, open_calibrated
from engine.errors import UnderhillError
from engine.experts.policies import Hobbit, Lfu, Policy
from engine.experts.policies.scored import ScoredPolicy
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.session import Session
from engine.session.session import Sequences
from engine.tracing.recorder import Recorder
from engine.tracing.trace import load
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

SHORT = Sampling(temperature=0, max_tokens=6)
TIGHT = {"dial": "exact", "cache_fraction": 0.25, "threads": 1, "prefetch": "off"}
SYSTEM = Message("system", "You are kind.")


def user(text: str) -> Message:
    return Message("user", text)


def said(text: str, *ids: int) -> Message:
    return Message("assistant", text, ids)


def ask(session: Session, chat: str, *messages: Message, goes_on: bool = False) -> Stats:
    return session.generate(messages, SHORT, (), Listener(), chat=chat, continue_last=goes_on)


def policy_of(session: Session) -> Policy:
    return session.runtime.cache.policy  # type: ignore[attr-defined]


@pytest.fixture
def tight(home: Path) -> Iterator[Session]:
    with open_calibrated("builtin", TIGHT) as opened:
        yield opened


def test_what_goes_on_and_what_begins() -> None:
    sequences = Sequences()
    question, answer = user("Hello"), said("Hi there", 5, 6)

    def then(*messages: Message, chat: str = "a") -> bool:
        return sequences.begins(chat, messages)

    assert then(question)  # the first of all
    sequences.answered("Hi there", (5, 6))
    assert not then(question, answer, user("How are you?"))
    sequences.answered("Fi", (7,))
    assert not then(question, answer, user("How are you?"), said("Fi", 7))  # what was cut goes on
    sequences.answered("ne.", (8,), continue_last=True)
    assert not then(question, answer, user("How are you?"), said("Fine. ", 7, 8), user("Good."))
    assert not then(question, answer, user("How are you?"), said("Fine.", 7, 8), user("Good."))  # another answer
    assert then(question, answer, user("How are you now?"))  # an edited question
    sequences.answered("Well", (9,))
    assert then(question, answer, user("How are you now?"), said("Bad", 4), user("Why?"))  # another branch's answer
    assert then(SYSTEM, question)
    assert not then(SYSTEM, question)
    assert then(SYSTEM, question, chat="b")  # two chats that begin with the same words
    assert then(SYSTEM, question, chat="a")  # and back


def test_an_answers_tokens_decide_where_its_text_was_stored_otherwise() -> None:
    sequences = Sequences()
    sequences.begins("", [user("Hello")])
    sequences.answered("<think>hm</think>Hi", (1, 2, 3))
    assert not sequences.begins("", [user("Hello"), said("Hi", 1, 2, 3), user("And?")])


def test_every_chat_of_a_chain_resets_the_policys_records(tight: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    policy = policy_of(tight)
    assert isinstance(policy, Hobbit)
    before = policy.begin_sequence
    monkeypatch.setattr(policy, "begin_sequence", lambda: (begun.append(1), before())[1])
    for chat in range(3):
        first = ask(tight, str(chat), user(f"What is {chat} plus one?"))
        if chat:
            assert first.reused_tokens  # the template's first tokens, which are not read again
        answer = said(first.text, *first.token_ids)
        ask(tight, str(chat), user(f"What is {chat} plus one?"), answer, user("And twice that?"))
        assert len(begun) == chat + 1
    tokens, _ = policy.round
    assert tokens < first.prompt_tokens + 40  # of the last chat alone


def test_a_recorded_chain_of_chats_is_as_many_sequences(tight: Session, tmp_path: Path) -> None:
    recorder = Recorder(tight.store.layers, tight.card.experts)
    with tight.listening(recorder, recorder.begin_pass):
        for chat in range(4):
            question = user(f"Tell me about the number {chat}.")
            first = ask(tight, str(chat), question)
            ask(tight, str(chat), question)  # another answer
            ask(tight, str(chat), question, said(first.text, *first.token_ids), user("More!"))
    recorder.trace().save(tmp_path / "t.npz")
    trace = load(tmp_path / "t.npz")
    assert trace.sequences == 4
    assert (trace.positions == 0).sum() == 1  # by which it would have been one
    with tight.listening(recorder, recorder.begin_pass):
        ask(tight, "3", question, said(first.text, *first.token_ids), user("More!"))
    assert recorder.trace().sequences == 4


@pytest.mark.parametrize("policy", ["hobbit", "lfu", "lru", "activation"])
def test_calibration_beside_an_open_chat_leaves_its_records_alone(home: Path, policy: str) -> None:
    with open_calibrated("builtin", {**TIGHT, "policy": policy}) as session:
        ask(session, "a", user("Who wrote Faust, and when?"))
        kept = policy_of(session)
        assert isinstance(kept, ScoredPolicy)

        def records() -> tuple[object, list[list[float]]]:
            kept._digest()
            return kept.round, [noted.ravel().tolist() for noted in kept._noted()]

        before = records()
        if isinstance(kept, (Hobbit, Lfu)):
            assert any(map(any, before[1]))
        calibrator = Calibrator(session, session.calibrated, 256, start_over=True)
        while calibrator.stage < 2:
            calibrator.step()
        calibrator.step()
        assert records() == before
        with pytest.raises(UnderhillError):
            session.context.run_through([5, 6, 7], lambda: True)
        assert records() == before


def test_a_trace_of_a_chat_is_told_apart_from_what_ran_beside_it(tight: Session) -> None:
    recorder = Recorder(tight.store.layers, tight.card.experts)
    question = user("Hello!")
    with tight.listening(recorder, recorder.begin_pass):
        first = ask(tight, "a", question)
        tight.logits([5, 6, 7], one_by_one=True)
        ask(tight, "a", question, said(first.text, *first.token_ids), user("More!"))
    trace = recorder.trace()
    begins = trace.begins.nonzero()[0].tolist()
    assert trace.sequences == 3
    assert trace.passes[begins[1] : begins[2]].tolist() == [1, 1, 1]
