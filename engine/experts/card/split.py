"""Who computes what in a layer, so that it ends soonest: Fiddler's choice, per expert and per call.

Of a token, an expert that the card lacks is computed where it lies (Fiddler, section 3; hobbit, section 4). One that
lies on both sides goes to the side that would be through sooner, since card and processor work at the same time. With
many tokens, computing takes the processor longer than the expert takes to cross, so that some cross (Fiddler, section
3, algorithm 1, where each expert is decided for by itself; here by what ends the layer soonest).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

OWN_HOST, OWN_CARD = 8, 64  # tokens whose products take as long as an expert's weights take to come from memory
LEARN = 0.05  # weight of the last layer in a rate: some twenty layers, so that one disturbance counts little
CHANCE = 3.0  # standard deviations of a difference of counts, each with a variance of itself: one in 700 by chance
MOST = 4.0  # by which one measurement may change a rate at most: another program held the machine up meanwhile


@dataclass(frozen=True)
class SideRates:
    """Seconds, measured on this machine. host: an expert of one token on the processor. card: the same on the card;
    handover: what a call costs there beside its experts, copies and waiting included.
    """

    host: float
    card: float
    handover: float

    def host_seconds(self, tokens: int) -> float:
        """Of an expert with so many tokens, on the processor."""
        return self.host * (OWN_HOST + tokens) / (OWN_HOST + 1)

    def card_seconds(self, tokens: int) -> float:
        """The same on the card, beside the handover."""
        return self.card * (OWN_CARD + tokens) / (OWN_CARD + 1)

    def seen_host(self, tokens: Sequence[int], seconds: float) -> SideRates:
        """Corrected by what experts with so many tokens each took."""
        factor = nearer(1.0, seconds / sum(map(self.host_seconds, tokens)))
        return SideRates(self.host * factor, self.card, self.handover)

    def call_seconds(self, tokens: Sequence[int]) -> float:
        """Of a call of the card with experts of so many tokens each, handover included."""
        return self.handover + sum(map(self.card_seconds, tokens))

    def seen_card(self, tokens: Sequence[int], seconds: float) -> SideRates:
        """Corrected by what a call with experts of so many tokens each took; both its parts by the same factor."""
        factor = nearer(1.0, seconds / self.call_seconds(tokens))
        return SideRates(self.host, self.card * factor, self.handover * factor)


def nearer(known: float, seen: float) -> float:
    """What is known, corrected by what was seen."""
    return known + LEARN * (min(MOST * known, max(known / MOST, seen)) - known)


def split(rates: SideRates, only_card: int, both: int, only_host: int) -> int:
    """How many experts of one token the card computes of those that lie on both sides.

    Arguments: how many lie on the card alone, on both sides, and in memory alone. Asked for in every layer of a token.
    """
    card, host = rates.handover + only_card * rates.card, (both + only_host) * rates.host
    # With none of them a call of the card may not be made at all.
    best, taken = max(card if only_card else 0.0, host), 0
    for number in range(1, both + 1):
        card += rates.card
        host -= rates.host
        if max(card, host) < best:
            best, taken = max(card, host), number
        if card > host:
            break
    return taken


class Crossing(NamedTuple):
    """An expert that the card lacks. tokens: that chose it. link: seconds of its way there."""

    tokens: int
    link: float


def crossing(
    rates: SideRates, there: Sequence[int], lacking: Sequence[Crossing], only_host: Sequence[int]
) -> tuple[int, float]:
    """How many of `lacking`, from the first on, cross to be computed on the card, and seconds until the card is done.

    there, only_host: tokens of each expert that the card and the processor compute anyway. lacking: with the most
    tokens first. What crosses is computed while the next crosses.
    """
    card, link = rates.call_seconds(there), 0.0
    host = sum(map(rates.host_seconds, only_host)) + sum(rates.host_seconds(own.tokens) for own in lacking)
    ends = card if there else 0.0
    best, taken, through = max(ends, host), 0, ends
    for number, own in enumerate(lacking, 1):
        card += rates.card_seconds(own.tokens)
        link += own.link
        host -= rates.host_seconds(own.tokens)
        ends = max(card, link + rates.handover + rates.card_seconds(own.tokens))
        if max(ends, host) < best:
            best, taken, through = max(ends, host), number, ends
    return taken, through


def crossing_first(rates: SideRates, there: int, links: Sequence[float], only_host: int) -> int:
    """How many of a token's experts that the card lacks cross to it before its layer begins, from the first on.

    Both sides wait for them, so that each has to save more than it takes. there, only_host: experts that the card and
    the processor compute anyway. links: seconds of the way of each that could cross.
    """

    def ends(card: int, host: int) -> float:
        return max(rates.handover + card * rates.card if card else 0.0, host * rates.host)

    best, taken, link = ends(there, len(links) + only_host), 0, 0.0
    for number, way in enumerate(links, 1):
        link += way
        if (through := link + ends(there + number, len(links) - number + only_host)) < best:
            best, taken = through, number
    return taken


def surely_more(uses: float, others: float) -> float:
    """By how much one was used more often than another, less what chance does to such counts.

    Where all are used alike, the most used of those that lack and the least used of thousands differ all the same: such
    a pair would be exchanged after every layer, and the next one behind it.
    """
    return uses - others - CHANCE * math.sqrt(uses + others)


def worth_bringing(rates: SideRates, more_uses: float, crossing: float) -> bool:
    """Whether an expert should cross to the card that will be used so much more often than what makes room for it.

    crossing: seconds that memory and the link are busy with it. Uses are of one token each.
    """
    return more_uses * (rates.host - rates.card) > crossing
