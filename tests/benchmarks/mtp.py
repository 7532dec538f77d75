"""How much faster are answers that a model's multi-token prediction drafts, by how often it is right?

    python -m tests.benchmarks.mtp [--tokens 192] [--repeats 3] [--json]

Qwen3.5-35B-A3B's widths cut to 16 layers, experts of 4 bits, all in memory, three of four layers recurrent. The answer
is given, as in `drafts`; the model proposes as it would, which takes the time it takes, and by lot so many of its
guesses are replaced with what comes: DeepSeek-V3's second token is right in 85 to 90 of a hundred cases (arXiv
2412.19437, section 5.4.3). `text` drafts from the prompt that is the answer, without the model's guesses. In turns, the
model open all the time; medians of tokens a second, `ratio` with to without, `accepted` share of the drafted tokens.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import Any

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.generation.answer_batch import Proposing
from tests.benchmarks.common import Quiet, arguments, conditions, emit, say
from tests.benchmarks.drafts import PROMPT, compared
from tests.random_models.predicting import QWEN35, predicting_store
from tests.random_models.tokens import stream

RIGHT = {"right in 90 %": 0.9, "right in 70 %": 0.7, "never right": 0.0}
WANTED = {"right in 90 %": 1.0, "right in 70 %": 0.98, "never right": 0.98, "text": 1.4}


def by_lot(propose: Proposing, answer: Sequence[int], share: float) -> Proposing:
    """The same, with so large a share of the guesses right, all others wrong."""
    dice = random.Random(1)

    def proposed(state: Any, token: int, count: int) -> tuple[list[int], float]:
        found, seconds = propose(state, token, count)
        at = state.length - PROMPT + 1
        coming = [*answer[at : at + len(found)], *found][: len(found)]
        return [one if dice.random() < share else (one + 1) % QWEN35.vocabulary for one in coming], seconds

    return proposed


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    chosen = {"dial": "exact", "threads": args.threads, "context_length": 2 * PROMPT + args.tokens}
    store = predicting_store(QWEN35, args.folder, say)
    quiet, rows = Quiet(args.patience), {}
    session = open_calibrated(str(store), settings.validated(chosen, settings.ENGINE))
    try:
        if session.mtp is None or not session.all_in_memory:
            raise SystemExit(f"Not everything fits in memory: {' '.join(map(str, session.plan.sentences))}")
        prompt, other = (stream("uniform", QWEN35.vocabulary, n, seed) for seed, n in enumerate((PROMPT, args.tokens)))
        for name, share in RIGHT.items():
            propose = by_lot(session.mtp.propose, other, share)
            rows[name] = compared(session, (prompt, other), propose, args, quiet) | {"bar": WANTED[name]}
            say(f"{name}: {rows[name]}")
        rows["text"] = compared(session, (prompt, prompt[: args.tokens]), None, args, quiet) | {"bar": WANTED["text"]}
    finally:
        session.close()
    return {"rows": rows, "conditions": conditions(args, others=quiet.others)}


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "threads", "patience", "folder")
    parser.add_argument("--tokens", type=int, default=192, help="of an answer")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
