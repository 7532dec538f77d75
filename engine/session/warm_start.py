"""Warm start: experts that will probably be needed are read before a prompt comes, into unused cache capacity."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from engine.errors import Kind, UnderhillError
from engine.experts.card_mode import CardMode
from engine.experts.keys import ExpertKey
from engine.experts.prefetch.tracker import MAX_PREFETCH_SHARE
from engine.session.loaded_model import LoadedModel
from engine.session.routing_history import Uses
from engine.translatable import msg

LOOK = 0.002  # seconds between two checks for a command while reads are pending: what a prompt waits at most
READS = 2  # pending per reader: one that runs, and one that starts without waiting for Python


class WarmStart:
    """For the thread that runs the model.

    Where all experts fit in memory, all are read, layer by layer, from opening on: also while a prompt is read, ahead
    of it, and while an answer comes. Elsewhere those that were in memory last, in the order of the disk, then those
    that chats use most, then as many of every layer; when a prompt is through, those that answers to prompts like it
    use, as many as there is room for, while the answer comes and behind it. All are speculative reads, and none makes
    another expert leave.
    """

    def __init__(self, model: LoadedModel, card: CardMode | None = None) -> None:
        """card: is filled, first with those that chats use most; None: there is none."""
        self._model, self._history = model, model.history
        self.left: deque[ExpertKey] = deque()
        # By number of the expert in the cache's table: bytes; and the bytes of all. Hundreds may be under way, and are
        # looked at again and again while a prompt is computed.
        self._pending: dict[int, int] = {}
        self._coming = 0
        self._prompt: Uses = ()
        cache = model.runtime.cache
        every = [key for key, spec in zip(cache.keys, cache.specs, strict=True) if spec is not None]
        if model.all_in_memory:
            self.left.extend(every)
            model.runtime.batch.read_on = self._read_on
        else:
            known = (*self._history.residents(), *self._history.likely()) if model.settings["remember_routing"] else ()
            # Behind those, as many of every layer: a first prompt uses nearly all of them.
            self.left.extend(dict.fromkeys((*known, *sorted(every, key=lambda key: key.expert))))
        self.read = 0  # experts that came so
        self.use_card(card)

    def use_card(self, card: CardMode | None) -> None:
        """Fill this card from now on; None: there is none."""
        # Behind what chats use, all others: what fits the card is faster there, whoever asks for it first.
        keys = dict.fromkeys((*self._history.likely(), *self._model.runtime.cache.keys))
        self._card, self.for_card = card, [] if card is None else card.likely_first(list(keys))

    @property
    def complete(self) -> bool:
        """Whether nothing is left to be read."""
        return not self.left and not self._pending and not self.for_card

    def read_until(self, wanted: Callable[[], bool]) -> None:
        """Read until all is there, the cache is full, or `wanted` is true: then pending reads are cancelled."""
        while not self.complete:
            if wanted():
                self._cancel()
                return
            if not self.left and not self._pending:
                if self._card is None or not self._card.fill(self.for_card):
                    self.for_card = []
                continue
            self._submit()
            time.sleep(LOOK)
            self._model.runtime.pending.commit_completed()
            self._update_pending()

    def asked(self) -> None:
        """Somebody asks: what was to be read before that, of a model that does not fit, is not read any more."""
        if not self._model.all_in_memory:
            self.left.clear()

    def prompt_read(self, uses: Uses) -> None:
        """A prompt is through: read what answers to such prompts use. Whatever this one demands is read before that.

        uses: of the prompt, by layer and expert.
        """
        self._prompt = uses
        prefetch = self._model.runtime.prefetch
        if prefetch is not None:
            prefetch.prompted(self._history.matrix(uses))
        if not self._model.all_in_memory:
            known = self._history.likely_after(uses) if self._model.settings["remember_routing"] else ()
            self.left = deque(known)
            self._submit()

    def token_done(self) -> None:
        """One more token of the answer is there: read on."""
        if not self.complete:
            self._model.runtime.pending.commit_completed()
            self._read_on()

    def _read_on(self) -> None:
        if not self.complete:
            self._update_pending()
            self._submit()

    def refresh(self) -> None:
        """Something has left experts coarse: read what they lack, as far as there is room."""
        self.left.extend(sorted(self._model.runtime.cache.residency()))

    def answered(self, uses: Uses) -> None:
        """An answer has ended. uses: of its prompt and its tokens."""
        self._model.runtime.pending.commit_completed()
        self._update_pending()
        if self._model.settings["remember_routing"]:
            self._history.answered(self._prompt, uses)

    def save(self) -> None:
        """The model is being closed: keep what will be of use next time. What cannot be written is not kept."""
        try:
            if not self._model.settings["remember_routing"]:
                self._remove()
                return
            self._model.tables.keep()
            if not self._model.all_in_memory:
                self._history.keep(set(self._model.runtime.cache.residency()))
        except (OSError, UnderhillError):
            return

    def forget(self) -> None:
        """Remove all that is remembered of use, now. Raises UnderhillError(DISK_ERROR)."""
        try:
            self._remove()
        except OSError as e:
            raise UnderhillError(
                Kind.DISK_ERROR,
                msg("Can't delete the usage data in {path}.", path=self._model.store.path),
                msg("Check that the folder is writable."),
            ) from e

    def _remove(self) -> None:
        self._history.forget()
        self._model.tables.forget()

    def _submit(self) -> None:
        runtime, cache = self._model.runtime, self._model.runtime.cache
        tier, most = self._model.plan.tier, READS * int(self._model.settings["readers"])
        room = cache.capacity * MAX_PREFETCH_SHARE
        while self.left and (len(self._pending) < most or self._coming < room):
            key = self.left[0]
            number = cache.number(key)
            tiers = cache.tiers[number]
            full = tier if tier in tiers else tiers[-1]
            nbytes = cache.missing_bytes(key, full)
            # Full, but for less than one expert: reading on would evict, and what is in memory is at least as likely as
            # what is left of the list.
            if cache.free < nbytes:
                self.left.clear()
                return
            self.left.popleft()
            if cache.tier(key) < full and runtime.pending.prefetch(key, full):
                self._coming += nbytes - self._pending.get(number, 0)
                self._pending[number] = nbytes

    def _update_pending(self) -> None:
        if not self._pending:
            return
        for number in self._pending.keys() - self._model.runtime.pending.under_way():
            self._coming -= self._pending.pop(number)
            self.read += 1

    def _cancel(self) -> None:
        self.for_card = []
        keys = self._model.runtime.cache.keys
        cancelled = [keys[number] for number in self._pending]
        self._model.runtime.pending.cancel(cancelled)
        self._update_pending()
        if self._model.all_in_memory:
            self.left.extendleft(reversed(cancelled))  # what came nevertheless is passed over
        else:
            self.left.clear()
