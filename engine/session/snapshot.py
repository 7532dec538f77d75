"""Snapshots for the live panels: a few counters, and the matrices only while a panel shows them."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from engine.experts.keys import ExpertKey
from engine.experts.telemetry import COARSE, GATE, SKIPPED, ExpertTelemetry, Matrix
from engine.generation.answer import Listener
from engine.generation.messages import ExpertFacts, Look, MemoryUse, Snapshot
from engine.hardware import probe
from engine.hardware.load import LoadWatch
from engine.library.fit_estimates import divided
from engine.planning.speed import IN_CACHE
from engine.session.bottleneck import Pace, why
from engine.session.loaded_model import LoadedModel
from engine.translatable import NO_TEXT, Translatable, msg

WINDOW = 2.0  # seconds over which speeds are taken
HELD_FOR = 1.0  # seconds over which the processor's load by other programs is averaged
MAPS_EVERY = 1.75  # pulses, at least, between two snapshots with matrices while an answer is made: most of the work


class Rate:
    """Change per second of a counter over the last WINDOW seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def add(self, value: float, now: float) -> float:
        """Note the counter's value now; returns its rate (0 until there are two values)."""
        self._seen.append((now, value))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        (t0, v0), (t1, v1) = self._seen[0], self._seen[-1]
        return (v1 - v0) / (t1 - t0) if t1 > t0 else 0.0


class Watcher:
    """Reads the runtime's counters for the panels; counts tokens and their speed."""

    def __init__(
        self, model: LoadedModel, *, ahead: Callable[[], Translatable], memory: Callable[[int], MemoryUse]
    ) -> None:
        """ahead: says how well prefetching does. memory: divides the bytes of
        this process by what they are used for."""
        self._model, self._runtime = model, model.runtime
        self._ahead, self._memory = ahead, memory
        self._tokens = 0
        self._card_rates = Rate(), Rate(), Rate()
        self._prompt_rate = self._answer_rate = 0.0
        self._reading = self._generating = False
        # Counters are read from the thread of the panels while `answering`, on that of the model, replaces the rates.
        self._lock = threading.Lock()
        self._last: tuple[object, ...] = ()
        self._mapped = Look(), -math.inf  # what was looked at when matrices were told last, and when
        self._rates = tuple(Rate() for _ in range(4))
        self._load, self._others = LoadWatch(), 0.0
        self._answering = LoadWatch()  # since the answer itself began

    def answer_begins(self, *, first: bool) -> None:
        """An answer begins. first: none is being made beside it."""
        if first:
            self._runtime.telemetry.begin_answer()
            with self._lock:
                self._rates = tuple(Rate() for _ in range(4))
            self._prompt_rate = self._answer_rate = self._others = 0.0
            self._load.again()
        self._reading = self._generating = True

    def answer_ended(self, *, left: int) -> None:
        """An answer has ended. left: those that are still being made."""
        self._generating = left > 0
        self._reading = self._reading and self._generating

    def following(self, listener: Listener) -> Listener:
        """The same listener; its calls on the prompt are noted here as well."""
        return _Following(self, listener)

    def prompt_read(self, tokens: int, seconds: float) -> None:
        """So many tokens of the prompt took so long."""
        self._prompt_rate = tokens / seconds if seconds > 0 else 0.0

    def tokens(self, count: int) -> None:
        """So many tokens were decoded, in one pass."""
        self._tokens += count
        self._reading = False

    def snapshot(self, look: Look) -> Snapshot | None:
        """A snapshot; None while nothing has changed since the last one.

        While an answer is made, only every other one tells of experts, unless something else is looked at than before.
        """
        runtime, plan = self._runtime, self._model.plan
        counters, cache = runtime.telemetry.shown, runtime.cache
        with self._lock:
            hits, misses, held = counters.hits, counters.misses, cache.nbytes
            rates = self._prompt_rate, self._answer_rate
            state = (self._generating, self._tokens, rates, hits, misses, held, cache.capacity, plan, look)
            if state == self._last:
                return None
            self._last = state
            now = time.monotonic()
            tokens, read, missed, waited = self._flow(counters, now)
            look = self._due(look, now)
        waiting = min(1.0, waited)
        self._note_load()
        ahead = runtime.prefetch.stats if runtime.prefetch is not None else None
        answer, uses = counters.used() if look.maps else ((), ())
        taken = probe.rss()
        residency, places = self._residency() if look.maps else ((), ())
        share, crossed = self._card(now) if self._generating else (0.0, 0.0)
        return Snapshot(
            activations=answer,
            residency=residency,
            layer_names=counters.layers,
            hits=hits,
            misses=misses,
            bytes_read=counters.bytes_read,
            precision=counters.ran,
            tokens=self._tokens,
            tokens_per_second=tokens,
            disk_bytes_per_second=read,
            cache_bytes=held,
            cache_capacity=cache.capacity,
            rss=taken,
            generating=self._generating,
            why=why(self._pace(tokens, waiting, read, missed)) if self._generating else msg("Idle"),
            uses=uses,
            gates=counters.mean_gates() if look.maps else (),
            places=places,
            expert=self._facts(*look.expert) if look.expert is not None else None,
            foreseen=ahead.used - ahead.joined if ahead is not None else 0,
            foreseen_late=ahead.joined if ahead is not None else 0,
            prompt_tokens_per_second=self._prompt_rate,
            answer_tokens_per_second=0.0 if self._generating else self._answer_rate,
            waiting=waiting,
            memory=self._memory(taken),
            ahead=self._ahead(),
            card=share,
            link_bytes_per_second=crossed,
        )

    def _flow(self, counters: ExpertTelemetry, now: float) -> tuple[float, float, float, float]:
        """Tokens, bytes read, misses and time waited per second; 0 while no answer is made. The lock is held."""
        values = self._tokens, counters.bytes_read, counters.misses, counters.waited
        tokens, read, missed, waited = (rate.add(value, now) for rate, value in zip(self._rates, values))
        return (tokens, read, missed, waited) if self._generating else (0.0, 0.0, 0.0, 0.0)

    def _due(self, look: Look, now: float) -> Look:
        """What to tell of now: no matrices, where they were told just before. The lock is held."""
        # MAPS_EVERY lies between one and two pulses: so it is every other one, however late each comes.
        if self._generating and look == self._mapped[0] and now - self._mapped[1] < MAPS_EVERY * look.pulse:
            return Look()
        self._mapped = look, now
        return look

    def _note_load(self) -> None:
        """How much of the processor other programs take, averaged over HELD_FOR."""
        if self._load.seconds >= HELD_FOR:
            self._others = self._load.load.others
            self._load.again()

    def _residency(self) -> tuple[Matrix, Matrix]:
        """Of every expert the finest tier that is held, and where: 2 on a graphics card, 1 in memory, 0 on disk."""
        counters, held, card = self._runtime.telemetry.shown, self._runtime.cache.residency(), self._runtime.card
        there = {} if card is None else card.held.tiers
        finest = {key: max(held.get(key, 0), there.get(key, 0)) for key in (*held, *there)}
        return counters.matrix(finest), counters.matrix({key: 2 if key in there else 1 for key in finest})

    def _card(self, now: float) -> tuple[float, float]:
        """Share of the experts of late that the card computed, and bytes a second that crossed to it."""
        card = self._runtime.card
        if card is None:
            return 0.0, 0.0
        values = card.ran, sum(self._runtime.telemetry.shown.precision[1:]), card.sent
        there, everywhere, crossed = (rate.add(value, now) for rate, value in zip(self._card_rates, values))
        return (min(1.0, there / everywhere) if everywhere else 0.0), crossed

    def decoding(self) -> tuple[float, float, float]:
        """A prompt is read; what comes now is its answer. Returns what `why` is to be told of this moment."""
        self._answering.again()
        return self._cost()

    def why(self, tokens: int, seconds: float, since: tuple[float, float, float]) -> Translatable:
        """What limited the speed of an answer since `decoding`; empty where nothing was decoded."""
        if tokens < 1 or seconds <= 0:
            return NO_TEXT
        self._answer_rate = tokens / seconds
        self._others = self._answering.load.others
        read, missed, waited = (now - was for now, was in zip(self._cost(), since))
        return why(self._pace(tokens / seconds, min(1.0, waited / seconds), read / seconds, missed / seconds))

    def _cost(self) -> tuple[float, float, float]:
        counters = self._runtime.telemetry.shown
        return counters.bytes_read, counters.misses, counters.waited

    def _pace(self, tokens: float, waiting: float, read: float, missed: float) -> Pace:
        plan, facts, machine = self._model.plan, self._model.facts, self._model.machine
        dense = facts.dense_bytes[plan.dense]
        a_token = dense - facts.looked_up_bytes.get(plan.dense, 0)
        a_token += facts.experts_per_token * facts.moe_layers * facts.record_bytes[plan.tier]
        small = facts.expert_bytes[plan.tier] + dense <= IN_CACHE
        return Pace(
            prompt=self._reading,
            tokens=tokens,
            prompt_tokens=self._prompt_rate,
            waiting=waiting,
            read=read,
            misses=missed,
            weights=0 if small else a_token,
            memory=machine.memory_rate,
            others=self._others,
        )

    def _facts(self, layer: int, expert: int) -> ExpertFacts | None:
        """None where there is no such expert (another model was opened)."""
        runtime = self._runtime
        counters, cache, key = runtime.telemetry.shown, runtime.cache, ExpertKey(layer, expert)
        if layer not in counters.layers or not 0 <= expert < len(counters.uses(layer)):
            return None
        row, notes = counters.layers.index(layer), counters.notes(layer)[expert].tolist()
        on_card = 0 if runtime.card is None else runtime.card.held.tier(key)
        tier = max(cache.tier(key), on_card)
        layout = self._model.store.spec(layer, expert).layout
        stored = layout.bytes_for(self._model.store.spec(layer, expert).top)
        return ExpertFacts(
            layer=layer,
            expert=expert,
            uses=counters.uses(layer)[expert],
            answer=counters.times(key),
            gate=notes[GATE],
            mean_gate=counters.mean_gates()[row][expert],
            coarse=int(notes[COARSE]),
            skipped=int(notes[SKIPPED]),
            tier=tier,
            place=2 if on_card else int(tier > 0),
            coming=runtime.pending.pending_tier(key),
            nbytes=layout.bytes_for(tier) if tier else 0,
            stored=stored,
        )


class _Following:
    """Listener of an answer that passes everything on."""

    def __init__(self, watcher: Watcher, listener: Listener) -> None:
        self._watcher, self._start = watcher, time.monotonic()
        self.turns_dropped, self.text, self.cancelled = listener.turns_dropped, listener.text, listener.cancelled
        self._prompt_read = listener.prompt_read

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        """So many prompt tokens are read."""
        self._watcher.prompt_read(done - reused, time.monotonic() - self._start)
        self._prompt_read(done, total, reused)


def memory_now(model: LoadedModel, taken: int, before: int, lent: int) -> MemoryUse:
    """What the memory of this program is used for while it has `taken` bytes in all. From any thread.

    before: bytes that it had before the model was opened. lent: bytes planned for the context that experts have for
    now. What is neither of `before`, nor weights, rows or experts, counts as for computing. Capacity of the cache that
    is not written to yet is not taken.
    """
    plan, facts, cache = model.plan, model.facts, model.runtime.cache
    use = divided(
        taken,
        plan.ceiling,
        base=before + probe.served(),
        dense=model.other_bytes,
        context=model.context.written,
        cached=cache.nbytes,
        capacity=cache.capacity,
        due=plan.context * plan.row_bytes + facts.state_bytes + plan.workspace + plan.mtp - model.mtp_bytes - lent,
    )
    card = model.runtime.card
    return use if card is None else replace(use, device=card.held.capacity, device_cached=card.held.nbytes)
