"""Keys and values of 8 bits: taken where experts need the room, near to bf16, kept over turns, never under Exact."""

from __future__ import annotations

import gc

import pytest
import torch

from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.session.session import Session
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

TEXT = "Write a short story about a fox who learns to count, and then say what it counted."
GREEDY = Sampling(temperature=0.0, max_tokens=40)


def ask(session: Session, chat: list[Message]) -> tuple[Stats, int]:
    """The answer, which the chat then has, and how many tokens of the prompt were not read again."""
    listener = Listener()
    stats = session.generate(tuple(chat), GREEDY, (), listener)
    chat.append(Message("assistant", stats.text, stats.token_ids))
    return stats, stats.reused_tokens


def kept_as(session: Session) -> set[torch.dtype]:
    return {buffer.dtype for layer in session.context.sequences()[0].state.layers for buffer in layer.buffers}


def test_a_chat_goes_on_over_turns_and_a_restart_says_the_same(home: None) -> None:
    told = []
    for _ in range(2):
        with open_calibrated("builtin", {"dial": "exact", "threads": 1, "kv_cache": "int8"}) as session:
            chat: list[Message] = []
            for text in (TEXT, "Why?", "And then?"):
                chat.append(Message("user", text))
                stats, reused = ask(session, chat)
                assert (reused > 0) == (len(chat) > 2)
                assert len(session.context.tokens) >= stats.prompt_tokens
            assert kept_as(session) == {torch.int8}
            told.append(chat)
    assert told[0] == told[1]


def test_as_near_to_float32_as_bf16_is_about(home: None) -> None:
    found = {}
    for kind in ("bf16", "int8"):
        settings = {"dial": "exact", "activations": "exact", "dense": "bf16", "kv_cache": kind}
        with open_calibrated("builtin", settings) as session:
            ids = session.chat.tokenizer.encode(TEXT * 8).ids[:200]
            found[kind] = [session.logits(ids, one_by_one=by_one).log_softmax(-1) for by_one in (False, True)]
            assert kept_as(session) == {torch.int8 if kind == "int8" else torch.bfloat16}
    for plain, packed in zip(found["bf16"], found["int8"], strict=True):
        divergence = (plain.exp() * (plain - packed)).sum(-1)
        assert 0 < divergence.mean() < 0.002


def opened_with_little(least: int) -> Session:
    """Under a limit 3 to 8 MB above the lowest that does, which moves with what this process takes by now."""
    limit = least
    for _ in range(60):
        try:
            session = open_calibrated("builtin", {"memory_gb": limit / 1e9})
        except UnderhillError as error:
            if error.kind is not Kind.OUT_OF_MEMORY:
                raise
            limit += 4_000_000
            continue
        beyond = limit - session.plan.least
        if 3_000_000 <= beyond <= 8_000_000:
            return session
        session.close()
        del session
        gc.collect()  # a closed one is held by cycles, which would count as what the process takes
        limit += 5_000_000 - beyond
    raise AssertionError("what the process takes does not settle")


def test_a_model_that_does_not_fit_packs_by_itself_and_exact_reads_the_chat_again(home: None) -> None:
    with open_calibrated("builtin", {"dial": "exact"}) as session:
        assert not session.plan.packed
        least = session.plan.least
        chat = [Message("user", TEXT)]
        exact, _ = ask(session, chat)
    with opened_with_little(least) as session:
        assert not session.all_in_memory
        assert session.plan.packed
        ask(session, [Message("user", TEXT)])
        assert kept_as(session) == {torch.int8}
        session.update({"dial": "exact"})
        assert not session.plan.packed
        stats, reused = ask(session, [Message("user", TEXT)])
        assert reused == 0
        assert stats.token_ids == exact.token_ids
        assert kept_as(session) == {torch.float32}
        session.update({"dial": "balanced"})
        _, reused = ask(session, [Message("user", TEXT), Message("assistant", stats.text), Message("user", "Why?")])
        assert reused > 0
        assert kept_as(session) == {torch.float32}
