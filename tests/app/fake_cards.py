"""What the scripted engine has: two models, and a computer."""

from __future__ import annotations

from engine import protocol
from engine.hardware.computer import describe
from engine.hardware.machine import DiskPoint, Machine, Memory
from engine.hardware.processor import Processor
from engine.hardware.rates import Rates
from engine.library.listing import note_of
from engine.translatable import msg
from tests.app.fake_hub import FITS, IN_MEMORY, at_8_bits

LAYERS, EXPERTS = 16, 32
BUILTIN = protocol.ModelCard(
    name="builtin",
    title="Little Hill 21M",
    family="olmoe",
    path="/models/builtin",
    parameters=21_000_000,
    active_parameters=8_000_000,
    disk_bytes=38_000_000,
    expert_bytes=30_000_000,
    layers=LAYERS,
    moe_layers=LAYERS,
    experts=EXPERTS,
    experts_per_token=4,
    context_length=1024,
    tiers=(2, 4, 8),
    backend="lean",
    note=note_of("builtin", 21_000_000, lean=True),
    plan=(
        msg(
            "All experts ({whole}) fit in memory and run at {tier}-bit, whatever the quality setting.",
            whole="38.0 MB",
            tier=8,
        ),
        msg("Native kernels ({names}), {threads} {threads2}.", names="AVX2", threads=4, threads2=msg("threads")),
    ),
    fit=at_8_bits(IN_MEMORY, "40–60"),
)
LARGE = protocol.ModelCard(
    name="olmoe-1b-7b",
    title="OLMoE 1B-7B Instruct",
    family="olmoe",
    path="/models/olmoe",
    parameters=6_900_000_000,
    active_parameters=1_300_000_000,
    disk_bytes=7_400_000_000,
    expert_bytes=6_900_000_000,
    layers=LAYERS,
    moe_layers=LAYERS,
    experts=EXPERTS,
    experts_per_token=8,
    context_length=4096,
    tiers=(2, 4, 8),
    backend="lean",
    plan=(
        msg(
            "Experts in memory: {cache} of {whole} ({whole2}%) at {tier}-bit; the rest is read from disk.",
            cache="1.7 GB",
            whole="6.9 GB",
            whole2=25,
            tier=8,
        ),
    ),
    fit=at_8_bits(FITS, "9–14"),
)
POINTS = (DiskPoint(4_000_000, 4, True, 3.4e9), DiskPoint(1_000_000, 4, True, 3.1e9))
MACHINE = Machine(
    cores=8,
    memory=Memory(16_000_000_000, 11_200_000_000),
    memory_rate=52e9,
    disk_rate=3.1e9,
    disk_free=212_000_000_000,
    isa="avx512vnni",
    disk_points=POINTS,
)
COMPUTER = describe(
    Processor("AMD Ryzen 7 7840U", 8, 8, 16), MACHINE, Rates(52e9, 8, POINTS, {2: 0.9, 4: 0.97, 8: 0.98})
)
