"""A card's share in a call of many tokens: what lies there, and what crosses because the call ends sooner so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import CardExpert, CardWork, ExpertKernels
from engine.experts.cache.expert_cache import Lease
from engine.experts.card.residency import MOST_LENT, CardCache, copier, place
from engine.experts.card.split import Crossing, SideRates, crossing, nearer
from engine.experts.execution.requests import Call, ExpertRequest
from engine.experts.keys import ExpertKey
from engine.experts.telemetry import ExpertTelemetry
from engine.kernels.activation import Activation
from engine.record.layout import ExpertSpec


class Computed(NamedTuple):
    """What the processor did of a call. tokens: of each expert that it computed; seconds: that its kernels took."""

    tokens: list[int]
    seconds: float


@dataclass(eq=False)
class _Crosses:
    """An expert that is to cross. tier: at which. block, crossed: where on the card, and the event behind its copy."""

    request: ExpertRequest
    tier: int
    lease: Lease | None
    block: int = 0
    crossed: int = 0

    def let_go(self) -> None:
        """Its copy in memory is needed no more. Safe to call twice."""
        lease, self.lease = self.lease, None
        if lease is not None:
            lease.release()


class _Piece(NamedTuple):
    """Experts that one call of the kernels takes. slots: of the layer call, expert by expert."""

    spec: ExpertSpec
    experts: list[CardExpert]
    counts: list[int]
    slots: list[int]


@dataclass(eq=False, kw_only=True)
class BatchShare:
    """What the card takes of one layer call.

    there: with where it lies on the card. groups: of what crosses, those that cross while others are computed. blocks:
    lent for them. link_bound: whether their way is expected to take longer than computing. expected: seconds of all.
    """

    call: Call
    there: list[tuple[ExpertRequest, CardExpert]]
    groups: list[list[_Crosses]]
    blocks: list[int]
    expected: float
    link_bound: bool
    stopped: bool = False
    seconds: float = 0.0
    done: Future[None] = field(default_factory=Future)

    @property
    def crossing(self) -> list[_Crosses]:
        """What crosses."""
        return [own for group in self.groups for own in group]

    @property
    def taken(self) -> list[ExpertRequest]:
        """What nobody else has to compute, if all goes well."""
        return [*(request for request, _ in self.there), *(own.request for own in self.crossing)]


class CardShares:
    """Splits calls of many tokens between card and processor, which compute at the same time.

    The card's part runs on a thread of its own: it has copies to wait for, and the processor's kernels take the thread
    that runs the model. All but `_compute` is for that one, under the layer's lock; one call at a time. rates: of such
    calls. link_rate: bytes a second of what crosses group by group; 0: not yet seen. sent: bytes that crossed.
    """

    def __init__(
        self, device: CardDevice, kernels: ExpertKernels, held: CardCache, rates: SideRates,
        telemetry: ExpertTelemetry, activations: Mapping[int, Activation],
    ) -> None:  # fmt: skip
        self._device, self._kernels, self._held, self.rates = device, kernels, held, rates
        self._telemetry, self._activations = telemetry, activations
        self.sent = 0
        self.link_rate = 0.0
        self._events: list[int] = []
        self._worker = ThreadPoolExecutor(1, "card-share")
        device.on_close(self._worker.shutdown)

    # ---- who computes what ------------------------------------------------------------------------------------------

    def begin(self, call: Call, requests: Sequence[ExpertRequest]) -> BatchShare | None:
        """Have the card compute its share; None: it has none. Raises CardError."""
        held = self._held
        held.use()
        held.commit()
        there = [(r, held.expert(r.key)) for r in requests if r.tier and r.tier <= held.tier(r.key) <= r.full]
        share = self._planned(call, requests, there)
        if not share.taken:
            held.give_blocks(share.blocks)
            return None
        share.done = self._worker.submit(self._compute, share)
        return share

    def _planned(
        self, call: Call, requests: Sequence[ExpertRequest], there: list[tuple[ExpertRequest, CardExpert]]
    ) -> BatchShare:
        here = {request.key for request, _ in there}
        others = [] if len(call.x) == 1 else [request for request in requests if request.key not in here]
        lacking = self._may_cross(others)
        may = {request.key for request, _ in lacking}
        tokens = [len(request.slots) for request, _ in there]
        rest = [len(request.slots) for request in others if request.key not in may]
        ways = [Crossing(len(r.slots), r.spec.layout.bytes_for(tier) / self._link) for r, tier in lacking]
        taken, expected = crossing(self.rates, tokens, ways, rest)
        groups, blocks = self._leased(lacking[:taken], here)
        computing = self.rates.call_seconds([*tokens, *(own.tokens for own in ways[:taken])])
        link_bound = sum(own.link for own in ways[:taken]) > computing
        return BatchShare(
            call=call, there=there, groups=groups, blocks=blocks, expected=expected, link_bound=link_bound
        )

    @property
    def _link(self) -> float:
        return self.link_rate or self._held.courier.rate

    def _may_cross(self, requests: Sequence[ExpertRequest]) -> list[tuple[ExpertRequest, int]]:
        """Experts in memory that the card may take, those with the most tokens first, and at which tier: the coarsest
        that the call is content with (HOBBIT's T1 and T2), since the fewer bytes are there sooner."""
        found, room = [], MOST_LENT * self._held.memory
        for request in sorted((own for own in requests if own.tier), key=lambda own: -len(own.slots)):
            tiers = (tier for tier in (request.tier, request.full) if self._held.can_cross(request.key, tier))
            tier = next(tiers, None)
            if tier is not None and (nbytes := request.spec.layout.bytes_for(tier)) <= room:
                room -= nbytes
                found.append((request, tier))
        return found

    def _leased(
        self, lacking: Sequence[tuple[ExpertRequest, int]], staying: set[ExpertKey]
    ) -> tuple[list[list[_Crosses]], list[int]]:
        """They, in groups of as many as have a block on the card at a time, and all blocks. Of two groups one crosses
        while the other is computed."""
        nbytes = max((request.spec.layout.bytes_for(tier) for request, tier in lacking), default=0)
        blocks = self._held.lend_blocks(min(len(lacking), self._held.buffers), nbytes, staying)
        if not blocks:
            return [], []
        while len(self._events) < len(blocks):
            self._events.append(self._device.event())
        each = max(1, len(blocks) // 2)
        found = [_Crosses(r, tier, self._held.lease(r.key, tier)) for r, tier in lacking]
        there = [own for own in found if own.lease is not None]
        for at, own in enumerate(there):
            half, within = at // each % 2 if len(blocks) > 1 else 0, at % each
            own.block, own.crossed = blocks[half * each + within], self._events[half * each + within]
        return [there[at : at + each] for at in range(0, len(there), each)], blocks

    # ---- on the thread of its own -----------------------------------------------------------------------------------

    def _compute(self, share: BatchShare) -> None:
        """Raises CardError."""
        start = time.perf_counter()
        self._device.use()
        groups, sent = share.groups, 0

        def send() -> None:
            nonlocal sent
            if sent < len(groups):
                sent += 1
                self._send(groups[sent - 1])

        try:
            send()
            for piece in self._pieces(share.there):
                self._run(share, piece)
            for number, group in enumerate(groups):
                if share.stopped:
                    return
                if sent == number:
                    send()
                for own in group:
                    self._device.driver.wait(self._device.compute, own.crossed)
                placed = [(o.request, place(o.request.spec, o.tier, o.block)[0]) for o in group]
                # The blocks of the group before are free by now, unless there are those of one group alone.
                ahead = number + 1 < len(groups) and groups[number + 1][0].block != group[0].block
                for at, piece in enumerate(self._pieces(placed)):
                    self._run(share, piece, send if ahead and not at else None)
        finally:
            for own in (own for group in groups[:sent] for own in group):
                with suppress(CardError):  # a copy may be under way to a block that others get
                    self._device.driver.wait_for(own.crossed)
        share.seconds = time.perf_counter() - start

    def _send(self, group: Sequence[_Crosses]) -> None:
        for own in group:
            assert own.lease is not None
            _, at = place(own.request.spec, own.tier, own.block)
            nbytes = own.request.spec.layout.bytes_for(own.tier)
            self._held.send(own.block, nbytes, copier(own.lease, at), own.crossed)
            own.let_go()  # it was copied to pinned memory, so that memory may use its place again
            self.sent += nbytes

    def _pieces(self, experts: Sequence[tuple[ExpertRequest, CardExpert]]) -> Iterator[_Piece]:
        """Of one layout each, and of no more slots than the kernels take."""
        by_spec: dict[int, list[tuple[ExpertRequest, CardExpert]]] = {}
        for own in experts:
            by_spec.setdefault(id(own[0].spec), []).append(own)
        for same in by_spec.values():
            piece = _Piece(same[0][0].spec, [], [], [])
            for request, expert in same:
                left = list(request.slots)
                while left:
                    some = left[: self._kernels.most_slots - len(piece.slots)]
                    left = left[len(some) :]
                    if some:
                        piece.experts.append(expert)
                        piece.counts.append(len(some))
                        piece.slots.extend(some)
                    if len(piece.slots) == self._kernels.most_slots:
                        yield piece
                        piece = _Piece(piece.spec, [], [], [])
            if piece.slots:
                yield piece

    def _run(self, share: BatchShare, piece: _Piece, meanwhile: Callable[[], None] | None = None) -> None:
        if share.stopped:
            return
        call, slots = share.call, np.asarray(piece.slots)
        x = np.ascontiguousarray(call.x.numpy()[slots // call.k])
        activation = self._activations[self._layer_of(share)]
        work = CardWork(piece.spec, activation, piece.experts, piece.counts, x.ctypes.data, len(slots))
        self._kernels.begin(work)
        if meanwhile is not None:
            meanwhile()
        call.out.numpy()[slots] = self._kernels.finish()

    @staticmethod
    def _layer_of(share: BatchShare) -> int:
        return share.taken[0].key.layer

    # ---- what came of it --------------------------------------------------------------------------------------------

    def collect(self, share: BatchShare, host: Computed) -> None:
        """Wait for it: its slots are written then. host: what the processor computed meanwhile. Raises CardError."""
        share.done.result()
        tokens = [len(request.slots) for request in share.taken]
        if share.link_bound:
            self.link_rate = nearer(self._link, self._link * share.expected / share.seconds)
        else:
            self.rates = self.rates.seen_card(tokens, share.seconds)
        if host.tokens:
            self.rates = self.rates.seen_host(host.tokens, host.seconds)
        for request, _ in share.there:
            self._telemetry.precision[self._held.tier(request.key)] += len(request.slots)
        for own in share.crossing:
            self._telemetry.precision[own.tier] += len(own.request.slots)
            if own.tier < own.request.full:
                self._telemetry.coarse(own.request.key, len(own.request.slots))
        self._telemetry.hit(len(share.taken))

    def close(self, share: BatchShare) -> None:
        """Nothing of it is wanted any more, or it was collected: when this returns, nothing of it is under way."""
        share.stopped = True
        share.done.exception()  # waits, and leaves what it raised to `collect`
        for own in share.crossing:
            own.let_go()
