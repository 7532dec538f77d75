"""The row below the qualities that has their cost measured again."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.i18n.translate import tr, tr_engine
from app.widgets.builders import hbox, make_button, make_label
from engine import protocol


class MeasureRow(QWidget):
    """What was measured of the open model, and the button that measures it now. requested: by a person."""

    requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.state = make_label("", self, "muted", wrap=True)
        self.button = make_button(tr("Measure quality now"), self, self.requested, auto_default=False)
        hbox((self.state, 1), self.button, parent=self, margins=(0, 2, 0, 6), spacing=10)
        self.show_model(None)

    def show_model(self, card: protocol.ModelCard | None) -> None:
        """Show how far the measurement of the open model is; None: none is open."""
        self.button.setEnabled(card is not None)
        if card is None:
            self.show_text(tr("Load a model to measure its quality settings."))
        elif card.doing:
            self.show_text(tr_engine(card.doing))
        elif card.calibration is None:
            self.show_text(tr("Quality loss is measured when the app is idle."))
        else:
            self.show_text(tr("Loss measured on {count:,} tokens.", count=card.calibration.scored))

    def show_text(self, text: str) -> None:
        """Say something else, such as why it could not be measured."""
        self.state.setText(text)
