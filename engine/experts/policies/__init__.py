"""Cache policies, which choose the expert to evict: small machines that see what happened and nothing else.

They know no model, no bytes and no clock, so a recorded trace can be replayed through them.
"""

from __future__ import annotations

from engine.errors import Kind, UnderhillError
from engine.experts.eam import EamCollection
from engine.experts.policies.baselines import *
from engine.experts.policies.hobbit import *
from engine.experts.policies.policy import *
from engine.translatable import msg

NAMES = ("hobbit", "lru", "lru_layer", "lfu", "edgemoe", "activation")


def make_policy(
    name: str,
    shape: ExpertGrid,
    share: float = 0.5,
    weights: HobbitWeightsByShare = DEFAULT,
    collection: EamCollection | None = None,
) -> Policy:
    """The policy of the setting `policy`. share: of the experts' bytes that fit in the cache. weights: hobbit's.
    collection: what activation goes by, which others add to; None: what it sees itself.

    Raises UnderhillError(BAD_REQUEST) for a name that is none of NAMES.
    """
    match name:
        case "hobbit":
            return Hobbit(shape, weights.at(share))
        case "lru":
            return Lru(shape)
        case "lru_layer":
            return LruPerLayer(shape)
        case "lfu":
            return Lfu(shape)
        case "edgemoe":
            return EdgeMoe(shape)
        case "activation":
            return ActivationAware(shape, collection, adds=collection is None)
    raise UnderhillError(
        Kind.BAD_REQUEST,
        msg("There is no cache policy called {name}.", name=repr(name)),
        msg("Choose one of {names}.", names=", ".join(NAMES)),
    )
