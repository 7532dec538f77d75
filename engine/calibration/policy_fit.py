"""Fit the cache policy's weights to a model's own routing, in steps that can be stopped at once."""

from __future__ import annotations

from collections.abc import Callable

from engine.calibration.evaluate import shipped_texts
from engine.errors import UnderhillError
from engine.experts.policies import HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import full_tier
from engine.library import dials
from engine.session import policy_weights
from engine.session.loaded_model import LoadedModel
from engine.session.policy_weights import Fitted
from engine.session.thresholds import thresholds_of
from engine.tracing.fit import Penalties, fit_share
from engine.tracing.recorder import Recorder
from engine.tracing.replay import SHARES, Replayer
from engine.tracing.trace import TraceConditions

DIALS = ("exact", *dials.DIALS)
TOKENS = 1536  # of calibration text; with more the weights move, what they save does not


class PolicyFitter:
    """Text by text, then one cache size of one dial after the other; what is found of a dial is kept at once.

    A step can be stopped within milliseconds, and the next goes on where it was: what was played is not played again.
    Dials whose weights are known for their thresholds and coarse bits of today are left out, so that after a restart it
    goes on, too.
    """

    def __init__(self, model: LoadedModel, tokens: int = TOKENS, *, start_over: bool = False) -> None:
        """start_over: fit every preset, known or not."""
        self._model = model
        store = model.store
        self.found = {} if start_over else policy_weights.read(store.path)
        self._wanted = {dial: thresholds_of(store.path, dial) for dial in DIALS}
        left = [dial for dial in DIALS if not self._known(dial)]
        self._left = sorted(left, key=lambda dial: dial != model.settings["dial"])  # what is in use comes first
        self._tokens = tokens
        self._texts: list[list[int]] | None = None  # left to be read; None: not looked for yet
        spec = store.spec(store.layers[0])
        known = TraceConditions(tier=full_tier(spec, model.plan.tier), spec=spec, low=model.low)
        self._recorder = Recorder(store.layers, model.card.experts, known)
        self._replayer: Replayer | None = None  # of the dial under way
        self.sizes: list[tuple[float, HobbitWeights]] = []  # found for it
        self._played: Penalties = {}  # of the cache size under way
        self.total = 1 + len(self._left) * len(SHARES) if self._left else 0
        self.done = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return not self._left

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 * self.done // max(1, self.total)

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Read the text, or search the weights for one cache size. Raises UnderhillError: CANCELLED, DISK_ERROR."""
        if self._texts is None:
            self._texts = shipped_texts(self._model, self._tokens)
        if self._texts:
            while self._texts:
                self._read(self._texts[0], cancelled)
                del self._texts[0]
        else:
            self._search(cancelled)
        self.done += 1

    def _read(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        model, recorder = self._model, self._recorder
        before = recorder.passes
        try:
            with model.measuring(cancelled), model.listening(recorder, recorder.begin_pass), model.exactly():
                model.context.run_through(ids, cancelled)
        except UnderhillError:
            recorder.keep(before)
            raise

    def _search(self, cancelled: Callable[[], bool]) -> None:
        dial = self._left[0]
        if self._replayer is None:
            trace = self._recorder.trace().one_by_one()
            self._replayer = Replayer(trace, self._wanted[dial], cancelled=cancelled)
        self._replayer.cancelled = cancelled
        share = SHARES[len(self.sizes)]
        weights = fit_share(self._replayer, share, self.sizes[-1][1] if self.sizes else None, self._played)
        self.sizes.append((share, weights))
        self._played = {}
        if len(self.sizes) == len(SHARES):
            self.found = {**self.found, dial: self._fitted(dial)}
            self._replayer, self.sizes = None, []
            del self._left[0]
            policy_weights.keep(self._model.store.path, self.found)
            self._model.apply_policy_weights()

    def _fitted(self, dial: str) -> Fitted:
        return Fitted(self._wanted[dial], HobbitWeightsByShare(tuple(self.sizes)), self._low(dial))

    def _known(self, dial: str) -> bool:
        found = self.found.get(dial)
        return found is not None and found.serves(self._wanted[dial], self._low(dial))

    def _low(self, dial: str) -> int | None:
        return None if self._wanted[dial].exact else self._model.low


def fit_policy(
    model: LoadedModel, progress: Callable[[int, int], None] = lambda done, total: None, tokens: int = TOKENS
) -> dict[str, HobbitWeightsByShare]:
    """Fit the weights under every dial now, keep them with the store, and use them from now on.

    Takes the reading of the text and some 15 seconds a dial for 1,000 tokens of 6 layers of 28 experts, more for larger
    models; progress counts steps. Raises UnderhillError(DISK_ERROR) where the store cannot be written to.
    """
    fitter = PolicyFitter(model, tokens, start_over=True)
    progress(0, fitter.total)
    while not fitter.complete:
        fitter.step()
        progress(fitter.done, fitter.total)
    return {dial: one.weights for dial, one in fitter.found.items()}
