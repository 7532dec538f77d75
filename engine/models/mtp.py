"""Multi-token prediction: what a model proposes of the token behind the next, to draft with.

Some models were trained with one more layer for that (DeepSeek-V3, arXiv 2412.19437, section 2.2): see MtpSpec.
Given its own output and guess again, it goes on. Whoever checks what it guesses has the answer that it had without.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.errors import UnderhillError
from engine.experts.keys import SomeLayers
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.footprint import MTP_KEPT as KEPT
from engine.models.footprint import MTP_MOST as MOST
from engine.models.layers.layer import Layer
from engine.models.layers.norms import build_norm
from engine.models.layers.state import SequenceState
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights, load_linear
from engine.models.op_graph.executor import build_mtp_graph
from engine.models.shapes import CheckedWeights
from engine.native.op_graph import MOST_ROWS
from engine.store.reader import Store

READERS = 2  # threads: there is one layer, most of whose experts are read once
OFTEN = 4  # positions that it lags behind where one draft follows another: one, and those that were right


class MtpDrafter:
    """Proposes what comes next in the sequence that a decoder read last. Used on the model's thread.

    Position p of that sequence has a row here, made of what the model's head reads at p (`_hidden`) and of token p + 1.
    Rows count from `_start` on, where what is kept began: rotation looks at distances alone.
    """

    def __init__(
        self, decoder: Decoder, weights: CheckpointWeights, experts: ExpertRuntime, dense: WeightFormat
    ) -> None:
        """decoder: has `spec.mtp`, and tells of its passes from now on. experts: of that layer, closed with this.

        Raises UnderhillError: BROKEN_FILE for weights of other shapes than the spec's, and what `fetch` raises;
        UnsupportedOp where native ops do not have what it does.
        """
        spec = decoder.spec.mtp
        assert spec is not None
        self._decoder, self._experts = decoder, experts
        hidden, weights = decoder.spec.hidden, CheckedWeights(weights, decoder.spec)
        self._layer = Layer(spec.layer, weights, hidden, dense)
        self._graph, self._given = build_mtp_graph(
            self._layer,
            load_linear(weights, spec.joint, dense=dense),
            *(build_norm(norm, weights, hidden) for norm in (spec.embedding_norm, spec.hidden_norm, spec.norm)),
            head=decoder.head,
            kernel=dense.kernel,
            experts=experts,
        )
        self._of: weakref.ref[SequenceState] | None = None  # it is not kept for this
        self._hidden = torch.empty(2 * KEPT, hidden)
        self._first = 0
        self._ids: list[int] = []  # tokens from `_first` on, whose hidden states are here
        self._begin(0)
        decoder.passed = self._note

    @property
    def nbytes(self) -> int:
        """Bytes of experts that are in memory by now."""
        return self._experts.cache.nbytes

    def close(self) -> None:
        """End its readers. The kernel's threads belong to the model."""
        self._decoder.passed = None  # or each would hold the other
        self._experts.loader.close()

    # ---- what the model reads ---------------------------------------------------------------------------------

    def _note(self, states: Sequence[SequenceState], ids: Sequence[int], x: Tensor) -> None:
        """These tokens went through the model, x [T, H] is what came of them behind its last layer."""
        state, start = states[0], states[0].length - len(ids)
        if len(states) > 1:  # none of them is drafted
            self._of = None
            return
        if self._of is None or self._of() is not state or not self._first <= start <= self._end:
            self._of = weakref.ref(state)
            self._begin(start)
        same = bool(self.rows) and self._row_end == start and self._last == ids[0]
        self._cut(start, rows=start if same else start - 1)
        new = x[-KEPT:]
        if len(new) < len(ids):
            self._begin(state.length - len(new))
        count = len(self._ids)
        if count + len(new) > len(self._hidden):
            left = KEPT - len(new)
            self._hidden[:left] = self._hidden[count - left : count].clone()
            self._first, count = self._end - left, left
            del self._ids[: len(self._ids) - left]
        self._hidden[count : count + len(new)] = self._decoder.norm(new)
        self._ids += ids[len(ids) - len(new) :]

    def _begin(self, at: int) -> None:
        """Nothing is known of what lies before this position."""
        self._first = at
        self._ids.clear()
        self._begin_rows(at)

    def _begin_rows(self, at: int) -> None:
        self._start, self._last = at, -1
        kv_dtype = self._decoder.kv_dtype
        self._state = SequenceState([self._layer.new_state(kv_dtype)], most_tokens=MOST, kv_dtype=kv_dtype)

    def _cut(self, length: int, rows: int) -> None:
        """Forget tokens behind so many of the sequence, and rows from position `rows` on."""
        del self._ids[max(0, length - self._first) :]
        if self._row_end > rows:
            self._state.rollback(max(0, rows - self._start))

    @property
    def _end(self) -> int:
        return self._first + len(self._ids)

    @property
    def rows(self) -> int:
        """Positions that it attends to."""
        return self._state.length

    @property
    def _row_end(self) -> int:
        """The position whose row comes next."""
        return self._start + self.rows

    # ---- what comes next --------------------------------------------------------------------------------------

    @torch.inference_mode()
    def propose(self, state: SequenceState, token: int, count: int) -> tuple[list[int], float]:
        """The `count` tokens that are likely behind `token`, which was chosen for the end of this sequence and not fed.

        And the seconds that it took, as it will again; 0 where it had to read experts, or much of the sequence, first.
        No tokens where the model did not just read the sequence. Raises what reading an expert raises; it stays usable.
        """
        start, missed, length = time.perf_counter(), self._experts.telemetry.misses, state.length
        if not count or self._of is None or self._of() is not state or not self._first < length <= self._end:
            return [], 0.0
        self._cut(length, rows=length - 1)
        if self._row_end < self._first or length - self._start > MOST:
            self._begin_rows(max(self._first, length - KEPT))
        behind = length - self._row_end
        try:
            found = self._guesses(length, token, count)
        except UnderhillError:
            self._begin_rows(self._first)
            raise
        usual = behind <= OFTEN and self._experts.telemetry.misses == missed
        return found, time.perf_counter() - start if usual else 0.0

    def _guesses(self, length: int, token: int, count: int) -> list[int]:
        coming = [*self._ids[1:], token]  # token p + 1 at p - `_first`
        row = 0
        logits: Tensor | None = None
        while self._row_end < length:
            at = self._row_end - self._first
            ids = coming[at : at + MOST_ROWS]
            self._given[: len(ids)] = self._hidden[at : at + len(ids)]
            row = len(ids) - 1
            logits = self._feed(ids, wanted=self._row_end + len(ids) == length)
        self._last = token
        assert logits is not None
        found = [int(logits.argmax())]
        rows = self.rows
        while len(found) < count:
            self._given[0] = self._given[row]  # what its head read, as it is given what the model's reads
            row = 0
            logits = self._feed(found[-1:], wanted=True)
            assert logits is not None
            found.append(int(logits.argmax()))
        self._state.rollback(rows)
        return found

    def _feed(self, ids: Sequence[int], *, wanted: bool) -> Tensor | None:
        """Rows of these tokens and the hidden states in `_given`. wanted: the logits [1, V] of the last, until the next
        call; what its head read of it is in `_given` then.
        """
        self._decoder.embedding.write(ids, self._graph.given(len(ids)))
        state, count = self._state, len(ids)
        first = count - 1 if wanted else None
        return self._graph.forward_sequences(
            None, [state], [state.length + count], counts=[count], first=first, kept=False
        )


def open_drafter(decoder: Decoder, store: Store, kernel: NativeKernel, dense: WeightFormat, tier: int) -> MtpDrafter:
    """For a model whose store has a layer for that. Its experts stay in memory once they are read; tier: of them.

    kernel: the model's, whose threads it shares. Raises UnderhillError as MtpDrafter does.
    """
    spec = decoder.spec.mtp
    assert spec is not None
    own = spec.moe.experts.activation
    source = SomeLayers(store, store.mtp[:1])
    activation = Activation(own.kind, own.alpha, own.limit)
    runtime = open_runtime(
        source, activation, store.expert_bytes(tier, mtp=True), policy="lru", readers=READERS, kernel=kernel, tier=tier
    )
    try:
        return MtpDrafter(decoder, store.dense, runtime, dense)
    except BaseException:
        runtime.loader.close()
        raise
