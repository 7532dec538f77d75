"""A prompt's rows by matrices on the card: the processor's numbers, piece by piece, until the card fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
import torch

from engine.cuda import prefill
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.errors import CardError
from engine.cuda.matrices import CardMatrices
from engine.cuda.prefill import CardPrefill, SideCost, least_rows, rows_of
from engine.cuda.ptx_files import read_ptx
from engine.kernels.activation import Activation
from engine.kernels.dense import PackedMatrix, set_bias
from engine.kernels.native import NativeKernel
from engine.models.layers.linear import Linear
from engine.models.layers.weight_format import holding
from engine.native.library import MatrixView
from engine.native.memory import Arena
from engine.planning.offload import PREFILL
from engine.record.layout import ExpertSpec
from tests.engine.cuda.command_stream import RecordedSchedule, check_orders, check_waits
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver, interpreted
from tests.engine.cuda.stand_in import StandIn
from tests.engine.cuda.test_linears import same

PTX = read_ptx("sm_80") + b"\0"
STAND_IN = b"\0"  # whatever it is, it is not compiled
ORDERS = int(os.environ.get("UNDERHILL_ORDERS", "200"))
SHAPES = ((70, 96), (64, 256), (200, 40))  # with tails in both directions
FAST, SLOW = SideCost(0.0, 0.5), SideCost(0.0, 1.0)


@pytest.fixture
def kernel() -> Iterator[NativeKernel]:
    with closing(NativeKernel(1)) as made:
        yield made


@pytest.fixture
def compiler() -> Iterator[StandIn]:
    with closing(StandIn({ExpertSpec(96, 64, 8, 32): Activation()})) as made:
        yield made


@pytest.fixture(autouse=True)
def _fast_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefill, "PIECE", 32)
    monkeypatch.setattr(prefill, "measure", measured(FAST, SLOW))


def measured(card: SideCost, host: SideCost) -> Callable[..., tuple[SideCost, SideCost]]:
    """What products are said to cost both sides."""
    return lambda *args: (card, host)


class Matrix:
    """A random one, with what its view points to."""

    def __init__(self, kernel: NativeKernel, rows: int, cols: int, bits: int = 8, *, bias: bool = False) -> None:
        random = torch.Generator().manual_seed(rows + bits)
        self._packed = PackedMatrix([torch.randn(rows, cols, generator=random)], bits, kernel, Arena())
        self._bias = torch.randn(rows, generator=random) if bias else None
        self.view = self._packed.view
        set_bias(self.view, self._bias)


def given(view: MatrixView, rows: int) -> torch.Tensor:
    return torch.randn(rows, view.cols, generator=torch.Generator().manual_seed(rows))


@contextmanager
def opened(
    kernel: NativeKernel, views: Sequence[MatrixView], simulated: SimulatedDriver, ptx: bytes = STAND_IN
) -> Iterator[CardPrefill]:
    """With these matrices on the card; all is given back in the end."""
    with closing(CardDevice(Driver(simulated), 0)) as device:
        matrices = CardMatrices(device, ptx, views, exact=kernel.exact)
        yield CardPrefill(device, ptx, kernel, [matrices.place(view) for view in views])
    assert simulated.leaks == []
    assert kernel.elsewhere == {}


@pytest.mark.parametrize(("bits", "bias", "shape"), [(4, False, SHAPES[0]), (8, True, SHAPES[2])])
def test_the_shipped_kernel_gives_the_processors_numbers(
    kernel: NativeKernel, bits: int, bias: bool, shape: tuple[int, int]
) -> None:
    matrix = Matrix(kernel, *shape, bits, bias=bias)
    x = given(matrix.view, 35)  # a piece and a tail
    expected = kernel.linear(matrix.view, x, torch.empty(35, shape[0]))
    with opened(kernel, [matrix.view], SimulatedDriver(compiler=interpreted), PTX) as card:
        assert card.count == 1
        assert same(kernel.linear(matrix.view, x), expected)
        assert card.computed == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
def test_rows_come_back_as_the_processor_makes_them(
    kernel: NativeKernel, compiler: StandIn, bits: int, bias: bool, seed: int
) -> None:
    held = [Matrix(kernel, *shape, bits, bias=bias) for shape in SHAPES]
    counts = (2, 31, 32, 33, 64, 65, 130)
    asked = [(own.view, given(own.view, count)) for own in held for count in counts]
    expected = [kernel.linear(view, x, torch.empty(len(x), view.rows)) for view, x in asked]
    with opened(kernel, [own.view for own in held], SimulatedDriver(seed, compiler=compiler)) as card:
        for (view, x), own in zip(asked, expected, strict=True):
            before = card.computed
            assert torch.equal(kernel.linear(view, x, torch.full_like(own, torch.nan)), own)
            assert card.computed == before + 1
            assert torch.equal(kernel.linear(view, x[:1]), own[:1])  # a single token's is no prompt
            assert card.computed == before + 1
        card.stop()
        assert torch.equal(kernel.linear(*asked[0]), expected[0])
        assert card.computed == len(asked)
        assert card.error is None


def test_linear_layers_of_several_parts_meet_their_own(kernel: NativeKernel, compiler: StandIn) -> None:
    weights = [torch.randn(70, 96), torch.randn(40, 96)]
    layer = Linear(weights, torch.randn(110), holding("int8", kernel))
    x = torch.randn(50, 96)
    expected = layer(x, own=True)
    with opened(kernel, layer.views(), SimulatedDriver(compiler=compiler)) as card:
        assert torch.equal(layer(x), expected)
        assert card.computed == len(layer.views())


def test_the_processor_computes_below_the_crossing(
    kernel: NativeKernel, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefill, "measure", measured(SideCost(10.0, 0.1), SideCost(0.0, 1.0)))
    matrix = Matrix(kernel, *SHAPES[0])
    with opened(kernel, [matrix.view], SimulatedDriver(compiler=compiler)) as card:
        assert list(card.least.values()) == [12]
        for count, there in ((11, 0), (12, 1), (40, 2)):
            kernel.linear(matrix.view, given(matrix.view, count))
            assert card.computed == there


def test_where_the_crossing_lies() -> None:
    assert least_rows(SideCost(1.0, 0.5), SideCost(2.0, 1.0), 100) == 2  # sooner from the beginning
    assert least_rows(SideCost(10.0, 0.5), SideCost(0.0, 1.0), 100) == 21  # at 20 they are through at once
    assert least_rows(SideCost(10.0, 0.5), SideCost(0.0, 1.0), 20) is None  # beyond what was measured
    assert least_rows(SideCost(0.0, 1.0), SideCost(5.0, 1.0), 100) is None


def test_what_is_measured_decides(kernel: NativeKernel, compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(prefill, "PIECE", 32)
    matrix, now = Matrix(kernel, *SHAPES[0]), [0.0]
    monkeypatch.setattr(prefill.time, "perf_counter", lambda: now[0])
    multiply, linear = CardPrefill.multiply, NativeKernel.linear

    def there(card: CardPrefill, matrix: object, x: torch.Tensor, y: torch.Tensor) -> None:
        multiply(card, matrix, x, y)  # type: ignore[arg-type]
        now[0] += 20.0 + len(x)

    def here(own: NativeKernel, view: MatrixView, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        now[0] += 2.0 * len(x) if own is kernel else 0.0  # others stand in for the card
        return linear(own, view, x, y)

    monkeypatch.setattr(CardPrefill, "multiply", there)
    monkeypatch.setattr(NativeKernel, "linear", here)
    with opened(kernel, [matrix.view], SimulatedDriver(compiler=compiler)) as card:
        assert list(card.least.values()) == [21]


def test_what_is_no_faster_stays_here(kernel: NativeKernel, compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefill, "measure", measured(SLOW, FAST))
    matrix = Matrix(kernel, *SHAPES[0])
    with opened(kernel, [matrix.view], SimulatedDriver(compiler=compiler)) as card:
        kernel.linear(matrix.view, given(matrix.view, 50))
        assert (card.count, card.computed, card.least) == (0, 0, {})


def test_too_wide_ones_and_activations_in_float32_stay_here(
    kernel: NativeKernel, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefill, "_ROOM", 4 * 32 * 100)  # bytes: of a block of rows of 100 numbers
    narrow, wide = Matrix(kernel, *SHAPES[0]), Matrix(kernel, *SHAPES[2])
    assert (rows_of(narrow.view), rows_of(wide.view)) == (32, 0)
    with opened(kernel, [narrow.view, wide.view], SimulatedDriver(compiler=compiler)) as card:
        assert card.count == 1
    with (
        closing(NativeKernel(1, exact=True)) as exact,
        opened(exact, [narrow.view], SimulatedDriver(compiler=compiler)) as card,
    ):
        assert (card.count, card.nbytes) == (0, 0)


def test_no_more_lies_on_the_card_than_it_says(kernel: NativeKernel, compiler: StandIn) -> None:
    simulated, matrix = SimulatedDriver(compiler=compiler), Matrix(kernel, *SHAPES[0])
    with closing(CardDevice(Driver(simulated), 0)) as device:
        matrices = CardMatrices(device, STAND_IN, [matrix.view], exact=False)
        held = [matrices.place(matrix.view)]
        before = sum(simulated.allocated.values())
        card = CardPrefill(device, STAND_IN, kernel, held)
        assert sum(simulated.allocated.values()) == before + card.nbytes


def test_the_plan_leaves_room_for_the_widest(
    kernel: NativeKernel, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefill, "PIECE", 256)
    high, long, usual = (Matrix(kernel, *shape) for shape in ((65536, 32), (16, 65536), (1024, 8192)))
    views = [own.view for own in (high, long, usual)]
    simulated = SimulatedDriver(compiler=compiler)
    with opened(kernel, views, simulated) as card:
        assert [rows_of(view) for view in views] == [32, 32, 256]
        assert 0.9 * PREFILL < card.nbytes <= PREFILL


FAILING = ("cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventSynchronize")


@pytest.mark.parametrize("name", [*FAILING, "cuCtxSetCurrent"])
def test_a_card_that_fails_in_the_middle_leaves_the_product_to_the_processor(
    kernel: NativeKernel, compiler: StandIn, name: str
) -> None:
    matrix = Matrix(kernel, *SHAPES[0])
    x = given(matrix.view, 130)  # five pieces
    expected = kernel.linear(matrix.view, x, torch.empty(130, SHAPES[0][0]))
    for done in range(1 if name == "cuCtxSetCurrent" else 5):
        simulated = SimulatedDriver(done, compiler=compiler)
        with opened(kernel, [matrix.view], simulated) as card:
            simulated.fail[name] = [0] * done + [LAUNCH_FAILED]
            assert torch.equal(kernel.linear(matrix.view, x), expected)
            assert card.error is not None
            assert (card.error.code, card.computed) == (LAUNCH_FAILED, 0)
            before = simulated.launches
            assert torch.equal(kernel.linear(matrix.view, x), expected)
            assert simulated.launches == before  # it is left alone


def test_other_numbers_than_the_processors_are_refused(kernel: NativeKernel, compiler: StandIn) -> None:
    matrix, wrong = Matrix(kernel, *SHAPES[0]), Matrix(kernel, *SHAPES[0], 4)

    class Other(NativeKernel):
        def linear(self, view: object, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
            return super().linear(wrong.view, x, y)

    simulated = SimulatedDriver(compiler=compiler)
    with (
        closing(Other(1)) as other,
        pytest.raises(CardError, match="shared weights differ"),
        opened(other, [matrix.view], simulated),
    ):
        pass
    assert simulated.leaks == []


def test_no_order_of_pieces_is_wrong(kernel: NativeKernel, compiler: StandIn) -> None:
    """UNDERHILL_ORDERS=10000 draws so many orders."""
    held, recorded = [Matrix(kernel, *shape) for shape in SHAPES], []
    for seed in range(2):
        schedule = RecordedSchedule(seed)
        with opened(kernel, [own.view for own in held], SimulatedDriver(compiler=compiler, schedule=schedule)):
            for count in (2, 65, 40, 130, 33):
                for own in held:
                    kernel.linear(own.view, given(own.view, count))
        recorded.append(schedule.stream)
    check_orders(recorded, ORDERS)
    check_waits(recorded, 500)
