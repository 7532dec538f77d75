"""Token table, pairs and paths outlive the session that learnt them; the first layer is foreseen before and after."""

from __future__ import annotations

import json
from typing import Any

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.teaching import TableTeacher
from engine.experts.predictors import TokenTable
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.session import Session
from engine.session.predictor_store import KINDS, MOST
from tests.audit.finding import Finding
from tests.audit.unheard import Unheard
from tests.engine.calibration.idling import rest

CHATS, ANSWER = 10, 50
OPEN = {"dial": "exact", "cache_fraction": 0.25}
PROMISED = 0.75  # of the first layer's experts; the table says 81.8 % on a stream of evaluation text


def examine() -> Finding:
    """Chats on evaluation text: untaught, taught in idle time, after a restart; then remembering is switched off."""
    with open_calibrated("builtin", OPEN) as session:
        store = session.store.path
        session.tables.forget()
        untaught = _chatted(session)
    known = {"after a first session": _known()}
    with open_calibrated("builtin", OPEN) as session:
        said = set[str]()
        while not TableTeacher(session, lambda: session.ahead.tables).complete:
            rest(session)
            said.add(session.card.doing.split(" (")[0])
        before = _chatted(session)
    with open_calibrated("builtin", OPEN) as session:
        after = _chatted(session)
    sizes = {kind: (store / f"learnt-{kind}.safetensors").stat().st_size for kind in KINDS}
    known["after idle time and another session"] = _known()
    with open_calibrated("builtin", {**OPEN, "remember_routing": False}):
        pass
    left = [path.name for path in store.glob("learnt*")]
    kept = 0 < known["after a first session"] < known["after idle time and another session"]
    bounded = all(sizes[kind] <= MOST[kind] for kind in KINDS)
    return Finding(
        kept and bounded and not left and min(before, after) >= PROMISED and after > untaught,
        {
            "tokens known when it is opened": known,
            "recall of the first layer": {"untaught": untaught, "taught": before, "after a restart": after},
            "said while idle": sorted(said - {""}),
            "bytes": sizes,
            "left once remembering is off": left,
        },
    )


def _known() -> int:
    with open_calibrated("builtin", OPEN) as session:
        table = session.tables.of("tokens")
        assert isinstance(table, TokenTable)
        return len(table.rows_of)


def _chatted(session: Session) -> float:
    """Recall of the first layer's experts, by the session's own books, over chats on evaluation text."""
    session.ahead.begin()  # books anew
    lines = resources.path("calibration", "eval.jsonl").read_text(encoding="utf-8").splitlines()[:CHATS]
    for line in lines:
        chat: list[dict[str, Any]] = json.loads(line)["messages"]
        question = next(message["content"] for message in chat if message["role"] == "user")
        session.generate((Message("user", question),), Sampling(temperature=0, max_tokens=ANSWER), (), Unheard())
    assert session.runtime.prefetch is not None
    return round(session.runtime.prefetch.stats.first_recall, 4)
