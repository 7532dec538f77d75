"""Meter of the context window: how many tokens are taken, with a warning from 80 % on."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar, QWidget

from app.i18n.translate import tr
from app.widgets.builders import hbox, make_label
from app.widgets.text import percent

WARN = 0.8  # of the context
_TIMES = 9.5  # from which on so many times say more than so many per cent


class ContextMeter(QWidget):
    """A short text and a bar; hidden until something is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = make_label("", self, "muted")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(64)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(tr("Context that is taken"))
        hbox(self.label, self.bar, parent=self, margins=0, spacing=8)
        self.hide()

    def show_usage(self, chat: int, draft: int, context: int) -> None:
        """Show the tokens of the chat and of the draft, of so many that the model sees at a time."""
        used = chat + draft
        share = used / context
        level = "full" if used > context else "warning" if share >= WARN else "fine"
        self.bar.setValue(min(1000, round(1000 * share)))
        taken = (
            tr("{share} of context", share=percent(share))
            if share < _TIMES
            else tr("{times} times the context", times=f"{share:,.0f}")
        )
        self.label.setText(tr("{draft} tokens  ·  {taken}", draft=f"{draft:,}", taken=taken) if draft else taken)
        if draft > context:
            tip = tr(
                "This message is longer than the {context} tokens that the model sees at a time. Shorten it.",
                context=f"{context:,}",
            )
        elif level == "full":
            tip = tr(
                "Chat and message take {used} tokens; the model sees {context} at a time. "
                "The oldest turns will be left out; the system prompt stays.",
                used=f"{used:,}", context=f"{context:,}",
            )  # fmt: skip
        else:
            tip = tr(
                "Chat and message take {used} of the {context} tokens that the model sees at a time.",
                used=f"{used:,}", context=f"{context:,}",
            )  # fmt: skip
        for widget in (self, self.label, self.bar):
            widget.setToolTip(tip)
        self.label.setAccessibleDescription(tip)
        if self.property("level") != level:
            self.setProperty("level", level)
            for part in (self.label, self.bar):
                part.setProperty("level", level)
                part.style().unpolish(part)
                part.style().polish(part)
        self.show()
