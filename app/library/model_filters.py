"""Filters and order of the lists of models to download."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.i18n.translate import tr, tr_noop
from app.library.model_text import FIT_GROUPS, READING_SPEED, fit_group, speed
from app.widgets.builders import FlowLayout, make_button, make_combo
from engine import protocol

_GROUPS = {group: place for place, group in enumerate(FIT_GROUPS)}
ORDERS = {  # of `sorted_models`, for people
    "": tr_noop("Best first"), "speed": tr_noop("Fastest"), "download": tr_noop("Smallest download"),
    "parameters": tr_noop("Most parameters"), "name": tr_noop("Name"),
}  # fmt: skip
_SIZES = ((0, 30), (30, 100), (100, 0))  # billions of parameters: from, and below; 0 for no end
_UNKNOWN = 1 << 62  # bytes; behind every known size


class ModelFilters(QWidget):
    """One choice each of fit, size, use, maker and license. changed: another was chosen."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        fits = ((tr("Any fit"), ""), (tr("Runs on this computer"), "fits"), (tr("In memory"), "memory"),
                (tr("Runs from disk"), "disk"))  # fmt: skip
        self.fit = make_combo(self, tr("Fit"), fits)
        self.parameters = make_combo(
            self, tr("Size"), [(tr("Any size"), None), *((_between(*size), size) for size in _SIZES)]
        )
        uses = ((tr("Any use"), ""), (tr("Thinking"), "thinking"), (tr("Images"), "vision"), (tr("Code"), "code"))
        self.use = make_combo(self, tr("Good at"), uses)
        self.maker = make_combo(self, tr("Maker"), [(tr("Any maker"), "")])
        self.license = make_combo(self, tr("License"), [(tr("Any license"), "")])
        self.clear = make_button(tr("Clear filters"), self, self._clear, "quiet")
        self.clear.hide()
        self._filters = (self.fit, self.parameters, self.use, self.maker, self.license)
        layout = FlowLayout(self)
        for box in self._filters:
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentIndexChanged.connect(self._chosen)
            layout.addWidget(box)
        layout.addWidget(self.clear)

    @property
    def active(self) -> bool:
        """Whether some models may be left out."""
        return any(box.currentIndex() > 0 for box in self._filters)

    def offer(self, models: Iterable[protocol.HubModel]) -> None:
        """Offer the makers and licenses of these models besides those offered already."""
        models = tuple(models)
        _add(self.maker, map(maker, models))
        _add(self.license, (model.licence for model in models))

    def passing(self, models: Iterable[protocol.HubModel]) -> list[protocol.HubModel]:
        """Those of the models that pass."""
        return [model for model in models if self._passes(model)]

    def _passes(self, model: protocol.HubModel) -> bool:
        group, fit, size = fit_group(model.fit), self.fit.currentData(), self.parameters.currentData()
        low, high = size or (0, 0)
        billions = model.parameters / 1e9
        return (
            (fit in ("", group) or (fit == "fits" and group in ("memory", "disk")))
            and (not size or (model.parameters > 0 and low <= billions and (not high or billions < high)))
            and self.use.currentData() in ("", *model.good_at)
            and self.maker.currentData() in ("", maker(model))
            and self.license.currentData() in ("", model.licence)
        )

    @Slot()
    def _chosen(self) -> None:
        self.clear.setVisible(self.active)
        self.changed.emit()

    @Slot()
    def _clear(self) -> None:
        self.fit.setFocus()  # the button goes
        for box in self._filters:
            with QSignalBlocker(box):
                box.setCurrentIndex(0)
        self._chosen()


def sorted_models(models: Iterable[protocol.HubModel], order: str, *, ranked: bool) -> list[protocol.HubModel]:
    """Models in one of ORDERS. ranked: 'best first' keeps the order they come in.

    Otherwise the order is one within each group of FIT_GROUPS.
    """
    if ranked and not order:
        return list(models)
    if ranked:
        return sorted(models, key=lambda model: _key(model, order))
    return sorted(models, key=lambda model: (_GROUPS[fit_group(model.fit)], *_key(model, order)))


def maker(model: protocol.HubModel) -> str:
    """Who made a model, as the hub calls them; of one that others have quantized, of the original."""
    return (model.original or model.repo).partition("/")[0]


def _between(low: int, high: int) -> str:
    if not low:
        return tr("Below {high}B", high=high)
    return tr("{low}B–{high}B", low=low, high=high) if high else tr("{low}B and more", low=low)


def _add(box: QComboBox, texts: Iterable[str]) -> None:
    """Add those that are missing, sorted, and keep what is chosen."""
    there = {box.itemData(n) for n in range(1, box.count())}
    wanted = there | {text for text in texts if text}
    if wanted == there:
        return
    chosen = box.currentData()
    with QSignalBlocker(box):
        while box.count() > 1:
            box.removeItem(1)
        for text in sorted(wanted, key=str.lower):
            box.addItem(text, text)
        box.setCurrentIndex(max(0, box.findData(chosen)))


def _key(model: protocol.HubModel, order: str) -> tuple[float, float, str]:
    """Sort key; '' is best first: of those that run well, the largest that answer as fast as one reads, then the
    quickest; of what does not suit, the smallest first.
    """
    name = model.title.lower()
    if order == "speed":
        return -(model.fit.speed[0] if model.fit is not None and model.fit.speed is not None else 0.0), 0.0, name
    if order == "download":
        return model.download_bytes or _UNKNOWN, 0.0, name
    if order == "parameters":
        return -model.parameters, 0.0, name
    if order == "name":
        return 0.0, 0.0, name
    if model.fit is None or model.fit.pill != "fits":
        return 0.0, model.parameters, ""
    return max(0.0, READING_SPEED - speed(model)), -model.parameters, ""
