"""Dialogs of the library: a model's details on the hub, making a model smaller, and importing one."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.i18n.translate import plural, sentences, tr, tr_engine, tr_noop
from app.library import model_text
from app.library.entries import Action, LibraryEntry
from app.library.view_model import LibraryViewModel
from app.platform.files import open_link
from app.widgets.builders import (
    BAR,
    fit,
    form_column,
    hbox,
    make_bar,
    make_button,
    make_combo,
    make_label,
    reserve_bar,
    resize_on_screen,
    scroll_area,
    set_progress,
    show_text,
    vbox,
)
from app.widgets.text import size
from engine import protocol

_TIERS = {
    16: tr_noop("16-bit – original"),
    8: tr_noop("8-bit – practically lossless"),
    4: tr_noop("4-bit – nearly as good, half the size"),
    2: tr_noop("2-bit – smallest, noticeably less precise"),
}


_AS_IT_COMES = tr_noop("4-bit – unchanged")
# Rise of perplexity that is allowed.
TOLERANCES = (
    (0.005, tr_noop("0.5%")),
    (0.01, tr_noop("1%")),
    (0.02, tr_noop("2% – default")),
    (0.05, tr_noop("5% – smallest")),
)
USUAL = 2  # of these
_FILES = 40  # lines of a model's list of files
_NEVER = '<>:"/\\|?*'  # in the name of a folder
_WHOLE = 16  # bits: not quantized
_TOPS = (
    (0, tr_noop("Automatic – 8-bit, or 4-bit where the model is stored that way")),
    (8, tr_noop("8-bit – practically lossless")),
    (4, tr_noop("4-bit – nearly as good, half the size")),
    (_WHOLE, tr_noop("16-bit – original, for small models")),
)


class ModelDetailsDialog(QDialog):
    """Details of a model. download_requested: a HubModel and bits to store. details_requested: a repository, and which
    of its GGUF models, '' for none of these."""

    download_requested = Signal(object, int)
    details_requested = Signal(str, str)

    def __init__(self, details: protocol.ModelDetails, parent: QWidget | None = None, why_not: str = "") -> None:
        """why_not: nothing can be downloaded now; '' where it can."""
        super().__init__(parent)
        model = details.model
        self.setWindowTitle(model.title)
        head = make_label(model.title, self, heading=1.4, wrap=True)
        page = QWidget(self)
        page.setObjectName("page")
        column = vbox(head, parent=page, margins=(24, 18, 24, 12), spacing=10)
        for line in (model.repo, model.about, model.lost, model_text.hub_facts(model), _inside(details)):
            if line:
                style = "" if line in (model.about, model.lost) else "muted"
                column.addWidget(make_label(line, page, style, wrap=True))
        fits = dict(details.fits)
        self.entries: list[LibraryEntry] = []
        for bits, nbytes in sorted(details.stores, reverse=True):
            fit = fits.get(bits)
            too_big = fit.sentence if fit is not None and fit.pill == "too_big" else ""
            why = tr("Downloaded") if model.here else too_big or why_not
            best = fit is not None and fit == model.fit
            action = Action(tr("Download"), partial(self._get, model, bits), primary=best and not why_not, why=why)
            takes = tr("{size} on disk", size=size(nbytes))
            title = _AS_IT_COMES if bits == 4 and (model.form or model.lost) else _TIERS[bits]
            self.entries.append(LibraryEntry(tr(title), takes, fit=fit, actions=[action], parent=page))
            column.addWidget(self.entries[-1])
        if model.original:
            look = Action(tr("Open"), partial(self._describe, model.original))
            amount = tr("{size} download", size=size(model.original_bytes))
            self.original = LibraryEntry(
                tr("Original, unquantized"), model_text.joined(model.original, amount), actions=[look]
            )
            column.addWidget(self.original)
        others = [(name, nbytes) for name, nbytes in details.ggufs if name != model.gguf_name]
        if others:
            column.addWidget(make_label(tr("Other quantizations (GGUF)"), page, heading=1.0))
        self.ggufs = [self._gguf(model.repo, name, nbytes, page) for name, nbytes in others]
        for entry in self.ggufs:
            column.addWidget(entry)
        self.files = FileFold(details, page)
        column.addWidget(self.files)
        column.addStretch(1)
        self.status = make_label("", self, "muted", wrap=True, selectable=True)
        self.status.hide()
        buttons = QDialogButtonBox(self)
        web = make_button(model_text.open_page(details.page), self, partial(self._open, details.page))
        buttons.addButton(web, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(make_button(tr("Close"), self, self.reject), QDialogButtonBox.ButtonRole.RejectRole)
        foot = vbox(self.status, buttons, margins=(24, 0, 24, 0))
        area = scroll_area(page, self)
        reserve_bar(area)
        vbox(area, foot, parent=self, margins=(0, 0, 0, 14), spacing=6)
        below = buttons.sizeHint().height() + 14 + 6 + 2 * area.frameWidth()
        resize_on_screen(self, 640 + BAR, column.totalHeightForWidth(640) + below)

    def _open(self, page: str) -> None:
        why = open_link(page)
        show_text(self.status, why)

    def _gguf(self, repo: str, name: str, nbytes: int, page: QWidget) -> LibraryEntry:
        look = Action(tr("Open"), partial(self._describe, repo, name))
        return LibraryEntry(name, tr("{size} download", size=size(nbytes)), actions=[look], parent=page)

    def _describe(self, repo: str, gguf: str = "") -> None:
        self.details_requested.emit(repo, gguf)
        self.accept()

    def _get(self, model: protocol.HubModel, bits: int) -> None:
        self.download_requested.emit(model, bits)
        self.accept()


class FileFold(QWidget):
    """How many files a model has and how large they are, and a button that lists them."""

    def __init__(self, details: protocol.ModelDetails, parent: QWidget) -> None:
        super().__init__(parent)
        given = details.files
        download = tr("{size} download", size=size(details.model.download_bytes))
        counted = plural("1 file", "%n files", len(given)) if given else tr("files not listed: offline")
        line = make_label(model_text.joined(counted, download), self, "muted")
        self.button = make_button(tr("Show files"), self, style="place", auto_default=False)
        self.button.setCheckable(True)
        self.button.setVisible(bool(given))
        rest = len(given) - _FILES
        lines = [f"{name}  {size(nbytes)}" for name, nbytes in given[:_FILES]]
        more = [plural("and 1 more", "and %n more", rest)] if rest > 0 else []
        self.list = make_label("\n".join(lines + more), self, "muted", wrap=True, selectable=True)
        self.list.setTextFormat(Qt.TextFormat.PlainText)
        self.list.hide()
        self.button.toggled.connect(self._fold)
        vbox(hbox(line, self.button, ..., spacing=8), self.list, parent=self, margins=0, spacing=4)

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self.list.setVisible(shown)
        self.button.setText(tr("Hide files") if shown else tr("Show files"))


def _inside(details: protocol.ModelDetails) -> str:
    length = details.model.context_length
    context = tr("{tokens:,}-token context", tokens=length) if length else ""
    experts = tr("{layers} layers × {experts} experts, {active} active", experts=details.experts,
                  layers=details.moe_layers, active=details.experts_per_token)  # fmt: skip
    return model_text.joined(experts, context)


def _saves(offer: protocol.LoweringOffer) -> bool:
    return offer.after < offer.before or offer.dense_after < offer.dense_before


class SmallerDialog(QDialog):
    """Measures, then offers to convert. lowering_requested: the model's card and the tolerance that was agreed to."""

    lowering_requested = Signal(object, float)

    def __init__(self, card: protocol.ModelCard, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card, self._view_model = card, view_model
        self.running = ""  # id of what is measured now
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Shrink"))
        head = make_label(tr("Shrink {model}", model=card.title), self, wrap=True, heading=1.3)
        text = make_label(
            tr("The least important experts are stored at 2-bit or 4-bit: less memory, faster answers, a small "
               "loss of quality. Measuring it can take a while. Chats pause while measuring."),
            self, "muted", wrap=True,
        )  # fmt: skip
        shares = [(tr(label), tolerance) for tolerance, label in TOLERANCES]
        self.tolerance = make_combo(self, tr("Maximum quality loss"), shares, TOLERANCES[USUAL][0])
        self.found = make_label("", self, wrap=True, selectable=True)
        self.bar = make_bar(self, tr("Progress of {title}", title=card.title))
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        form.addRow(tr("Maximum quality loss"), self.tolerance)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.go = make_button(tr("Measure"), self, self._next, "primary")
        buttons.addButton(self.go, QDialogButtonBox.ButtonRole.AcceptRole)
        self.go.setDefault(True)
        form_column(self, head, text, form, self.bar, self.found, buttons)
        buttons.rejected.connect(self.reject)
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
            self.lowering_requested.emit(self._card, self.offer.tolerance)
            self.accept()
        elif self.running:
            self._view_model.link.stop(self.running)
        else:
            self.running = self._view_model.measure(self._card, self.tolerance.currentData(), self._on_event)
            self._show("")

    def _on_event(self, event: protocol.Event) -> None:
        if event.id != self.running:  # the dialog has gone
            return
        if isinstance(event, protocol.Progress):
            self.bar.setRange(0, event.total)
            self.bar.setValue(event.done)
            self.found.setText(event.text)
            return
        self.running = ""
        if isinstance(event, protocol.Done):
            self.offer = event.result
            self._show(self._offer_text(event.result))
        else:
            self._show(sentences(event.sentence, event.action) if isinstance(event, protocol.Failed) else tr("Stopped"))

    def _offer_text(self, offer: protocol.LoweringOffer) -> str:
        if not _saves(offer):
            return tr("No expert can be reduced within this limit. Allow more loss.")
        lines = [
            tr("Experts: {before} → {after}", after=size(offer.after), before=size(offer.before)),
            tr("Precision: {shares}", shares=model_text.shares(offer.bits)),
            *self._dense_line(offer),
            tr("Quality loss: {loss} (limit {limit}), measured on {tokens} tokens", loss=model_text.loss(offer.loss),
                limit=f"{100 * offer.tolerance:g}%", tokens=f"{offer.tokens:,}"),
            tr("Needs {needed} of disk space ({free} free). The original moves to the trash.",
                needed=size(offer.needed), free=size(offer.free)),
        ]  # fmt: skip
        return "\n".join(lines)

    def _dense_line(self, offer: protocol.LoweringOffer) -> tuple[str, ...]:
        """Line about the other weights, where they have fewer bits, too."""
        if not offer.dense_bits:
            return ()
        before, after = size(offer.dense_before), size(offer.dense_after)
        return (tr("Shared weights: {bits}-bit, {before} → {after} in memory", bits=offer.dense_bits,
                    after=after, before=before),)  # fmt: skip

    def _show(self, text: str) -> None:
        offer, running = self.offer, bool(self.running)
        self.found.setText(text)
        self.found.setToolTip(tr("KL {kl} vs. full precision", kl=f"{offer.kl:.4f}") if offer is not None else "")
        self.found.setVisible(bool(text) or running)
        self.bar.setVisible(running)
        set_progress(self.bar, 0, 0)
        self.tolerance.setEnabled(not running)
        self.go.setText(tr("Stop") if running else tr("Measure") if offer is None else tr("Shrink"))
        self.go.setEnabled(offer is None or (_saves(offer) and offer.needed < offer.free))
        fit(self)

    def done(self, result: int) -> None:
        """Stop a measurement that runs, however the dialog is closed."""
        running, self.running = self.running, ""
        if running:
            self._view_model.link.stop(running)
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Reject, as Cancel does."""
        self.done(QDialog.DialogCode.Rejected)
        super().closeEvent(event)


class ImportDialog(QDialog):
    """Read name(), top() and tolerance() after it was accepted."""

    def __init__(self, path: str, parent: QWidget | None = None, name: str = "", taken: Collection[str] = ()) -> None:
        """path: of a folder or a file. name: to be offered; '' takes the path's. taken: names of other models."""
        super().__init__(parent)
        self.setWindowTitle(tr("Import model"))
        head = make_label(tr("Import model"), self, heading=1.3)
        text = make_label(
            tr("Makes a converted copy; the original stays. You can keep chatting."), self,
            "muted", wrap=True,
        )  # fmt: skip
        place = make_label(path, self, wrap=True)
        self._taken = {other.casefold() for other in taken}
        self.name_field = QLineEdit(self._free(name or Path(path).name.removesuffix(".gguf")), self)
        self.name_field.setAccessibleName(tr("Name"))
        self.note = make_label("", self, "restart", wrap=True)
        self.note.hide()
        self.top_box = make_combo(self, tr("Precision"), [(tr(words), bits) for bits, words in _TOPS])
        losses = [(tr("Maximum quality loss: {loss}", loss=tr(label)), share) for share, label in TOLERANCES]
        self.tolerance_box = make_combo(self, tr("Shrink"), [(tr("No"), 0.0), *losses])
        self.tolerance_box.setToolTip(
            tr("Stores the least important experts at 2-bit or 4-bit. Measured after the import.")
        )
        self.top_box.currentIndexChanged.connect(self._bits_chosen)
        form = QFormLayout()
        form.setVerticalSpacing(10)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        form.addRow(tr("From"), place)
        form.addRow(tr("Name"), self.name_field)
        form.addRow("", self.note)
        form.addRow(tr("Precision"), self.top_box)
        form.addRow(tr("Shrink"), self.tolerance_box)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.start = QPushButton(tr("Import"), self)
        self.start.setObjectName("primary")  # before it is in the row, which makes it look as what it is called then
        buttons.addButton(self.start, QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setDefault(True)  # not before, or Tab would come to it first, and never to Cancel
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form_column(self, head, text, form, buttons)
        self.name_field.textChanged.connect(self._check)
        self._check()
        fit(self)

    def name(self) -> str:
        """Name for the library."""
        return self.name_field.text().strip()

    @Slot()
    def _check(self) -> None:
        """Show what would be refused after the dialog has gone."""
        wrong = ""
        try:
            protocol.checked_name(self.name())
            if self.name().casefold() in self._taken:
                wrong = tr("A model with this name exists")
        except protocol.UnderhillError as error:
            wrong = tr_engine(error.action) if self.name() else ""
        self.start.setEnabled(bool(self.name()) and not wrong)
        self.note.setText(wrong)
        if self.note.isHidden() == bool(wrong):
            self.note.setVisible(bool(wrong))
            fit(self)

    def _free(self, name: str) -> str:
        """The name, or the first of it with a number that no other model has."""
        name = "".join("-" if sign in _NEVER else sign for sign in name).strip(" .")
        found, number = name, 1
        while found.casefold() in self._taken:
            number += 1
            found = f"{name} {number}"
        return found

    @Slot()
    def _bits_chosen(self) -> None:
        """Disable the choice of fewer bits where experts are kept as they are."""
        self.tolerance_box.setEnabled(self.top() != _WHOLE)

    def tolerance(self) -> float:
        """Loss that may be added so that experts take fewer bits; 0: they keep all."""
        return float(self.tolerance_box.currentData()) if self.tolerance_box.isEnabled() else 0.0

    def top(self) -> int:
        """Bits of the finest tier that is kept; 0: what suits the model."""
        return int(self.top_box.currentData())
