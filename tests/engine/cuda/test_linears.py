"""Linear layers on the card: the processor's numbers, for single tokens, until the card fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest
import torch

from engine.cuda import linears, prefill
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.linears import CardLinears, LinearPlace, Tried
from engine.cuda.matrices import CardMatrix, nbytes_of
from engine.cuda.ptx_files import read_ptx
from engine.kernels.dense import PackedMatrix, raw_view, sections_of, set_bias
from engine.kernels.native import NativeKernel
from engine.native.library import isas
from engine.native.memory import Arena
from engine.native.op_graph import GraphStep, OpGraph, linear
from engine.quantization.coded import Coded
from engine.quantization.exact import pack_dense
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver, interpreted
from tests.engine.quantization.grouped_codes import KINDS, made

PTX = read_ptx("sm_80") + b"\0"
ROOM = 1 << 20
ROWS, COLS = 70, 96
# Elsewhere products are summed in another order than the card's (docs/graphics-card.md).
IN_ORDER = any("vnni" in name for name in isas())


@pytest.fixture(params=[False, True], ids=["8 bits", "exact"])
def kernel(request: pytest.FixtureRequest) -> Iterator[NativeKernel]:
    with closing(NativeKernel(1, exact=bool(request.param))) as made:
        yield made


@pytest.fixture(autouse=True)
def _fast_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linears, "measure", measured(0.5, 1.0))


def measured(card: float, host: float) -> Callable[..., list[Tried]]:
    """A card whose products take so many seconds, beside a processor whose take so many."""

    def measure(placed: Sequence[tuple[LinearPlace, CardMatrix]], kernel: NativeKernel) -> list[Tried]:
        return [Tried(*pair, card, host) for pair in placed]

    return measure


class Layer:
    """A graph of one product. rows: tokens that it takes."""

    def __init__(self, kernel: NativeKernel, bits: int, *, bias: bool = False, rows: int = ROWS) -> None:
        random = torch.Generator().manual_seed(bits)
        self.kernel, self.rows = kernel, rows
        self.packed = PackedMatrix([torch.randn(rows, COLS, generator=random)], bits, kernel, Arena())
        self.bias = torch.randn(rows, generator=random) if bias else None
        set_bias(self.packed.view, self.bias)
        self.x, self.y = torch.randn(2, COLS, generator=random), torch.empty(2, rows)
        self.graph = OpGraph([linear(self.packed.view, self.x, self.y)])
        self.expected = kernel.linear(self.packed.view, self.x, torch.empty(2, rows))

    @property
    def place(self) -> LinearPlace:
        ((at, view),) = self.graph.linears()
        return LinearPlace(self.graph, at, view)

    def run(self, tokens: int = 1) -> torch.Tensor:
        """What the graph gives."""
        step = GraphStep(0)
        step.set(0, [], tokens)
        self.y.fill_(torch.nan)
        self.kernel.run_graph(self.graph, step)
        return self.y[:tokens]


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    return torch.equal(found, expected) if IN_ORDER else torch.allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_that_keep_their_sources_codes_are_computed_there_too(kernel: NativeKernel, kind: str) -> None:
    coding = KINDS[kind][0]
    grouped = made(coding, ROWS, 256)
    held = Coded(pack_dense(coding, ROWS, 256, (grouped.rows(0, 16), grouped.rows(16, ROWS))), coding, ROWS, 256)
    bias, random = torch.randn(ROWS), torch.Generator().manual_seed(3)
    set_bias(held.view, bias)
    x, y = torch.randn(40, 256, generator=random), torch.empty(40, ROWS)
    expected = kernel.linear(held.view, x, torch.empty(40, ROWS))
    graph = OpGraph([linear(held.view, x[:1], y[:1])])
    with closing(CardDevice(Driver(SimulatedDriver(compiler=interpreted)), 0)) as device:
        on_card = CardLinears(device, PTX, kernel, [LinearPlace(graph, *own) for own in graph.linears()], ROOM)
        assert on_card.count == 1
        assert sum(nbytes for _, nbytes in sections_of(held.view)) == held.data.nbytes - 64  # but for the unit's line
        step = GraphStep(0)
        step.set(0, [], 1)
        kernel.run_graph(graph, step)
        assert on_card.computed > 0
        assert same(y[:1], expected[:1])
        if not kernel.exact:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    prefill, "measure", lambda *args: (prefill.SideCost(0.0, 1e-6), prefill.SideCost(1.0, 1e-3))
                )
                prompts = prefill.CardPrefill(device, PTX, kernel, on_card.matrices)
            assert same(kernel.linear(held.view, x, y), expected)
            assert prompts.computed == 1


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("seed", range(3))
def test_single_tokens_are_computed_on_the_card_with_the_processors_numbers(
    kernel: NativeKernel, bits: int, bias: bool, seed: int
) -> None:
    layer, simulated = Layer(kernel, bits, bias=bias), SimulatedDriver(seed, compiler=interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        found = CardLinears(device, PTX, kernel, [layer.place], ROOM)
        assert (found.count, found.nbytes) == (1, nbytes_of(layer.packed.view))
        assert found.worst <= (0 if IN_ORDER and not kernel.exact else 1e-4)
        before = found.computed
        assert same(layer.run(), layer.expected[:1])
        assert found.computed == before + 1
        assert same(layer.run(2), layer.expected)  # several tokens read the matrix once here
        assert found.computed == before + 1
        found.stop()
        assert torch.equal(layer.run(), layer.expected[:1])
        assert found.computed == before + 1
        assert found.error is None
    assert simulated.leaks == []


def test_a_card_that_fails_in_the_middle_leaves_the_product_to_the_processor(kernel: NativeKernel) -> None:
    for name in ("cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuEventRecord", "cuCtxSetCurrent", "cuEventSynchronize"):
        layer, simulated = Layer(kernel, 8), SimulatedDriver(compiler=interpreted)
        with closing(CardDevice(Driver(simulated), 0)) as device:
            found = CardLinears(device, PTX, kernel, [layer.place], ROOM)
            simulated.fail[name] = [LAUNCH_FAILED]
            assert torch.equal(layer.run(), layer.expected[:1])
            assert found.error is not None
            assert found.error.code == LAUNCH_FAILED
            before = simulated.launches
            assert torch.equal(layer.run(), layer.expected[:1])
            assert simulated.launches == before  # it is left alone
        assert simulated.leaks == []


def test_what_is_no_faster_there_stays_here(kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linears, "measure", measured(1.0, 1.0))
    layer, simulated = Layer(kernel, 8), SimulatedDriver(compiler=interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        found = CardLinears(device, PTX, kernel, [layer.place], ROOM)
        assert (found.count, found.nbytes) == (0, 0)
        before = found.computed
        assert torch.equal(layer.run(), layer.expected[:1])
        assert found.computed == before


def test_the_largest_come_first_and_raw_ones_never(kernel: NativeKernel) -> None:
    small, large = Layer(kernel, 8), Layer(kernel, 8, rows=200)
    raw, out = torch.randn(ROWS, COLS), torch.empty(1, ROWS)
    plain = OpGraph([linear(raw_view(raw, None), torch.randn(1, COLS), out)])
    places = [small.place, large.place, LinearPlace(plain, *plain.linears()[0])]
    simulated = SimulatedDriver(compiler=interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        found = CardLinears(device, PTX, kernel, places, nbytes_of(large.packed.view) + 100)
        assert found.nbytes == nbytes_of(large.packed.view)
        before = found.computed
        small.run()
        assert found.computed == before
        large.run()
        assert found.computed == before + 1


def test_other_numbers_than_the_processors_are_refused(kernel: NativeKernel) -> None:
    layer, simulated = Layer(kernel, 8), SimulatedDriver(compiler=interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        place = layer.place
        wrong = PackedMatrix([torch.randn(ROWS, COLS)], 8, kernel, Arena())

        class Other(NativeKernel):
            def linear(self, view: object, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
                return super().linear(wrong.view, x, y)

        with closing(Other(1, exact=kernel.exact)) as other, pytest.raises(CardError, match="shared weights differ"):
            CardLinears(device, PTX, other, [place], ROOM)
        assert torch.equal(layer.run(), layer.expected[:1])
    assert simulated.leaks == []


def test_without_room_nothing_is_brought(kernel: NativeKernel) -> None:
    layer, simulated = Layer(kernel, 8), SimulatedDriver(compiler=interpreted)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        found = CardLinears(device, PTX, kernel, [layer.place], 100)
        assert (found.count, found.computed, found.error) == (0, 0, None)
        assert torch.equal(layer.run(), layer.expected[:1])
