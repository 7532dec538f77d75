"""The expert runtime: the experts of a layer, run by the executor that suits the step, at the precision that is set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.backend import GraphLayers, Step
from engine.experts.cache.expert_cache import ExpertCache
from engine.experts.cache.resident_table import ResidentTable
from engine.experts.eam import EamCollection
from engine.experts.execution.assistant import CardAssistant
from engine.experts.execution.batch import BatchExecutor
from engine.experts.execution.decode import DecodeExecutor
from engine.experts.execution.requests import Call, ExpertRequest, requests_as_if_missing, requests_of, slots_by_expert
from engine.experts.execution.sweep import Sweeps
from engine.experts.keys import ExpertKey, ExpertSource, keys_of, largest_expert
from engine.experts.loading.loader import Loader
from engine.experts.loading.pending import PendingLoads
from engine.experts.loading.upgrader import PrecisionUpgrader
from engine.experts.policies import DEFAULT, ExpertGrid, HobbitWeightsByShare, LayerVisit, make_policy
from engine.experts.precision import EXACT, Thresholds, tiers_of
from engine.experts.predictors.predictor import Predictor
from engine.experts.prefetch.prefetcher import Prefetcher
from engine.experts.prefetch.tracker import PrefetchTracker
from engine.experts.telemetry import NOT_PROFILED, ExpertSnapshot, ExpertTelemetry, ProfilerHook, profiled
from engine.kernels.activation import Activation
from engine.kernels.native import NativeKernel
from engine.kernels.scratch_pool import SCRATCH
from engine.native.op_graph import GraphStep
from engine.translatable import msg

RouteListener = Callable[[int, Tensor, Tensor], None]
GivenListener = Callable[[int, Tensor], None]
PassListener = Callable[[Sequence[int], int, bool], None]
READS_AHEAD = 2  # reads in flight or queued, per reader: enough to keep the disk busy, and room is taken late


class ExpertRuntime:
    """The ExpertBackend over a store: cache, loader and kernel. One thread runs the model.

    tier: bits of full precision; None is the finest stored. The setters take effect with the next layer.
    route_listener is told (layer, ids [T, K], weights [T, K]) of every call, pass_listener what begin_pass is told and
    whether a sequence begins with it, given_listener (layer, x [T, H]) of every call with many tokens, x being written
    over after that. interrupted is asked before every layer of a prompt, which may take seconds; True ends it with an
    UnderhillError(CANCELLED). as_if_missing: many tokens at once get the precision that each alone would get were none
    of its experts in memory. upgrade: experts that ran coarse get their finer parts while the disk is idle
    (`upgrader`). pending: the loads in flight. kernel: for others that have something to multiply, too.
    """

    def __init__(
        self,
        source: ExpertSource,
        activation: Activation | Mapping[int, Activation],
        cache: ExpertCache,
        loader: Loader,
        kernel: NativeKernel,
        *,
        thresholds: Thresholds = EXACT,
        tier: int | None = None,
        weights: HobbitWeightsByShare = DEFAULT,
    ) -> None:
        self.cache = cache
        self.telemetry = ExpertTelemetry(source)
        self.route_listener: RouteListener | None = None
        self.given_listener: GivenListener | None = None
        self.pass_listener: PassListener | None = None
        self.interrupted: Callable[[], bool] | None = None
        self.as_if_missing = False
        self.upgrade = False
        self.prefetch: Prefetcher | None = None
        self.card: CardAssistant | None = None
        self._source, self.loader, self.kernel = source, loader, kernel
        self._observer: ProfilerHook | None = None
        self._begins = True  # whether the next pass begins a sequence
        self._heard = False  # whether the pass_listener was told of a pass beside
        self._specs = {layer: [source.spec(layer, e) for e in range(source.experts(layer))] for layer in source.layers}
        self._tier, self._weights = tier, weights
        self._low: int | None = None
        self._pretended: tuple[ExpertKey, ...] = ()
        self._tiers: dict[int, list[tuple[int, int, int]]] = {}  # by layer, expert and RequestedPrecision
        self.pending = PendingLoads(cache, loader, self.telemetry)
        activations = activation if not isinstance(activation, Activation) else dict.fromkeys(source.layers, activation)
        self.table = ResidentTable(cache, self._specs, activations, self.telemetry)
        self.upgrader = PrecisionUpgrader(cache, self.pending, loader, self.telemetry)
        sweeps = Sweeps(cache, self.pending, self.telemetry, self._specs, self._tiers)
        self.batch = BatchExecutor(
            cache, self.pending, kernel, activations, self.telemetry, window=READS_AHEAD * loader.readers, sweeps=sweeps
        )
        self._decode = DecodeExecutor(
            kernel, self.table, cache, self.pending, self.telemetry, upgrader=self.upgrader, sweeps=sweeps
        )
        self.set_thresholds(thresholds)
        self.set_tier(tier)

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """See ExpertBackend.moe. Raises UnderhillError when an expert cannot be read; the runtime stays usable.

        Under the Exact dial the result is the same to the last bit whatever was cached.
        """
        if ids.shape[0] > 1:
            self.stop_if_asked()
        if self.route_listener is not None:
            self.route_listener(layer, ids, weights)
        if self.given_listener is not None:
            self.given_listener(layer, x)
        with self.pending.layer_lock, self._seen(layer, ids.shape[0]):
            return self._moe(layer, x, ids, weights)

    def stop_if_asked(self) -> None:
        """Only of several tokens: one is over before a person could tell the difference."""
        if self.interrupted is not None and self.interrupted():
            raise UnderhillError(Kind.CANCELLED, msg("Stopped."))

    def _moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        tokens, k = ids.shape
        slots = slots_by_expert(ids.flatten().tolist())
        of_layer = (layer, slots, weights, self._specs[layer], self._tiers[layer], self._thresholds)
        x = x.contiguous()
        call = Call(x, k, SCRATCH.like(x, tokens * k, x.shape[1]))
        if self.as_if_missing:
            parted = requests_as_if_missing(*of_layer)
            self.telemetry.routed(layer, slots, ids, weights)
            skipped = self._run_as_if_missing(call, *parted)
        else:
            requests = requests_of(*of_layer)
            self.telemetry.routed(layer, slots, ids, weights)
            self._tell_policy(layer, requests, tokens)
            skipped = self.batch.run(call, requests)
        if skipped:
            self.telemetry.skipped(layer, ids.view(-1)[skipped].tolist())
            # The caller's are kept by the listeners above, and a weight of 0 is how `combine` leaves a slot unread.
            weights = weights.clone()
            weights.view(-1)[skipped] = 0.0
        return self.kernel.combine(call.out, weights)

    def _run_as_if_missing(
        self, call: Call, high: list[ExpertRequest], low: list[ExpertRequest], skipped: list[int]
    ) -> list[int]:
        self.batch.run(call, high)
        # The two runs ask for one expert at two tiers, one after the other.
        self.pending.cancel_all()  # what comes in more finely than it is asked for would run so
        self.batch.run(call, low)
        self.telemetry.precision[0] += len(skipped)
        return skipped

    def _tell_policy(self, layer: int, requests: Sequence[ExpertRequest], tokens: int) -> None:
        run = [request for request in requests if request.tier or self.cache.tier(request.key, request.full)]
        high = None if self._thresholds.exact else [request.high for request in run]
        counts = None if tokens == 1 else [len(request.slots) for request in run]
        self.cache.routed(LayerVisit(layer, [request.key.expert for request in run], high, counts, tokens))

    def moe_step(self, layer: int, step: Step) -> None:
        """See Stepper.moe_step. Raises what `moe` raises."""
        several = step.tokens > 1
        if several:
            self.stop_if_asked()
        if self.route_listener is not None:
            self.route_listener(layer, step.ids.clone(), step.weights.clone())  # the step's own are written over
        if several and self.given_listener is not None:
            self.given_listener(layer, step.x)
        # What is pretended of many tokens native code knows nothing of.
        pretended = several and (self.as_if_missing or bool(self._pretended))
        with self.pending.layer_lock, self._seen(layer, step.tokens):
            if pretended or not self._decode.run(layer, step):
                step.y.copy_(self._moe(layer, step.x, step.ids, step.weights))
                if not self._thresholds.exact:
                    self.table.layers[layer].learn(step)
            if self.upgrade and not self._thresholds.exact and not self.as_if_missing:
                self.upgrader.layer_done()

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        """See Stepper.run_layers. Raises UnderhillError as `moe` does."""
        if step.tokens > 1:
            self.stop_if_asked()
        if self._is_followed(step.tokens):
            return layers.run_one(at, step)
        with self.pending.layer_lock:
            return self._decode.run_layers(layers, at, step)

    def _is_followed(self, tokens: int) -> bool:
        """Whether somebody has to be told of each layer of so many tokens, or takes a part in it."""
        if self.route_listener is not None or self._observer is not None:
            return True
        if self.card is not None and self.card.alive:
            return True
        if self.upgrade and not self._thresholds.exact and self.upgrader.waits:
            return True
        if tokens == 1:
            return self.prefetch is not None and self.prefetch.awake
        return self.given_listener is not None or self.as_if_missing or bool(self._pretended)

    def ran_on_card(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """A card has computed a layer of one token by itself. ids, weights: [1, K], copied here."""
        if self.route_listener is not None:
            self.route_listener(layer, ids.clone(), weights.clone())
        with self._seen(layer, 1):
            self.telemetry.chose(layer, ids[0].tolist(), weights[0].numpy())
        if self.prefetch is not None and self.prefetch.awake:
            self.prefetch.ran_on_card(layer, ids[0].tolist())

    def read_ahead(self, predictor: Predictor | None, k: int = 1, depth: int = 2, width: int | None = None) -> None:
        """Prefetch the experts that the predictor expects, from the next pass on; None ends that. See Prefetcher.

        k: experts that a token chooses. depth: layers looked ahead, if the predictor does not speak of all. width:
        experts read ahead for a layer at most; None: k.
        """
        if self.prefetch is not None:
            self.prefetch.sleep()
        self.prefetch = None
        if predictor is not None:
            layers = self._source.layers
            if predictor.everywhere:
                depth = len(layers)
            tables = [self.table.layers[layer] for layer in layers]
            tracker = PrefetchTracker(self.cache, self.pending, tables, k, depth)
            self.prefetch = Prefetcher(layers, predictor, tracker, self._rate, depth, width or k)
            self.prefetch.card = None if self.card is None else self.card.ahead
        self.batch.prefetch = self.prefetch
        self._decode.prefetch = self.prefetch

    def full(self) -> int | None:
        """The tier that counts as full precision; None: the finest stored."""
        return self._tier

    def use_card(self, card: CardAssistant | None) -> None:
        """Compute on this card too, from the next layer on; None: on the processor alone."""
        with self.pending.layer_lock:
            if self.prefetch is not None:
                self.prefetch.sleep()
                self.prefetch.card = None if card is None else card.ahead
            self.card = self.batch.card = self._decode.card = card

    def _drop_card(self) -> None:
        """What lies on the card has another precision than what counts as full now."""
        if self.card is not None:
            with self.pending.layer_lock:
                self.card.drop()

    def _rate(self) -> float:
        loads = self.loader.io_stats()
        # By the time in which the disk had anything to read, not by the time since: else it would be called slow for
        # having been idle.
        return sum(load.bytes for load in loads.by_urgency.values()) / loads.busy if loads.busy else 0.0

    def observe(self, observer: ProfilerHook | None) -> None:
        """Tell it of everything from now on; None ends that."""
        self._observer = observer
        self.loader.listener = None if observer is None else observer.chunk
        for part in (self.pending, self.batch, self._decode):
            part.observer = observer

    def _seen(self, layer: int, tokens: int) -> AbstractContextManager[None]:
        return NOT_PROFILED if self._observer is None else profiled(self._observer, layer, tokens)

    def begin_sequence(self) -> None:
        """Begin another sequence with the next pass: policy, predictor and pass_listener start anew with it."""
        self._begins = True
        with self.pending.layer_lock:
            # Under the lock: the policy's arrays are read by whoever evicts, from whatever thread.
            self.cache.begin_sequence()
            if self.prefetch is not None:
                self.prefetch.begin_sequence()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run another sequence beside the one that is open, which goes on afterwards as if there had been none: what
        policy and predictor know of it is put aside and brought back.
        """
        before, prefetch = self._begins, self.prefetch
        self._begins, self._heard = True, False
        with ExitStack() as brought_back:
            with self.pending.layer_lock:
                brought_back.enter_context(self.cache.aside())
                if prefetch is not None:
                    brought_back.enter_context(prefetch.aside())
            try:
                yield
            finally:
                self._begins = before or self._heard  # a listener that heard of the other one has to tell them apart

    def begin_pass(self, token_ids: Sequence[int], position: int) -> None:
        """These tokens are about to go through the layers, the first at `position` of its sequence."""
        if len(token_ids) == 1:
            # The prompt is over, if there was one: its scratch counts against the limit, and the cache grows into what
            # it leaves.
            SCRATCH.clear()
        elif self.card is not None:
            with self.pending.layer_lock:
                self.card.give_way()
        begins, self._begins = self._begins, False
        if self.pass_listener is not None:
            self._heard = True
            self.pass_listener(token_ids, position, begins)
        if self.prefetch is not None:
            with self.pending.layer_lock:
                self.prefetch.begin(token_ids, self.telemetry.misses)

    def reweigh(self, weights: HobbitWeightsByShare) -> None:
        """Other weights for the cache policy 'hobbit'; others have none. Of these, it has the ones for the share of the
        experts that the cache has room for, now and whenever that changes.
        """
        self._weights = weights
        self._weigh()

    def _weigh(self) -> None:
        whole = largest_expert(self._source, self._tier) * len(keys_of(self._source))
        self.cache.reweigh(self._weights.at(self.cache.capacity / whole))

    @property
    def thresholds(self) -> Thresholds:
        """Of scores, that decide at which precision an expert runs."""
        return self._thresholds

    def set_thresholds(self, thresholds: Thresholds, substitute: float = 0.0) -> None:
        """Change the dial, and under any but Exact let experts in memory stand in for missing ones.

        substitute: the score that a router gives the one, at least, as a share of the other's; 0: none stands in. Only
        of a few tokens at once, whose routing is native. See engine/native/src/substitute.h.
        """
        self._thresholds = thresholds
        self.upgrader.forget()
        self.table.set_thresholds(thresholds, substitute)

    def set_tier(self, tier: int | None, capacity: int | None = None) -> None:
        """Change what counts as full precision, and with it, where given, the capacity of the cache.

        Raises UnderhillError(BAD_REQUEST) for a tier that is not stored, and where not one expert of it would fit.
        """
        stored = sorted({t for specs in self._specs.values() for spec in specs for t in spec.tiers})
        if tier is not None and tier not in stored:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("This model has no {tier}-bit experts.", tier=tier),
                msg("It holds {stored} bits.", stored=", ".join(map(str, stored))),
            )
        # Before anything changes: of the calls below only set_capacity can refuse, and it changes nothing then.
        least = largest_expert(self._source, tier)
        self.pending.cancel_all()
        self.upgrader.forget()
        self.cache.set_capacity(self.cache.capacity if capacity is None else capacity, least)
        self._tier, self._pretended = tier, ()
        self._drop_card()
        self._apply_tiers()
        self._weigh()

    def set_low(self, low: int | None) -> None:
        """Change the bits of coarse experts; None: the coarsest that is stored. See precision.low_tier."""
        self.pending.cancel_all()
        self.upgrader.forget()
        self._low, self._pretended = low, ()
        self._apply_tiers()

    def _apply_tiers(self) -> None:
        for layer, specs in self._specs.items():
            self._tiers[layer] = [tiers_of(spec, self._tier, self._low) for spec in specs]
        self.table.set_tiers(self._tiers)

    def pretend_lowered(self, bits: Mapping[ExpertKey, int]) -> None:
        """Many tokens at once run these at so many bits, as if no more of them were stored; {} ends that."""
        self.pending.cancel_all()
        for key in self._pretended:
            self._tiers[key.layer][key.expert] = tiers_of(self._specs[key.layer][key.expert], self._tier, self._low)
        for key, most in bits.items():
            self._tiers[key.layer][key.expert] = tiers_of(self._specs[key.layer][key.expert], most)
        # Kept to be undone by name: thousands of experts are pretended one at a time (robustness.py), and recomputing
        # all tiers for each would take longer than running it.
        self._pretended = tuple(bits)

    def set_capacity(self, nbytes: int) -> None:
        """Change the ceiling of the cache. Raises UnderhillError(BAD_REQUEST) if too small.

        From any thread: where the model runs meanwhile, once it is through with its layer.
        """
        with self.pending.layer_lock:
            self.pending.cancel_all()
            self.cache.set_capacity(nbytes)
            self._weigh()

    def lend(self, nbytes: int) -> None:
        """As set_capacity, where a prompt takes from the cache or gives back to it: not for long, so that the policy's
        weights stay.
        """
        with self.pending.layer_lock:
            self.pending.cancel_all()
            self.cache.lend(nbytes)

    def snapshot(self) -> ExpertSnapshot:
        """The counters and what is resident."""
        counters = self.telemetry.shown.snapshot(self.cache.residency())
        if self.prefetch is None:
            return counters
        return replace(counters, prefetch=replace(self.prefetch.stats, failed=self.pending.failed))

    def close(self) -> None:
        """End the readers and the kernel's threads. The source and the card belong to the caller."""
        self.loader.close()
        self.kernel.close()


def open_runtime(
    source: ExpertSource,
    activation: Activation | Mapping[int, Activation],
    capacity: int,
    *,
    policy: str = "hobbit",
    weights: HobbitWeightsByShare = DEFAULT,
    collection: EamCollection | None = None,
    readers: int = 4,
    threads: int | None = None,
    exact: bool = False,
    thresholds: Thresholds = EXACT,
    tier: int | None = None,
    loader: Loader | None = None,
    kernel: NativeKernel | None = None,
) -> ExpertRuntime:
    """A runtime over an open store, which stays the caller's. capacity: bytes of memory for experts.

    activation: of all layers, or by layer. weights: of the policy 'hobbit'. collection: of past answers, for the policy
    'activation'. exact: native kernels take activations as they are, not rounded to 8 bits. loader: reads the source,
    and is closed with the runtime; None: one with so many `readers`. kernel: that of another runtime; None: one with so
    many `threads`. The other arguments are those settings of engine.settings. Raises UnderhillError when the capacity
    cannot hold one expert.
    """
    least = largest_expert(source, tier)
    specs = {layer: [source.spec(layer, expert) for expert in range(source.experts(layer))] for layer in source.layers}
    shape = ExpertGrid(source.layers, max(map(source.experts, source.layers)))
    share = capacity / (least * len(keys_of(source)))
    cache = ExpertCache(capacity, make_policy(policy, shape, share, weights, collection), specs, shape, least)
    loader = loader or Loader(source, readers)
    return ExpertRuntime(
        source, activation, cache, loader, kernel or NativeKernel(threads, exact=exact), thresholds=thresholds,
        tier=tier, weights=weights,
    )  # fmt: skip
