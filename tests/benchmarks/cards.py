"""What ten graphics cards and three links should make of a model, by bytes, launches and waits: arithmetic, no card.

    python -m tests.benchmarks.cards [--model Qwen3-30B-A3B] [--ram 32] [--chip "12 cores"]

Per token and layer of CPU-assisted mode: bytes of experts that each side reads, over its rate (the card's by the share
that kernels are assumed to reach); one copy there, the kernels counted below, one copy back, one wait. Hits: of a
token's experts, those that lie on the card, were routing uniform, and with usual reuse. Filled: seconds until the card
has all that it holds, over the link and over one thread that copies into pinned memory.

Prompt: seconds that all layers' experts take for so many tokens at once, by the processor alone and with the card,
and how many of a layer's experts cross for that over each link, by the rule that decides it when it runs
(experts/card/split.py). Routing is uniform, so that all experts have as many tokens.
"""

from __future__ import annotations

from dataclasses import replace

from engine import settings
from engine.experts.card.split import Crossing, SideRates, crossing
from engine.hardware.machine import GB, Gpu
from engine.planning.facts import ModelFacts
from engine.planning.fit import PROGRAM
from engine.planning.offload import HANDOVER, LAUNCHES, OWN, SHARE, make_plan_with_card
from engine.planning.speed import REUSE, expert_rate
from tests.benchmarks.common import arguments
from tests.engine.planning.laptops import CHIPS, TAKEN, laptop
from tests.engine.planning.test_laptops import FACTS

# Memory in GB and its bytes a second, as their maker states them.
CARDS = {
    "RTX 3050 laptop": (4, 192e9), "RTX 4050 laptop": (6, 192e9), "RTX 2060": (6, 336e9), "RTX 4060 laptop": (8, 256e9),
    "RTX 3070": (8, 448e9), "RTX 3060": (12, 360e9), "RTX 4080 laptop": (12, 432e9), "RTX 4060 Ti": (16, 288e9),
    "RTX 4090 laptop": (16, 576e9), "RTX 5090 laptop": (24, 896e9),
}  # fmt: skip
LINKS = {"PCIe 3 x8": 6.5e9, "PCIe 4 x8": 12e9, "PCIe 4 x16": 24e9}
STAGED = 8e9  # bytes a second that one thread copies
TOKENS = 512  # of a prompt, computed at once
KERNELS, COPIES, WAITS = 4, 2, 1  # a layer: two quantize, gate and up, down


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--model", choices=FACTS, default="Qwen3-30B-A3B")
    parser.add_argument("--ram", type=int, default=32)
    parser.add_argument("--chip", choices=CHIPS, default="12 cores")
    args = parser.parse_args()
    model, chosen = FACTS[args.model], {**settings.validated({"mode": "auto"}, settings.ENGINE), "dial": "exact"}
    machine = laptop(args.ram, "NVMe 3", args.chip)
    alone = make_plan_with_card(machine, model, chosen, PROGRAM)
    tier, layers = alone.tier, model.moe_layers
    active = model.experts_per_token * layers * model.record_bytes[tier]
    print(f"{args.model}, {tier} bits, {active / 1e9:.2f} GB of experts a token; {KERNELS} kernels, {COPIES} copies "
          f"and {WAITS} wait a layer, {1e6 * (HANDOVER + LAUNCHES):.0f} us; the processor alone "
          f"{alone.speed[0]:.1f} to {alone.speed[1]:.1f} tokens/s")  # fmt: skip
    print("| card | experts there | hits | card, processor: ms a token | tokens/s | mode | filled in s over "
          + ", ".join(LINKS) + " |\n|---|---|---|---|---|---|---|")  # fmt: skip
    prompts = []
    for name, (gigabytes, rate) in CARDS.items():
        card = Gpu(
            name=name,
            total=gigabytes * GB,
            free=int(gigabytes * GB - TAKEN),
            pinned=min(LINKS.values()),
            rate=rate or OWN,
            unified=False,
            capability=(8, 9),
        )
        plan = make_plan_with_card(replace(machine, gpus=(card,)), model, chosen, PROGRAM)
        near = plan.card_bytes / model.expert_bytes[tier]
        hits = (near, 1 - REUSE * (1 - near))
        there = [1e3 * (hit * active / (SHARE * rate) + (HANDOVER + LAUNCHES) * layers) for hit in hits]
        here = [1e3 * (1 - hit) * active / expert_rate(machine, model, tier) for hit in hits]
        filled = ", ".join(f"{plan.card_bytes / min(link, STAGED):.1f}" for link in LINKS.values())
        sides = f"{there[0]:.0f}, {here[0]:.0f} to {there[1]:.0f}, {here[1]:.0f}"
        print(f"| {name}, {gigabytes} GB | {plan.card_bytes / GB:.1f} GB | {hits[0]:.0%} to {hits[1]:.0%} | {sides} | "
              f"{plan.speed[0]:.0f} to {plan.speed[1]:.0f} | {plan.mode} | {filled} |")  # fmt: skip
        record = model.record_bytes[tier]
        rates = SideRates(record / expert_rate(machine, model, tier), record / (SHARE * rate), HANDOVER)
        prompts.append(f"| {name}, {gigabytes} GB | {_prompt(model, rates, near, record)} |")
    print(f"\n| card | {TOKENS} tokens: s here alone | with the card: s, crossing; over {'; '.join(LINKS)} |\n"
          "|---|---|---|\n" + "\n".join(prompts))  # fmt: skip


def _prompt(model: ModelFacts, rates: SideRates, near: float, record: int) -> str:
    """near: the share of the experts that lies on the card. record: bytes of one."""
    each = max(1, round(TOKENS * model.experts_per_token / model.experts))
    there = round(near * model.experts)
    found = []
    for link in LINKS.values():
        ways = [Crossing(each, record / min(link, STAGED))] * (model.experts - there)
        crosses, card = crossing(rates, [each] * there, ways, [])
        host = (model.experts - there - crosses) * rates.host_seconds(each)
        found.append(f"{model.moe_layers * max(card, host):.2f}, {crosses}")
    return f"{model.moe_layers * model.experts * rates.host_seconds(each):.2f} | " + "; ".join(found)


if __name__ == "__main__":
    main()
