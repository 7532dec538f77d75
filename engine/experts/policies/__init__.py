"""Cache policies, which choose the expert to evict: small machines that see what happened and nothing else.

They know no model, no bytes and no clock, so a recorded trace can be replayed through them.
"""

from __future__ import annotations

from engine.experts.policies.activation import ActivationAware
from engine.experts.policies.choice import NAMES, make_policy
from engine.experts.policies.edgemoe import EdgeMoe
from engine.experts.policies.hobbit import Hobbit
from engine.experts.policies.lfu import Lfu
from engine.experts.policies.lru import Lru
from engine.experts.policies.lru_layer import LruPerLayer
from engine.experts.policies.policy import Evictable, ExpertGrid, LayerVisit, Policy
from engine.experts.policies.weights import DEFAULT, HobbitWeights, HobbitWeightsByShare

__all__ = [
    "DEFAULT",
    "NAMES",
    "ActivationAware",
    "EdgeMoe",
    "Evictable",
    "ExpertGrid",
    "Hobbit",
    "HobbitWeights",
    "HobbitWeightsByShare",
    "LayerVisit",
    "Lfu",
    "Lru",
    "LruPerLayer",
    "Policy",
    "make_policy",
]  # fmt: skip
