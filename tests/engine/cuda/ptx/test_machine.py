"""The machine that runs PTX: its arithmetic, and that it finds what it is there to find."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.engine.cuda.ptx.memory import DeviceMemory
from tests.engine.cuda.ptx.module import Module, PtxFault

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
DECLARED = (
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<64>; .reg .f32 %f<16>; .reg .b64 %rd<16>;\n"
    ".shared .align 16 .b8 box[128];\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
)


def module(body: str) -> Module:
    """A kernel `k(in, out)`; %r1 is the thread, %rd4 and %rd5 its word of in and of out."""
    return Module(f"{HEAD}.visible .entry k(\n.param .u64 in,\n.param .u64 out\n)\n{{\n{DECLARED}{body}\n}}\n")


def run(
    body: str, data: bytes = bytes(range(256)), *, threads: int = 32, blocks: int = 1, nbytes: int = 256, seed: int = 0
) -> bytes:
    """What it leaves in `out`, of which the first word of each thread may be written."""
    memory = DeviceMemory(1 << 16)
    source, target = memory.alloc(len(data)), memory.alloc(nbytes)
    memory.write(source, data)
    arguments = [struct.pack("<Q", address) for address in (source, target)]
    module(body).launch("k", (blocks, 1, 1), (threads, 1, 1), 0, arguments, memory, seed)
    return memory.read(target, nbytes)


def words(raw: bytes, count: int = 32) -> list[int]:
    return list(struct.unpack(f"<{count}I", raw[: 4 * count]))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("out of bounds", "ld.global.u32 %r2, [%rd4+256]; ret;"),
        ("out of bounds", "st.global.u32 [%rd5+-4], %r1; ret;"),
        ("out of bounds", "ld.u32 %r2, [%rd3]; ret;"),  # an address that is none
        ("misaligned", "ld.global.u32 %r2, [%rd4+2]; ret;"),
        ("misaligned", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+8]; ret;"),
        ("uninitialized", "ld.global.u32 %r2, [%rd5]; ret;"),
        ("race", "st.global.u32 [%rd2], %r1; ret;"),  # with 64 threads: two warps
        ("unset register", "add.s32 %r2, %r3, 1; ret;"),
        ("unset register", "setp.eq.s32 %p1, %r1, 0; @%p1 mov.u32 %r2, 1; st.global.u32 [%rd5], %r2; ret;"),
        ("parameter out of bounds", "ld.param.u64 %rd6, [in+16]; ret;"),
        ("shared out of bounds", "st.shared.u32 [box+128], %r1; ret;"),
        ("shared uninitialized", "ld.shared.u32 %r2, [box]; ret;"),
        ("shared race", "st.shared.u32 [box], %r1; ret;"),
        ("lanes missing", "setp.lt.s32 %p1, %r1, 16; @%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; ret;"),
        ("lanes missing", "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 65535; ret;"),
        ("barrier in diverged code", "setp.lt.s32 %p1, %r1, 16; @%p1 bar.sync 0; ret;"),
        ("missing at a barrier", "setp.lt.s32 %p1, %r1, 32; @%p1 bra WAIT; ret; WAIT: bar.sync 0; ret;"),
    ],
)  # fmt: skip
def test_what_no_kernel_may_do_is_found(kind: str, body: str) -> None:
    with pytest.raises(PtxFault) as found:
        run(body, threads=64)
    assert found.value.kind == kind
    assert "line " in str(found.value)


# Word i of the box is written by thread i and read by thread 63 - i, of another warp.
_EXCHANGE = (
    "and.b32 %r2, %r1, 31; shl.b32 %r3, %r2, 2; mov.u32 %r4, box; add.s32 %r4, %r4, %r3;\n"
    "setp.lt.s32 %p1, %r1, 32; @%p1 st.shared.u32 [%r4], %r1;\n{barrier}"
    "@!%p1 ld.shared.u32 %r5, [%r4]; @!%p1 st.global.u32 [%rd5], %r5; ret;"
)


def test_a_barrier_orders_two_warps_and_its_absence_is_found_in_whichever_order_they_run() -> None:
    for seed in range(12):
        raw = run(_EXCHANGE.format(barrier="bar.sync 0;\n"), threads=64, seed=seed)
        assert words(raw, 64)[32:] == list(range(32))
        with pytest.raises(PtxFault) as found:
            run(_EXCHANGE.format(barrier=""), threads=64, seed=seed)
        assert found.value.kind in ("shared race", "shared uninitialized")


def test_lanes_of_a_warp_need_a_barrier_of_their_own() -> None:
    body = (
        "xor.b32 %r2, %r1, 1; shl.b32 %r3, %r1, 2; shl.b32 %r4, %r2, 2; mov.u32 %r5, box; add.s32 %r3, %r3, %r5;\n"
        "add.s32 %r4, %r4, %r5; st.shared.u32 [%r3], %r1; {sync} ld.shared.u32 %r6, [%r4];\n"
        "st.global.u32 [%rd5], %r6; ret;"
    )
    assert words(run(body.format(sync="bar.warp.sync -1;"))) == [i ^ 1 for i in range(32)]
    with pytest.raises(PtxFault, match="shared race"):
        run(body.format(sync=""))


def test_blocks_that_touch_the_same_word_race() -> None:
    body = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; {what} ret;"
    read_and_write = "@%p1 st.global.u32 [%rd4], %r1; @!%p1 ld.global.u32 %r3, [%rd4];"
    for seed in range(6):
        with pytest.raises(PtxFault, match="race"):
            run(body.format(what=read_and_write), blocks=2, seed=seed)
    run(body.format(what="@%p1 st.global.u32 [%rd5], %r1;"), blocks=2)


def test_a_launch_after_another_may_read_what_that_wrote() -> None:
    memory = DeviceMemory(1 << 16)
    a, b, c = (memory.alloc(128) for _ in range(3))
    memory.write(a, bytes(128))
    kernel = module("ld.global.u32 %r2, [%rd4]; add.s32 %r2, %r2, %r1; st.global.u32 [%rd5], %r2; ret;")
    for source, target in ((a, b), (b, c)):
        report = kernel.launch(
            "k", (1, 1, 1), (32, 1, 1), 0, [struct.pack("<Q", source), struct.pack("<Q", target)], memory
        )
        assert (report.reads, report.writes) == ([(source, 128)], [(target, 128)])
    assert words(memory.read(c, 128)) == [2 * i for i in range(32)]


def test_lanes_that_parted_come_together_again() -> None:
    body = (
        "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
        "LOOP: add.s32 %r2, %r2, %r3; add.s32 %r3, %r3, 1; setp.le.s32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
        "shfl.sync.idx.b32 %r4, %r2, 5, 31, -1; sub.s32 %r2, %r2, %r4; st.global.u32 [%rd5], %r2; ret;"
    )
    assert words(run(body)) == [(i * (i + 1) // 2 - 15) & 0xFFFFFFFF for i in range(32)]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("dp4a.u32.s32 %r2, 0xff01027f, 0x80ff0201, 5;", 255 * -128 + 1 * -1 + 2 * 2 + 127 + 5),
        ("prmt.b32 %r2, 0x33221100, 0x77665544, 0x7205;", 0x77220055),
        ("prmt.b32 %r2, 0x3322f100, 0, 0x8999;", 0x00FFFFFF),
        ("bfi.b32 %r2, 0x5, 0xffffffff, 4, 3;", 0xFFFFFFDF),
        ("shl.b32 %r2, 1, 32;", 0),
        ("shr.s32 %r2, -8, 40;", -1),
        ("shr.u32 %r2, -8, 28;", 15),
        ("div.s32 %r2, -7, 2;", -3),
        ("rem.s32 %r2, -7, 2;", -1),
        ("mul.lo.s32 %r2, 65536, 65537;", 65536),
        ("mad.lo.s32 %r2, 3, -4, 5;", -7),
        ("mov.f32 %f1, 0f40200000; cvt.rni.s32.f32 %r2, %f1;", 2),  # 2.5: to even
        ("mov.f32 %f1, 0fC0200000; cvt.rzi.s32.f32 %r2, %f1;", -2),
        ("mov.u16 %rs1, 0xC500; cvt.f32.f16 %f1, %rs1; mov.b32 %r2, %f1;", 0xC0A00000),  # -5
        ("cvt.s32.s8 %r2, 0x181;", -127),
        ("mov.f32 %f1, 0f7FC00000; setp.gt.f32 %p1, %f1, 0f00000000; selp.b32 %r2, 1, 0, %p1;", 0),
        ("mov.f32 %f1, 0f7FC00000; setp.leu.f32 %p1, %f1, 0f00000000; selp.b32 %r2, 1, 0, %p1;", 1),
        # (1 + 2^-12)^2 - (1 + 2^-11): the last bit is kept by a fused operation alone
        ("mov.f32 %f1, 0f3F800800; fma.rn.f32 %f2, %f1, %f1, 0fBF801000; mov.b32 %r2, %f2;", 0x33800000),
        ("mov.f32 %f1, 0f3F800800; mul.rn.f32 %f2, %f1, %f1; sub.rn.f32 %f2, %f2, 0f3F801000; mov.b32 %r2, %f2;", 0),
    ],
)  # fmt: skip
def test_arithmetic_is_that_of_the_manual(instruction: str, expected: int) -> None:
    assert words(run(f"{instruction} st.global.u32 [%rd5], %r2; ret;"))[0] == expected & 0xFFFFFFFF


@pytest.mark.parametrize(("shape", "rows", "depth"), [("m16n8k32", 16, 32), ("m8n8k16", 8, 16)])
def test_tensor_cores_multiply_what_lies_where_the_manual_says(shape: str, rows: int, depth: int) -> None:
    """Fragments are made of matrices by the manual's formulas (PTX ISA, 9.7.15.5), and the result read back by them."""
    random = np.random.default_rng(0)
    a = random.integers(0, 256, (rows, depth), np.int32)
    b = random.integers(-128, 128, (depth, 8), np.int32)
    n_a, n_b, n_c = rows * depth // 128, depth // 16, rows // 4
    registers = np.zeros((32, n_a + n_b), np.uint32)
    for lane in range(32):
        group, within = lane >> 2, lane % 4
        for i in range(4 * n_a):
            # row: groupID, + 8 for elements 4..7 and 12..15; column: threadID * 4 + i % 4, + 16 from element 8 on
            row = group + (8 if rows == 16 and i % 8 >= 4 else 0)
            column = within * 4 + (i & 3) + (16 if i >= 8 else 0)
            registers[lane, i // 4] |= np.uint32(a[row, column]) << np.uint32(8 * (i & 3))
        for i in range(4 * n_b):
            value = np.uint32(b[within * 4 + (i & 3) + (16 if i >= 4 else 0), group] & 255)
            registers[lane, n_a + i // 4] |= value << np.uint32(8 * (i & 3))
    loads = "".join(f"ld.global.u32 %r{10 + i}, [%rd6+{4 * i}];" for i in range(n_a + n_b))
    names = [f"%r{10 + i}" for i in range(n_a + n_b)]
    results = [f"%r{30 + i}" for i in range(n_c)]
    operands = ", ".join("{" + ", ".join(group) + "}" for group in (results, names[:n_a], names[n_a:], results))
    body = (
        f"mul.wide.u32 %rd6, %r1, {4 * (n_a + n_b)}; add.s64 %rd6, %rd6, %rd1; {loads}"
        + "".join(f"mov.u32 {name}, 7;" for name in results)
        + f"mma.sync.aligned.{shape}.row.col.s32.u8.s8.s32 {operands};"
        + f"mul.wide.u32 %rd7, %r1, {4 * n_c}; add.s64 %rd7, %rd7, %rd2;"
        + "".join(f"st.global.u32 [%rd7+{4 * i}], {name};" for i, name in enumerate(results))
        + "ret;"
    )
    raw = np.frombuffer(run(body, registers.tobytes(), nbytes=128 * n_c), np.int32).reshape(32, n_c)
    product = a @ b + 7
    for lane in range(32):
        for i in range(n_c):
            assert raw[lane, i] == product[(lane >> 2) + (8 if i >= 2 else 0), (lane % 4) * 2 + (i & 1)]


def test_text_that_is_not_understood_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match=r"line 14: cannot run tex\.2d"):
        module("ret;\ntex.2d %r2, %r3;").kernels["k"].encoded  # noqa: B018
    with pytest.raises(ValueError, match="no module"):
        Module("hello")


def test_arguments_have_to_fit() -> None:
    memory = DeviceMemory(1 << 16)
    for arguments in ([b"12345678"], [b"12345678", b"1234"]):
        with pytest.raises(ValueError, match=r"takes 2 parameters|has 8 bytes"):
            module("ret;").launch("k", (1, 1, 1), (32, 1, 1), 0, arguments, memory)


def test_memory_is_given_back_and_had_again() -> None:
    memory = DeviceMemory(8 << 10)
    first = [memory.alloc(1000) for _ in range(6)]
    with pytest.raises(MemoryError):
        memory.alloc(4000)
    assert all(address % 256 == 0 for address in first)
    for address in first[1:5]:
        memory.free(address)
    assert memory.used == 2000
    again = memory.alloc(4000)
    assert not memory.is_written(again, 4000)
    with pytest.raises(ValueError, match="given back"):
        memory.free(first[1] + 1)
    with pytest.raises(ValueError, match="inside"):
        memory.write(first[0] + 999, b"ab")
