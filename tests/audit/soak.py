"""Many tokens under a memory limit: whether memory stays flat, nothing fails, and Exact gives what it always gives.

    python -m tests.audit.soak [--shape olmoe|qwen3|mixtral] [--limit 0.25] [--tokens 10000] [--json]

Without a shape the built-in model runs with that share of its experts in memory. With one, a model of 8 GB runs in a
control group with that share of its bytes. Beside it runs the same model with all the memory it wants (`peer`), fed the
same tokens in chats of --chat tokens: under Exact the logits after every token must be the same to the last bit.
`growth`: bytes of memory that a thousand tokens added, looked at where chats end, over the second half of the run.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from engine.library import library
from engine.store.reader import load_manifest
from tests.benchmarks.bench import chosen, counted, limit_of
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import Group, limited
from tests.benchmarks.common import conditions, emit, limit_options, orderly, say
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.prepare import prepare_model
from tests.benchmarks.roofs import Roofs, floors
from tests.random_models.shapes import Shape, large
from tests.random_models.tokens import stream


@dataclass(frozen=True)
class Subject:
    """What runs. settings: under the limit. vocabulary: words to draw tokens from. nbytes: the limit; None without."""

    store: Path
    shape: Shape | None
    settings: dict[str, Any]
    tier: int
    vocabulary: int
    nbytes: int | None


def subject(args: argparse.Namespace) -> Subject:
    """The model of this name, made where it is not there."""
    if args.shape is None:
        store = library.prepare("builtin")
        manifest = load_manifest(store)
        given = {"dial": args.dial, "threads": args.threads, "cache_fraction": args.limit, "context_length": args.chat}
        vocabulary = int(manifest.config["vocab_size"])
        return Subject(store, None, {**given, **dict(args.set)}, manifest.specs[0].top, vocabulary, None)
    model = prepare_model(large(args.shape, args.layers), args.tier, args.folder, keep_only=args.keep_only)
    limit = limit_of(args, model)
    return Subject(model.store, model.shape, chosen(args, limit, args.chat), args.tier, model.shape.vocabulary, limit)


def free(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings with all the memory it wants."""
    return {name: value for name, value in settings.items() if name not in ("memory_gb", "cache_fraction")}


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Run it. Raises RuntimeError when either side ends before its time."""
    what = subject(args)
    tokens = stream(args.stream, what.vocabulary, args.tokens)
    mine: list[Turn] = []
    theirs: list[Turn] = []
    samples: list[int] = []
    with orderly(), ExitStack() as stack:
        group: Group | None = None
        if what.nbytes is not None:
            group = stack.enter_context(limited("soak", what.nbytes))
            drop_caches()
        ours = stack.enter_context(OursAlone(what.store, what.shape, what.settings, group))
        other = stack.enter_context(OursAlone(what.store, what.shape, free(what.settings)))
        roofs = Roofs(what.store, what.tier, args.threads)
        stack.callback(roofs.close)
        for at in range(0, len(tokens), args.segment):
            segment = tokens[at : at + args.segment]
            if at % args.chat == 0:
                ours.clear()
                other.clear()
                roofs.measure()
            mine.append(ours.turn(segment, digest=True))
            theirs.append(other.turn(segment, digest=True))
            samples.append(ours.rss() if group is None else group.anonymous())
            say(f"{at + len(segment)} tokens, {samples[-1] / 1e6:.0f} MB")
        memory = {} if group is None else {"most": group.most(), "kills": group.kills()}
    a, b = median([t.per_token for t in mine]), median([t.per_token for t in theirs])
    return {
        "ours": round(1 / a, 3),
        "peer": round(1 / b, 3),
        "ratio": round(b / a, 4),
        **floors(mine, [roofs.medians()] * len(mine)),
        "roof": roofs.report(),
        "tokens": sum(len(t.seconds) for t in mine),
        "different": sum(x != y for m, t in zip(mine, theirs) for x, y in zip(m.digests, t.digests, strict=True)),
        "growth": growth(samples[args.chat // args.segment - 1 :: args.chat // args.segment], args.chat),
        **counted(mine),
        "memory": {"limit": what.nbytes, "first": samples[0], "last": samples[-1], **memory},
        "plan": {"ours": ours.about, "peer": other.about},
        "conditions": conditions(args, isa=roofs.isa),
    }


def growth(samples: Sequence[int], tokens: int) -> int:
    """Bytes per thousand tokens over the second half, the slope of a line through the samples. tokens: between two."""
    half = samples[len(samples) // 2 :]
    if len(half) < 2:
        return 0
    middle, mean = (len(half) - 1) / 2, sum(half) / len(half)
    slope = sum((n - middle) * (s - mean) for n, s in enumerate(half)) / sum(
        (n - middle) ** 2 for n in range(len(half))
    )
    return round(slope * 1000 / tokens)


def main() -> None:
    """Print the figures; fails when Exact gave other logits or the kernel had to kill."""
    parser = limit_options(__doc__, shape=False)
    parser.set_defaults(limit=0.25, stream="zipf")
    parser.add_argument("--tokens", type=int, default=10_000)
    parser.add_argument("--chat", type=int, default=1000, help="tokens after which a new sequence begins")
    parser.add_argument("--segment", type=int, default=100, help="tokens between two looks at memory")
    args = parser.parse_args()
    if args.chat % args.segment:
        parser.error("a chat must be a whole number of segments")
    result = measure(args)
    emit(result, args.json)
    if args.dial == "exact" and result["different"]:
        raise SystemExit(f"The logits after {result['different']} tokens were others than with unlimited memory.")


if __name__ == "__main__":
    main()
