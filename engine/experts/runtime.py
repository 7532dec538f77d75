"""The expert runtime: decides the precision of each expert, finds or fetches it, and runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.arrivals import Arrivals
from engine.experts.backend import Step
from engine.experts.bets import Bets, KeptBets
from engine.experts.cache import ExpertCache
from engine.experts.keys import ExpertKey, ExpertSource, keys_of, largest_expert
from engine.experts.loader import Loader
from engine.experts.loader_native import NativeLoader
from engine.experts.native_arrivals import NativeArrivals
from engine.experts.native_bets import NativeBets
from engine.experts.native_cache import NativeCache
from engine.experts.observer import UNSEEN, Observer, seen
from engine.experts.policies import DEFAULT, Visit, WeightsByShare
from engine.experts.precision import EXACT, Demand, Thresholds, tiers_of
from engine.experts.predictors.predictor import Floats, Predictor
from engine.experts.prefetch import Prefetch
from engine.experts.ranks import Ranks
from engine.experts.repairs import Repairs
from engine.experts.residents import Residents
from engine.experts.several import Call, Several
from engine.experts.single import CachedSingle, Single
from engine.experts.single_native import NativeSingle
from engine.experts.sweep import Sweeps
from engine.experts.telemetry import Snapshot, Telemetry
from engine.experts.two_level import TieredCache
from engine.experts.under_way import UnderWay
from engine.experts.wants import Want, wants_as_missing, wants_of
from engine.kernels.activation import Activation
from engine.kernels.call import Kernel
from engine.kernels.native import NativeKernel
from engine.kernels.reference import slots_by_expert
from engine.kernels.rooms import ROOMS
from engine.translatable import msg

RouteListener = Callable[[int, Tensor, Tensor], None]
GivenListener = Callable[[int, Tensor], None]
PassListener = Callable[[Sequence[int], int, bool], None]
READS_AHEAD = 2  # reads under way or queued, per reader: enough to keep the disk busy, and room is taken late


class ExpertRuntime:
    """The ExpertBackend over a store: cache, loader and kernels. One thread runs the model.

    kernels: one per level of the cache. tier: bits of full precision; None is the finest stored. The setters take
    effect with the next layer. route_listener is told (layer, ids [T, K], weights [T, K]) of every call, pass_listener
    what begin_pass is told and whether a sequence begins with it, given_listener (layer, x [T, H]) of every call with
    many tokens, x being written over after that. interrupted is asked before every layer of a prompt, which may take
    seconds; True ends it with an UnderhillError(CANCELLED). as_if_missing: many tokens at once get the precision that
    each alone would get were none of its experts in memory. repair: experts that ran coarse get their finer parts while
    the disk is idle (Repairs). arrivals: the reads under way, for whoever wants some in advance.
    """

    def __init__(
        self,
        source: ExpertSource,
        activation: Activation | Mapping[int, Activation],
        cache: TieredCache,
        loader: Loader,
        kernels: Sequence[Kernel],
        thresholds: Thresholds = EXACT,
        tier: int | None = None,
        weights: WeightsByShare = DEFAULT,
    ) -> None:
        if len(kernels) != len(cache.levels):
            raise ValueError(f"{len(kernels)} kernels for {len(cache.levels)} levels of memory")
        self.cache = cache
        self.telemetry = Telemetry(source)
        self.route_listener: RouteListener | None = None
        self.given_listener: GivenListener | None = None
        self.pass_listener: PassListener | None = None
        self.interrupted: Callable[[], bool] | None = None
        self.as_if_missing = False
        self.repair = False
        self._source = source
        self._loader = loader
        self._observer: Observer | None = None
        self._begins = True  # whether the next pass begins a sequence
        self._heard = False  # whether anybody was told of a pass beside
        self._kernels = tuple(kernels)
        self._specs = {layer: [source.spec(layer, e) for e in range(source.experts(layer))] for layer in source.layers}
        self._tier = tier
        self._weights = weights
        self._low: int | None = None
        self._pretended: tuple[ExpertKey, ...] = ()
        self._tiers: dict[int, list[tuple[int, int, int]]] = {}  # by layer, expert and Demand
        level = cache.levels[0]
        self.arrivals: UnderWay
        if isinstance(level, NativeCache):
            if not isinstance(loader, NativeLoader):
                raise ValueError("a cache whose table is native takes native readers")
            self.arrivals = NativeArrivals(level, cache.counts[0], loader, self.telemetry)
        else:
            self.arrivals = Arrivals(cache, loader, self.telemetry)
        activations = activation if not isinstance(activation, Activation) else dict.fromkeys(source.layers, activation)
        sweeps = None
        if len(cache.levels) == 1:
            sweeps = Sweeps(cache.levels[0], self.arrivals, self.telemetry, self._specs, self._tiers)
        self._several = Several(
            cache, self.arrivals, self._kernels, activations, self.telemetry, READS_AHEAD * loader.readers, sweeps
        )
        first = kernels[0]
        # Where experts may lie in two kinds of memory, or torch computes, every token goes the long way.
        self._residents = (
            Residents(cache.levels[0], first, self._specs, activations, self.telemetry)
            if len(kernels) == 1 and isinstance(first, NativeKernel)
            else None
        )
        self._repairs = Repairs(cache.levels[0], self.arrivals, loader, self.telemetry)
        self._single: Single | None = None
        if self._residents is not None:
            self._single = self._shortest(self._residents, cache)
        self.prefetch: Prefetch | None = None
        self._ranks = Ranks(source.layers)
        self._learns = False  # whether reading ahead asks them: native code has its own
        self.set_thresholds(thresholds)
        self.set_tier(tier)

    def _shortest(self, residents: Residents, cache: TieredCache) -> Single | None:
        level, counts, rest = cache.levels[0], cache.counts[0], (self.telemetry, self._repairs)
        if isinstance(level, NativeCache) and isinstance(self.arrivals, NativeArrivals):
            return NativeSingle(residents, level, counts, self.arrivals, *rest)
        return CachedSingle(residents, level, counts, self.arrivals, *rest) if isinstance(level, ExpertCache) else None

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """See ExpertBackend.moe. Raises UnderhillError when an expert cannot be read; the runtime stays usable.

        Under the Exact dial the result is the same to the last bit whatever was cached.
        """
        if ids.shape[0] > 1 and self.interrupted is not None and self.interrupted():
            raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        if self.route_listener is not None:
            self.route_listener(layer, ids, weights)
        if self.given_listener is not None:
            self.given_listener(layer, x)
        with self.arrivals.turn, self._seen(layer, ids.shape[0]):
            return self._moe(layer, x, ids, weights)

    def _moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        tokens, k = ids.shape
        slots = slots_by_expert(ids.flatten().tolist())
        of_layer = (layer, slots, weights, self._specs[layer], self._tiers[layer], self._thresholds)
        x = x.contiguous()
        call = Call(x, k, ROOMS.like(x, tokens * k, x.shape[1]))
        if self.as_if_missing:
            parted = wants_as_missing(*of_layer)
            self.telemetry.routed(layer, slots, ids, weights)
            skipped = self._serve_as_missing(call, *parted)
        else:
            wants = wants_of(*of_layer)
            self.telemetry.routed(layer, slots, ids, weights)
            self._tell_policy(layer, wants, tokens)
            skipped = self._several.serve(call, wants)
        if skipped:
            self.telemetry.skipped(layer, ids.view(-1)[skipped].tolist())
            weights = weights.clone()
            weights.view(-1)[skipped] = 0.0
        return self._kernels[0].combine(call.out, weights)

    def _serve_as_missing(self, call: Call, high: list[Want], low: list[Want], skipped: list[int]) -> list[int]:
        self._several.serve(call, high)
        self.arrivals.make_way()  # what comes in more finely than it is wanted would run so
        self._several.serve(call, low)
        self.telemetry.precision[0] += len(skipped)
        return skipped

    def _tell_policy(self, layer: int, wants: Sequence[Want], tokens: int) -> None:
        run = [want for want in wants if want.tier or self.cache.holds(want.key, want.full)]
        high = None if self._thresholds.exact else [want.high for want in run]
        counts = None if tokens == 1 else [len(want.slots) for want in run]
        self.cache.routed(Visit(layer, [want.key.expert for want in run], high, counts, tokens))

    @property
    def native(self) -> NativeKernel | None:
        """The kernel over ordinary memory, for whoever else has something to multiply; None where that is torch."""
        kernel = self._kernels[-1]
        return kernel if isinstance(kernel, NativeKernel) else None

    def moe_step(self, layer: int, step: Step) -> None:
        """See Stepper.moe_step. Raises what `moe` raises."""
        if self.route_listener is not None:
            self.route_listener(layer, step.ids.clone(), step.weights.clone())  # the step's own are written over
        with self.arrivals.turn, self._seen(layer, 1):
            if self._single is None or not self._single.play(layer, step):
                step.y.copy_(self._moe(layer, step.x, step.ids, step.weights))
            if self._thresholds.exact:
                return
            if self._learns and self.prefetch and (self.prefetch.awake or not self._ranks.knows(layer)):
                self._ranks.learn(layer, step.gates.tolist())
            if self.repair and not self.as_if_missing:
                self._repairs.go_on()

    def read_ahead(self, predictor: Predictor | None, k: int = 1, depth: int = 2, width: int | None = None) -> None:
        """Read experts that the predictor expects, from the next pass on; None ends that. See Prefetch.

        A predictor that speaks of all layers is read ahead by so, whatever the depth.
        """
        if self.prefetch is not None:
            self.prefetch.sleep()
        self.prefetch = None
        if predictor is not None:
            if predictor.everywhere:
                depth = len(self._source.layers)
            bets = self._bets(k, depth, width or k)
            self._learns = isinstance(bets, KeptBets)
            self.prefetch = Prefetch(self._source.layers, predictor, bets, self._rate, depth, width or k)
        for part in (self._several, self._single):
            if part is not None:
                part.ahead = self.prefetch

    def _bets(self, k: int, depth: int, width: int) -> Bets:
        level, arrivals, layers = self.cache.levels[0], self.arrivals, self._source.layers
        if self._residents is not None and isinstance(level, NativeCache) and isinstance(arrivals, NativeArrivals):
            looked_up = self._residents.all_of(layers)
            if looked_up is not None and NativeBets.takes(level, k, width):
                return NativeBets(level, arrivals, looked_up, k, depth)
        keys = [[ExpertKey(layer, expert) for expert in range(len(self._specs[layer]))] for layer in layers]
        return KeptBets(keys, arrivals, self.cache, self._foresee, k, depth)

    def _foresee(self, layer: int, scores: Floats, width: int, most: int) -> tuple[list[int], list[int]]:
        """The `most` experts of a layer with the greatest scores, best first, and of the first `width` the tier that
        each would have to be fetched at; 0: not at all.

        What an expert of its rank is mostly wanted at: to read one coarse that is then raised costs more than to read
        it whole, and makes the token wait.
        """
        asked = self._ranks.demands(layer, width)
        found = None if self._residents is None else self._residents.foresee(layer, scores, asked, most)
        if found is not None:
            return found
        expected: list[int] = scores.argsort()[: -most - 1 : -1].tolist()
        best, tiers, lacking = self.cache.best, self._tiers[layer], []
        for expert, demand in zip(expected, asked):
            of_expert = tiers[expert]
            there = best(ExpertKey(layer, expert), of_expert[Demand.HIGH]) >= of_expert[demand]
            lacking.append(0 if there else of_expert[demand])
        return expected, lacking

    def _rate(self) -> float:
        loads = self._loader.loads()
        return sum(load.bytes for load in loads.by_urgency.values()) / loads.busy if loads.busy else 0.0

    def observe(self, observer: Observer | None) -> None:
        """Tell it of everything from now on; None ends that."""
        self._observer = observer
        self._loader.listener = None if observer is None else observer.chunk
        for part in (self.arrivals, self._several, self._single):
            if part is not None:
                part.observer = observer

    def _seen(self, layer: int, tokens: int) -> AbstractContextManager[None]:
        return UNSEEN if self._observer is None else seen(self._observer, layer, tokens)

    def begin_sequence(self) -> None:
        """The next pass begins another sequence: policy, predictor and whoever listens to passes start anew with it."""
        self._begins = True
        with self.arrivals.turn:
            self.cache.begin_sequence()
            if self.prefetch is not None:
                self.prefetch.begin_sequence()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A sequence of its own runs beside the one that is open, which goes on afterwards as if there had been none:
        what policy and predictor know of it is put aside and brought back.
        """
        before, prefetch = self._begins, self.prefetch
        self._begins, self._heard = True, False
        with ExitStack() as brought_back:
            with self.arrivals.turn:
                brought_back.enter_context(self.cache.aside())
                if prefetch is not None:
                    brought_back.enter_context(prefetch.aside())
            try:
                yield
            finally:
                self._begins = before or self._heard  # whoever heard of the other one has to tell them apart

    def begin_pass(self, token_ids: Sequence[int], position: int) -> None:
        """These tokens are about to go through the layers, the first at `position` of its sequence."""
        if len(token_ids) == 1:
            ROOMS.clear()
        begins, self._begins = self._begins, False
        if self.pass_listener is not None:
            self._heard = True
            self.pass_listener(token_ids, position, begins)
        if self.prefetch is not None:
            with self.arrivals.turn:
                self.prefetch.begin(token_ids, self.telemetry.misses)

    def reweigh(self, weights: WeightsByShare) -> None:
        """Other weights for the cache policy 'hobbit'; others have none. Of these, each level of the cache has the ones
        for the share of the experts that it has room for, now and whenever that changes.
        """
        self._weights = weights
        self._weigh()

    def _weigh(self) -> None:
        whole = largest_expert(self._source, self._tier) * len(keys_of(self._source))
        for level in self.cache.levels:
            level.reweigh(self._weights.at(level.capacity / whole))

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Change the dial."""
        self._thresholds = thresholds
        self._ranks.set_thresholds(thresholds)
        self._repairs.forget()
        if self._residents is not None:
            self._residents.set_thresholds(thresholds)

    def set_tier(self, tier: int | None, capacity: int | None = None) -> None:
        """Change what counts as full precision, and with it, where given, the capacity of the cache in memory.

        Raises UnderhillError(BAD_REQUEST) for a tier that is not stored, and where not one expert of it would fit.
        """
        stored = sorted({t for specs in self._specs.values() for spec in specs for t in spec.tiers})
        if tier is not None and tier not in stored:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("This model has no {tier}-bit experts.", tier=tier),
                msg("It holds {stored} bits.", stored=", ".join(map(str, stored))),
            )
        least = largest_expert(self._source, tier)
        self.arrivals.make_way()
        self._repairs.forget()
        for level in self.cache.levels:
            last = level is self.cache.levels[-1]
            level.set_capacity(capacity if last and capacity is not None else level.capacity, least)
        self._tier, self._pretended = tier, ()
        self._apply_tiers()
        self._weigh()

    def set_low(self, low: int | None) -> None:
        """Change the bits of coarse experts; None: the coarsest that is stored. See precision.low_tier."""
        self.arrivals.make_way()
        self._repairs.forget()
        self._low, self._pretended = low, ()
        self._apply_tiers()

    def _apply_tiers(self) -> None:
        for layer, specs in self._specs.items():
            self._tiers[layer] = [tiers_of(spec, self._tier, self._low) for spec in specs]
        if self._residents is not None:
            self._residents.set_tiers(self._tiers)

    def pretend_lowered(self, bits: Mapping[ExpertKey, int]) -> None:
        """Many tokens at once run these at so many bits, as if no more of them were stored; {} ends that."""
        self.arrivals.make_way()
        for key in self._pretended:
            self._tiers[key.layer][key.expert] = tiers_of(self._specs[key.layer][key.expert], self._tier, self._low)
        for key, most in bits.items():
            self._tiers[key.layer][key.expert] = tiers_of(self._specs[key.layer][key.expert], most)
        self._pretended = tuple(bits)

    def set_capacity(self, nbytes: int, level: int = -1) -> None:
        """Change the ceiling of one level of the cache, in bytes. Raises UnderhillError(BAD_REQUEST) if too small.

        From any thread: where the model runs meanwhile, once it is through with its layer.
        """
        with self.arrivals.turn:
            self.arrivals.make_way()
            self.cache.levels[level].set_capacity(nbytes)
            self._weigh()

    def lend(self, nbytes: int) -> None:
        """As set_capacity for the cache in memory, where a prompt takes from it or gives back to it: not for long, so
        that the policy's weights stay.
        """
        with self.arrivals.turn:
            self.arrivals.make_way()
            self.cache.levels[-1].lend(nbytes)

    def snapshot(self) -> Snapshot:
        """The counters and what is resident."""
        seen = self.telemetry.shown.snapshot(self.cache.residency())
        if self.prefetch is None:
            return seen
        return replace(seen, foresight=replace(self.prefetch.foresight, failed=self.arrivals.failed))

    def close(self) -> None:
        """End the readers and the kernels' threads. The source belongs to the caller."""
        self._loader.close()
        for kernel in self._kernels:
            kernel.close()
