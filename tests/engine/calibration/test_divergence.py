"""How far two qualities are apart on an answer: what is measured is what the model says, and nothing of it stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.calibration import divergence as module
from engine.calibration.calibrator import open_calibrated
from engine.calibration.divergence import divergence
from engine.experts.precision import EXACT, Thresholds
from engine.generation.context import Context
from engine.protocol import Kind, Message, UnderhillError
from engine.session import Session

FEW = {"threads": 1, "cache_fraction": 0.2, "dial": "exact", "activations": "exact"}


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    with open_calibrated("builtin", FEW) as opened:
        yield opened


def texts(session: Session) -> tuple[list[int], list[int]]:
    prompt = list(session.chat.prompt((Message("user", "Tell me a story about a cat."),)).ids)
    return prompt, session.chat.encode("Once there was a cat. It lived in a small house near the wood.")


def kl(p: np.ndarray[Any, Any], q: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Of two rows of logits, by its definition."""
    p, q = p.astype(np.longdouble), q.astype(np.longdouble)
    p, q = (x - x.max(-1, keepdims=True) for x in (p, q))
    log_p, log_q = (x - np.log(np.exp(x).sum(-1, keepdims=True)) for x in (p, q))
    return (np.exp(log_p) * (log_p - log_q)).sum(-1)


def test_it_is_the_mean_over_the_answers_tokens(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt, answer = texts(session)
    said: dict[Thresholds, list[torch.Tensor]] = {}
    feed = Context._feed

    def heard(self: Context, *args: Any) -> Iterator[torch.Tensor | None]:
        for logits in feed(self, *args):
            if logits is not None:
                said.setdefault(session.runtime.thresholds, []).append(logits)
            yield logits

    monkeypatch.setattr(Context, "_feed", heard)
    monkeypatch.setattr(module, "LOGITS", 0)  # many small blocks
    done: list[int] = []
    found = divergence(session, prompt, answer, ("exact", "fast"), lambda now, total: done.append(now))
    monkeypatch.undo()
    exact, fast = (torch.cat(said[t]).numpy() for t in (EXACT, session.thresholds_under("fast")))
    assert len(exact) == len(fast) == len(answer) == found.tokens
    assert done == sorted(done)
    assert done[-1] == len(answer)
    assert len(done) > 1
    assert found.kl == pytest.approx(float(kl(exact, fast).mean()), rel=1e-9)
    assert found.kl > 1e-4
    whole = session.logits([*prompt, *answer], one_by_one=False)[len(prompt) - 1 : -1]
    assert np.allclose(exact, whole.numpy(), atol=2e-4)  # each foretells its own token of the answer


def test_nearly_exact_is_nearly_the_same(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        session, "thresholds_under", lambda dial: EXACT if dial == "exact" else Thresholds(1 - 1e-12, 1.0)
    )
    found = divergence(session, *texts(session), ("exact", "fast"))
    assert not found.alike
    assert 0 <= found.kl < 1e-6


def test_with_every_expert_in_memory_there_is_nothing_to_measure(home: Path) -> None:
    with open_calibrated("builtin", {**FEW, "cache_fraction": 1.0}) as opened:
        assert opened.all_in_memory
        found = divergence(opened, *texts(opened), ("exact", "fast"))
    assert found.alike
    assert found.tokens


def test_the_chat_and_its_counts_stay_as_they_were(session: Session) -> None:
    prompt, answer = texts(session)
    session.context.read(prompt)
    tokens, before = list(session.context.tokens), session.counters()
    divergence(session, prompt, answer, ("exact", "fast"))
    assert session.context.tokens == tokens
    after = session.counters()
    assert (after.hits, after.misses) == (before.hits, before.misses)
    assert session.runtime.thresholds == session.thresholds == EXACT


def test_what_does_not_fit_beside_the_chat_is_refused_and_the_chat_kept(session: Session) -> None:
    prompt, answer = texts(session)
    session.context.read(prompt)
    session.context.bound(3 * len(prompt), 64)
    with pytest.raises(UnderhillError) as refused:
        divergence(session, prompt, answer, ("exact", "fast"))
    assert refused.value.kind is Kind.CONTEXT_FULL
    assert session.context.tokens == prompt


def test_it_ends_when_it_is_stopped(session: Session) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 8

    with pytest.raises(UnderhillError) as stopped:
        divergence(session, *texts(session), ("exact", "fast"), cancelled=cancelled)
    assert stopped.value.kind is Kind.CANCELLED
    assert session.runtime.thresholds == EXACT
    with pytest.raises(UnderhillError):
        divergence(session, texts(session)[0], (), ("exact", "fast"))
