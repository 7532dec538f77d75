"""How do times grow with a model's size, its parts, its context, and with less memory?

    python -m tests.benchmarks.growth --axis context|experts|layers|batch|size|memory [--repeats 3] [--json]

One axis at a time, everything else small and as it is: a random model of Qwen3's family, 256 wide, a new one for each
point, all of its experts in memory unless memory is the axis. Milliseconds, medians. token_ms: one decoded token,
behind the context where that is the axis; prompt_ms: until an answer begins to a prompt of so many tokens, elsewhere of
PROMPT; pass_ms: so many tokens in one pass. memory: `times` is how many times what memory holds all experts are. size:
stores with the widths of a real model, whose weights are holes in their files; open_ms: opening one and counting what
is in it, plan_ms: a plan for a laptop. Nothing is read of the weights.
exponents: slopes of the logarithms over the axis; below 1 where a part of the time does not grow.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from engine import settings
from engine.formats.checkpoint import small_files
from engine.library import library
from engine.library.facts import model_facts
from engine.models.families import read_spec
from engine.planning.plan import make_plan
from engine.record.layout import ExpertSpec
from engine.store.datafile import TensorShape
from engine.store.manifest import Source
from engine.store.reader import Store
from engine.store.writer import Description, LayerShape, StoreWriter, dense_key, record_key
from tests.benchmarks.common import Quiet, arguments, conditions, emit, in_turns, own_home, say, several
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.plot import exponent
from tests.engine.planning.laptops import laptop
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.quantized import GROUP, write_store
from tests.random_models.shapes import SHAPES, Shape, small
from tests.random_models.tokens import stream

TIER = 4
PROMPT, TOKENS = 512, 48  # tokens of a prompt, and decoded in a turn
SPARE = 2 * TOKENS  # of context beside the prompt
ENOUGH = 8.0  # seconds, after which a point takes no further turn
PASSES = 8  # in a turn of the batch axis
LAPTOP = (32, "NVMe 3", "8 cores")  # that the size axis plans for
POINTS: dict[str, tuple[float, ...]] = {
    "context": (1024, 2048, 4096, 8192, 16384, 32768),
    "experts": (8, 16, 32, 64, 128, 256, 512),
    "layers": (2, 4, 8, 16, 32, 64),
    "batch": (1, 2, 4, 8, 16),
    "size": (1, 3, 10, 30, 100),
    "memory": (1, 1.25, 1.5, 2, 3, 5, 10),
}
NAMES = {"batch": "rows", "size": "gb", "memory": "times"}  # of an axis in a row, where it is not its own
Row = dict[str, float]


class LongShape(Shape):
    """A shape whose context is as long as the longest that is measured."""

    def config(self) -> dict[str, Any]:
        """As of a Shape."""
        return {**super().config(), "max_position_embeddings": 2 * int(max(POINTS["context"]))}


def shape_of(**changes: int) -> Shape:
    """The small model with these changes."""
    plain = replace(small("qwen3"), layers=4, top_k=4, experts=16, heads=4, kv_heads=2, **changes)
    return LongShape(**vars(plain))


class HollowWriter(StoreWriter):
    """Writes a store that has everything but its weights: they are holes in the files, which take no room."""

    def _check_space(self) -> None:
        """Holes need none."""


@contextmanager
def opened(shape: Shape, context: int, share: float = 1.0) -> Iterator[OursAlone]:
    """A model of this shape in a process of its own. share: of its experts that memory may hold."""
    with tempfile.TemporaryDirectory(prefix="underhill-growth-") as folder:
        seed, store = Path(folder) / "seed", Path(folder) / "store"
        write_checkpoint(shape, seed, first_only=True)
        write_store(shape, seed, store, TIER, lambda _: None)
        chosen = {"dial": "exact", "tier": str(TIER), "context_length": context + SPARE}
        with OursAlone(store, shape, chosen | ({"cache_fraction": share} if share < 1 else {})) as ours:
            yield ours


def decode(ours: OursAlone, tokens: list[int]) -> float:
    """Milliseconds of one of the tokens."""
    return 1e3 * median(ours.turn(tokens).seconds)


def answering(shape: Shape, length: int, repeats: int) -> Row:
    """A token behind a prompt of this length, and the prompt."""
    tokens = stream("uniform", shape.vocabulary, length + TOKENS)
    prompt, rest = tokens[:length], tokens[length:]
    with opened(shape, length) as ours:
        ours.fill(tokens[:PROMPT])
        ours.prompt(prompt[:PROMPT])
        turns, start = [], time.monotonic()
        while len(turns) < repeats and (not turns or time.monotonic() - start < ENOUGH):
            turns.append((ours.prompt(prompt), decode(ours, rest)))
    prompts, decoded = zip(*turns, strict=True)
    return {"token_ms": median(decoded), "prompt_ms": 1e3 * median(prompts)}


def context(at: float, repeats: int) -> Row:
    """Of two layers, so that the longest prompt takes seconds."""
    return answering(replace(shape_of(), layers=2), int(at), repeats)


def experts(at: float, repeats: int) -> Row:
    """So many in each layer."""
    return answering(replace(shape_of(), experts=int(at)), PROMPT, repeats)


def layers(at: float, repeats: int) -> Row:
    """So many."""
    return answering(replace(shape_of(), layers=int(at)), PROMPT, repeats)


def batch(at: float, repeats: int) -> Row:
    """So many tokens in a pass."""
    shape, size = shape_of(), int(at)
    tokens = stream("uniform", shape.vocabulary, PASSES * size)
    with opened(shape, PROMPT) as ours:
        ours.fill(stream("uniform", shape.vocabulary, PROMPT))
        turns = []
        for _ in range(repeats + 1):
            ours.clear()
            turns.append(ours.steps(tokens, size) / PASSES)
    return {"pass_ms": 1e3 * median(turns[1:])}


def memory(at: float, repeats: int) -> Row:
    """Experts of that many times what memory holds."""
    shape = replace(shape_of(), experts=64)
    tokens = stream("uniform", shape.vocabulary, (repeats + 1) * TOKENS)
    with opened(shape, len(tokens), 1 / at) as ours:
        ours.fill(tokens) if at == 1 else ours.prompt(tokens)
        turns = [ours.turn(tokens[start : start + TOKENS]) for start in range(0, len(tokens), TOKENS)][1:]
    found = {"token_ms": 1e3 * median(t.per_token for t in turns)}
    return found | {"hit_rate": sum(t.hits for t in turns) / sum(t.hits + t.misses for t in turns)}


def size(at: float, repeats: int) -> Row:
    """A store of so many gigabytes."""
    shape = replace(SHAPES["qwen3"], layers=1)
    layer = shape.experts * ExpertSpec(shape.hidden, shape.intermediate, TIER, GROUP).layout.nbytes
    shape = replace(shape, layers=max(1, round(1e9 * at / layer)))
    with own_home(), tempfile.TemporaryDirectory(prefix="underhill-growth-") as folder:
        store = hollow(shape, Path(folder))
        chosen, machine = {**settings.validated({}, settings.ENGINE), "dial": "exact"}, laptop(*LAPTOP)
        facts = looked_at(store)
        taken = in_turns(
            {"open_ms": lambda: looked_at(store), "plan_ms": lambda: make_plan(machine, facts, chosen)}, repeats
        )
    return {name: 1e3 * median(seconds) for name, seconds in taken.items()}


def looked_at(path: Path) -> Any:
    """What the planner is told of a store, which is opened for it."""
    with Store.open(path, "off") as store:
        return model_facts(store, library.card(path), read_spec(store.config))


def hollow(shape: Shape, folder: Path) -> Path:
    """A store of this shape without weights."""
    seed = folder / "seed"
    write_checkpoint(small("qwen3"), seed, first_only=True)  # for its tokenizer
    spec = ExpertSpec(shape.hidden, shape.intermediate, TIER, GROUP)
    rows = [LayerShape(i, shape.experts, spec) for i in range(shape.layers)]
    dense = dense_tensors(shape)
    with HollowWriter(folder / "store", str(shape), rows, dense) as writer:
        for row in rows:
            for expert in range(shape.experts):
                writer.note(record_key(row.index, expert), [[0] * len(spec.layout.parts), None])
        for tensor in dense:
            writer.note(dense_key(tensor.name), 0)
        config = shape.config()
        source = Source("hollow", "", "", ())
        return writer.finish(Description(source, str(config["model_type"]), config, small_files(seed), ()))


def dense_tensors(shape: Shape) -> list[TensorShape]:
    """All that is no expert, as write_checkpoint names it."""
    table = (shape.vocabulary, shape.hidden)
    found: dict[str, tuple[int, ...]] = {
        "model.embed_tokens": table, "model.norm": (shape.hidden,), "lm_head": table,
    }  # fmt: skip
    for layer in range(shape.layers):
        prefix = f"model.layers.{layer}"
        found |= {f"{prefix}.{norm}": (shape.hidden,) for norm in ("input_layernorm", "post_attention_layernorm")}
        found |= {f"{prefix}.self_attn.{name}": matrix for name, matrix in shape.attention().items()}
        found |= {f"{prefix}.self_attn.{name}": (width,) for name, width in shape.qk_norms().items()}
        found[f"{prefix}.{shape.mlp}.gate"] = (shape.experts, shape.hidden)
    return [TensorShape(f"{name}.weight", "BF16", dimensions) for name, dimensions in found.items()]


AXES: dict[str, Callable[[float, int], Row]] = {
    "context": context, "experts": experts, "layers": layers, "batch": batch, "size": size, "memory": memory,
}  # fmt: skip


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All points of one axis."""
    name, quiet, rows = NAMES.get(args.axis, args.axis), Quiet(args.patience), []
    for at in args.points or POINTS[args.axis]:
        quiet.wait()
        rows.append({name: at, **AXES[args.axis](at, args.repeats)})
        say(str(rows[-1]))
    times = [column for column in rows[0] if column.endswith("_ms")]
    found = {"rows": rows, "conditions": conditions(args, others=quiet.others)}
    if len(rows) > 1:
        found["exponents"] = {c: round(exponent([(row[name], row[c]) for row in rows]), 3) for c in times}
    return found


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "patience")
    parser.add_argument("--axis", choices=tuple(AXES), required=True)
    parser.add_argument("--points", type=several(float), help="others than usual")
    parser.add_argument("--repeats", type=int, default=3, help="turns at each point, fewer where one takes long")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
