"""A new chat is a new sequence: records are reset per chat, as many as were recorded are replayed, and LFU gains.

Misses are those of the replay, which are the same at every run; in the app they differ by 1 % from run to run, as reads
end sooner or later.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine import resources
from engine.calibration.calibrator import Calibrator, open_calibrated
from engine.experts.policies import Hobbit
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.session import Session
from engine.tracing.recorder import Recorder
from engine.tracing.replay import Replayer
from engine.tracing.trace import Trace, load
from engine.tracing.visits import visits_of
from tests.audit.finding import Finding

CHATS = 12
LEAST, MOST = 3, 6  # questions of a chat
SHARE = 0.25
LITTLE = {
    "hobbit": 0.01,
    "lfu": 0.0,
}  # by which misses may rise: HOBBIT's records of a chat are soon as good as older ones
TIGHT = {"dial": "exact", "cache_fraction": SHARE, "threads": 1, "prefetch": "off", "remember_routing": False}
ANSWER = Sampling(temperature=0, max_tokens=96)


class _Listener:
    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Any) -> None: ...

    def cancelled(self) -> bool:
        return False


def _answer(session: Session, chat: int, messages: list[Message]) -> Stats:
    return session.generate(tuple(messages), ANSWER, (), _Listener(), chat=str(chat))


def _questions() -> list[list[str]]:
    """Of the first chats of the evaluation text that are long enough."""
    lines = resources.path("calibration", "eval.jsonl").read_text(encoding="utf-8").splitlines()
    chats = ([m["content"] for m in json.loads(line)["messages"] if m["role"] == "user"] for line in lines)
    return [questions[:MOST] for questions in chats if len(questions) >= LEAST][:CHATS]


def chain(session: Session) -> None:
    """All chats one after the other, each question answered before the next is asked."""
    for number, questions in enumerate(_questions()):
        messages: list[Message] = []
        for question in questions:
            messages.append(Message("user", question))
            stats = _answer(session, number, messages)
            messages.append(Message("assistant", stats.text, stats.token_ids))


def _run(policy: str) -> tuple[int, int, Trace]:
    """Of the chain with that policy: experts missed, resets of its records, and the recorded trace."""
    with open_calibrated("builtin", {**TIGHT, "policy": policy}) as session:
        runtime, resets = session.runtime, 0
        own = runtime.cache.begin_sequence

        def begin() -> None:
            nonlocal resets
            resets += 1
            own()

        runtime.cache.begin_sequence = begin  # type: ignore[method-assign]
        recorder = Recorder(session.store.layers, session.card.experts)
        before = session.counters().misses
        with session.listening(recorder, recorder.begin_pass):
            chain(session)
        return session.counters().misses - before, resets, recorder.trace()


def _beside() -> bool:
    """Whether calibration beside an open chat leaves the policy's records of it as they were."""
    with open_calibrated("builtin", TIGHT) as session:
        policy = session.runtime.cache.policy  # type: ignore[attr-defined]
        assert isinstance(policy, Hobbit)
        _answer(session, 0, [Message("user", _questions()[0][0])])
        before = policy.score.copy(), policy.last.copy(), policy.round
        calibrator = Calibrator(session, session.calibrated, 256, start_over=True)
        while calibrator.stage < 2:
            calibrator.step()
        same = np.array_equal(policy.score, before[0]) and np.array_equal(policy.last, before[1])
        return bool(before[0].any() and same and policy.round == before[2])


def examine() -> Finding:
    """12 chats in a row with a quarter of the experts in memory."""
    found: dict[str, Any] = {}
    ok = True
    for policy in ("hobbit", "lfu"):
        missed, resets, trace = _run(policy)
        begins = np.arange(len(trace.begins)) == 0
        each = Replayer(trace).play(policy, SHARE).misses
        once = Replayer(replace(trace, begins=begins)).play(policy, SHARE).misses
        found[policy] = {"resets": resets, "misses": missed, "replayed": each, "replayed as one sequence": once,
                         "change": round(each / once - 1, 4)}  # fmt: skip
        ok &= resets == CHATS and each <= (1 + LITTLE[policy]) * once
    with tempfile.TemporaryDirectory() as folder:
        trace.save(Path(folder) / "t.npz")
        trace = load(Path(folder) / "t.npz")
    found["sequences recorded"] = trace.sequences
    found["sequences by position"] = int((trace.positions == 0).sum())
    found["sequences replayed"] = sum(visit.begins for visit in visits_of(trace, trace.conditions.thresholds))
    found["records kept beside"] = _beside()
    ok &= found["sequences recorded"] == found["sequences replayed"] == CHATS and found["records kept beside"]
    return Finding(bool(ok), found)
