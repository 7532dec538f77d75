"""One model, loaded under a plan: chats in, answers out, and what it took."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.experts.precision import EXACT, Thresholds
from engine.experts.predictors import RoutingShape
from engine.experts.runtime import PassListener, RouteListener, open_runtime
from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.experts.telemetry import ProfilerHook
from engine.formats.families import text_config
from engine.generation import model_files
from engine.generation.answer import Listener, answer
from engine.generation.chat import ChatFormat, fit
from engine.generation.context import Context, Model
from engine.generation.messages import Look, Message, Snapshot, Stats
from engine.generation.sampling import Sampling
from engine.hardware import graphics, probe
from engine.import_lock import ALONE
from engine.library import damage, dials, library
from engine.library.dials import Calibration
from engine.library.listing import BUILTIN
from engine.models.layers.weight_format import holding
from engine.models.spec import DecoderSpec
from engine.native.library import kernels_in_use
from engine.native.memory import forget_code, keep_heap_small
from engine.planning import offload
from engine.planning import plan as planning
from engine.planning.facts import ModelFacts
from engine.planning.fit import fit_of
from engine.session import calibration, policy_weights, session_log
from engine.session.facts import activation_of, coarse_bits, largest_file, model_facts, spec_of
from engine.session.idle_tasks import IdleTasks
from engine.session.measured import machine_at
from engine.session.pressure import CacheBudget, PressureWatch, share_of
from engine.session.reading_ahead import ReadingAhead
from engine.session.routing_history import RoutingHistory
from engine.session.sequences import Sequences
from engine.session.snapshot import Watcher
from engine.session.speed_check import SpeedCheck
from engine.session.stats import stats_of
from engine.session.tables import LearntTables
from engine.session.threads import Threaded, torch_threads
from engine.session.warm import WarmStart
from engine.store.reader import Store
from engine.store.verify import check_small_files
from engine.translatable import NO_TEXT, Translatable, msg

HEAP_HOLES = 500_000_000  # bytes that prompts may leave in the heap where nothing is done about it
CHAT_ALONE = msg("The cache policy goes by the open chat alone, since remembering which experts are used is off.")
NOTHING = Look()
SPARE_TOKENS = 256  # of context beyond those in use that a lower ceiling leaves, for an answer to come to its end
Report = Callable[[Translatable, int, int], None]


def _quiet(phrase: Translatable, done: int, total: int) -> None:
    pass


class Session:
    """An open model. One thread uses it; `snapshot` and `sentences` may be called from any.

    told: called with a sentence, on a thread of its own when the system's memory changes what the cache may hold, and
    with '' when `sentences` have changed and nobody has to be told.
    """

    def __init__(self, store: Store, chosen: Mapping[str, Any], report: Report = _quiet) -> None:
        """Use `open`. Takes over the store."""
        report(msg("Measuring this computer"), 0, 0)
        model_files.PROCESS.warm()  # it starts while the computer is measured
        self.store = store
        self.settings = dict(chosen)
        self._notes: list[Translatable] = []  # sentences beside those of the plan
        forget_code()  # importing left 75 MB, and measuring takes as much again
        self.machine = machine_at(largest_file(store))
        spec = spec_of(store)
        self.card = library.card(store.path)
        facts = model_facts(store, self.card, spec)
        self.facts = dataclasses.replace(facts, low=coarse_bits(facts, chosen))
        self.chat = ChatFormat(store.path)
        self._base = probe.program()
        self.alone = self._base - probe.served()  # bytes of this process before it opened a model
        self.plan = planning.make_plan(self.machine, self.facts, chosen, self._base)
        if not self.plan.direct and store.io_mode == "direct":
            store.read_through_cache()
        self.speed_check = SpeedCheck(self)
        shape = RoutingShape(len(store.layers), max(map(store.experts, store.layers)), self.card.experts_per_token)
        self.tables = LearntTables(store.path, shape, remember=bool(chosen["remember_routing"]))
        self.ahead = ReadingAhead(self)
        self._spare_memory()
        self._context_planned = self.plan.context
        self.card = dataclasses.replace(
            self.card,
            loaded=True,
            plan=self.plan.sentences,
            thinking=self.chat.levels,
            plain_thinking=self.chat.plain_thinking,
            calibration=dials.at(store.path, self.low),
        )
        threads = torch_threads(self.plan.threads, self.facts.dense_bytes[self.plan.dense], spec is not None)
        torch.set_num_threads(threads.many)
        self._weights = policy_weights.in_force(store.path, chosen)
        memories = RoutingHistory(store.path, store)
        self.runtime = open_runtime(
            store,
            activation_of(store, spec),
            self.plan.cache_bytes,
            policy=str(chosen["policy"]),
            weights=self._weights,
            collection=memories.collection,
            readers=int(chosen["readers"]),
            threads=self.plan.threads,
            exact=chosen["activations"] == "exact",
            tier=self.plan.tier,
        )
        try:
            self.runtime.upgrade = True
            self.runtime.set_low(self.low)
            self._apply_dial()
            report(msg("Loading the model"), 0, 0)
            store.dense.copies = self.machine.memory.group_free is None  # a control group would be charged for them
            self.decoder = self._decoder(spec)
            model = Threaded(self.decoder, threads)
            self.context = Context(model, self.plan.context, self.plan.chunk, self._begin_pass, self.runtime.aside)
            self._sequences = Sequences()
            self.warm = WarmStart(self, memories)
            self.ahead.begin()
        except BaseException:
            self.runtime.close()
            raise
        self._watcher = Watcher(self)
        self.told: Callable[[Translatable], None] = lambda notice: None
        self._room = CacheBudget(
            share_of(self.plan, self.facts, chosen["cache_fraction"]),
            lambda: self.runtime.cache.nbytes,
            self.runtime.set_capacity,
            lend=self.runtime.lend,
            said=lambda notice: self.told(notice),
            written=lambda: self.context.rows_written,
            refusals=lambda: self.runtime.cache.refusals,
        )
        self._room.computing(1, lambda: self.context.rows_with(0))
        forget_code()  # what opening needed
        self._pressure = PressureWatch(self._room)
        self._closed = False
        self.spare_time = IdleTasks(self)
        for note in (store.io_note, kernels_in_use(self.plan.threads)):
            if note:
                self.note(note)
        self.replanned()

    @classmethod
    def open(cls, model: str, chosen: Mapping[str, Any] | None = None, report: Report = _quiet) -> Session:
        """Open 'builtin', a name of the library, a store or a checkpoint (which is imported first).

        A built-in model whose store turns out to be damaged is made anew, and its card's plan says so.
        chosen: values of settings.ENGINE. Raises UnderhillError.
        """
        checked = settings.validated(chosen or {}, settings.ENGINE)
        offload.demand(str(checked["mode"]), graphics.gpus)
        path = library.prepare(model, report)
        try:
            with damage.explained(path):
                return cls._opened(path, checked, report)
        except UnderhillError as e:
            if path != library.location(BUILTIN) or e.kind not in (Kind.BROKEN_FILE, Kind.MISSING_FILE):
                raise
        # no user could import this one again; from outside the handler, so that nothing of the first try is held
        session = cls._opened(library.renew_builtin(report), checked, report)
        session.note(msg("The built-in model was damaged and has been made anew."))
        return session

    @classmethod
    def _opened(cls, path: Path, checked: Mapping[str, Any], report: Report) -> Session:
        store = Store.open(path, str(checked["direct_io"]))
        try:
            check_small_files(store)
            session = cls(store, checked, report)
        except BaseException:
            store.close()
            raise
        session_log.opened(session)
        calibration.calibrate_if_quick(session, report)
        return session

    def doing(self, sentence: Translatable) -> None:
        """What it does while nobody asks; '' for nothing. The card says so."""
        self.card = dataclasses.replace(self.card, doing=sentence)

    def note(self, sentence: Translatable) -> None:
        """A sentence on how it runs, beside those of the plan."""
        self._notes.append(sentence)
        self.replanned()

    def replanned(self) -> None:
        """The plan says something else now."""
        idle = settings.idle(self.settings, settings.ENGINE)
        alone = self.settings["policy"] == "activation" and not self.settings["remember_routing"]
        said = (*self.plan.sentences, *self._notes, self.ahead.note, CHAT_ALONE if alone else NO_TEXT, *idle)
        self.card = dataclasses.replace(self.card, plan=tuple(filter(None, said)), fit=fit_of(self.plan, self.facts))

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
            torch.float32 if dense == "f32" else torch.bfloat16,
        )
        decoder.most_tokens = self.plan.context
        if not decoder.native_layers:
            self.note(decoder.why_not_native)
        return decoder

    # ---- answering --------------------------------------------------------------------------------------------

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        stop_texts: Sequence[str],
        listener: Listener,
        *,
        continue_last: bool = False,
        thinking: bool | str | None = None,
        chat: str = "",
    ) -> Stats:
        """Answer a chat. What it has in common with the last one is not read again. thinking: as in chat.fit. chat:
        which one it is, by any name; where the name is another than the last time, a new sequence begins (Sequences).

        Raises UnderhillError: CONTEXT_FULL when the last message alone is too long; BROKEN_FILE or DISK_ERROR when an
        expert cannot be read, after which the session stays usable.
        """
        if not messages:
            raise UnderhillError(Kind.BAD_REQUEST, msg("There is nothing to answer."), msg("Write a message first."))
        prompt = fit(
            self.chat, messages, self.context.limit, sampling.max_tokens, continue_last=continue_last, thinking=thinking
        )
        listener.turns_dropped(prompt.dropped)
        if self._sequences.begins(chat, messages):
            self.runtime.begin_sequence()
        before = self.counters()
        self.speed_check.answering()
        following = self._watcher.following(listener)
        with damage.explained(self.store.path), self._watcher.answering(), self._interrupted_by(listener):
            result = answer(
                self.context, self.chat, prompt, sampling, stop_texts, following, self._token_done, self._prompt_read
            )
            self._sequences.answered(result.text, result.token_ids, continue_last=continue_last)
            self.warm.answered(self.counters().activations)
            stats = stats_of(result, len(prompt.ids), prompt.dropped, before, self.counters(), self._watcher.why)
        self.speed_check.answered(stats)
        session_log.answered(stats)
        return stats

    def _token_done(self) -> None:
        self._watcher.token()
        self.warm.token_done()

    def _prompt_read(self) -> None:
        seen = self.counters()
        self._watcher.decoding()
        self.speed_check.prompt_read(seen)
        self.warm.prompt_read(seen.activations)

    @contextmanager
    def _interrupted_by(self, listener: Listener) -> Iterator[None]:
        self.runtime.interrupted = listener.cancelled
        try:
            yield
        finally:
            self.runtime.interrupted = None

    def logits(self, ids: Sequence[int], *, one_by_one: bool) -> Tensor:
        """Logits [T, V] after each token of a sequence of its own."""
        return self.context.score(ids, one_by_one=one_by_one)

    # ---- settings ---------------------------------------------------------------------------------------------

    @property
    def sentences(self) -> tuple[Translatable, ...]:
        """How it runs here now."""
        short = self._room.sentence
        return (*self.card.plan, short) if short else self.card.plan

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
        """Logits a token."""
        return int(text_config(self.store.config)["vocab_size"])

    @property
    def cached_share(self) -> float:
        """Of the experts' bytes, what the cache has room for."""
        return min(1.0, self.plan.cache_bytes / self.facts.expert_bytes[self.plan.tier])

    @property
    def all_in_memory(self) -> bool:
        """Whether the cache has room for every expert."""
        return self.plan.cache_bytes >= self.facts.expert_bytes[self.plan.tier]

    def update(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change live settings, between two tokens if need be; returns all in force.

        Raises UnderhillError, then nothing is changed: BAD_REQUEST, OUT_OF_MEMORY for a ceiling that cannot hold.
        """
        wanted = settings.validated({**self.settings, **changes}, settings.ENGINE)
        for s in settings.ENGINE:
            if not s.live and wanted[s.name] != self.settings[s.name]:
                raise UnderhillError(
                    Kind.BAD_REQUEST,
                    msg("{label} takes effect when the model is loaded.", label=s.label),
                    msg("Load it again."),
                )
        thresholds = calibration.thresholds_for(self.store.path, wanted)
        facts = dataclasses.replace(self.facts, low=coarse_bits(self.facts, wanted))
        plan = self._new_plan(wanted, facts)
        ahead = self.ahead.wanted
        self.context.bound(plan.context, plan.chunk)
        self._room.plan(
            share_of(plan, self.facts, wanted["cache_fraction"]),
            lambda capacity: self.runtime.set_tier(plan.tier, capacity),
        )
        if self.settings["remember_routing"] and not wanted["remember_routing"]:
            self.warm.forget()
        self.tables.remember = bool(wanted["remember_routing"])
        if facts.low != self.facts.low:
            self.facts = facts
            self.runtime.set_low(self.low)
            self.card = dataclasses.replace(self.card, calibration=dials.at(self.store.path, self.low))
        self.settings, self.plan = wanted, plan
        self.speed_check.begin()
        self._spare_memory()
        self._set_thresholds(thresholds)
        self.reweigh()
        if self.ahead.wanted != ahead:
            self.ahead.begin()
        self.replanned()
        return dict(self.settings)

    @property
    def lent_context(self) -> int:
        """Bytes planned for the context that experts have for now."""
        return self._room.unused

    def _begin_pass(self, ids: Sequence[int], position: int) -> None:
        known = self.facts.vocabulary
        if known and max(ids) >= known:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg(
                    "The model's tokenizer makes token {ids}, and the model knows {known} tokens.",
                    ids=max(ids),
                    known=known,
                ),
                msg("Your chat is kept. Import the model again, with the tokenizer that belongs to it."),
            )
        self._room.computing(len(ids), lambda: self.context.rows_with(len(ids)))
        self.runtime.begin_pass(ids, position)

    def _spare_memory(self) -> None:
        """Where little is spare a prompt must leave no holes in the heap, which makes it slower by up to a fifth."""
        if self.plan.spare < HEAP_HOLES:
            keep_heap_small()

    def _new_plan(self, wanted: Mapping[str, Any], facts: ModelFacts) -> planning.Plan:
        """For what is open now. Bytes that this model holds are given out again; those for computing may lie in the
        allocator's hands, which counts as theirs.
        """
        held = self._held()
        others = probe.rss() - held
        computing = self.plan.workspace + self.plan.chunk * self.facts.token_bytes
        in_use = max(0, min(others, max(self._base, others - computing)))
        machine = dataclasses.replace(self.machine, memory=probe.memory().plus(held + others - in_use))
        tokens = min(self._context_planned, self.context.needed + SPARE_TOKENS)
        opened = planning.Opened(self.plan.dense, self._context_planned, tokens, self.context.nbytes)
        return planning.make_plan(machine, facts, wanted, in_use, opened)

    def _held(self) -> int:
        """Bytes that this model holds now and that a new plan for it gives out again."""
        return self.runtime.cache.nbytes + self.facts.dense_bytes[self.plan.dense] + self.context.nbytes

    def _set_thresholds(self, thresholds: Thresholds) -> None:
        """Put them in force; but where every expert fits in memory a coarse one saves nothing after its first use."""
        by_hand = self.settings["t1"] is not None or self.settings["t2"] is not None
        self.thresholds = EXACT if self.all_in_memory and not by_hand else thresholds
        self.runtime.set_thresholds(self.thresholds)

    def _apply_dial(self) -> None:
        self._set_thresholds(calibration.thresholds_for(self.store.path, self.settings))

    # ---- watching ---------------------------------------------------------------------------------------------

    def counters(self) -> Counters:
        """Hits, misses, bytes and precision since the model was loaded."""
        return self.runtime.snapshot()

    def beat(self) -> int:
        """Another number once it has computed or read any further. From any thread."""
        seen = self.counters()
        return seen.hits + seen.misses + seen.bytes_read

    def snapshot(self, look: Look = NOTHING) -> Snapshot | None:
        """For the live panels, from any thread; None while nothing has changed since the last one."""
        return self._watcher.snapshot(look)

    @contextmanager
    def listening(self, listener: RouteListener, passes: PassListener | None = None) -> Iterator[None]:
        """Tell `listener` of every routing decision while this lasts, and `passes` of every pass before it begins."""
        runtime = self.runtime
        before = runtime.route_listener, runtime.pass_listener
        runtime.route_listener, runtime.pass_listener = listener, passes
        try:
            yield
        finally:
            runtime.route_listener, runtime.pass_listener = before

    @contextmanager
    def observing(self, observer: ProfilerHook) -> Iterator[None]:
        """Tell `observer` what happens when while this lasts."""
        self.runtime.observe(observer)
        try:
            yield
        finally:
            self.runtime.observe(None)

    @contextmanager
    def under(self, thresholds: Thresholds) -> Iterator[None]:
        """These thresholds while this lasts, whatever the dial says."""
        self.runtime.set_thresholds(thresholds)
        try:
            yield
        finally:
            self.runtime.set_thresholds(self.thresholds)

    def reweigh(self) -> None:
        """Put the cache policy's weights in force: those of the settings, or what has been fitted by now."""
        weights = policy_weights.in_force(self.store.path, self.settings)
        if weights != self._weights:
            self._weights = weights
            self.runtime.reweigh(weights)

    def exactly(self) -> AbstractContextManager[None]:
        """Every expert at full precision while this lasts."""
        return self.under(EXACT)

    def calibrated(self, found: Calibration) -> None:
        """T1, T2 or what they cost were measured: they are in force, and the card says so."""
        self.card = dataclasses.replace(self.card, calibration=found)
        self._apply_dial()
        self.ahead.begin()
        self.replanned()

    def close(self) -> None:
        """Release everything. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._pressure.close()
            self.warm.put_away()
            self.runtime.close()
            self.store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
