"""Every guard, barrier and mask of the kernels is there for something: left out, it is found."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from engine.cuda import build
from engine.cuda.build import FLAVOURS, compile_ptx, find_nvrtc
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, NativeKernel
from engine.native import mixer_ops, op_graph, route_op
from engine.record.layout import ExpertSpec
from tests.engine.cuda.kernels import test_latents as latents
from tests.engine.cuda.kernels import test_layers as tests
from tests.engine.cuda.kernels import test_prompts as prompts
from tests.engine.cuda.kernels.card import Card, argument
from tests.engine.cuda.ptx.module import Module, PtxFault
from tests.engine.kernels.calls import routed, run
from tests.engine.kernels.records import random_experts

pytestmark = [
    pytest.mark.skipif(find_nvrtc() is None, reason="the package nvidia-cuda-nvrtc-cu12 is not installed"),
    pytest.mark.slow,
]

# One body for codes of 4 bits in place of one for each kind: mutants compile in a second.
ONE_KIND = "#define UH_FOR_KIND(kind, call) call(2);\n"


class Mutant(NamedTuple):
    """What is taken out of a file, and what stands in its place. Where: what finds it."""

    file: str
    old: str
    new: str
    where: str


def layers(how: str) -> Callable[[Module], None]:
    """Layers whose sizes are multiples of nothing, with and without a gate, from 1 to 5 tokens an expert."""

    def check(module: Module) -> None:
        biased = ExpertSpec(150, 70, 4, 48, has_gate=True, has_bias=True)
        specs = biased, ExpertSpec(70, 90, 4, 32, has_gate=False), ExpertSpec(40, 33, 4, 32)
        for spec, tokens in zip(specs, (10, 9, 2)):
            experts = random_experts(spec, 2, [4])
            torch.manual_seed(0)
            x, ids = torch.randn(tokens, spec.hidden), routed(tokens, 1, 2)
            theirs = run(NativeKernel(1, exact=how == "exact"), spec, experts, x, ids, Activation("silu"))
            assert torch.equal(Card(module=module).layer(spec, experts, x, ids, how), theirs), "other values"

    return check


def combined(module: Module) -> None:
    """Outputs of which one must not be read."""
    out, weights = torch.randn(6, 200), torch.rand(3, 2)
    weights[1, 1], out[3] = 0, float("nan")
    assert torch.equal(Card(module=module).combine(out, weights), NativeKernel(1).combine(out, weights)), "other values"


def too_many_vectors(module: Module) -> None:
    """A grid that is higher than there are vectors."""
    for name, size in (("uh_quantize", 1), ("uh_pad", 4)):
        card = Card(module=module)
        x, made, scales, sums = card.put(torch.randn(2, 64)), card.room(2 * 64 * size), card.room(16), card.room(16)
        numbers = [argument(value, "i") for value in (64, 64, 32, 2)]
        rest = [argument(a) for a in ((made, scales, sums) if size == 1 else (made, sums))]
        card.launch(name, (1, 3), argument(x), argument(64, "q"), *numbers, *rest)


def small_ops(module: Module) -> None:
    """Norms, sums, gates and raw products of sizes that are multiples of nothing."""
    torch.manual_seed(0)
    card, x = Card(module=module), torch.randn(2, 4111)
    out = torch.empty(2 * 4111)
    tests.on_processor(op_graph.norm(x.flatten(), out, 4111, 1e-5, None))
    assert tests.same_bits(tests.norm(card, x, 4111, 1e-5, None, None).flatten(), out), "other values"
    for name, count in (("uh_add", 130), ("uh_gate", 130)):
        at, other = card.put(torch.randn(count)), argument(card.put(torch.randn(count)))
        last = (argument(0.5, "f"), argument(count, "i")) if name == "uh_add" else [argument(count, "i")] * 2
        card.launch(name, (2,), argument(at), other, *last)
    w, v, y = torch.randn(5, 37), torch.randn(37), card.room(20)
    card.launch(
        "uh_raw", (2,), argument(card.put(v)), argument(card.put(w)), argument(0), argument(y),
        *(argument(n, "i") for n in (5, 37, 32, 5, 0)),
    )  # fmt: skip
    assert torch.allclose(card.floats(y, 5), w @ v, atol=1e-5), "other values"


def routes(module: Module) -> None:
    """Experts with equal scores, fewer chosen than a warp has lanes, and scores that are no numbers."""
    for score in ("softmax", "topk_softmax", "sigmoid"):
        logits = torch.randn(70, generator=torch.Generator().manual_seed(0)).round()
        for value in (0.0, float("nan")):
            logits[65] = value
            spec = route_op.Routing(experts=70, top_k=5, score=score, normalize=True)
            assert tests.same_route(Card(module=module), spec, logits), "other values"


def attends(module: Module) -> None:
    """Rows, queries and splits that fill nothing."""
    for call in (
        tests.Looking(share=11, rows=131, splits=3),
        tests.Looking(share=3, dim=64, rows=70, window=67, sinks=True),
    ):
        assert tests.close(*tests.looked(call, Card(module=module))), "other values"


def attends_to_prompts(module: Module) -> None:
    """Tokens, rows and windows that fill nothing; and rows that are not seen, larger than all others or no numbers."""
    plain = prompts.Asking(tokens=5, share=3, dim=64, rows=131, dtype=torch.float32)
    for call in (
        plain,
        prompts.Asking(tokens=9, share=11, kv_heads=1, rows=70, window=35, sinks=True),
        prompts.Asking(tokens=9, share=1, dim=64, rows=90, window=80, bottom=70),
    ):
        assert prompts.close(*prompts.asked(call, Card(module=module))), "other values"
    sequence, queries = tests.Sequence_(2, 64, 131, torch.float32), torch.randn(5, 6, 64)
    clean = prompts.attend(Card(module=module), plain, sequence, queries, None)
    sequence.known[0][:, 130] = 1000 * queries[3].view(2, 3, 64).sum(1)
    sequence.known[1][:, 130] = float("nan")
    found = prompts.attend(Card(module=module), plain, sequence, queries, None)
    assert torch.equal(found[:4], clean[:4]), "other values"


def finishes(module: Module) -> None:
    """Heads with norms, turned in part, whose keys and values become a row."""
    torch.manual_seed(0)
    angles, sequence = torch.randn(20), tests.Sequence_(2, 64, 3, torch.bfloat16)
    spec = op_graph.Heads(
        heads=3,
        kv_heads=2,
        dim=64,
        norm="head",
        eps=1e-6,
        norm_last=False,
        q_scale=torch.randn(64),
        k_scale=torch.randn(64),
        clip=0.9,
        rope=(angles.cos(), angles.sin()),
        interleaved=False,
        norm_values=True,
    )
    x, own = torch.randn(5 * 64), torch.randn(2 * 64)
    found, values, rows = tests.finish(Card(module=module), spec, x, own, sequence)
    tests.on_processor(op_graph.heads(spec, x, own, 0), sequence.state.prepared(), 3)
    assert tests.same_bits(found, x), "other values"
    assert tests.same_bits(values, own), "other values"
    assert torch.equal(rows[0], x.view(5, 64)[3:].bfloat16()), "other values"


def latent_rows(module: Module) -> None:
    """Latents whose heads, rows and splits fill nothing, and a token's own."""
    for call in (latents.Looking(heads=11, rows=131, splits=3), latents.Looking(heads=2, rank=136, rows=131, splits=1)):
        assert tests.close(*latents.looked(call, Card(module=module))), "other values"
    torch.manual_seed(0)
    spec, angles, sequence = mixer_ops.Latent(3, 5, 16, 136), torch.randn(8), latents.Latents(152, 3, torch.bfloat16)
    queries, row, scale, turned = torch.randn(63), torch.randn(152), torch.randn(136), (angles.cos(), angles.sin())
    found = latents.finish(Card(module=module), spec, sequence, queries, row, scale, turned, False)
    op = mixer_ops.latent(spec, queries, row, scale=scale, eps=latents.EPS, angles=turned, interleaved=False, state=0)
    tests.on_processor(op, sequence.state.prepared(), 3)
    assert tests.same_bits(found[0], queries), "other values"
    assert tests.same_bits(found[1], row), "other values"
    assert torch.equal(found[2], row.bfloat16()), "other values"
    assert latents.raw_by_head(Card(module=module), half=False), "other values"


def stretches(module: Module) -> None:
    """Experts that are there and that are not, and what is kept of a frame."""
    spec = ExpertSpec(150, 70, 4, 48, has_bias=True)
    experts, x = random_experts(spec, 2, [4]), torch.randn(1, spec.hidden)
    found = Card(module=module).layer(spec, experts, x, torch.tensor([[0, 1]]), "1", missing={1})
    assert torch.equal(found[1], torch.zeros(spec.hidden)), "other values"
    table = [EXPERT.pack(16 * i, 0, 0, 0, i % 3, 7, 9, 5) for i in range(5)]
    for ids, before, after in (([3, 1, 4], -1, 6), ([4, 1, 2], -1, -1), ([3, 1, 4], 2, 2)):
        card = Card(module=module)
        listed, lacking = card.room(3 * EXPERT.size), card.put(torch.tensor([before], dtype=torch.int32))
        places = (card.put(torch.tensor(ids)), card.put(b"".join(table)), listed, lacking)
        card.launch("uh_find", (1,), *map(argument, places), argument(6, "i"), argument(3, "i"))
        own = [EXPERT.unpack_from(card.memory.read(listed, 3 * EXPERT.size), at * EXPERT.size) for at in range(3)]
        assert [(e[0] // 16, e[4:]) for e in own] == [(i, (i % 3, rank, 1, 0)) for rank, i in enumerate(ids)], (
            "other values"
        )
        assert int.from_bytes(card.memory.read(lacking, 4), "little", signed=True) == after, "other values"
    frame = torch.randn(700)
    for lacking, last, whole in ((-1, 1, True), (-1, 0, False), (6, 0, True), (4, 1, False)):
        card = Card(module=module)
        kept = card.put(torch.zeros(650))
        log, now = card.put(torch.zeros(40)), card.put(torch.tensor([lacking], dtype=torch.int32))
        spans = struct.pack("12i", 3, 100, 690, 0, 20, 0, 30, 0, 10, 20, 10, 0)
        places = (card.put(frame), log, kept, now)
        numbers = (6, last, 650, 50)
        card.launch("uh_keep", (2,), spans, *map(argument, places), *(argument(n, "i") for n in numbers))
        expected = torch.cat((frame[100:120], frame[3:13], frame[690:]))
        assert torch.equal(card.floats(log, 40), expected), "other values"
        assert torch.equal(card.floats(kept, 650), frame[50:] if whole else torch.zeros(650)), "other values"


CHECKS: dict[str, Callable[[Module], None]] = {
    "small": small_ops,
    "routes": routes,
    "attends": attends,
    "prompts": attends_to_prompts,
    "finishes": finishes,
    "latents": latent_rows,
    "stretches": stretches,
    **{how: layers(how) for how in ("1", "4", "exact", "gemm")},
    "combine": combined,
    "vectors": too_many_vectors,
}
MUTANTS = (
    Mutant("vectors.cu", "if (g >= groups || vector >= n) return;", "if (vector >= n) return;", "1"),
    Mutant("vectors.cu", "if (g >= groups || vector >= n) return;", "if (vector >= n) return;", "exact"),
    Mutant("vectors.cu", "if (g >= groups || vector >= n) return;", "if (g >= groups) return;", "vectors"),
    Mutant("vectors.cu", "there < 0 ? 0 : there < group ? there : group", "group", "1"),
    Mutant(
        "vectors.cu",
        "const float value = column < cols ? from[column] : 0.0f",
        "const float value = from[column]",
        "exact",
    ),
    Mutant("vectors.cu", "most = uh_most(most, __shfl_xor_sync(UH_EVERY_LANE, most, apart))", "", "1"),
    Mutant("matrix.cuh", "#define UH_EVERY_LANE 0xffffffffu", "#define UH_EVERY_LANE 0xffffu", "1"),
    Mutant("matrix.cuh", "view.bias && row < view.rows ?", "view.bias ?", "1"),
    Mutant("experts.cu", "if (at > expert.first_slot) __syncthreads();", "", "4"),
    Mutant("experts.cu", "        __syncthreads();\n        const int32_t rows", "        const int32_t rows", "1"),
    Mutant("experts.cu", "        __syncthreads();\n        const int32_t rows", "        const int32_t rows", "exact"),
    Mutant("experts.cu", "if (block * UH_ROWS < layout.intermediate) uh_dots_any", "uh_dots_any", "1"),
    Mutant("experts.cu", "if (index >= layout.intermediate) continue;", "", "1"),
    Mutant("experts.cu", "row[t] = t < n ? (k ?", "row[t] = true ? (k ?", "4"),
    Mutant("experts.cu", "last - at < N ? last - at : N", "N", "4"),
    Mutant("experts.cu", "if (block * UH_ROWS >= layout.hidden) return;", "", "4"),
    Mutant("experts.cu", "t < n && index < layout.hidden", "t < n", "4"),
    Mutant("experts.cu", "t < n && index < layout.hidden", "index < layout.hidden", "4"),
    Mutant("experts.cu", "t < n && index < layout.hidden", "t < n", "exact"),
    Mutant("experts.cu", "if (column >= hidden) return;", "", "combine"),
    Mutant("experts.cu", "if (weight != 0.0f) sum", "sum", "combine"),
    Mutant("dots.cuh", "if (i < view.groups) ahead[i]", "ahead[i]", "1"),
    Mutant("dots.cuh", "if (g >= view.groups) break;", "", "1"),
    Mutant("dots.cuh", "if (g + AHEAD < view.groups) ahead[i]", "ahead[i]", "1"),
    Mutant("dots.cuh", "dot += __shfl_xor_sync(UH_EVERY_LANE, dot, 16);", "", "1"),
    Mutant("dots.cuh", "line = h; line < lines;", "line = h; line <= lines;", "4"),
    Mutant("dots.cuh", "dot[t] + __shfl_xor_sync(UH_EVERY_LANE, dot[t], 16)", "dot[t]", "4"),
    Mutant("gemm.cu", "t = min(base + i, end - 1)", "t = base + i", "gemm"),
    Mutant("gemm.cu", "t0 = min(base + 2 * j, end - 1)", "t0 = base + 2 * j", "gemm"),
    Mutant("gemm.cu", "t1 = min(base + 2 * j + 1, end - 1)", "t1 = base + 2 * j + 1", "gemm"),
    Mutant("gemm.cu", "const bool there = line < lines;", "const bool there = true;", "gemm"),
    Mutant("gemm.cu", "if (t >= end || index >= view.rows) continue;", "if (index >= view.rows) continue;", "gemm"),
    Mutant("gemm.cu", "if (t >= end || index >= view.rows) continue;", "if (t >= end) continue;", "gemm"),
    Mutant(
        "gemm.cu", "if (first >= last || block * UH_ROWS >= view.rows) return;", "if (first >= last) return;", "gemm"
    ),
    Mutant("gemm.cu", "if (index >= layout.intermediate) return;", "", "gemm"),
    Mutant("sums.cuh", "min((int32_t)UH_TILE_FLOATS, n - first)", "UH_TILE_FLOATS", "small"),
    Mutant("sums.cuh", "__syncthreads(); /* the tile before", "; /* the tile before", "small"),
    Mutant("sums.cuh", "lanes[threadIdx.x] = own;\n    __syncthreads();", "lanes[threadIdx.x] = own;", "small"),
    Mutant("layer.cu", "if (i < n) x[i] = x[i] + by", "x[i] = x[i] + by", "small"),
    Mutant("layer.cu", "if (i < n) x[i] = x[i] * uh_sigmoid", "x[i] = x[i] * uh_sigmoid", "small"),
    Mutant("layer.cu", "if (row >= rows) return;", "", "small"),
    Mutant("layer.cu", "__syncthreads(); /* all have read", "; /* all have read", "routes"),
    Mutant("layer.cu", "(other == best && there < at)", "(other == best && there > at)", "routes"),
    Mutant(
        "layer.cu", "choice[i] = value != value ? __int_as_float(0x7f800000) : value;", "choice[i] = value;", "routes"
    ),
    Mutant(
        "layer.cu",
        "            __syncwarp();\n            if (!lane) choice",
        "            if (!lane) choice",
        "routes",
    ),
    Mutant("layer.cu", "if (lane >= top_k) return;", "", "routes"),
    Mutant("attention.cu", "min(low + seen.span, seen.end)", "low + seen.span", "attends"),
    Mutant("attention.cu", "min((int32_t)UH_QUERIES, share - first)", "UH_QUERIES", "attends"),
    Mutant("attend.cuh", "r < count && d < width", "d < width", "attends"),
    Mutant("attend.cuh", "if (eighth == q && r < count)", "if (r < count)", "attends"),
    Mutant(
        "attend.cuh",
        "own = own + __shfl_xor_sync(UH_EVERY_LANE, own, apart);\n        __syncwarp();",
        "own = own + __shfl_xor_sync(UH_EVERY_LANE, own, apart);",
        "attends",
    ),
    Mutant("attention.cu", "if (split < used) by[split]", "if (split < splits) by[split]", "attends"),
    Mutant("attend.cuh", "seen.end > window ? seen.end - window : 0", "0", "attends"),
    Mutant("prompt.cu", "min((int32_t)UH_QUERIES, tokens * share - first)", "UH_QUERIES", "prompts"),
    Mutant("prompt.cu", "(int32_t)min(high - at, (int64_t)UH_TILE_KEYS)", "UH_TILE_KEYS", "prompts"),
    Mutant("prompt.cu", "window && end(q) > window ? end(q) - window : 0", "0", "prompts"),
    Mutant("prompt.cu", "max(near, bottom)", "near", "prompts"),
    Mutant("prompt.cu", "at + r >= low[q] && ", "", "prompts"),
    Mutant("prompt.cu", " && at + r < high[q]", "", "prompts"),
    Mutant("prompt.cu", "fade[thread] = 1.0f;\n    __syncthreads();", "fade[thread] = 1.0f;", "prompts"),
    Mutant("prompt.cu", "% dim] * scale;\n    __syncthreads();", "% dim] * scale;", "prompts"),
    Mutant("prompt.cu", "n, weight);\n        __syncthreads();", "n, weight);", "prompts"),
    Mutant("prompt.cu", "at});\n        __syncthreads();", "at});", "prompts"),
    Mutant("prompt.cu", "fade, sum);\n        __syncthreads();", "fade, sum);", "prompts"),
    Mutant("prompt.cu", "0.0f));\n    }\n    __syncthreads();", "0.0f));\n    }", "prompts"),
    Mutant("attend.cuh", "most = seen(q, r) && weight", "most = weight", "prompts"),
    Mutant("attend.cuh", "seen(q, r) ? uh_exp(weight[q][r] - most) : 0.0f", "uh_exp(weight[q][r] - most)", "prompts"),
    Mutant("attend.cuh", "if (PARTLY && weight[q][r] == 0.0f) continue;", "", "prompts"),
    Mutant("attention.cu", "if (kv < 0) continue;", "", "finishes"),
    Mutant("attention.cu", "if (kv >= 0) value[d] = how.reuse_keys", "value[d] = how.reuse_keys", "finishes"),
    Mutant("attend.cuh", "r < count && d < width", "d < width", "latents"),
    Mutant("latent.cu", "min((int32_t)UH_QUERIES, heads - head)", "UH_QUERIES", "latents"),
    Mutant("latent.cu", "min(low + seen.span, seen.end)", "low + seen.span", "latents"),
    Mutant("latent.cu", "if (r + i < count) value[i]", "value[i]", "latents"),
    Mutant("latent.cu", "if (r + i >= count) break;", "", "latents"),
    Mutant("latent.cu", "if (d < rank) {", "{", "latents"),
    Mutant("latent.cu", "if (d < rank) to[2 + d]", "to[2 + d]", "latents"),
    Mutant("latent.cu", "__syncthreads(); /* the weights are", "; /* the weights are", "latents"),
    Mutant("latent.cu", "own[d] = row[d];\n    __syncthreads();", "own[d] = row[d];", "latents"),
    Mutant("latent.cu", "interleaved);\n    __syncthreads();", "interleaved);", "latents"),
    Mutant("layer.cu", "(int64_t)(row / each) * step", "0", "latents"),
    Mutant("experts.cu", "if (first + i % n < cols) to[", "to[", "stretches"),
    Mutant("stretch.cu", "if (rank < k) {", "{", "stretches"),
    Mutant("stretch.cu", "if (rank || *lacking >= 0) return;", "if (rank) return;", "stretches"),
    Mutant("stretch.cu", "if (*lacking == layer || (last", "if ((last", "stretches"),
    Mutant("stretch.cu", "(last && *lacking < 0)", "last", "stretches"),
)


def compiled(folder: Path, mutant: Mutant | None) -> Module:
    """The kernels for codes of 4 bits, with the mutant's change."""
    shutil.copytree(build.SOURCES, folder)
    unpack = folder / "unpack.cuh"
    text = unpack.read_text()
    start, end = text.index("#define UH_FOR_KIND"), text.index("#endif", text.index("#define UH_FOR_KIND"))
    unpack.write_text(text[:start] + ONE_KIND + text[end:])
    if mutant:
        path = folder / mutant.file
        text = path.read_text()
        assert mutant.old in text, "the kernels have changed, and this mutant has to"
        path.write_text(text.replace(mutant.old, mutant.new))
    nvrtc = find_nvrtc()
    assert nvrtc is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "SOURCES", folder)
        return Module(compile_ptx(FLAVOURS[-1], nvrtc))


@lru_cache(maxsize=1)
def _unchanged(folder: Path) -> Module:
    return compiled(folder / "unchanged", None)


@pytest.mark.parametrize("check", CHECKS)
def test_the_kernels_as_they_are_pass(check: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    CHECKS[check](_unchanged(tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.where}: {mutant.old[:40]}")
def test_what_is_left_out_is_found(mutant: Mutant, tmp_path: Path) -> None:
    module = compiled(tmp_path / "mutant", mutant)
    with pytest.raises((PtxFault, AssertionError), match=r"other values|never written|line \d+"):
        CHECKS[mutant.where](module)
