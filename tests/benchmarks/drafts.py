"""How much faster are answers that repeat their chat, when drafts of them are checked several tokens at a time?

    python -m tests.benchmarks.drafts [--shape qwen3|builtin] [--tier 4] [--tokens 256] [--repeats 3] [--json]

The answer to a prompt of random text is given: the prompt again (`copy`), again with every sixteenth token another
(`edit`), or other text (`other`). The model computes every token as it would, and its choice is replaced, so the passes
are those of a model that answers so. With drafts and without, in turns, the model open all the time, all experts in
memory; medians of tokens a second, `ratio` with to without, `accepted` share of the drafted tokens.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from torch import Tensor

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.generation.answer import Answer
from engine.generation.answer_batch import AnswerBatch, Proposing
from engine.generation.chat import Prompt
from engine.session.session import Session
from tests.benchmarks.bench import PREFERRED
from tests.benchmarks.common import Quiet, arguments, conditions, emit
from tests.benchmarks.prepare import prepare_model
from tests.engine.generation.mouths import Nobody
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream

CHANGED = 16  # of so many tokens of `edit` one is another
PROMPT = 512
BARS = {"copy": 1.4, "edit": 1.4, "other": 0.98}


class GivenAnswer:
    """An AnswerWriter whose tokens are known beforehand."""

    def __init__(self, prompt: Sequence[int], answer: Sequence[int]) -> None:
        self.prompt, self.result = Prompt(ids=tuple(prompt), history=0), Answer()
        self._answer = answer
        self.seconds = 0.0

    @property
    def left(self) -> int:
        """As AnswerWriter."""
        return len(self._answer) - len(self.result.token_ids)

    def prompt_done(self) -> None:
        """As AnswerWriter."""
        self.seconds = -time.perf_counter()

    def take(self, logits: Tensor, room: int) -> int | None:
        """As AnswerWriter; the logits are looked at as a greedy choice does."""
        assert int(logits.argmax()) >= 0
        assert room > 0
        self.result.token_ids.append(self._answer[len(self.result.token_ids)])
        return self.result.token_ids[-1] if self.left else None

    def close(self) -> Answer:
        """As AnswerWriter."""
        self.seconds += time.perf_counter()
        return self.result


def scripts(vocabulary: int, tokens: int) -> dict[str, tuple[list[int], list[int]]]:
    """By kind: a prompt, and its answer."""
    drawn, rest = stream("text", vocabulary, 2 * PROMPT), random.Random(0)
    prompt = drawn[:PROMPT]
    copy = (prompt * (tokens // PROMPT + 1))[:tokens]
    edit = [rest.randrange(3, vocabulary) if at % CHANGED == CHANGED - 1 else one for at, one in enumerate(copy)]
    other = stream("uniform", vocabulary, tokens)
    return {"copy": (prompt, copy), "edit": (prompt, edit), "other": (prompt, other)}


def rate(session: Session, batch: AnswerBatch, script: tuple[list[int], list[int]]) -> tuple[float, float]:
    """Tokens a second, and the share of the drafted tokens that was right."""
    session.context.clear()
    writer = GivenAnswer(*script)
    made = batch.begin(writer, Nobody())  # type: ignore[arg-type]
    while batch.running:
        batch.advance()
    if made.error is not None:
        raise made.error
    drafts = made.drafts
    accepted = drafts.accepted / drafts.drafted if drafts is not None and drafts.drafted else 0.0
    return (len(script[1]) - 1) / writer.seconds, accepted


def compared(
    session: Session,
    script: tuple[list[int], list[int]],
    propose: Proposing | None,
    args: argparse.Namespace,
    quiet: Quiet,
) -> dict[str, float]:
    """An answer without drafts and with them, in turns. propose: of the model's, beside those from text."""
    batches = {
        False: AnswerBatch(session.context),
        True: AnswerBatch(session.context, drafting=lambda: True, propose=propose),
    }
    rates: dict[bool, list[float]] = {False: [], True: []}
    accepted = 0.0
    for turn in range(args.repeats + 1):  # the first one warms up
        for on, batch in batches.items():
            quiet.wait()
            seen, accepted = rate(session, batch, script)
            rates[on] += [seen] if turn else []
    without, with_drafts = median(rates[False]), median(rates[True])
    return {"without": without, "with_drafts": with_drafts, "ratio": with_drafts / without, "accepted": accepted}


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    chosen: dict[str, Any] = {"dial": "exact", "threads": args.threads, "context_length": 2 * PROMPT + args.tokens}
    model = "builtin"
    if args.shape != "builtin":
        chosen |= {"tier": str(args.tier), "dense": PREFERRED[args.tier]}
        model = str(prepare_model(SHAPES[args.shape], args.tier, args.folder, top=8).store)
    quiet, found = Quiet(args.patience), {}
    session = open_calibrated(model, settings.validated(chosen, settings.ENGINE))
    try:
        if not session.all_in_memory:
            raise SystemExit(f"Not every expert fits in memory: {' '.join(map(str, session.plan.sentences))}")
        for kind, script in scripts(session.vocabulary, args.tokens).items():
            found[kind] = compared(session, script, None, args, quiet) | {"bar": BARS[kind]}
    finally:
        session.close()
    return found | {"conditions": conditions(args, others=quiet.others)}


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "tier", "threads", "patience", "folder")
    parser.add_argument("--shape", choices=("builtin", *SHAPES), default="qwen3")
    parser.add_argument("--tokens", type=int, default=256, help="of an answer")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
