"""Dialog that measures how much smaller a model can be made at which loss of quality."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QWidget,
)

from app.i18n.translate import sentences, tr, tr_noop
from app.library import model_text
from app.library.view_model import LibraryViewModel
from app.widgets.builders import make_label
from app.widgets.layouts import fit, form_column
from app.widgets.text import size
from engine import protocol

TOLERANCES = (
    (0.005, tr_noop("0.5 %")),
    (0.01, tr_noop("1 %")),
    (0.02, tr_noop("2 % – usual")),
    (0.05, tr_noop("5 % – smallest")),
)
USUAL = 2  # of these


def tolerances(parent: QWidget) -> QComboBox:
    """Combo box of tolerances; its data are shares."""
    box = QComboBox(parent)
    box.setAccessibleName(tr("Most quality loss"))
    for tolerance, label in TOLERANCES:
        box.addItem(tr(label), tolerance)
    return box


def _saves(offer: protocol.LoweringOffer) -> bool:
    return offer.after < offer.before or offer.dense_after < offer.dense_before


class SmallerDialog(QDialog):
    """Measures, then offers to convert. wanted: the model's card and the tolerance that was agreed to."""

    wanted = Signal(object, float)

    def __init__(self, card: protocol.ModelCard, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card, self._view_model = card, view_model
        self._running = ""  # id of what is measured now
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Make smaller"))
        head = make_label(tr("Make {model} smaller", model=card.title), self, wrap=True, heading=1.3)
        text = QLabel(
            tr("Experts that matter least keep 2 or 4 bits. The model takes less memory and answers faster; its "
                "answers change slightly. How much is measured first. That can take a while, and chat waits "
                "meanwhile."),
            self,
        )  # fmt: skip
        text.setObjectName("muted")
        text.setWordWrap(True)
        self.tolerance = tolerances(self)
        self.tolerance.setCurrentIndex(USUAL)
        self.found = make_label("", self, wrap=True, selectable=True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of {title}", title=card.title))
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(tr("Most quality loss"), self.tolerance)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.go = QPushButton(tr("Measure"), self)
        self.go.setObjectName("primary")
        self.go.setDefault(True)
        buttons.addButton(self.go, QDialogButtonBox.ButtonRole.ActionRole)
        form_column(self, head, text, form, self.bar, self.found, buttons)
        buttons.rejected.connect(self.reject)
        self.go.clicked.connect(self._next)
        self.tolerance.currentIndexChanged.connect(self._begin_again)
        self.offer: protocol.LoweringOffer | None = None
        self._begin_again()

    @Slot()
    def _begin_again(self) -> None:
        """Forget the measurement: another tolerance is chosen."""
        self.offer = None
        self._show("")

    @Slot()
    def _next(self) -> None:
        if self.offer is not None:
            self.wanted.emit(self._card, self.offer.tolerance)
            self.accept()
        elif self._running:
            self._view_model.stop_job(self._running)
        else:
            self._running = self._view_model.measure(self._card, self.tolerance.currentData(), self._heard)
            self._show("")

    def _heard(self, event: protocol.Event) -> None:
        if event.id != self._running:  # the dialog has gone
            return
        if isinstance(event, protocol.Progress):
            self.bar.setRange(0, event.total)
            self.bar.setValue(event.done)
            self.found.setText(event.text)
            return
        self._running = ""
        if isinstance(event, protocol.Done):
            self.offer = event.result
            self._show(self._in_words(event.result))
        else:
            self._show(sentences(event.sentence, event.action) if isinstance(event, protocol.Failed) else tr("Stopped"))

    def _in_words(self, offer: protocol.LoweringOffer) -> str:
        if not _saves(offer):
            return tr("No expert can have fewer bits within this loss. Allow more.")
        lines = [
            tr("Experts take {after} instead of {before}.", after=size(offer.after), before=size(offer.before)),
            tr("Bits: {shares}", shares=model_text.shares(offer.bits)),
            *self._rest(offer),
            tr("Change: {change}, measured on {tokens} tokens", change=model_text.change(offer.kl),
                tokens=f"{offer.tokens:,}"),
            tr("Needs {needed} on the disk, {free} free. The original goes to the trash.", needed=size(offer.needed),
                free=size(offer.free)),
        ]  # fmt: skip
        return "\n".join(lines)

    def _rest(self, offer: protocol.LoweringOffer) -> tuple[str, ...]:
        """Line about the other weights, where they have fewer bits, too."""
        if not offer.dense_bits:
            return ()
        before, after = size(offer.dense_before), size(offer.dense_after)
        return (tr("Other weights: {bits}-bit, {after} instead of {before} in memory", bits=offer.dense_bits,
                    after=after, before=before),)  # fmt: skip

    def _show(self, text: str) -> None:
        offer, running = self.offer, bool(self._running)
        self.found.setText(text)
        self.found.setVisible(bool(text) or running)
        self.bar.setVisible(running)
        self.bar.setRange(0, 0)
        self.tolerance.setEnabled(not running)
        self.go.setText(tr("Stop") if running else tr("Measure") if offer is None else tr("Make smaller"))
        self.go.setEnabled(offer is None or (_saves(offer) and offer.needed < offer.free))
        fit(self)

    def done(self, result: int) -> None:
        """Stop a measurement that runs, however the dialog is closed."""
        running, self._running = self._running, ""
        if running:
            self._view_model.stop_job(running)
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Reject, as Cancel does."""
        self.done(QDialog.DialogCode.Rejected)
        super().closeEvent(event)
