"""MoE-Infinity goes by the matrices of past answers: policy, predictor, and reads behind a prompt, after restarts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.experts.eam import EamCollection
from engine.experts.policies import ActivationAware
from engine.experts.predictors import Eam
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.library import library
from engine.session import Session
from engine.session.routing_history import MATRICES, RESIDENTS
from engine.tracing.recorder import Recorder
from engine.tracing.replay import Replayer
from tests.audit.finding import Finding

LEARNT, JUDGED = 24, 12  # chats
SHARE = 0.25
QUIET = {"dial": "exact", "threads": 1, "prefetch": "off"}
ACTIVATION = {**QUIET, "cache_fraction": SHARE, "policy": "activation"}
ANSWER = Sampling(temperature=0, max_tokens=48)
AT_ONCE = 8  # reads that were asked for behind a prompt, and no more


class _Listener:
    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Any) -> None: ...

    def cancelled(self) -> bool:
        return False


def _questions() -> list[list[str]]:
    lines = resources.path("calibration", "eval.jsonl").read_text(encoding="utf-8").splitlines()
    chats = ([m["content"] for m in json.loads(line)["messages"] if m["role"] == "user"] for line in lines)
    return [questions[:2] for questions in chats if len(questions) >= 2]


def _ask(session: Session, chats: list[list[str]]) -> list[Stats]:
    found = []
    for number, questions in enumerate(chats):
        messages: list[Message] = []
        for question in questions:
            messages.append(Message("user", question))
            stats = session.generate(tuple(messages), ANSWER, (), _Listener(), chat=str(number))
            messages.append(Message("assistant", stats.text, stats.token_ids))
            found.append(stats)
    return found


def _misses(chats: list[list[str]], *, knows: bool) -> tuple[int, Session, Recorder]:
    """Of the policy 'activation' with what earlier sessions left, or with nothing."""
    with open_calibrated("builtin", ACTIVATION) as session:
        if not knows:
            session.history.collection.clear()
        recorder = Recorder(session.store.layers, session.card.experts)
        with session.listening(recorder, recorder.begin_pass):
            misses = sum(stats.misses for stats in _ask(session, chats))
        return misses, session, recorder


def _recall(chats: list[list[str]], collection: EamCollection) -> float:
    """Of the experts that the predictor named for the next layer, those that were chosen."""
    settings = {**ACTIVATION, "prefetch": "auto", "predictor": "eam"}
    with open_calibrated("builtin", settings) as session:
        assert session.runtime.prefetch is not None
        predictor = session.runtime.prefetch._predictor
        assert isinstance(predictor, Eam)
        if len(predictor.collection) != len(collection):
            return 0.0
        _ask(session, chats)
        seen = session.runtime.prefetch.stats
        return sum(seen.right) / max(1, sum(seen.said)) if len(seen.said) == len(session.store.layers) else 0.0


def _read_behind_a_prompt(chats: list[list[str]]) -> int:
    """Experts that came because answers to prompts like these used them, with room for nearly all."""
    path = library.location("builtin")
    (path / RESIDENTS).unlink()
    with open_calibrated("builtin", {**QUIET, "cache_fraction": 0.95, "readers": 1}) as session:
        session.warm.left.clear()  # asked at once, before anything was read at opening
        _ask(session, [chats[0][:1]])
        session.warm.read_until(lambda: False)
        return session.warm.read


def examine() -> Finding:
    """Chats in one session, others in the next."""
    chats = _questions()
    learnt, judged = chats[:LEARNT], chats[LEARNT : LEARNT + JUDGED]
    with open_calibrated("builtin", ACTIVATION) as session:
        _ask(session, learnt)
        kept = session.history.collection.copy()
        counts, prompts = kept.counts.sum((1, 2)), kept.prompts.sum((1, 2))
    with open_calibrated("builtin", ACTIVATION) as session:
        collection = session.history.collection
        policy = session.runtime.cache.policy  # type: ignore[attr-defined]
        wired = isinstance(policy, ActivationAware) and policy.collection is collection
        saved = np.array_equal(collection.counts, kept.counts) and np.array_equal(collection.prompts, kept.prompts)
    matrices = (library.location("builtin") / MATRICES).read_bytes()
    blind, _, _ = _misses(judged, knows=False)
    (library.location("builtin") / MATRICES).write_bytes(matrices)  # so that the chats are new to each
    seeing, _, recorder = _misses(judged, knows=True)
    (library.location("builtin") / MATRICES).write_bytes(matrices)
    trace = recorder.trace()
    replays = [Replayer(trace, collection=past).play("activation", SHARE).misses for past in (None, kept)]
    recall = _recall(judged, kept)
    (library.location("builtin") / MATRICES).write_bytes(matrices)
    behind = _read_behind_a_prompt(judged)
    top = float(session.card.experts_per_token / session.card.experts)
    found = {
        "answers kept": len(kept), "same after a restart": bool(saved), "policy goes by it": wired,
        "uses by answers": int(counts.sum()), "uses by their prompts": int(prompts.sum()),
        "misses": seeing, "misses without matrices": blind, "change": seeing / blind - 1,
        "misses replayed": replays[1], "misses replayed without": replays[0],
        "recall over all later layers": recall, "recall by chance": top,
        "experts read behind one prompt": behind,
    }  # fmt: skip
    apart = bool((counts > 0).all() and (prompts > 0).all())
    ok = saved and wired and apart and len(kept) > LEARNT and seeing < blind and recall > 2 * top and behind > AT_ONCE
    return Finding(bool(ok), found)
