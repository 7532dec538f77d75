"""Texts for tests and pictures."""

from __future__ import annotations

QUESTION = "How does a Mixture-of-Experts model decide which experts to use? Please show a little code as well."

LONG_ANSWER = """\
# Experts, and who chooses them

A Mixture-of-Experts model is a **group of specialists with a receptionist**. For every token, a small *router* looks
at what is being said and sends it to a few experts; the others rest. That is why a model with seven billion weights
can run at the price of one billion.

## Step by step

1. The router gives each expert a score.
2. The `k` best are chosen, and their scores become weights that sum to one.
3. Each chosen expert computes its answer:
   - a gate and an up projection,
   - an activation such as `silu`,
   - a down projection.
4. The answers are added, each by its weight.

> Most of the work of a token is done by very few of the weights. The art is to have those at hand.

### In code

```python
def moe(x: Tensor, router: Linear, experts: list[Expert], k: int = 2) -> Tensor:
    \"\"\"Weighted sum over the k experts the router likes best.\"\"\"
    scores = router(x).softmax(dim=-1)          # [experts]
    weights, chosen = scores.topk(k)
    weights = weights / weights.sum()
    out = torch.zeros_like(x)
    for w, e in zip(weights, chosen.tolist()):
        out += w * experts[e](x)                # only k of them run
    return out
```

How much has to be read for a miss depends on the precision:

| Precision | Bits per weight | Error | Good for |
|:----------|----------------:|------:|:---------|
| full      | 8.3             | 0.1 % | experts that matter most |
| coarse    | 4.3             | 1.8 % | most of the others |
| coarsest  | 2.5             | 12 %  | those with little weight |

You can read more in [the paper](https://arxiv.org/abs/2411.01433), or watch the panel on the right while this answer
is written. Languages mix as well: Grüße, Привет, Γειά σου, שלום, and 😀.

---

That is all there is to it.
"""
