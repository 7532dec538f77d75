"""Which documents stay made: those seen last, up to a bound in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from app.transcript.blocks import BlockView

BOUND = 32_000_000  # bytes, as estimated below
_EACH = 20_000  # bytes of a document with a word in it, measured
_CHARACTER = 30  # and of each character more: text, formats and laid out lines; measured 11 to 53


def cost(view: BlockView) -> int:
    """Bytes that the document of a block takes, about."""
    return _EACH + _CHARACTER * len(view.block.text)


class KeptDocuments:
    """The blocks that have documents, the latest seen last."""

    def __init__(self, bound: int = BOUND) -> None:
        self.nbytes = 0
        self._bound = bound
        self._kept: OrderedDict[BlockView, int] = OrderedDict()
        self._latest: set[BlockView] = set()  # in sight, or nearly: these are never let go

    def __len__(self) -> int:
        return len(self._kept)

    def seen(self, views: Iterable[BlockView]) -> None:
        """These are in sight now."""
        for view in views:
            price = cost(view)
            self.nbytes += price - self._kept.pop(view, 0)
            self._kept[view] = price
            self._latest.add(view)

    def trim(self) -> None:
        """Let the documents go that were not seen for longest, until the rest is within the bound."""
        while self.nbytes > self._bound and next(iter(self._kept)) not in self._latest:
            view, price = self._kept.popitem(last=False)
            self.nbytes -= price
            view.drop()
        self._latest.clear()

    def look_again(self) -> None:
        """Formulas have been made."""
        for view in self._kept:
            view.look_again()

    def clear(self) -> None:
        """Forget all; the documents are their owners' to drop."""
        self._kept.clear()
        self.nbytes = 0
