"""Products of heads' own matrices on a card that is not there: the processor's bits."""

from __future__ import annotations

import ctypes
from contextlib import closing
from typing import Literal

import pytest
import torch

from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.head_matrices import HeadMatrices, nbytes_by_head
from engine.cuda.matrices import CardMatrices
from engine.cuda.ptx_files import read_ptx
from engine.kernels.dense import PackedMatrix
from engine.kernels.native import NativeKernel
from engine.native import mixer_ops, op_graph
from engine.native.memory import Arena
from engine.native.op_graph import GraphStep, OpGraph
from tests.engine.cuda.simulated_driver import MIB, SimulatedDriver, interpreted

PTX = read_ptx("sm_75") + b"\0"
SHAPES = ((3, 32, 40, 50), (1, 16, 200, 200), (5, 80, 12, 12))  # heads, rows, columns, from one x to the next


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_heads_have_the_processors_bits(bits: Literal[4, 8], exact: bool) -> None:
    torch.manual_seed(bits)
    simulated = SimulatedDriver(bits, 64 * MIB, interpreted)
    with closing(NativeKernel(1, exact=exact)) as kernel, closing(CardDevice(Driver(simulated), 0)) as device:
        ops = []
        for heads, rows, cols, step in SHAPES:
            packed = PackedMatrix([torch.randn(heads * rows, cols)], bits, kernel, Arena())
            x, y = torch.randn((heads - 1) * step + cols), torch.empty(heads * rows)
            ops.append((packed, mixer_ops.each(packed.view, heads, x, step, y, rows)))
        matrices = CardMatrices(device, PTX, [op.view for _, op in ops], exact=exact)
        placed: list[int] = []

        def room(nbytes: int) -> int:
            placed.append(nbytes)
            return device.memory(nbytes)

        on_card = HeadMatrices(device, PTX, [op for _, op in ops], matrices, room=room, exact=exact)
        for _, op in ops:
            x, y = op.tensor("x"), op.tensor("out")
            assert x is not None
            assert y is not None
            sizes = 4 * x.numel(), 4 * y.numel()
            (sent, there), (came, answer) = ((device.pinned(n), device.memory(n)) for n in sizes)
            ctypes.memmove(sent, x.data_ptr(), sizes[0])
            for _ in range(2):  # it lies there once
                commands = CommandList()
                commands.copy_in(there, sent, sizes[0])
                on_card.multiply(commands, op, there, answer)
                commands.copy_out(came, answer, sizes[1])
                device.driver.submit(commands, device.compute)
                device.driver.synchronize(device.compute)
                found = torch.frombuffer((ctypes.c_float * y.numel()).from_address(came), dtype=torch.float32).clone()
                step_of = GraphStep(1)
                step_of.set(0, [0] * op_graph.STATES)
                kernel.run_graph(OpGraph([op]), step_of)
                assert torch.equal(found, y)
        assert placed == [nbytes_by_head(op.view, op.number("heads")) for _, op in ops]
    assert simulated.leaks == []
