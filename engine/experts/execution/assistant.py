"""CPU-assisted mode: card and processor compute a layer's experts at the same time."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch

from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import CardWork, ExpertKernels
from engine.experts.backend import Step
from engine.experts.cache.resident_table import LayerTable
from engine.experts.card.ahead import CardAhead
from engine.experts.card.residency import CardCache, CardFullError, ReadParts
from engine.experts.card.split import SideRates, crossing_first, split, surely_more, worth_bringing
from engine.experts.execution.card_share import BatchShare, CardShares, Computed
from engine.experts.execution.requests import Call, ExpertRequest
from engine.experts.keys import ExpertKey
from engine.experts.precision import RequestedPrecision, Thresholds, requested_precisions
from engine.experts.telemetry import ExpertTelemetry
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT

_PLANES = struct.Struct("=i")
_PLANES_AT = struct.calcsize("=QQQQ")  # of uh_expert.planes in its record
# Bytes of the card's memory: where fewer are free, so many are given back. A card that has none left moves windows and
# games to ordinary memory, and everything there stutters.
LEAST_FREE, ENOUGH_FREE = 128 << 20, 256 << 20


_Asked = Sequence[RequestedPrecision] | None  # by rank; None: everything in full


class CardAssistant:
    """What a layer call asks of the card. Used by the thread that runs the model, under the layer's lock.

    A card that fails is left alone from then on: `lost` is told once, and what was asked of it in this call is asked of
    the processor (CardFailed). failed_beside: what made it fail when it computed something else than experts. ran:
    experts that it computed, as telemetry counts them; host_ran: those of the processor beside it. crossing: whether
    experts that the card lacks cross over to be computed there (GPU-centric), as long as they lie in memory. ahead:
    brings what is expected of the next layers. shares: its part in calls of many tokens.
    """

    def __init__(
        self, kernels: ExpertKernels, held: CardCache, rates: SideRates, telemetry: ExpertTelemetry,
        activations: Mapping[int, Activation], shares: CardShares,
    ) -> None:  # fmt: skip
        self.held, self.rates, self.shares = held, rates, shares
        self.lost: Callable[[CardError], None] = lambda error: None
        self.failed_beside: Callable[[], CardError | None] = lambda: None
        self.alive = True
        self.ran = self.host_ran = 0
        self.crossing = False
        self._kernels, self._telemetry, self._activations = kernels, telemetry, activations
        self.ahead = CardAhead(held, lambda: self.rates, lambda: self.crossing, lambda: self.alive, self.fail)
        self._indices: list[int] = []
        self._experts: list[int] = []
        self._rows_at = 0, 0, 0
        self._rows = np.empty((0, 0), np.float32)  # of what outputs are added up from
        self._begun = self._collected = False

    @property
    def sent(self) -> int:
        """Bytes that have crossed to the card."""
        return self.held.sent + self.shares.sent

    # ---- one token --------------------------------------------------------------------------------------------------

    def begin(self, experts: LayerTable, step: Step) -> bool:
        """Have the card compute what it should of a token's experts; these are TAKEN until `end`. False: none."""
        if not self._works():
            return False
        try:
            self.held.use()
            self.held.commit()
            chosen = step.chosen.tolist()
            self.ahead.asked(experts.layer, chosen)
            asked = _precisions(experts, step)
            if now := self._crossing(experts, chosen, asked):
                self._cross(now, [ExpertKey(experts.layer, expert) for expert in chosen])
            indices = self._indices_of_card(experts, chosen, asked)
            if not indices:
                return False
            taken = [chosen[index] for index in indices]
            where, activation = self.held.experts(experts.layer, taken), self._activations[experts.layer]
            self._kernels.begin(CardWork(experts.spec, activation, where, [1] * len(taken), step.addresses[2], 1))
        except CardError as error:
            self.fail(error)
            return False
        self._begun, self._collected = True, False
        self._indices, self._experts = indices, taken
        for expert in taken:
            experts.taken[expert] = 1
        return True

    def _indices_of_card(self, experts: LayerTable, chosen: Sequence[int], asked: _Asked) -> list[int]:
        """Which of a token's experts the card computes."""
        there = [index for index, expert in enumerate(chosen) if self._serves(experts, expert, asked, index)]
        if not there or self.crossing:
            return there
        both = [index for index in there if _in_memory(experts, chosen[index])]
        left = both[split(self.rates, len(there) - len(both), len(both), len(chosen) - len(there)) :]
        return [index for index in there if index not in left] if left else there

    def collect(self, out: torch.Tensor, hidden: int) -> bool:
        """Wait for the card, and put what it computed where it belongs in out [k * hidden]; False: it failed."""
        try:
            found = self._kernels.finish()
            self.rates = self.rates.seen_card([1] * len(self._indices), self._kernels.seconds + self._kernels.launching)
        except CardError as error:
            self.fail(error)
            return False
        self._begun, self._collected = False, True
        at = out.data_ptr(), out.numel(), hidden
        if at != self._rows_at:  # the same from layer to layer, and torch takes long to say so
            self._rows_at, rows = at, out.view(-1)[: out.numel() // hidden * hidden]
            self._rows = rows.view(-1, hidden).numpy()
        self._rows[self._indices] = found
        return True

    def end(self, experts: LayerTable, step: Step) -> None:
        """The call is over: count, and bring what the processor had to compute, if that is worth it."""
        for expert in self._experts:
            experts.taken[expert] = 0
        if self._collected:
            self.ran += len(self._experts)
            for expert in self._experts:
                if planes := experts.card[expert]:
                    self._telemetry.precision[experts.native.tiers[planes]] += 1
                else:
                    key = ExpertKey(experts.layer, expert)
                    self._telemetry.precision[self.held.coarse[key]] += 1
                    self._telemetry.coarse(key, 1)
        self._experts, self._indices, self._collected = [], [], False
        if not self.alive:
            return
        try:
            if self._begun:  # the call ended by an error of its own, and the buffers are used again
                self._begun = False
                self._kernels.finish()
            self.bring_one(experts, step.chosen.tolist())
        except CardError as error:
            self.fail(error)

    def _serves(self, experts: LayerTable, expert: int, asked: _Asked, index: int) -> bool:
        """Whether the card has an expert as finely as is asked of it. What is there in full always serves."""
        if experts.card[expert]:
            return True
        if asked is None or asked[index] == RequestedPrecision.HIGH:
            return False
        coarse = self.held.coarse.get(ExpertKey(experts.layer, expert), 0)
        return bool(coarse) and coarse >= experts.native.tiers[experts.native.low]

    def _crossing(self, experts: LayerTable, chosen: Sequence[int], asked: _Asked) -> list[ExpertKey]:
        """Which of a token's experts cross now, from memory, as finely as is asked of them. GPU-centric, all that the
        card lacks; else as many as end the layer soonest so."""
        held, rate = self.held, self.held.courier.rate
        if not self.crossing and held.largest / rate > self.rates.host:
            return []  # the processor is through with one before it is there
        lacking = [index for index, expert in enumerate(chosen) if not self._serves(experts, expert, asked, index)]
        keys = [ExpertKey(experts.layer, chosen[index]) for index in lacking]
        wanted = [RequestedPrecision.HIGH if asked is None else asked[index] for index in lacking]
        able = [key for key, own in zip(keys, wanted, strict=True) if self._can_cross(key, own)]
        if self.crossing:
            return able
        links = [held.spec(key).layout.bytes_for(held.here(key)) / rate for key in able]
        return able[: crossing_first(self.rates, len(chosen) - len(lacking), links, len(lacking) - len(able))]

    def _can_cross(self, key: ExpertKey, asked: RequestedPrecision) -> bool:
        """Whether memory has it as finely as is asked of it: one that may be skipped is not worth its way."""
        if asked == RequestedPrecision.SKIP:
            return False
        least = self.held.full(key) if asked == RequestedPrecision.HIGH else 1
        return self.held.here(key) >= least

    def computed(self, experts: int, seconds: float) -> None:
        """The processor took so long for so many experts of one token."""
        self.host_ran += experts
        if experts:
            self.rates = self.rates.seen_host([1] * experts, seconds)

    def ran_alone(self, layer: int, chosen: Sequence[int]) -> None:
        """The card has computed these experts of one token, all of a layer's, by itself."""
        self.ran += len(chosen)
        for expert in chosen:
            self._telemetry.precision[self.held.tier(ExpertKey(layer, expert))] += 1
        self.held.used(layer, chosen)
        self.ahead.asked(layer, chosen, alone=True)

    # ---- many tokens ------------------------------------------------------------------------------------------------

    def share(self, call: Call, requests: Sequence[ExpertRequest]) -> BatchShare | None:
        """What the card takes of a call of many tokens, and has begun; None: nothing. `done_with` is to be called."""
        if not self._works() or not requests:
            return None
        if len(call.x) == 1:  # what is brought ahead meanwhile makes none of these leave
            self.ahead.asked(requests[0].key.layer, [request.key.expert for request in requests])
        try:
            return self.shares.begin(call, requests)
        except CardError as error:
            self.fail(error)
            return None

    def collect_share(self, share: BatchShare, host: Computed) -> bool:
        """Wait for it; False: the card failed, and what it had taken is the processor's to compute."""
        try:
            self.shares.collect(share, host)
        except CardError as error:
            return self.fail(error)
        self.ran += sum(len(request.slots) for request in share.taken)
        self.host_ran += sum(host.tokens)
        return True

    def done_with(self, share: BatchShare) -> None:
        """It was collected, or the call ended by an error: nothing of it is wanted any more."""
        self.shares.close(share)
        if self.alive:
            self.held.give_blocks(share.blocks)

    # ---- what comes to the card -------------------------------------------------------------------------------------

    def bring_one(self, experts: LayerTable, chosen: Sequence[int]) -> None:
        """Of a token's experts that the card lacks, bring the one used most, where it pays. Raises CardError."""
        self.held.used(experts.layer, chosen)
        keys = [ExpertKey(experts.layer, expert) for expert in chosen if not experts.card[expert]]
        coarse = self.held.coarse
        lacking = [key for key in keys if key not in coarse or self.held.here(key) > coarse[key]]
        if lacking:
            self.bring(max(lacking, key=self.held.uses))

    def fill(self, key: ExpertKey, read: ReadParts) -> bool:
        """Bring an expert, from disk if need be, as long as none has to leave for it; False: it cannot come."""
        tier = self.held.full(key)
        self.held.wait_for_buffer()
        return self.held.wanted(key, tier) and self.held.bring(key, tier, read)

    def bring(self, key: ExpertKey) -> bool:
        """Have an expert come from memory, where that pays and the courier is idle: beside the model, if memory can do
        without the room meanwhile. Raises CardError."""
        if self.held.beside or not (tier := self.held.here(key)) or not self.held.can_come(key, tier):
            return False
        nbytes = self.held.spec(key).layout.bytes_for(tier)
        if tier < self.held.full(key) and not self.held.has_room(nbytes):
            return False  # it serves some tokens only: nobody leaves for that
        if not self.held.has_room(nbytes) and not self._pays(key, self.held.least_uses(nbytes), nbytes):
            return False
        try:
            leaves = self.held.victims(key, tier)
        except CardFullError:
            return False
        if leaves:
            # In the place of several, as many others may come.
            lost = sum(map(self.held.uses, leaves)) / len(leaves)
            if not self._pays(key, lost, nbytes):
                return False
            for other in leaves:
                self.held.leave(other)
        return self.held.bring(key, tier, beside=self.held.can_lend(nbytes))

    def _pays(self, key: ExpertKey, lost: float, nbytes: int) -> bool:
        """Whether its uses are worth its way, where others with so many make room. nbytes: its own."""
        more = surely_more(self.held.uses(key), lost)
        return worth_bringing(self.rates, more, nbytes / self.held.courier.rate)

    def _cross(self, keys: Sequence[ExpertKey], chosen: Sequence[ExpertKey]) -> None:
        """Have these of a token's experts come, and wait for them. Raises CardError."""
        for key in keys:
            tier = self.held.here(key)
            self.held.give_up(key)  # what waits for its turn comes now
            self.held.wait_for_buffer()
            if not self.held.can_come(key, tier):
                continue
            leaves = self._leaving(key, tier, chosen)
            if leaves is None:
                continue
            for other in leaves:
                self.held.leave(other)
            self.held.bring(key, tier)
        self.held.arrive(chosen)

    def _leaving(self, key: ExpertKey, tier: int, chosen: Sequence[ExpertKey]) -> list[ExpertKey] | None:
        """Who makes room for an expert that is needed now: none that is, and none that the next layers are expected to
        need, unless there is nobody else; None: nobody can."""
        for staying in ((*chosen, *self.ahead.expected), chosen):
            try:
                return self.held.victims(key, tier, staying)
            except CardFullError:
                continue
        return None

    def give_way(self) -> None:
        """Give memory of the card back where other programs have taken what was free."""
        if self.alive:
            try:
                free = self.held.free_memory()
                if free < LEAST_FREE:
                    self.held.shrink(max(0, self.held.taken - (ENOUGH_FREE - free)))
            except CardError as error:
                self.fail(error)

    def drop(self) -> None:
        """Nothing is to lie there any more: what counts as full precision has changed."""
        if self.alive:
            try:
                self.held.clear()
            except CardError as error:
                self.fail(error)

    def _works(self) -> bool:
        if self.alive and (error := self.failed_beside()) is not None:
            self.fail(error)
        return self.alive

    def fail(self, error: CardError) -> bool:
        """The card is of no use any more. Always False."""
        if self.alive:
            self.alive, self._begun = False, False
            self.held.forget()
            self.lost(error)
        return False


def _precisions(experts: LayerTable, step: Step) -> _Asked:
    """What a token asks of each of its experts."""
    if experts.native.t1 >= 1.0:
        return None
    thresholds = Thresholds(experts.native.t1, experts.native.t2)
    return [RequestedPrecision(own) for own in requested_precisions(step.weights.numpy(), thresholds).ravel().tolist()]


def _in_memory(experts: LayerTable, expert: int) -> bool:
    """Whether memory has an expert as finely as the card."""
    at = EXPERT.size * expert + _PLANES_AT
    return bool(_PLANES.unpack_from(experts.table, at)[0] >= (experts.card[expert] or experts.native.low))
