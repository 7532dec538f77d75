"""Layers on the card against the processor's, before they are relied on: their numbers, and who is faster."""

from __future__ import annotations

import statistics
import time

import torch

from engine.cuda.device import CardDevice
from engine.cuda.errors import OUT_OF_MEMORY, CardError
from engine.cuda.layer_runs import (
    LayerPlaces,
    LayerRun,
    SequenceRows,
    cache_bytes,
    runs_of,
    tensors_of,
    weight_bytes,
    whole_runs,
)
from engine.cuda.layers import CardLayers
from engine.kernels.native import NativeKernel
from engine.native.op_graph import STATES, GraphStep
from engine.native.op_slots import OpKind
from engine.translatable import msg

# Relative to the norm of a vector. Processors that multiply bf16 in pairs round queries and weights of attention to
# bf16, which the card does not: that, not the card's own 2e-6, is what is seen.
TOLERANCE = 1e-2
SWAPPED = 4  # one of so many experts may be another than the processor's, where their scores are as close as that
ROWS = 256  # of the sequence that it is tried on
TURNS = 3  # measurements, of which the middle counts


def open_layers(
    device: CardDevice, ptx: bytes, kernel: NativeKernel, places: LayerPlaces, room: int
) -> CardLayers | None:
    """The layers of a model on the card; None where it has none that the card computes, too little room, or is slower.

    room: bytes. Raises CardError where the card differs from the processor, or fails.
    """
    whole = whole_runs(places.graphs)
    runs = whole or runs_of(places.graphs)
    if not runs or cache_bytes(runs, places.tokens, places.kv_dtype) + weight_bytes(runs) > room:
        return None
    read = places.read_elsewhere(runs)
    try:
        layers = CardLayers(
            device, ptx, runs, read, capacity=places.tokens, kv_dtype=places.kv_dtype, exact=kernel.exact
        )
        layers.whole = bool(whole)
    except CardError as error:
        if error.code != OUT_OF_MEMORY:
            raise
        return None
    trial = places.trial(min(ROWS, places.tokens - 1))
    worst = max(_difference(layers, run, kernel, trial) for run in runs)
    if not worst <= TOLERANCE:
        layers.give_back()
    refuse_attention(device, worst)
    layers.worst, layers.seconds = worst, measure(layers, kernel, trial)
    if layers.seconds[0] >= layers.seconds[1]:
        layers.give_back()
        return None
    places.follow(layers.follow)
    return layers


def refuse_attention(device: CardDevice, worst: float) -> None:
    """Raises CardError where it differs from the processor's by more than rounding explains. worst: the largest
    difference, relative to the norm of a vector."""
    if not worst <= TOLERANCE:
        raise CardError(
            msg(
                "{name} and the CPU give different results: attention differs by {worst}.",
                name=device.facts.name,
                worst=f"{worst:.2g}",
            ),
            msg("Please report this with the name of the GPU. The CPU is used instead."),
        )


def _step_of(trial: SequenceRows) -> GraphStep:
    states = trial.prepared()
    step = GraphStep(len(states) // STATES)
    step.set(trial.length, states)
    return step


def _difference(layers: CardLayers, run: LayerRun, kernel: NativeKernel, trial: SequenceRows) -> float:
    """The largest of a run's results from the processor's, relative to their norm."""
    step, vectors, back = _step_of(trial), layers.vectors(), layers.vectors(run)
    random = torch.Generator().manual_seed(run.start + run.end)
    for vector in vectors:
        vector.copy_(torch.randn(vector.shape, generator=random))
    given = [vector.clone() for vector in vectors]
    layers.follow(trial)
    layers.use(run, card=False)
    kernel.run_graph(run.graph, step)
    expected, chosen = [vector.clone() for vector in back], _chosen(run)
    for vector, own in zip(vectors, given, strict=True):
        vector.copy_(own)
    layers.use(run)
    before = layers.computed
    kernel.run_graph(run.graph, step)
    if layers.error is not None:
        raise layers.error
    assert layers.computed > before
    routes = [own for op in run.ops if op.kind is OpKind.ROUTE for own in tensors_of(op, ("ids", "weights"))]
    routed = {own.data_ptr() for own in routes}
    pairs = [(one, other) for one, other in zip(back, expected) if one.data_ptr() not in routed]
    worst = max(
        float(((one - other).norm() / other.norm().clamp_min(1e-30)).nan_to_num(torch.inf)) for one, other in pairs
    )
    same = [
        len(set(one) & set(other)) >= len(other) - max(1, len(other) // SWAPPED)
        for one, other in zip(_chosen(run), chosen)
    ]
    return worst if all(same) else torch.inf


def _chosen(run: LayerRun) -> list[list[int]]:
    """The experts that a run has chosen."""
    routes = [op for op in run.ops if op.kind is OpKind.ROUTE]
    return [own[0].tolist() for op in routes for own in tensors_of(op, ("ids",))]


def measure(layers: CardLayers, kernel: NativeKernel, trial: SequenceRows) -> tuple[float, float]:
    """Seconds of all runs of a token: by the card, and by the processor. Where the card has all of a token's ops, they
    go there together, as they do in stretches."""
    step, taken = _step_of(trial), []
    together = layers.together() if layers.whole else None
    for card in (True, False):
        for run in layers.runs:
            layers.use(run, card=card)
        turns = []
        for _ in range(TURNS):
            layers.follow(trial)
            start = time.perf_counter()
            if card and together is not None:
                layers.run_commands(together)
            else:
                for run in layers.runs:
                    kernel.run_graph(run.graph, step)
            turns.append(time.perf_counter() - start)
        taken.append(statistics.median(turns))
    for run in layers.runs:
        layers.use(run)
    return taken[0], taken[1]
