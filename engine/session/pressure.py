"""Watches the system's memory beside an open model, and gives the expert cache what there is room for."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.hardware import control_groups, pressure, slack
from engine.hardware.budget import size
from engine.hardware.facts import ModelFacts
from engine.hardware.plan import FEW, Plan
from engine.hardware.pressure import Pressure, Reading
from engine.hardware.slack import Slack
from engine.kernels.memory import trim_heap


@dataclass(frozen=True)
class Share:
    """What a plan gives an expert cache. Bytes. planned: its capacity; smallest: below which it must not be.

    lent: of these, what it gives back while `chunk` tokens are computed at once; token_bytes: less of it for each less.
    ceiling: on the whole process; None where nobody watches it. most: of all experts that are to be kept;
    record: of one. context: planned for the rows of a context; experts have what it does not take yet.
    """

    planned: int
    smallest: int
    lent: int = 0
    chunk: int = 0
    token_bytes: int = 0
    ceiling: int | None = None
    most: int = 0
    record: int = 1
    context: int = 0

    def lent_to(self, tokens: int) -> int:
        """What it gives back while so many tokens are computed at once."""
        return 0 if tokens <= FEW else max(0, self.lent - max(0, self.chunk - tokens) * self.token_bytes)

    @property
    def grows(self) -> bool:
        """Whether more memory than planned would be of use."""
        return self.planned < self.most


def share_of(plan: Plan, model: ModelFacts, fraction: object) -> Share:
    """What this plan gives the cache of this model. fraction: of the experts, at most, where that was asked for."""
    whole = model.expert_bytes[plan.tier]
    return Share(
        plan.cache_bytes,
        plan.smallest_cache,
        plan.lent,
        plan.chunk,
        model.token_bytes,
        plan.ceiling,
        most=whole if fraction is None else int(whole * float(str(fraction))),
        record=model.record_bytes[plan.tier],
        context=plan.context * model.per_token(plan.dense),
    )


class Room:
    """The capacity of an expert cache: what is planned, less while a prompt or the system needs the memory, and more
    while others do not take what was planned for them.

    apply: told of every new capacity, on whatever thread changes it; lend: the same, where it is for a prompt or the
    context. said: told in a sentence when the system had a part in it. Thread-safe.
    """

    def __init__(
        self,
        share: Share,
        held: Callable[[], int],
        apply: Callable[[int], None],
        lend: Callable[[int], None],
        said: Callable[[str], None],
        coming: Callable[[], int] = lambda: 0,
        refusals: Callable[[], int] = lambda: 0,
    ) -> None:
        """held: bytes of the cache now. coming: bytes given to the context that it has not written to yet. refusals:
        how often the system refused the cache memory so far."""
        self._share = share
        self._held, self._apply, self._lend, self._said, self._coming = held, apply, lend, said, coming
        self._refusals, self._refused = refusals, 0
        self._state = Pressure()
        self._slack = Slack()
        self._lent = 0
        self._rows: int | None = None  # bytes that the context's rows take; None: not known
        self._many = True  # until a first token was computed nobody knows what that takes
        self._own = False  # whether it was this process itself that took more than was planned
        self._blind = self._blind_said = False  # the last look failed; that one did was said
        self._lock = threading.Lock()

    @property
    def sentence(self) -> str:
        """What is less than planned, and why; empty where nothing is."""
        if self._blind:
            return "How much memory is free cannot be seen now, so the experts that are kept stay as many as they are."
        limit = self._state.limit
        if limit is None or limit >= self._share.planned:
            return ""
        planned = size(self._share.planned)
        if self._own:
            return f"Underhill took more than its ceiling allows, so {size(limit)} of experts are kept, not {planned}."
        return (
            f"This computer is short of memory, so {size(limit)} of experts are kept instead of {planned}; "
            "answers are slower until there is more."
        )

    @property
    def unused(self) -> int:
        """Bytes of the context's that experts have for now."""
        share = self._share
        return 0 if self._rows is None or not share.grows else max(0, share.context - self._rows)

    def plan(self, share: Share, apply: Callable[[int], None]) -> None:
        """A new plan is in force. apply: makes it so, given the capacity; where it raises, the old one stays."""
        with self._lock:
            before = self._share, self._slack
            self._share, self._slack = share, Slack()
            try:
                apply(self._capacity())
            except BaseException:
                self._share, self._slack = before
                raise

    def computing(self, tokens: int, rows: Callable[[], int | None] = lambda: None) -> None:
        """So many tokens go through the layers at once now. What a prompt was lent comes back with the first token.

        rows: bytes that the context's will take then, None where that is not known; asked where experts could use what
        it leaves. They give it back before it is taken.
        """
        share, many = self._share, tokens > FEW
        lent = share.lent_to(tokens)
        if many and lent < self._lent:  # the chunks of a prompt use the same memory
            lent = self._lent
        taken = rows() if share.grows and share.context else None
        if (lent, taken, many) == (self._lent, self._rows, self._many):
            return
        if self._lent and not lent:
            trim_heap()
        with self._lock:
            before = self._capacity()
            self._lent, self._rows, self._many = lent, taken, many
            if (after := self._capacity()) != before:
                self._lend(after)

    def see(self, seen: Reading, now: float) -> None:
        """Follow what the system says. Where that fails, all is as it was, so that the next look does it anew."""
        with self._lock:
            share, before, held = self._share, self._allowed(), self._held()
            capacity = self._capacity()
            known = self._slack, self._state, self._refused, self._own
            try:
                self._follow(seen, held, now)
                self._state = pressure.decide(
                    self._state, seen, held, self._wanted(), share.smallest, now, share.ceiling
                )
                if (refused := self._refusals()) != self._refused:
                    self._refused = refused
                    self._state = pressure.refused(held, share.smallest, now)
                over = share.ceiling is not None and seen.own > share.ceiling
                self._own = over or (self._own and self._state.limit is not None)
                after = self._allowed()
                if self._capacity() != capacity:
                    self._apply(self._capacity())
            except BaseException:
                self._slack, self._state, self._refused, self._own = known
                raise
        if self._blind:
            self._blind = False
            self._said("")
        if after < min(before, share.planned):
            self._said(self.sentence)
        elif before < share.planned <= after:
            self._said(f"There is memory again: {size(share.planned)} of experts are kept, as planned.")

    def unseen(self) -> None:
        """A look failed. `sentence` says so until one works again; it is told once."""
        self._blind = True
        if not self._blind_said:
            self._blind_said = True
            self._said(self.sentence)

    def _follow(self, seen: Reading, held: int, now: float) -> None:
        """Grow into what is left below the ceiling, but not by what a prompt takes, nor while memory is short."""
        share = self._share
        if share.ceiling is None or not share.grows or self._many or self._state.limit is not None or not seen.own:
            return
        beside, before = seen.own - held + self._coming(), self._slack
        after = slack.follow(before, beside, held, self._base(), share.ceiling, share.record, now)
        if after.grown - before.grown > max(0, pressure.spare(seen)):  # other programs have what was free at the start
            after = replace(after, grown=before.grown)
        self._slack = after

    def _base(self) -> int:
        """What is planned, and what the context leaves, its memory taken as experts take it."""
        share = self._share
        unused = self.unused * slack.OWN_PART // (slack.OWN_PART + 1) // share.record * share.record
        return share.planned + unused

    def _wanted(self) -> int:
        """The capacity if the system had room for it, and nothing were lent."""
        share = self._share
        grown = 0 if self._many else self._slack.grown
        return min(max(share.most, share.planned), self._base() + grown)

    def _allowed(self) -> int:
        wanted = self._wanted()
        return wanted if self._state.limit is None else min(wanted, self._state.limit)

    def _capacity(self) -> int:
        return max(self._share.smallest, self._allowed() - self._lent)


class PressureWatch:
    """A thread that looks every second; a look takes less than a millisecond. One that fails does not end it."""

    def __init__(self, room: Room) -> None:
        self._room = room
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
        while not self._closed.wait(pressure.PERIOD):
            try:
                self._look()
            except Exception:  # the next look may work
                if not printed:
                    printed = True
                    traceback.print_exc()

    def _look(self) -> None:
        try:
            self._room.see(pressure.read(self._files), time.monotonic())
        except Exception:
            self._room.unseen()
            raise
