"""How far one quality preset of a model is from another on a given answer: its mean KL divergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.calibration.evaluate import Sums, compared
from engine.errors import Kind, UnderhillError
from engine.experts.precision import Thresholds
from engine.generation.context import ScoringTurn
from engine.protocol import Divergence
from engine.session.loaded_model import LoadedModel
from engine.translatable import msg

LOGITS = 48 << 20  # bytes that the logits of a block may take, for each of the two
LEAST = 8  # tokens of a block all the same


def divergence(
    model: LoadedModel,
    prompt: Sequence[int],
    answer: Sequence[int],
    dials: tuple[str, str],
    progress: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Divergence:
    """Feed the answer to the model under both presets, and compare what they expect at each of its tokens.

    Sums are in float64. Where a preset is not Exact, the answer's tokens go through one by one, as when it was made.
    Raises UnderhillError: BAD_REQUEST without an answer, CONTEXT_FULL as Context.score_in_turn, CANCELLED.
    """
    if not prompt or not answer:
        raise UnderhillError(Kind.BAD_REQUEST, msg("There is no answer to compare."), msg("Ask a question first."))
    first, second = ((model.thresholds_under(dial), model.substitute_under(dial)) for dial in dials)
    if first == second:
        return Divergence(0.0, len(answer), True)

    def turn(thresholds: Thresholds, substitute: float) -> ScoringTurn:
        return ScoringTurn(lambda: model.under(thresholds, substitute), not thresholds.exact)

    block = max(LEAST, LOGITS // (4 * model.vocabulary))
    found = Sums()
    with model.measuring(cancelled):
        blocks = model.context.score_in_turn(prompt, answer, block, (turn(*first), turn(*second)), cancelled)
        for ids, (reference, logits) in blocks:
            found = found.plus(compared((0, *ids), reference, logits))
            progress(found.tokens, len(answer))
    return Divergence(found.divergence / found.tokens, found.tokens, False)
