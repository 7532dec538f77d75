"""A model as the planner sees it: plain numbers, so that any model can be simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

# Of a token, per layer, beside reading weights: norms, router, small operations, calls (measured: docs/benchmarks.md);
# native ones 13 us on one computer, some 50 on another, whose threads wake each other more slowly (docs/planning.md).
NATIVE_LAYER, COMPAT_LAYER = 3e-5, 2.5e-4

TOKEN, WORD = 2e-4, 1.3e-9  # to choose a token, and for each word it is chosen from (measured: docs/planning.md)


@dataclass(frozen=True)
class Seen:
    """How this model was seen to run here. misses: experts it missed, as a part of those that uniform routing would.

    correction: measured speed over the expected one, where that was far off.
    """

    misses: float
    correction: float = 1.0


NEAR = 0.1  # of the experts, by which a share of them may be another than when something was seen


@dataclass(frozen=True, kw_only=True)
class CardSeen:
    """How fast this model was seen to be with a graphics card. speed: tokens a second; the rest: under what it was so.

    near, here: shares of the experts' bytes on the card, and in memory.
    """

    card: str
    mode: str
    tier: int
    dense: str
    dial: str
    isa: str
    threads: int
    near: float
    here: float
    speed: float

    def like(self, other: CardSeen) -> bool:
        """Whether what was seen under one holds under the other."""
        close = abs(self.near - other.near) <= NEAR and abs(self.here - other.here) <= NEAR
        return close and replace(self, near=0, here=0, speed=0) == replace(other, near=0, here=0, speed=0)


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What a plan needs to know of a model. Bytes; expert_bytes: all experts, by tier; record_bytes: the largest one.

    dense_bytes: everything else, by those kinds of KINDS that can be had, as held. looked_up_bytes: of these, tables of
    which a token reads one row. head_bytes: of these, what gives the logits, which a prompt wants of its last token
    alone. opening_bytes: most that is held beside them while they are read and packed.
    kv_bytes: per token of context in bf16, twice that where the rest is held as f32; packed_kv_bytes: with those layers
    in 8 bits that can be, 0 where none can; packed: kv_bytes are those. windowed: of kv_bytes, those of layers in which
    a token sees so many tokens alone. latent_products: of a token with the rows of each token before it, where all
    heads share those. state_bytes: of recurrent layers, snapshots included, however long the context is.
    token_bytes: per token of a prompt that is computed at once. working_bytes: what computing takes however many those
    are. image_bytes: what encoding an image takes, before its tokens are computed, up to image_tokens of them at once;
    0: it reads none. lean: the layers are the lean decoder's, not the compatibility backend's. vocabulary: words that a
    token is chosen from. disk_bytes: of its store; 0: not known yet. seen, card_seen: None until it has run here for a
    while, by the processor alone and with a card. low: bits of a coarse expert.
    dense_found: of dense_bytes, the kind that was found with the bits of its experts; '': none was.
    mtp_bytes, mtp_expert_bytes: what its layer for multi-token prediction takes: beside its experts by kind, and these
    by tier; empty: its store has none.
    """

    name: str
    expert_bytes: Mapping[int, int]
    record_bytes: Mapping[int, int]
    dense_bytes: Mapping[str, int]
    kv_bytes: int
    moe_layers: int
    experts: int
    experts_per_token: int
    context_length: int
    state_bytes: int = 0
    looked_up_bytes: Mapping[str, int] = field(default_factory=dict)
    head_bytes: Mapping[str, int] = field(default_factory=dict)
    opening_bytes: Mapping[str, int] = field(default_factory=dict)
    token_bytes: int = 0
    working_bytes: int = 0
    image_bytes: int = 0
    image_tokens: int = 0
    lean: bool = True
    vocabulary: int = 0
    windowed: Mapping[int, int] = field(default_factory=dict)
    packed_kv_bytes: int = 0
    packed: bool = False
    latent_products: int = 0
    disk_bytes: int = 0
    seen: Seen | None = None
    card_seen: CardSeen | None = None
    low: int = 2
    dense_found: str = ""
    mtp_bytes: Mapping[str, int] = field(default_factory=dict)
    mtp_expert_bytes: Mapping[int, int] = field(default_factory=dict)

    @property
    def layer_seconds(self) -> float:
        """What a token costs per layer beside its bytes."""
        return NATIVE_LAYER if self.lean else COMPAT_LAYER

    @property
    def token_seconds(self) -> float:
        """What a token costs whatever its layers: choosing it, and making text of it."""
        return TOKEN + WORD * self.vocabulary

    def per_token(self, dense: str) -> int:
        """Bytes that a token of context leaves behind."""
        return self.kv_bytes * (2 if dense == "f32" and not self.packed else 1)

    def with_packed_kv(self) -> ModelFacts:
        """The same model with keys and values in 8 bits, where it has any that can be."""
        if self.packed or not self.packed_kv_bytes:
            return self
        share = self.packed_kv_bytes / self.kv_bytes
        windowed = {window: round(share * nbytes) for window, nbytes in self.windowed.items()}
        return replace(self, kv_bytes=self.packed_kv_bytes, windowed=windowed, packed=True)

    @property
    def reading_image(self) -> int:
        """Most bytes that an image takes while it is read: encoding it, or then computing its tokens."""
        return max(self.image_bytes, self.image_tokens * self.token_bytes)

    @property
    def tiers(self) -> tuple[int, ...]:
        """Tiers stored, coarse first."""
        return tuple(sorted(self.expert_bytes))
