"""The cache budget: how many bytes the expert cache may hold while the system's free memory changes."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.hardware import control_groups, own_use, pressure
from engine.hardware.machine import size
from engine.hardware.own_use import OwnUse, Slack
from engine.hardware.pressure import Pressure, Reading
from engine.native.memory import trim_heap
from engine.planning.facts import ModelFacts
from engine.planning.memory_shares import FEW
from engine.planning.plan import Plan
from engine.translatable import NO_TEXT, Translatable, msg

_log = logging.getLogger(__name__)

# Share of the planned capacity below which a sentence says that less is kept: a smaller loss cannot be felt.
FELT = 0.98
AGAIN = 0.9  # share of what was said last, below which it is said once more; keeps small steps from repeating it


@dataclass(frozen=True, kw_only=True)
class Share:
    """What a plan gives an expert cache. Bytes. planned: its capacity; smallest: below which it must not be.

    lent: of these, what it gives back while `chunk` tokens are computed at once; token_bytes: less of it for each less.
    lent_to_image: the same, while an image is read.
    ceiling: on the whole process; None where it is not limited. most: of all experts that are to be kept;
    record: of one. context: planned for the rows of a context; experts have what it does not take yet. row: of these,
    a token's.
    """

    planned: int
    smallest: int
    lent: int = 0
    lent_to_image: int = 0
    chunk: int = 0
    token_bytes: int = 0
    ceiling: int | None = None
    most: int = 0
    record: int = 1
    context: int = 0
    row: int = 0

    def lent_to(self, tokens: int, *, image: bool = False) -> int:
        """What it gives back while so many tokens are computed at once. image: one is among them."""
        to_image = self.lent_to_image if image else 0
        if tokens <= FEW:
            return to_image
        return max(to_image, self.lent - max(0, self.chunk - tokens) * self.token_bytes)

    @property
    def grows(self) -> bool:
        """Whether more memory than planned would be of use."""
        return self.planned < self.most


def share_of(plan: Plan, model: ModelFacts, fraction: object) -> Share:
    """What this plan gives the cache of this model. fraction: of the experts, at most, where that was asked for."""
    whole = model.expert_bytes[plan.tier]
    return Share(
        planned=plan.cache_bytes,
        smallest=plan.smallest_cache,
        lent=plan.lent,
        lent_to_image=plan.lent_to_image,
        chunk=plan.chunk,
        token_bytes=model.token_bytes,
        ceiling=plan.ceiling,
        most=whole if fraction is None else int(whole * float(str(fraction))),
        record=model.record_bytes[plan.tier],
        context=plan.context * plan.row_bytes,
        row=plan.row_bytes,
    )


class CacheBudget:
    """The capacity of an expert cache: what is planned, less while a prompt, the process itself or the system needs the
    memory, and more while others do not take what was planned for them.

    apply: told of every new capacity, on whatever thread changes it; lend: the same, where it is for a prompt or the
    context. said: told in a sentence when it is less than planned, other than for a prompt. Thread-safe.
    """

    def __init__(
        self,
        share: Share,
        held: Callable[[], int],
        apply: Callable[[int], None],
        *,
        lend: Callable[[int], None],
        said: Callable[[Translatable], None],
        written: Callable[[], int] = lambda: 0,
        refusals: Callable[[], int] = lambda: 0,
    ) -> None:
        """held: bytes of the cache now. written: bytes of the context's rows that are written, and so resident.
        refusals: how often the system refused the cache memory so far."""
        self.share = share
        self._held, self._apply, self._lend, self._said, self._written = held, apply, lend, said, written
        self._refusals, self._refused = refusals, 0
        self._state = Pressure()
        self._slack = Slack()
        self.use = OwnUse()
        self._fits: tuple[int | None, int | None] = (None, None)  # below the ceiling: decoding, and in a prompt
        self.lent = 0
        self._granted: int | None = None  # most bytes of cache while other models need the memory; None: not limited
        self._rows: int | None = None  # bytes that the context's rows take; None: not known
        self.due = 0  # of these, the ones that are written once the pass under way is through
        self._many = True  # until a first token was computed it is not known what that takes
        self._announced: int | None = None  # bytes that `said` was last called for, where less than planned fits
        self._blind = self._blind_said = False  # the last look failed; that one did was said
        # Held while a capacity is decided and applied: the watching thread and the thread of the model both do, and
        # without it one would apply a capacity decided on what the other has just changed.
        # First of four, before PendingLoads.layer_lock, ExpertCache.lock and NativeKernel's own: what applies a
        # capacity takes those two. Nothing under them may ask for this one.
        self._lock = threading.Lock()

    @property
    def sentence(self) -> Translatable:
        """What is less than planned, and why; empty where nothing is."""
        if self._blind:
            return msg("Can't read free memory; experts in memory stay as they are.")
        share, fits, limit, kept = self.share, self._fits[False], self._state.limit, self._kept()
        if kept >= FELT * share.planned:
            return NO_TEXT
        if fits is not None and (limit is None or fits < limit):
            return msg(
                "Experts in memory: {kept} instead of {planned}; the app needs more itself.",
                kept=size(kept),
                planned=size(share.planned),
            )
        return msg(
            "Memory is low: {kept} of experts in memory instead of {planned}. Answers are slower.",
            kept=size(kept),
            planned=size(share.planned),
        )

    @property
    def unused(self) -> int:
        """Bytes of the context's that experts have for now."""
        share = self.share
        return 0 if self._rows is None or not share.grows else max(0, share.context - self._rows)

    @property
    def prompt(self) -> bool:
        """Whether a prompt is being computed."""
        return self._many

    def plan(self, share: Share, apply: Callable[[int], None]) -> None:
        """A new plan is in force. apply: makes it so, given the capacity; where it raises, the old one stays."""
        with self._lock:
            before = self.share, self._slack, self._fits
            self.share, self._slack = share, Slack()
            self._fit()
            try:
                apply(self._capacity())
            except BaseException:
                self.share, self._slack, self._fits = before
                raise

    def grant(self, nbytes: int | None) -> None:
        """Of the memory that models share, this one has so many bytes for experts; None: all that is planned."""
        with self._lock:
            before, self._granted = self._granted, nbytes
            try:
                self._fit()
                self._apply(self._capacity())
            except BaseException:
                self._granted = before
                raise

    def computing(self, tokens: int, rows: Callable[[], int | None] = lambda: None, *, image: bool = False) -> None:
        """So many tokens go through the layers at once now. What a prompt was lent comes back with the first token.

        image: one is among them, and read before that.

        rows: bytes that the context's will take then, None where that is not known; asked where experts could use what
        it leaves. They give it back before it is taken.
        """
        share, many = self.share, image or tokens > FEW
        lent = share.lent_to(tokens, image=image)
        if many and lent < self.lent:  # the chunks of a prompt use the same memory
            lent = self.lent
        taken = rows() if share.grows and share.context else None
        # Without the lock, as only this thread ever writes these three: it is asked for every token.
        if (lent, taken, many) == (self.lent, self._rows, self._many):
            return
        if self._many and not many and (self.lent or self._fits[True] is not None):
            # Before the cache is given its memory back: the holes a prompt left in the heap count as taken.
            trim_heap()
        with self._lock:
            before = self._capacity()
            self.lent, self._rows, self._many = lent, taken, many
            self.due = self._written() + tokens * share.row
            self.use = own_use.turned(self.use, many, tokens)
            self._fit()
            if (after := self._capacity()) != before:
                self._lend(after)

    def look(self, read: Callable[[], Reading], now: float) -> None:
        """Follow what the system says. Where that fails, all is as it was, so that the next one repeats it.

        It is read while nothing is lent or given back, so that the process's bytes are of the same moment as the
        cache's: what was read before a prompt took its share would be taken for what the process takes beside it.
        """
        with self._lock:
            seen, share, held = read(), self.share, self._held()
            capacity = self._capacity()
            known = self._slack, self._state, self._refused, self.use, self._fits
            try:
                self._follow(seen, held, now)
                self._state = pressure.decide(self._state, seen, held + self.lent, self.wanted(), share.smallest, now)
                if (refused := self._refusals()) != self._refused:
                    self._refused = refused
                    self._state = pressure.refused(held + self.lent, share.smallest, now)
                if seen.own:
                    written = self._written()
                    self.use = own_use.seen(self.use, seen.own, held, written, max(written, self.due), now)
                    self._fit()
                if self._capacity() != capacity:
                    self._apply(self._capacity())
            except BaseException:
                self._slack, self._state, self._refused, self.use, self._fits = known
                raise
        if self._blind:
            self._blind = False
            self._said(NO_TEXT)
        self._tell()

    def see(self, seen: Reading, now: float) -> None:
        """As `look`, for what was read already."""
        self.look(lambda: seen, now)

    def unseen(self) -> None:
        """A look failed. `sentence` says so until one works again; it is told once."""
        self._blind = True
        if not self._blind_said:
            self._blind_said = True
            self._said(self.sentence)

    def _tell(self) -> None:
        """Say what is less than planned when it gets so, and much less once more; and when it is as planned again."""
        share, sentence, kept = self.share, self.sentence, self._kept()
        if sentence and (self._announced is None or kept < AGAIN * self._announced):
            self._announced = kept
            _log.warning(
                "Short of memory: %.0f MB of experts are kept, %.0f were planned", kept / 1e6, share.planned / 1e6
            )
            self._said(sentence)
        elif not sentence and self._announced is not None:
            self._announced = None
            _log.info("There is memory again: %.0f MB of experts are kept", share.planned / 1e6)
            self._said(msg("Memory is available again: {planned} of experts in memory.", planned=size(share.planned)))

    def _follow(self, seen: Reading, held: int, now: float) -> None:
        """Grow into what is left below the ceiling, but not by what a prompt takes, nor while memory is short."""
        share = self.share
        fits = self._fits[False]
        short = self._state.limit is not None or (fits is not None and fits < share.planned)
        if share.ceiling is None or not share.grows or self._many or short or not seen.own:
            return
        coming = max(0, (self._rows or 0) - self._written())
        beside, before = seen.own - held + coming, self._slack
        after = own_use.follow(
            before, beside, held, planned=self._base(), limit=share.ceiling, record=share.record, now=now
        )
        if after.grown - before.grown > max(0, pressure.spare(seen)):  # other programs have what was free at the start
            after = replace(after, grown=before.grown)
        self._slack = after

    def _fit(self) -> None:
        """What the rest of the process leaves below the ceiling, for the phase that it is in."""
        share = self.share
        if share.ceiling is None:
            self._fits = None, None
            return
        rows = max(self._written(), self.due)
        wanted = self._allowed_by_system() - self.lent
        found = own_use.allowed(self.use, self._fits[self._many], wanted, rows, share.ceiling)
        self._fits = (self._fits[False], found) if self._many else (found, None)

    def _base(self) -> int:
        """What is planned, and what the context leaves, its memory taken as experts take it."""
        share = self.share
        unused = self.unused * own_use.SHARE // (own_use.SHARE + 1) // share.record * share.record
        return share.planned + unused

    def wanted(self) -> int:
        """The capacity if the system had room for it, and nothing were lent."""
        share = self.share
        grown = 0 if self._many else self._slack.grown
        wanted = min(max(share.most, share.planned), self._base() + grown)
        return wanted if self._granted is None else min(wanted, self._granted)

    def _allowed_by_system(self) -> int:
        wanted = self.wanted()
        return wanted if self._state.limit is None else min(wanted, self._state.limit)

    def _kept(self) -> int:
        """Of what is planned, what there is room for while tokens are computed one by one."""
        share, limits = self.share, (self._fits[False], self._state.limit)
        return max(share.smallest, min(share.planned, *(n for n in limits if n is not None), share.planned))

    def _capacity(self) -> int:
        allowed, fits = self._allowed_by_system() - self.lent, self._fits[self._many]
        return max(self.share.smallest, allowed if fits is None else min(allowed, fits))


class PressureWatch:
    """A thread that looks twice a second, more often in a prompt, for less than a millisecond. A look that fails does
    not end it."""

    def __init__(self, budget: CacheBudget) -> None:
        self._budget = budget
        # What the thread sleeps on, so that closing a model need not wait for the end of a pause.
        self._closed = threading.Event()
        self._files = tuple(control_groups.pressure_files())
        self._thread = threading.Thread(target=self._run, name="underhill-memory", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        printed = False
        while not self._closed.wait(pressure.IN_PROMPT if self._budget.prompt else pressure.PERIOD):
            try:
                self._look()
            except Exception:  # the next look may work
                if not printed:
                    printed = True
                    traceback.print_exc()

    def _look(self) -> None:
        try:
            self._budget.look(lambda: pressure.read(self._files), time.monotonic())
        except Exception:
            self._budget.unseen()
            raise
