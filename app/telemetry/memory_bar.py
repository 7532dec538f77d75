"""Where the bytes of the memory limit go: one bar, for the live panel and for the settings."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.i18n.translate import tr, tr_noop
from app.telemetry.charts import PartsBar, Series, swatches
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import make_label, vbox
from app.widgets.text import StableLabel, size
from engine import protocol

LEGEND = 0.84  # of the base size, the words under a chart
DEVICE = (
    Series("cached", tr_noop("experts"), lambda p: p.tiers["8"]),
    Series("room", tr_noop("room for experts"), lambda p: p.tiers["4"]),
)
KINDS = (
    Series("program", tr_noop("Underhill itself"), lambda p: p.muted),
    Series("dense", tr_noop("other weights"), lambda p: p.tiers["32"]),
    Series("context", tr_noop("context"), lambda p: p.tiers["16"]),
    Series("buffers", tr_noop("for computing"), lambda p: p.tiers["skipped"]),
    *DEVICE,
    Series("aside", tr_noop("kept for context and computing"), lambda p: p.heat[1]),
    Series("spare", tr_noop("not needed"), lambda p: p.tiers["0"]),
)


class MemoryBar(QWidget):
    """The bar, its legend, and a second bar where experts lie in graphics memory too."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._use: protocol.MemoryUse | None = None
        self._bar = PartsBar(theme, tr("Where the memory under the ceiling goes"), KINDS, self)
        self._legend = StableLabel(legend_label(self), self)
        self._device = PartsBar(theme, tr("Experts in graphics memory"), DEVICE, self)
        self._device_text = StableLabel(legend_label(self), self)
        vbox(self._bar, self._legend, self._device, self._device_text, parent=self, margins=0, spacing=5)
        theme.changed.connect(self._refresh)
        self._refresh()

    @property
    def legend(self) -> str:
        """The words under the bar."""
        return self._legend.text()

    def show_use(self, use: protocol.MemoryUse | None) -> None:
        """Show the use of memory; None: not known."""
        if use != self._use:
            self._use = use
            self._refresh()

    def _refresh(self) -> None:
        use, palette = self._use, self._theme.palette
        self._device.setVisible(use is not None and use.device > 0)
        self._device_text.setVisible(use is not None and use.device > 0)
        if use is None:
            self._bar.show_parts({}, 0, size)
            self._legend.set_text(tr("Known once a model is open."))
            return
        parts = parts_of(use)
        self._bar.show_parts(parts, max(use.ceiling, use.taken), size)
        self._legend.set_text(
            swatches([(k.colour(palette), f"{tr(k.words)} {size(parts[k.key])}") for k in KINDS if parts[k.key]])
        )
        self._device.show_parts({"cached": use.device_cached, "room": use.device - use.device_cached}, use.device, size)
        self._device_text.set_text(
            tr("Graphics memory: {part} of {whole} of experts", part=size(use.device_cached), whole=size(use.device))
        )


def parts_of(use: protocol.MemoryUse) -> dict[str, int]:
    """Bytes by KINDS. Those before 'room' add up to what is taken, and all to the limit, or to what is taken beyond
    it."""
    return {kind.key: getattr(use, kind.key) for kind in KINDS}


def legend_label(parent: QWidget) -> QLabel:
    """A label for the words under a chart."""
    label = make_label("", parent, "muted", wrap=True)
    sizes.set_font(label, LEGEND)
    label.setTextFormat(Qt.TextFormat.RichText)
    return label
