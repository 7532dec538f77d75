"""A model in memory: its store, expert runtime, decoder and context.

A session answers with it, calibration measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.precision import EXACT, Thresholds
from engine.experts.predictors import RoutingShape
from engine.experts.runtime import PassListener, RouteListener, open_runtime
from engine.experts.telemetry import ProfilerHook
from engine.formats.families import text_config, vision_prefixes
from engine.generation.answer_batch import Proposing
from engine.generation.chat import ChatFormat
from engine.generation.context import Context
from engine.generation.decoder_protocol import Model, State, Want
from engine.hardware.machine import Machine
from engine.import_lock import ALONE
from engine.library.dials import Calibration
from engine.library.entries import ModelCard
from engine.library.facts import activation_of
from engine.models.layers.weight_format import holding
from engine.models.spec import DecoderSpec
from engine.models.vision.pictures import NoPictures, Pictures
from engine.planning.facts import ModelFacts
from engine.planning.plan import Plan
from engine.planning.speed import SMALL_DENSE
from engine.session import policy_weights
from engine.session.predictor_store import LearntTables
from engine.session.routing_history import RoutingHistory
from engine.session.thresholds import substitute_for, thresholds_for
from engine.store.reader import Store
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.models.mtp import MtpDrafter

BeginPass = Callable[[Sequence[int], int], None]


def opened_card(card: ModelCard, chat: ChatFormat, calibration: Calibration | None) -> ModelCard:
    """The card of a model that is open: what its chat template can do is known then."""
    return replace(
        card,
        loaded=True,
        thinking=chat.levels,
        plain_thinking=chat.plain_thinking,
        calls_tools=chat.rendering.calls_tools,
        calibration=calibration,
    )


class LoadedModel:
    """What the parts of a session and the tasks of calibration are given. Used from one thread.

    settings: values of settings.ENGINE. card, facts, plan: as they are now. history: of former sessions. notes:
    sentences on how it runs, beside those of the plan.
    """

    def __init__(
        self,
        store: Store,
        spec: DecoderSpec | None,
        settings: Mapping[str, Any],
        *,
        machine: Machine,
        card: ModelCard,
        facts: ModelFacts,
        plan: Plan,
        chat: ChatFormat,
        begin_pass: BeginPass,
    ) -> None:
        """Load it. spec: None for the compatibility backend. begin_pass: called with the token ids and their position
        before each forward pass. The store stays the caller's."""
        self.store, self.settings, self.machine = store, dict(settings), machine
        self.card, self.facts, self.plan, self.chat = card, facts, plan, chat
        self.notes: list[Translatable] = []
        self._for_now: tuple[Thresholds, float] | None = None  # those of `under`
        self.mtp: MtpDrafter | None = None
        shape = RoutingShape(len(store.layers), max(map(store.experts, store.layers)), card.experts_per_token)
        self.tables = LearntTables(store.path, shape, remember=bool(settings["remember_routing"]))
        self.history = RoutingHistory(store.path, store)
        threads = torch_threads(plan.threads, facts.dense_bytes[plan.dense], spec is not None)
        torch.set_num_threads(threads.many)
        self._weights = policy_weights.in_force(store.path, settings)
        self.runtime = open_runtime(
            store,
            activation_of(store, spec),
            plan.cache_bytes,
            policy=str(settings["policy"]),
            weights=self._weights,
            collection=self.history.collection,
            readers=int(settings["readers"]),
            threads=plan.threads,
            exact=settings["activations"] == "exact",
            tier=plan.tier,
        )
        try:
            self.runtime.upgrade = True
            self.runtime.set_low(self.low)
            self.apply_thresholds(thresholds_for(store.path, self.settings))
            store.dense.copies = machine.memory.group_free is None  # a control group would be charged for them
            self.decoder = self._decoder(spec)
            self.mtp = self._mtp()
            self.context = Context(
                Threaded(self.decoder, threads), plan.context, plan.chunk, begin_pass, self.runtime.aside
            )
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Release its threads."""
        if self.mtp is not None:
            self.mtp.close()
        self.runtime.close()

    def _decoder(self, spec: DecoderSpec | None) -> Model:
        dense = self.plan.dense
        if spec is None:
            with ALONE:
                from engine.models.compat.decoder import CompatDecoder

            return CompatDecoder(self.store.config, self.store.dense, self.runtime, "f32" if dense == "f32" else "bf16")
        from engine.models.decoder import Decoder

        decoder = Decoder(
            spec,
            self.store.dense,
            self.runtime,
            holding(dense, self.runtime.kernel),  # type: ignore[arg-type]
            self._kv_dtype(),
        )
        decoder.most_tokens = self.plan.context
        if self.card.reads_images:
            weights, pause = self.store.dense, self.runtime.stop_if_asked
            self.chat.pictures = decoder.pictures = Pictures(self.store.config, self.store.path, weights, pause)
        elif vision_prefixes(self.store.config):
            self.chat.pictures = NoPictures(again=True)
        if not decoder.native_layers:
            self.notes.append(decoder.why_not_native)
        return decoder

    def _mtp(self) -> MtpDrafter | None:
        """What drafts with multi-token prediction, where the plan has memory for it."""
        from engine.models.decoder import Decoder

        decoder, plan = self.decoder, self.plan
        if not plan.mtp or not isinstance(decoder, Decoder) or not decoder.native_layers:
            return None
        from engine.models.mtp import open_drafter

        kernel = self.runtime.kernel
        return open_drafter(decoder, self.store, kernel, holding(plan.dense, kernel), plan.tier)  # type: ignore[arg-type]

    def _kv_dtype(self) -> torch.dtype:
        if self.plan.packed:
            return torch.int8
        return torch.float32 if self.plan.dense == "f32" else torch.bfloat16

    def apply_kv_dtype(self) -> None:
        """Hold keys and values as the plan says. What a sequence holds otherwise is read again before it goes on."""
        from engine.models.decoder import Decoder

        if isinstance(self.decoder, Decoder):
            self.decoder.kv_dtype = self._kv_dtype()

    # ---- what it is -------------------------------------------------------------------------------------------

    @property
    def low(self) -> int:
        """Bits of a coarse expert."""
        return self.facts.low

    @property
    def exact(self) -> bool:
        """Whether every expert runs at full precision, whatever is in memory."""
        return self.thresholds.exact

    @property
    def vocabulary(self) -> int:
        """Number of logits of a token."""
        return int(text_config(self.store.config)["vocab_size"])

    @property
    def cached_share(self) -> float:
        """Share of the experts' bytes that the cache has capacity for."""
        return min(1.0, self.plan.cache_bytes / self.facts.expert_bytes[self.plan.tier])

    @property
    def all_in_memory(self) -> bool:
        """Whether the cache has capacity for every expert."""
        return self.plan.cache_bytes >= self.facts.expert_bytes[self.plan.tier]

    @property
    def drafts(self) -> bool:
        """Whether answers are drafted, by earlier text or by the model: where all experts are in memory, since a draft
        that is wrong would read what nobody needs; where no card computes, which takes its share of single tokens
        alone; and while nobody records what is routed, which is to be that of the answer."""
        runtime, wanted = self.runtime, self.settings["speculation"] == "auto"
        return wanted and self.all_in_memory and runtime.card is None and runtime.route_listener is None

    @property
    def propose(self) -> Proposing | None:
        """What the model proposes of an answer; None: nothing."""
        return None if self.mtp is None else self.mtp.propose

    @property
    def mtp_bytes(self) -> int:
        """Bytes that drafting with multi-token prediction takes by now. From any thread."""
        return 0 if self.mtp is None else self.facts.mtp_bytes[self.plan.dense] + self.mtp.nbytes

    @property
    def other_bytes(self) -> int:
        """Bytes that weights take beside the model's experts. From any thread."""
        return self.facts.dense_bytes[self.plan.dense] + self.mtp_bytes

    # ---- precision --------------------------------------------------------------------------------------------

    def apply_thresholds(self, thresholds: Thresholds) -> None:
        """Put T1 and T2 in force, and what may stand in for missing experts; where every expert fits in memory only
        those set by hand are, since a coarse expert saves nothing there after its first use."""
        self.thresholds = self._useful(thresholds)
        self._substitute = substitute_for(self.store.path, self.settings)
        if self._for_now is None:
            self.runtime.set_thresholds(self.thresholds, self._substitute)

    def thresholds_under(self, dial: str) -> Thresholds:
        """T1 and T2 that a quality preset has in force here, whichever one is chosen."""
        return self._useful(thresholds_for(self.store.path, {**self.settings, "dial": dial}))

    def substitute_under(self, dial: str) -> float:
        """What may stand in for missing experts under a quality preset, see ExpertRuntime.set_thresholds."""
        return 0.0 if self.all_in_memory else substitute_for(self.store.path, {**self.settings, "dial": dial})

    def _useful(self, thresholds: Thresholds) -> Thresholds:
        by_hand = self.settings["t1"] is not None or self.settings["t2"] is not None
        return EXACT if self.all_in_memory and not by_hand else thresholds

    def apply_policy_weights(self) -> None:
        """Put the cache policy's weights in force: those of the settings, or what has been fitted by now."""
        weights = policy_weights.in_force(self.store.path, self.settings)
        if weights != self._weights:
            self._weights = weights
            self.runtime.reweigh(weights)

    @contextmanager
    def under(self, thresholds: Thresholds, substitute: float = 0.0) -> Iterator[None]:
        """Use these thresholds while this lasts, whatever the quality preset says, or is changed to meanwhile.

        substitute: see ExpertRuntime.set_thresholds.
        """
        before, self._for_now = self._for_now, (thresholds, substitute)
        self.runtime.set_thresholds(thresholds, substitute)
        try:
            yield
        finally:
            self._for_now = before
            self.runtime.set_thresholds(*(before or (self.thresholds, self._substitute)))

    def exactly(self) -> AbstractContextManager[None]:
        """Run every expert at full precision while this lasts."""
        return self.under(EXACT)

    # ---- running it -------------------------------------------------------------------------------------------

    def logits(self, ids: Sequence[int], *, one_by_one: bool) -> Tensor:
        """Logits [T, V] after each token of a sequence of its own."""
        return self.context.score(ids, one_by_one=one_by_one)

    @contextmanager
    def interruptible(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """While this lasts, a forward pass asks before each of its layers whether to stop."""
        before, self.runtime.interrupted = self.runtime.interrupted, cancelled
        try:
            yield
        finally:
            self.runtime.interrupted = before

    @contextmanager
    def measuring(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """While this lasts nothing counts as use of the model, and passes are interruptible."""
        with self.interruptible(cancelled), self.runtime.telemetry.aside():
            yield

    @contextmanager
    def listening(self, listener: RouteListener, passes: PassListener | None = None) -> Iterator[None]:
        """Call `listener` with every routing decision while this lasts, and `passes` before every pass."""
        runtime = self.runtime
        before = runtime.route_listener, runtime.pass_listener
        runtime.route_listener, runtime.pass_listener = listener, passes
        try:
            yield
        finally:
            runtime.route_listener, runtime.pass_listener = before

    @contextmanager
    def observing(self, observer: ProfilerHook) -> Iterator[None]:
        """Have `observer` profile the expert runtime while this lasts."""
        self.runtime.observe(observer)
        try:
            yield
        finally:
            self.runtime.observe(None)


@contextmanager
def keeping(store: Path) -> Iterator[None]:
    """Turn an OSError of writing what was measured of a store into UnderhillError(DISK_ERROR)."""
    try:
        yield
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't save measurements in {store}.", store=store),
            msg("Check that the folder is writable."),
        ) from e


@dataclass(frozen=True)
class TorchThreads:
    """Numbers of torch's threads. many: for passes of several tokens. single: of one, and the choice of the next."""

    many: int
    single: int


def torch_threads(threads: int, dense_bytes: int, lean: bool) -> TorchThreads:
    """How many threads torch gets, so that they do not compete with the kernels' own for a core.

    threads: that the plan gives to computing. lean: whether native kernels multiply the dense weights. Then a single
    token leaves torch nothing large: a second thread would only wake for a softmax over the vocabulary, and delay the
    kernels' threads. On products as small as SMALL_DENSE it gains nothing in prompts either (measured on the built-in
    model: 2 % at rest), and its waiting costs tenfold once another program holds a core.
    """
    if dense_bytes < SMALL_DENSE:
        return TorchThreads(1, 1)
    return TorchThreads(threads, 1 if lean else threads)


class Threaded:
    """A model that sets the number of torch's threads in every pass; it stays for what is done with the logits."""

    def __init__(self, model: Model, threads: TorchThreads) -> None:
        self._model = model
        self._threads = threads

    @staticmethod
    def _set(threads: int) -> None:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)

    def new_state(self) -> State:
        """See Model."""
        return self._model.new_state()

    def continues(self, state: Any, length: int) -> bool:
        """See Model."""
        return self._model.continues(state, length)

    def forward(self, ids: Sequence[int], state: Any, want: Want = "last", horizon: int = 0) -> Tensor | None:
        """See Model."""
        self._set(self._threads.many if len(ids) > 1 else self._threads.single)
        return self._model.forward(ids, state, want, horizon)

    @property
    def most_rows(self) -> int:
        """See Model."""
        return self._model.most_rows

    def forward_sequences(self, ids: Sequence[int], states: Sequence[Any]) -> Tensor:
        """See Model."""
        self._set(self._threads.single)
        return self._model.forward_sequences(ids, states)

    def joins(self, sizes: Sequence[int]) -> bool:
        """See Model."""
        return self._model.joins(sizes)

    def forward_parts(self, parts: Sequence[tuple[Tensor, Any, Want, int]]) -> list[Tensor | None]:
        """See Model."""
        self._set(self._threads.many)
        return self._model.forward_parts(parts)
