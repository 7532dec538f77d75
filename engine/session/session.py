"""One model, loaded under a plan: chats in, answers out, and what it took."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.generation import model_files
from engine.generation.answer import AnswerWriter, Listener
from engine.generation.chat import ChatFormat, fit
from engine.generation.messages import FREE, AnswerOptions, Look, MemoryUse, Message, Snapshot, Stats, TokenLogprob
from engine.generation.sampling import Sampling
from engine.hardware import graphics, probe
from engine.hardware.machine import Machine
from engine.library import damage, dials, library
from engine.library.computer import machine_at
from engine.library.dials import Calibration
from engine.library.facts import coarse_bits, largest_file, model_facts, spec_of
from engine.library.listing import BUILTIN
from engine.library.speed_record import planned
from engine.models.vision.tokens import has_pictures
from engine.native.library import kernels_in_use
from engine.native.memory import forget_code, keep_heap_small
from engine.planning import offload
from engine.planning import plan as planning
from engine.planning.facts import ModelFacts
from engine.planning.fit import Recommended, dial_speeds, fit_of
from engine.planning.plan import Plan
from engine.session.cache_budget import CacheBudget, PressureWatch, share_of
from engine.session.card_session import CardSession
from engine.session.card_speed import CardSpeed
from engine.session.loaded_model import LoadedModel, opened_card
from engine.session.prefetch_choice import PrefetchChoice
from engine.session.session_answers import SessionAnswer, SessionAnswers
from engine.session.snapshot import Watcher, memory_now
from engine.session.speed_check import SpeedCheck
from engine.session.stats import log_answered, log_opened
from engine.session.thresholds import thresholds_for
from engine.session.warm_start import WarmStart
from engine.store.reader import Store
from engine.store.verify import check_small_files
from engine.translatable import NO_TEXT, Translatable, msg

_log = logging.getLogger(__name__)

# Bytes that prompts may leave in the heap as holes between blocks. Where a plan leaves less memory unused than that,
# the allocator is told to return memory at once, which makes a prompt slower by up to a fifth.
HEAP_HOLES = 500_000_000
CHAT_ALONE = msg("The cache policy only sees the open chat: “Remember expert use” is off.")
NOTHING = Look()
SPARE_TOKENS = 256  # of context beyond those in use that a lower memory limit leaves, for an answer to come to its end
Report = Callable[[Translatable, int, int], None]


def quiet(phrase: Translatable, done: int, total: int) -> None:
    """Report nothing."""


def _limit_heap(plan: Plan) -> None:
    if plan.spare < HEAP_HOLES:
        keep_heap_small()


class Session(LoadedModel):
    """An open model that answers. One thread uses it; `snapshot`, `beat` and `sentences` may be called from any.

    answers: those that are being made.

    on_notice: called with a sentence, on a thread of its own, when the system's memory changes what the cache may hold,
    and with '' when only `sentences` have changed.
    """

    def __init__(self, store: Store, chosen: Mapping[str, Any], report: Report = quiet) -> None:
        """Use `open`. Takes over the store."""
        report(msg("Measuring this computer"), 0, 0)
        model_files.PROCESS.warm()  # it starts while the computer is measured
        forget_code()  # importing left 75 MB, and measuring takes as much again
        machine = machine_at(largest_file(store))
        spec, card = spec_of(store), library.card(store.path)
        facts = model_facts(store, card, spec)
        facts = dataclasses.replace(facts, low=coarse_bits(facts, chosen))
        chat = ChatFormat(store.path)
        self._base = probe.program()
        self.bytes_before = self._base - probe.served()  # of this process, before it opened a model
        facts, plan = planned(store.path, machine, facts, chosen, self._base)
        if not plan.direct and store.io_mode == "direct":
            store.read_through_cache()
        # Before the weights come: mallopt counts for blocks that are allocated from then on.
        _limit_heap(plan)
        self._context_planned = plan.context
        report(msg("Loading model"), 0, 0)
        super().__init__(
            store, spec, chosen, machine=machine, card=card, facts=facts, plan=plan, chat=chat,
            begin_pass=self._begin_pass,
        )  # fmt: skip
        self.card = opened_card(card, chat, dials.at(store.path, self.low))
        self.on_notice: Callable[[Translatable], None] = lambda notice: None
        self.card_mode = CardSession(self, self._card_lost)
        try:
            self.speed_check = SpeedCheck(self, self._speed_judged)
            self.card_speed = CardSpeed(self, self.card_mode.mode)
            self._sequences = Sequences()
            self.warm = WarmStart(self, self.card_mode.mode)
            self.ahead = PrefetchChoice(self)
            self.ahead.begin()
        except BaseException:
            self.card_mode.close()
            self.end()
            raise
        self.cache_budget = self._make_cache_budget(chosen["cache_fraction"])
        self.cache_budget.computing(1, lambda: self.context.rows)
        self._watcher = Watcher(self, ahead=self.ahead.sentence, memory=self.memory_use)
        self.answers = SessionAnswers(self, self._watcher, self.warm)
        forget_code()  # what opening needed
        self._pressure = PressureWatch(self.cache_budget)
        self._closed = False
        for note in (store.io_note, kernels_in_use(self.plan.threads)):
            if note:
                self.notes.append(note)
        self.replanned()

    def _make_cache_budget(self, fraction: object) -> CacheBudget:
        """fraction: of all experts, at most, that the cache may hold; None where nothing was set."""
        return CacheBudget(
            share_of(self.plan, self.facts, fraction),
            lambda: self.runtime.cache.nbytes,
            self.runtime.set_capacity,
            lend=self.runtime.lend,
            said=lambda notice: self.on_notice(notice),
            written=lambda: self.context.rows_written,
            refusals=lambda: self.runtime.cache.refusals,
        )

    @classmethod
    def open(
        cls,
        model: str,
        chosen: Mapping[str, Any] | None = None,
        report: Report = quiet,
        prepare: Callable[[Session, Report], None] = lambda session, report: None,
    ) -> Session:
        """Open 'builtin', a name of the library, a store or a checkpoint (which is imported first).

        A built-in model whose store turns out to be damaged is imported again, and its card's plan says so.
        chosen: values of settings.ENGINE. prepare: done before the session is returned; where it raises, the session is
        closed. Raises UnderhillError.
        """
        checked = settings.validated(chosen or {}, settings.ENGINE)
        offload.demand(str(checked["mode"]), graphics.gpus)
        path = library.prepare(model, report)
        try:
            with damage.explained(path):
                return cls._opened(path, checked, report, prepare)
        except UnderhillError as e:
            if path != library.location(BUILTIN) or e.kind not in (Kind.BROKEN_FILE, Kind.MISSING_FILE):
                raise
        # no user could import this one again; from outside the handler, so that nothing of the first try is held
        session = cls._opened(library.renew_builtin(report), checked, report, prepare)
        session.note(msg("The built-in model was damaged and has been rebuilt."))
        return session

    @classmethod
    def _opened(
        cls, path: Path, checked: Mapping[str, Any], report: Report, prepare: Callable[[Session, Report], None]
    ) -> Session:
        store = Store.open(path, str(checked["direct_io"]))
        try:
            check_small_files(store)
            session = cls(store, checked, report)
        except BaseException:
            store.close()
            raise
        log_opened(session)
        try:
            prepare(session, report)
        except BaseException:
            session.close()
            raise
        return session

    def doing(self, sentence: Translatable) -> None:
        """Show on the card what it does while idle; '' for nothing."""
        self.card = dataclasses.replace(self.card, doing=sentence)

    def note(self, sentence: Translatable) -> None:
        """A sentence on how it runs, beside those of the plan."""
        self.notes.append(sentence)
        self.replanned()

    def replanned(self) -> None:
        """The plan says something else now."""
        idle = settings.idle(self.settings, settings.ENGINE)
        alone = self.settings["policy"] == "activation" and not self.settings["remember_routing"]
        said = (*self.plan.sentences, *self.notes, self.ahead.note, CHAT_ALONE if alone else NO_TEXT, *idle)
        here = dataclasses.replace(
            fit_of(self.plan, self.facts), dials=dial_speeds(self.machine, self.facts, self.plan)
        )
        self.card = dataclasses.replace(self.card, plan=tuple(filter(None, said)), fit=here)

    # ---- answering --------------------------------------------------------------------------------------------

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        stop_texts: Sequence[str],
        listener: Listener,
        **more: Any,
    ) -> Stats:
        """As `begin`, to the end of the answer; others that are being made go on meanwhile.

        Raises UnderhillError as `begin` does, and BROKEN_FILE or DISK_ERROR when an expert cannot be read, after which
        the session stays usable.
        """
        made = self.begin(messages, sampling, stop_texts, listener, **more)
        while not made.over:
            self.answers.advance()
        return made.result()

    def begin(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        stop_texts: Sequence[str],
        listener: Listener,
        *,
        continue_last: bool = False,
        thinking: bool | str | None = None,
        chat: str = "",
        options: AnswerOptions = FREE,
        on_logprob: Callable[[TokenLogprob], None] = lambda one: None,
        background: bool = False,
        apart: bool = False,
        ended: Callable[[SessionAnswer], None] = lambda made: None,
    ) -> SessionAnswer:
        """Begin to answer a chat, beside the answers that are being made: `answers.advance` makes all of them.

        What it has in common with one that was answered before is not read again. thinking: as in chat.fit. chat:
        which one it is, by any name; where the name is another than the last time, a new sequence begins (Sequences).
        background: it leaves a place for one that is not, and has a sequence beside the chat's. apart: so, too, with a
        sequence that has seen nothing; and nothing is learnt of it. on_logprob: as of AnswerWriter. ended: called once
        it is over.

        Raises UnderhillError: CONTEXT_FULL when the last message alone is too long; BUSY without a place for it.
        """
        if not messages:
            raise UnderhillError(Kind.BAD_REQUEST, msg("Nothing to answer."), msg("Write a message first."))
        constraint = self.chat.constraint(options)
        prompt = fit(
            self.chat, messages, self.context.limit, sampling.max_tokens,
            continue_last=continue_last, thinking=thinking, options=options,
        )  # fmt: skip
        listener.turns_dropped(prompt.dropped)
        writer = AnswerWriter(
            self.chat, prompt, sampling, stop_texts, listener, constraint=constraint, logprobs=options.logprobs,
            on_logprob=on_logprob,
        )  # fmt: skip

        def over(made: SessionAnswer) -> None:
            if not apart:
                self._answered(made, continue_last)
            ended(made)

        def prompt_done(made: SessionAnswer) -> None:
            if not apart:
                self._prompt_read(made)

        first = not self.answers.running
        made = self.answers.begin(
            writer, listener, background=background or apart, fresh=apart, prompt_done=prompt_done, ended=over,
        )  # fmt: skip
        # What the policy noted of one sequence serves all that are answered together.
        if self._sequences.begins(chat, messages) and first:
            self.runtime.begin_sequence()
        if first and not apart:
            self.speed_check.answering()
            self.card_speed.answering()
        return made

    def _answered(self, made: SessionAnswer, continue_last: bool) -> None:
        result = made.running.answer
        if made.running.alone and made.running.error is None and made.stats is not None:
            # With others beside it, their experts and their time would count as its own.
            self._sequences.answered(result.text, result.token_ids, continue_last=continue_last)
            self.warm.answered(self.counters().activations)
            usual = not has_pictures(made.running.writer.prompt.ids)  # behind some, torch computes the tokens
            if usual:
                self.speed_check.answered(made.stats)
            if usual and self.card_speed.answered(made.stats):
                self._speed_judged(NO_TEXT)
        if made.running.error is None and made.stats is not None:
            log_answered(made.stats)

    def _prompt_read(self, made: SessionAnswer) -> None:
        if made.running.alone:
            seen = self.counters()
            self.speed_check.prompt_read(seen)
            self.warm.prompt_read(seen.activations)

    # ---- settings ---------------------------------------------------------------------------------------------

    @property
    def sentences(self) -> tuple[Translatable, ...]:
        """How it runs here now."""
        short = self.cache_budget.sentence
        return (*self.card.plan, short) if short else self.card.plan

    def update(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change live settings, between two tokens if need be; returns all in force.

        Raises UnderhillError, then nothing is changed: BAD_REQUEST, OUT_OF_MEMORY for a ceiling that cannot hold.
        """
        wanted = settings.validated({**self.settings, **changes}, settings.ENGINE)
        for s in settings.ENGINE:
            if not s.live and wanted[s.name] != self.settings[s.name]:
                needed = msg("Reload the model to apply {label}.", label=s.label)
                raise UnderhillError(Kind.BAD_REQUEST, needed, msg("Reload it."))
        switched = (wanted["mode"], wanted["card"]) != (self.settings["mode"], self.settings["card"])
        if switched:
            offload.demand(str(wanted["mode"]), lambda: self.machine.gpus)
        thresholds = thresholds_for(self.store.path, wanted)
        facts = dataclasses.replace(self.facts, low=coarse_bits(self.facts, wanted))
        plan = self._new_plan(wanted, facts, switched=switched)
        ahead = self.ahead.wanted
        self.context.bound(plan.context, plan.chunk)
        self.cache_budget.plan(
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
        if switched:
            self.card_mode = self.card_mode.opened_again()
            self.card_speed = CardSpeed(self, self.card_mode.mode)
            self.warm.use_card(self.card_mode.mode)
        self.apply_kv_dtype()
        self.speed_check.begin()
        _limit_heap(self.plan)
        self.apply_thresholds(thresholds)
        self.apply_policy_weights()
        if self.ahead.wanted != ahead:
            self.ahead.begin()
        self.replanned()
        return dict(self.settings)

    def _begin_pass(self, ids: Sequence[int], position: int) -> None:
        known, place, image = self.facts.vocabulary, self.chat.pictures.place, has_pictures(ids)
        if place is not None:  # what stands for pictures is told as the token that the template has for them
            ids = [place if one < 0 else one for one in ids]
        if known and max(ids) >= known:
            found = msg("The tokenizer doesn't match the model: token {ids} of {known}.", ids=max(ids), known=known)
            raise UnderhillError(Kind.BROKEN_FILE, found, msg("Import the model again with its own tokenizer."))
        self.cache_budget.computing(len(ids), lambda: self.context.rows_coming, image=image)
        self.runtime.begin_pass(ids, position)

    def _new_plan(self, wanted: Mapping[str, Any], facts: ModelFacts, *, switched: bool) -> Plan:
        """For what is open now. Bytes that this model holds are given out again; those for computing may lie in the
        allocator's hands, which counts as theirs. switched: another device is to compute.
        """
        machine, in_use = self._machine_without()
        tokens = min(self._context_planned, self.context.needed + SPARE_TOKENS)
        dense, packed = self.plan.dense, self.plan.packed
        held = self.context.nbytes
        opened = planning.Opened(dense, self._context_planned, tokens, held, packed=packed, mtp=self.plan.mtp)
        if switched:
            return offload.make_plan_with_card(machine, facts, wanted, in_use, opened)
        return offload.carried_over(planning.make_plan(machine, facts, wanted, in_use, opened), self.plan)

    def recommended(self) -> Recommended:
        """Values of settings that nobody need choose, as Underhill chooses them now. From any thread."""
        machine, in_use = self._machine_without()
        values = {**self.settings, "memory_gb": None, "cache_fraction": None, "context_length": None}
        plan = offload.carried_over(planning.make_plan(machine, self.facts, values, in_use), self.plan)
        share = fit_of(plan, self.facts).share
        return Recommended(plan.ceiling, machine.memory.limit, context=plan.context, cache_fraction=share)

    def _machine_without(self) -> tuple[Machine, int]:
        """This computer as if the model's memory were free, and the bytes of this process that stay."""
        held = self._held()
        others = probe.rss() - held
        computing = self.plan.workspace + self.plan.chunk * self.facts.token_bytes
        in_use = max(0, min(others, max(self._base, others - computing)))
        return dataclasses.replace(self.machine, memory=probe.memory().plus(held + others - in_use)), in_use

    def _held(self) -> int:
        """Bytes that this model holds now and that a new plan for it gives out again."""
        return self.runtime.cache.nbytes + self.other_bytes + self.context.nbytes

    # ---- watching ---------------------------------------------------------------------------------------------

    def counters(self) -> Counters:
        """Hits, misses, bytes and precision since the model was loaded."""
        return self.runtime.snapshot()

    def beat(self) -> int:
        """Another number once it has computed or read any further. From any thread."""
        seen = self.counters()
        return seen.hits + seen.misses + seen.bytes_read

    def memory_use(self, taken: int) -> MemoryUse:
        """What the memory of this process is used for while it has `taken` bytes. From any thread."""
        return memory_now(self, taken, self.bytes_before, self.cache_budget.unused)

    def snapshot(self, look: Look = NOTHING) -> Snapshot | None:
        """For the live panels, from any thread; None while nothing has changed since the last one."""
        return self._watcher.snapshot(look)

    def _speed_judged(self, sentence: Translatable) -> None:
        """Its real speed was compared with the plan's; '' where nothing needs to be said."""
        self.replanned()
        if sentence:
            _log.info("%s", sentence)
        self.on_notice(NO_TEXT)

    def _card_lost(self, sentence: Translatable) -> None:
        """The card computes no more: the answer goes on, and this is said once."""
        self.replanned()
        self.on_notice(sentence)

    def calibrated(self, found: Calibration) -> None:
        """T1, T2 or what they cost were measured: they are in force, and the card says so."""
        self.card = dataclasses.replace(self.card, calibration=found)
        self.apply_thresholds(thresholds_for(self.store.path, self.settings))
        self.ahead.begin()
        self.replanned()

    def close(self) -> None:
        """Release everything. Safe to call twice."""
        if not self._closed:
            self._closed = True
            # First the thread that changes the cache, then what it would change.
            self._pressure.close()
            self.warm.save()
            self.card_mode.close()
            self.end()
            self.store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Sequences:
    """Remembers what was asked last, and how it was answered.

    A sequence goes on while the same chat does: its next question, the rest of an answer that was cut, another answer
    to the same question. Another chat begins one, and so does a branch of this one: a message (the system prompt
    included) that is not the one it was, or an answer other than the one that was given. How much of it the context
    still holds has no part in it: chats share a template's first tokens, and turns that no longer fit are left out.
    """

    def __init__(self) -> None:
        self._chat = ""
        self._asked: tuple[Message, ...] = ()
        self._answer: Message | None = None

    def begins(self, chat: str, messages: Sequence[Message]) -> bool:
        """Whether a sequence begins with these messages of a chat. They are what was asked last from now on."""
        goes_on = chat == self._chat and self._goes_on(messages)
        self._chat, self._asked, self._answer = chat, tuple(messages), None
        return not goes_on

    def _goes_on(self, messages: Sequence[Message]) -> bool:
        known = self._asked
        if not known or len(messages) < len(known) or not all(map(_same, known, messages)):
            return False
        coming = messages[len(known) :]
        return self._answer is None or not coming or coming[0].role != "assistant" or _same(self._answer, coming[0])

    def answered(self, text: str, token_ids: Sequence[int], *, continue_last: bool = False) -> None:
        """The answer to what was asked last, as far as it came. continue_last: it went on with the last message."""
        before = Message("assistant", "")
        if continue_last:
            before, self._asked = self._asked[-1], self._asked[:-1]
        self._answer = Message("assistant", before.content + text, (*before.token_ids, *token_ids))


def _same(one: Message, other: Message) -> bool:
    if one.role != other.role or one.images != other.images:
        return False
    if one.token_ids and one.token_ids == other.token_ids:
        return True
    return one.content.strip() == other.content.strip()
