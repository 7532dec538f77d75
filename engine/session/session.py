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
from engine.experts.observer import Observer
from engine.experts.opening import open_runtime
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import PassListener, RouteListener
from engine.experts.telemetry import Snapshot as Counters
from engine.generation.answer import Answer, Listener, answer
from engine.generation.chat import ChatFormat, fit
from engine.generation.context import Context, Model
from engine.generation.messages import Look, Message, Snapshot, Stats
from engine.generation.sampling import Sampling
from engine.hardware import graphics, offload, probe
from engine.hardware import plan as planning
from engine.hardware.machine import Machine
from engine.hub import damage, library
from engine.hub.cards import BUILTIN, TOY
from engine.hub.dials import Calibration
from engine.hub.layouts import text_config
from engine.importing import ALONE
from engine.kernels.choice import in_use
from engine.kernels.memory import forget_code, keep_heap_small
from engine.models.holding import holding
from engine.models.spec import DecoderSpec
from engine.session import calibration, policy_weights
from engine.session.facts import activation_of, largest_file, model_facts, runs_natively, spec_of
from engine.session.measured import machine_at
from engine.session.pressure import PressureWatch, Room, share_of
from engine.session.reading_ahead import ReadingAhead
from engine.session.snapshot import Watcher
from engine.session.spare_time import SpareTime
from engine.session.speed_check import SpeedCheck
from engine.session.threads import Threaded, torch_threads
from engine.session.warm import WarmStart
from engine.store.reader import Store

HEAP_HOLES = 500_000_000  # bytes that prompts may leave in the heap where nothing is done about it
NOTHING = Look()
SPARE_TOKENS = 256  # of context beyond those in use that a lower ceiling leaves, for an answer to come to its end
Report = Callable[[str, int, int], None]


def _quiet(phrase: str, done: int, total: int) -> None:
    pass


class Session:
    """An open model. One thread uses it; `snapshot` and `sentences` may be called from any.

    told: called with a sentence, on a thread of its own when the system's memory changes what the cache may hold, and
    with '' when `sentences` have changed and nobody has to be told.
    """

    def __init__(self, store: Store, chosen: Mapping[str, Any], report: Report = _quiet) -> None:
        """Use `open`. Takes over the store."""
        report("Measuring this computer", 0, 0)
        self.store = store
        self.settings = dict(chosen)
        self._notes: list[str] = []  # sentences beside those of the plan
        self.machine = measure(store)
        spec = spec_of(store)
        self.card = library.card(store.path)
        native = runs_natively(chosen)
        self.facts = model_facts(store, self.card, spec, native)
        self.chat = ChatFormat(store.path)
        self._base = probe.program()
        self.plan = planning.make_plan(self.machine, self.facts, chosen, self._base)
        if not self.plan.direct and store.io_mode == "direct":
            store.read_through_cache()
        self.speed_check = SpeedCheck(self)
        self.ahead = ReadingAhead(self)
        self._spare_memory()
        self._context_planned = self.plan.context
        self.card = dataclasses.replace(self.card, loaded=True, plan=self.plan.sentences, thinking=self.chat.thinking)
        dense_bytes = self.facts.dense_bytes[self.plan.dense]
        threads = torch_threads(self.plan.threads, dense_bytes, native and spec is not None)
        torch.set_num_threads(threads.many)
        self.runtime = open_runtime(
            store,
            activation_of(store, spec),
            self.plan.cache_bytes,
            policy=str(chosen["policy"]),
            weights=policy_weights.in_force(store.path, chosen),
            readers=int(chosen["readers"]),
            threads=self.plan.threads,
            kernel=str(chosen["kernel"]),
            exact=chosen["activations"] == "exact",
            tier=self.plan.tier,
        )
        try:
            self.runtime.repair = True
            self._apply_dial()
            report("Loading the model", 0, 0)
            store.dense.copies = self.machine.memory.group_free is None  # a control group would be charged for them
            self.decoder = self._decoder(spec)
            model = Threaded(self.decoder, threads)
            self.context = Context(model, self.plan.context, self.plan.chunk, self._begin_pass)
            self.warm = WarmStart(self)
            self.ahead.begin()
        except BaseException:
            self.runtime.close()
            raise
        self._watcher = Watcher(self, native=native)
        self.told: Callable[[str], None] = lambda notice: None
        self._room = Room(
            share_of(self.plan, self.facts, chosen["cache_fraction"]),
            lambda: self.runtime.cache.nbytes,
            self.runtime.set_capacity,
            self.runtime.lend,
            lambda notice: self.told(notice),
            self._rows_coming,
            lambda: self.runtime.cache.levels[-1].refusals,
        )
        self._room.computing(1, lambda: self.context.rows_with(0))
        forget_code()  # what opening needed
        self._pressure = PressureWatch(self._room)
        self._closed = False
        self.spare_time = SpareTime(self)
        for note in (store.io_note, in_use(str(chosen["kernel"]), self.plan.threads)):
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
        session.note("The built-in model was damaged and has been made anew.")
        return session

    @classmethod
    def _opened(cls, path: Path, checked: Mapping[str, Any], report: Report) -> Session:
        store = Store.open(path, str(checked["direct_io"]))
        try:
            session = cls(store, checked, report)
        except BaseException:
            store.close()
            raise
        session._calibrate_if_quick(report)
        return session

    def _calibrate_if_quick(self, report: Report) -> None:
        """A model that was never calibrated gets its thresholds now if that takes a moment, else a sentence says so."""
        known = self.card.calibration
        if known is not None and (known.scores or self.card.parameters >= TOY):
            return
        if self.card.parameters < TOY:
            try:
                calibration.calibrate(self, lambda *_: report("Calibrating", 0, 0), calibration.QUICK, costs=False)
            except UnderhillError as e:
                if e.kind is not Kind.DISK_ERROR:  # a store that cannot be written to still runs
                    self.close()
                    raise
                self.note(e.sentence)
            except BaseException:
                self.close()
                raise
        elif not self.exact:
            self.note("T1 and T2 are those published for Mixtral until this model's own have been found.")

    def doing(self, sentence: str) -> None:
        """What it does while nobody asks; '' for nothing. The card says so."""
        self.card = dataclasses.replace(self.card, doing=sentence)

    def note(self, sentence: str) -> None:
        """A sentence on how it runs, beside those of the plan."""
        self._notes.append(sentence)
        self.replanned()

    def replanned(self) -> None:
        """The plan says something else now."""
        idle = settings.idle(self.settings, settings.ENGINE)
        said = (*self.plan.sentences, *self._notes, self.ahead.note, *idle)
        self.card = dataclasses.replace(self.card, plan=tuple(filter(None, said)))

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
            holding(dense, self.runtime.native),  # type: ignore[arg-type]
            torch.float32 if dense == "f32" else torch.bfloat16,
        )
        decoder.most_tokens = self.plan.context
        if self.runtime.native is not None and not decoder.native_layers:
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
        thinking: bool | None = None,
    ) -> Stats:
        """Answer a chat. What it has in common with the last one is not read again. thinking: as in chat.fit.

        Raises UnderhillError: CONTEXT_FULL when the last message alone is too long; BROKEN_FILE or DISK_ERROR when an
        expert cannot be read, after which the session stays usable.
        """
        if not messages:
            raise UnderhillError(Kind.BAD_REQUEST, "There is nothing to answer.", "Write a message first.")
        prompt = fit(
            self.chat,
            messages,
            self.context.limit,
            sampling.max_tokens,
            continue_last=continue_last,
            thinking=thinking,
        )
        listener.turns_dropped(prompt.dropped)
        before = self.counters()
        self.speed_check.answering()
        following = self._watcher.following(listener)
        with damage.explained(self.store.path), self._watcher.answering(), self._interrupted_by(listener):
            result = answer(
                self.context, self.chat, prompt, sampling, stop_texts, following, self._watcher.token, self._prompt_read
            )
            self.warm.answered(self.counters().activations)
            stats = self._stats(result, len(prompt.ids), prompt.dropped, before)
        self.speed_check.answered(stats)
        return stats

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

    def _stats(self, result: Answer, prompt_tokens: int, dropped: int, before: Counters) -> Stats:
        after = self.counters()
        return Stats(
            text=result.text,
            token_ids=tuple(result.token_ids),
            finish=result.finish,
            prompt_tokens=prompt_tokens,
            reused_tokens=result.reused,
            dropped_turns=dropped,
            prompt_seconds=result.prompt_seconds,
            decode_seconds=result.decode_seconds,
            hits=after.hits - before.hits,
            misses=after.misses - before.misses,
            bytes_read=after.bytes_read - before.bytes_read,
            precision={key: n - before.precision.get(key, 0) for key, n in after.precision.items()},
            peak_rss=probe.peak_rss(),
            thinking_seconds=result.thinking_seconds,
            why=self._watcher.why(len(result.token_ids) - 1, result.decode_seconds),
        )

    def logits(self, ids: Sequence[int], *, one_by_one: bool) -> Tensor:
        """Logits [T, V] after each token of a sequence of its own."""
        return self.context.score(ids, one_by_one=one_by_one)

    # ---- settings ---------------------------------------------------------------------------------------------

    @property
    def sentences(self) -> tuple[str, ...]:
        """How it runs here now."""
        short = self._room.sentence
        return (*self.card.plan, short) if short else self.card.plan

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
                    Kind.BAD_REQUEST, f"{s.label} takes effect when the model is loaded.", "Load it again."
                )
        thresholds = self._thresholds_for(wanted)
        plan = self._new_plan(wanted)
        ahead = self.ahead.wanted
        weights = [policy_weights.in_force(self.store.path, values) for values in (self.settings, wanted)]
        self.context.bound(plan.context, plan.chunk)
        self._room.plan(
            share_of(plan, self.facts, wanted["cache_fraction"]),
            lambda capacity: self.runtime.set_tier(plan.tier, capacity),
        )
        if self.settings["remember_routing"] and not wanted["remember_routing"]:
            self.warm.forget()
        self.settings, self.plan = wanted, plan
        self.speed_check.begin()
        self._spare_memory()
        self._set_thresholds(thresholds)
        if weights[0] != weights[1]:
            self.runtime.reweigh(weights[1])
        if self.ahead.wanted != ahead:
            self.ahead.begin()
        self.replanned()
        return dict(self.settings)

    def _rows_coming(self) -> int:
        """Bytes of the context's rows that there is room for and nothing written to: not resident yet."""
        room = self.context.rows_with(0) or 0
        return max(0, room - len(self.context.tokens) * self.facts.per_token(self.plan.dense))

    @property
    def lent_context(self) -> int:
        """Bytes planned for the context that experts have for now."""
        return self._room.unused

    def _begin_pass(self, ids: Sequence[int], position: int) -> None:
        self._room.computing(len(ids), lambda: self.context.rows_with(len(ids)))
        self.runtime.begin_pass(ids, position)

    def _spare_memory(self) -> None:
        """Where little is spare a prompt must leave no holes in the heap, which makes it slower by up to a fifth."""
        if self.plan.spare < HEAP_HOLES:
            keep_heap_small()

    def _new_plan(self, wanted: Mapping[str, Any]) -> planning.Plan:
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
        return planning.make_plan(machine, self.facts, wanted, in_use, opened)

    def _held(self) -> int:
        """Bytes that this model holds now and that a new plan for it gives out again."""
        return self.runtime.cache.nbytes + self.facts.dense_bytes[self.plan.dense] + self.context.nbytes

    def _thresholds_for(self, chosen: Mapping[str, Any]) -> Thresholds:
        """T1 and T2 of the dial, or those chosen by hand. Under Exact there are none to choose."""
        dial = calibration.thresholds_of(self.store.path, str(chosen["dial"]))
        if dial.exact:
            return dial
        low, high = chosen["t1"], chosen["t2"]
        if low is None:
            low = dial.t1 if high is None else min(dial.t1, float(high))
        if high is None:
            high = max(dial.t2, float(low))
        return Thresholds(float(low), float(high))

    def _set_thresholds(self, thresholds: Thresholds) -> None:
        """Put them in force; but where every expert fits in memory a coarse one saves nothing after its first use."""
        by_hand = self.settings["t1"] is not None or self.settings["t2"] is not None
        self.thresholds = EXACT if self.all_in_memory and not by_hand else thresholds
        self.runtime.set_thresholds(self.thresholds)

    def _apply_dial(self) -> None:
        self._set_thresholds(self._thresholds_for(self.settings))

    # ---- watching ---------------------------------------------------------------------------------------------

    def counters(self) -> Counters:
        """Hits, misses, bytes and precision since the model was loaded."""
        return self.runtime.snapshot()

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
    def observing(self, observer: Observer) -> Iterator[None]:
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


def measure(store: Store) -> Machine:
    """This computer, with the disk that holds the store."""
    return machine_at(largest_file(store))
