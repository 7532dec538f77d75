"""Dialog with what is known of a model on the hub, and the precisions to download it in."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QScrollArea, QWidget

from app.i18n.translate import plural, tr, tr_noop
from app.library import model_text
from app.library.entries import Action, LibraryEntry
from app.platform.open_externally import open_link
from app.widgets.builders import make_button, make_label, vbox
from app.widgets.text import size
from engine import protocol

_TIERS = {
    16: tr_noop("16 bits – as it is"),
    8: tr_noop("8 bits – practically the original"),
    4: tr_noop("4 bits – nearly as good, half the size"),
    2: tr_noop("2 bits – small, and noticeably less exact"),
}


_AS_IT_COMES = tr_noop("4 bits – just as they come")


class ModelDetailsDialog(QDialog):
    """Details of a model. wanted: an protocol.HubModel and bits to store. original_wanted: a repository to describe."""

    wanted = Signal(object, int)
    original_wanted = Signal(str)

    def __init__(self, details: protocol.ModelDetails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        model = details.model
        self.setWindowTitle(model.title)
        head = make_label(model.title, self, heading=1.4, wrap=True)
        page = QWidget(self)
        page.setObjectName("page")
        column = vbox(head, parent=page, margins=(24, 18, 24, 12), spacing=10)
        for line in (model.repo, model.about, model.lost, model_text.hub_facts(model), _inside(details)):
            if line:
                label = make_label(line, page, wrap=True)
                label.setObjectName("" if line in (model.about, model.lost) else "muted")
                column.addWidget(label)
        fits = dict(details.fits)
        self.entries: list[LibraryEntry] = []
        for bits, nbytes in sorted(details.stores, reverse=True):
            fit = fits.get(bits)
            action = Action(tr("Get"), partial(self._get, model, bits), primary=fit is not None and fit == model.fit,
                        enabled=not model.here and (fit is None or fit.pill != "too_big"))  # fmt: skip
            takes = tr("takes {size}", size=size(nbytes))
            title = _AS_IT_COMES if bits == 4 and (model.form or model.lost) else _TIERS[bits]
            self.entries.append(LibraryEntry(tr(title), takes, fit=fit, actions=[action], parent=page))
            column.addWidget(self.entries[-1])
        if model.original:
            look = Action(tr("Look at it"), partial(self._look, model.original))
            amount = tr("{size} to fetch", size=size(model.original_bytes))
            self.original = LibraryEntry(
                tr("The original, unquantized"), model_text.joined(model.original, amount), actions=[look]
            )
            column.addWidget(self.original)
        download = tr("{size} to fetch", size=size(model.download_bytes))
        files = make_label(model_text.joined(plural("1 file", "%n files", len(details.files)), download), page, "muted")
        files.setToolTip("\n".join(f"{name}  {size(nbytes)}" for name, nbytes in details.files[:40]))
        column.addWidget(files)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        buttons = QDialogButtonBox(self)
        web = make_button(tr("Open its page"), self, partial(self._open, details.page))
        self.said = make_label("", self, "muted", wrap=True, selectable=True)
        self.said.hide()
        buttons.addButton(web, QDialogButtonBox.ButtonRole.ActionRole)
        close = QPushButton(tr("Close"), self)
        buttons.addButton(close, QDialogButtonBox.ButtonRole.RejectRole)
        buttons.rejected.connect(self.reject)
        foot = vbox(self.said, buttons, margins=(24, 0, 24, 0))
        vbox(area, foot, parent=self, margins=(0, 0, 0, 14))
        room = self.screen().availableGeometry()
        self.resize(min(640, room.width() - 40), min(max(420, page.sizeHint().height() + 90), room.height() - 80))

    def _open(self, page: str) -> None:
        why = open_link(page)
        self.said.setText(why)
        self.said.setVisible(bool(why))

    def _look(self, repo: str) -> None:
        self.original_wanted.emit(repo)
        self.accept()

    def _get(self, model: protocol.HubModel, bits: int) -> None:
        self.wanted.emit(model, bits)
        self.accept()


def _inside(details: protocol.ModelDetails) -> str:
    length = details.model.context_length
    context = tr("reads up to {tokens:,} tokens", tokens=length) if length else ""
    experts = tr("{experts} experts in each of {layers} layers, {active} at a time", experts=details.experts,
                  layers=details.moe_layers, active=details.experts_per_token)  # fmt: skip
    return model_text.joined(experts, context)
