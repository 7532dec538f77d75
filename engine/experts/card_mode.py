"""Opens a graphics card beside an expert runtime, proves its kernels, and closes it again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from engine.cuda.arena import DeviceArena
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import ExpertKernels, supports
from engine.cuda.layer_proof import open_layers
from engine.cuda.layer_runs import LayerPlaces
from engine.cuda.linears import CardLinears, LinearPlace
from engine.cuda.prefill import CardPrefill
from engine.cuda.prompt_attention import CardAttention
from engine.cuda.ptx_files import ptx_for
from engine.cuda.ring import PinnedRing
from engine.cuda.stretches import CardStretches
from engine.experts.card.residency import CardCache, ReadParts
from engine.experts.execution.assistant import ENOUGH_FREE, CardAssistant
from engine.experts.execution.card_proof import CardProof, prove
from engine.experts.execution.card_share import CardShares
from engine.experts.keys import ExpertKey, ExpertSource
from engine.experts.lookahead import LookAhead, expert_layers
from engine.experts.precision import full_tier
from engine.experts.runtime import ExpertRuntime
from engine.translatable import msg

_log = logging.getLogger(__name__)
MOST_SLOTS = 512  # of a call: a prompt's experts go to the card in pieces of so many rows


class CardMode:
    """A card that computes beside the processor. proof: what it showed when it was opened. linears: the other weights
    that it computes with. layers: what of layers is no expert, and ahead: whole layers in one go; None: none. prefill:
    those of both that a prompt meets there, too, and attention: the layers that compute it of a prompt; None: none.

    Opened and closed by the thread that runs the model. lost: called with the error once the card is of no use any
    more; the answer goes on without it.
    """

    def __init__(
        self, runtime: ExpertRuntime, source: ExpertSource, read: ReadParts, driver: Driver, index: int, capacity: int,
        *, lost: Callable[[CardError], None] = lambda error: None, linears: Sequence[LinearPlace] = (),
        layers: LayerPlaces | None = None, linear_room: int = 0, crossing: bool = False,
    ) -> None:  # fmt: skip
        """read: Store.read_parts. capacity: most bytes of experts on the card. linears: of the model, those that the
        card may compute within linear_room bytes; what they leave of it is for experts, and what prompts need there
        comes out of it. layers: the same of whole runs of ops, which come before. crossing: see CardAssistant. Raises
        CardError; the runtime stays as it was then."""
        self._runtime, self._source, self._read, self.on_lost = runtime, source, read, lost
        self.device = CardDevice(driver, index)
        try:
            specs = list({spec for spec in runtime.cache.specs if spec is not None and supports(spec)})
            if not specs:
                raise CardError(
                    msg("The experts of this model are not quantized, so they can't run on the GPU."),
                    msg("Import the model with quantized experts."),
                )
            try:
                ptx = ptx_for(self.device.facts.capability)
            except ValueError as cause:
                raise CardError(
                    msg("{name} is too old to compute experts.", name=self.device.facts.name),
                    msg("Set “Compute device” to CPU."),
                ) from cause
            kernels = ExpertKernels(self.device, ptx, specs, MOST_SLOTS, exact=runtime.kernel.exact)
            self.proof: CardProof = prove(self.device, kernels, runtime.kernel, source, read, runtime.batch.activations)
            largest = max(spec.layout.bytes_for(spec.tiers[-1]) for spec in specs)
            ring = PinnedRing(self.device, largest)
            self._places = layers
            self.layers = None
            if layers is not None:
                self.layers = open_layers(self.device, ptx, runtime.kernel, layers, linear_room)
            if self.layers is not None:
                covered = {(id(run.graph), at) for run in self.layers.runs for at in range(run.start, run.end)}
                linears = [own for own in linears if (id(own.graph), own.at) not in covered]
                linear_room -= self.layers.nbytes
            self.linears = CardLinears(self.device, ptx, runtime.kernel, linears, linear_room)
            capacity += linear_room - self.linears.nbytes - self._open_for_prompts(ptx)
            arena = DeviceArena(self.device, max(0, min(capacity, self.device.free_memory() - ENOUGH_FREE)))
            self.held = CardCache(self.device, arena, ring, runtime.cache, runtime.table, runtime.full)
            self.held.measure_link()
            rates, activations = self.proof.rates, runtime.batch.activations
            shares = CardShares(self.device, kernels, self.held, rates, runtime.telemetry, activations)
            self.assistant = CardAssistant(kernels, self.held, rates, runtime.telemetry, activations, shares)
            self.assistant.crossing = crossing
            self.ahead = self._look_ahead(ptx, kernels)
        except BaseException:
            self.device.close()
            raise
        self.assistant.lost, self.assistant.failed_beside = self._failed, lambda: self._error
        runtime.use_card(self.assistant)
        _log.info(
            "The card %s computes too: %d rows compared, largest difference %.2g; %.0f us an expert here, %.0f there "
            "and %.0f a call; %.1f GB/s to it", self.device.facts.name, self.proof.compared, self.proof.worst,
            self.proof.rates.host * 1e6, self.proof.rates.card * 1e6, self.proof.rates.handover * 1e6,
            self.held.courier.rate / 1e9,
        )  # fmt: skip

    def _open_for_prompts(self, ptx: bytes) -> int:
        """What many tokens at once meet there; the bytes that it takes. Raises CardError."""
        shared, kernel = list(self.linears.matrices), self._runtime.kernel
        self.attention: CardAttention | None = None
        if self.layers is not None:
            shared += self.layers.matrices.placed
            self.attention = CardAttention(self.device, ptx, kernel, self.layers)
        self.prefill = CardPrefill(self.device, ptx, kernel, shared)
        return self.prefill.nbytes + (0 if self.attention is None else self.attention.nbytes)

    def _look_ahead(self, ptx: bytes, kernels: ExpertKernels) -> LookAhead | None:
        """Layers in one go, where the card has all of them. Raises CardError."""
        places, layers = self._places, self.layers
        if places is None or layers is None or not layers.whole:
            return None
        experts = expert_layers(self._runtime, places.asked)
        if experts is None:
            return None
        stretches = CardStretches(
            self.device, ptx, layers, kernels, table=self.held.there, asked=places.asked, experts=experts
        )
        ahead = LookAhead(self._runtime, self.held, self.assistant, stretches, [own.layer for own in places.asked])
        places.ahead(ahead)
        return ahead

    @property
    def _error(self) -> CardError | None:
        parts = self.layers, self.linears, self.prefill, self.attention
        return next((part.error for part in parts if part is not None and part.error is not None), None)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Have the processor compute everything while this lasts."""
        self._rest(True)
        try:
            yield
        finally:
            if self.alive:
                self._rest(False)

    def _rest(self, resting: bool) -> None:
        for part in (self.linears, self.layers, self.prefill, self.attention):
            if part is not None:
                part.rest(resting)
        if self.layers is not None and self._places is not None:
            self._places.follow(None if resting else self.layers.follow)
            self._places.ahead(None if resting else self.ahead)
        self._runtime.use_card(None if resting else self.assistant)

    def _stop(self) -> None:
        """The processor computes what is no expert."""
        self.prefill.stop()
        self.linears.stop()
        if self.attention is not None:
            self.attention.stop()
        if self.layers is not None and self._places is not None:
            self.layers.stop()
            self._places.follow(None)
            self._places.ahead(None)

    @property
    def alive(self) -> bool:
        """Whether it computes."""
        return self.assistant.alive

    def fill(self, keys: list[ExpertKey]) -> bool:
        """Bring the next of these, the first first, from memory or from disk; False: none is left that would come.

        Takes it from the list. Raises UnderhillError where an expert cannot be read.
        """
        with self._runtime.pending.layer_lock:
            self.device.use()
            while keys and self.alive:
                key = keys.pop(0)
                try:
                    self.held.commit()
                    if self.assistant.fill(key, self._read):
                        return True
                except CardError as error:
                    self.assistant.fail(error)
        return False

    def likely_first(self, keys: list[ExpertKey]) -> list[ExpertKey]:
        """As many of these as the card has room for."""
        room, taken = self.held.capacity, []
        for key in keys:
            spec = self._source.spec(*key)
            room -= spec.layout.bytes_for(full_tier(spec, self._runtime.full()))
            if room < 0:
                break
            taken.append(key)
        return taken

    def close(self) -> None:
        """Compute on the processor alone from now on, and give the card back. Safe to call twice."""
        self._runtime.use_card(None)
        self._stop()
        self.held.forget()
        self.device.close()

    def _failed(self, error: CardError) -> None:
        _log.warning("The card is left alone: %s", error)
        self._stop()
        self.device.close()
        self.on_lost(error)
