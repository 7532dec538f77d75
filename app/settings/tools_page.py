"""Page of the settings for tool servers: those there are, how they are, and what each may do without asking."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from app.i18n.translate import sentences, tr
from app.settings.pages import SettingsPage
from app.settings.pasted_servers import Pasted
from app.settings.tool_editor import PasteDialog, ToolServerEditor
from app.tool_servers import ToolServerList, state_of
from app.widgets.builders import (
    FlowLayout,
    hbox,
    make_button,
    make_label,
    open_dialog,
    set_level,
    show_text,
    vbox,
)
from engine import protocol


class ServerRow(QFrame):
    """One tool server: its switch, state and buttons."""

    def __init__(self, page: ToolsPage, card: protocol.ToolServerCard) -> None:
        super().__init__(page)
        self.setObjectName("entry")
        self.card = card
        self.name = make_label("", self, heading=1.08, wrap=True)
        self.switch = QCheckBox(self)
        self.switch.setObjectName("switch")
        self.switch.setProperty("bare", True)
        self.switch.clicked.connect(lambda on: page.enable(self.card, on))
        self.facts = make_label("", self, "muted", wrap=True, selectable=True)
        self.far = make_label("", self, "muted", wrap=True)
        set_level(self.far, "warning")
        self.state = make_label("", self, "muted", wrap=True, selectable=True)
        self.said = make_label("", self, "muted", wrap=True, selectable=True)
        self.allowed = make_label("", self, "muted", wrap=True)
        self.edit = make_button(tr("Edit"), self, lambda: page.edit(self.card), auto_default=False)
        self.restart = make_button(tr("Restart"), self, lambda: page.restart(self.card), auto_default=False)
        self.ask = make_button(tr("Ask again"), self, lambda: page.ask_again(self.card), auto_default=False)
        self.delete = make_button(tr("Delete"), self, lambda: page.delete(self.card), auto_default=False)
        row = FlowLayout()
        for button in (self.edit, self.restart, self.ask, self.delete):
            row.addWidget(button)
        vbox(
            hbox((self.name, 1), self.switch), self.facts, self.far, self.state, self.said, self.allowed, row,
            parent=self, margins=(16, 12, 14, 12), spacing=4,
        )  # fmt: skip
        self.show_card(card)

    def show_card(self, card: protocol.ToolServerCard) -> None:
        """Show how it is now."""
        self.card, server = card, card.server
        self.name.setText(server.name)
        self.switch.setChecked(server.enabled)
        self.switch.setAccessibleName(server.name)
        for button in (self.edit, self.restart, self.ask, self.delete):
            button.setAccessibleName(tr("{deed}: {title}", deed=button.text(), title=server.name))
        show_text(self.facts, server.url or " ".join((server.command, *server.args)))
        show_text(self.far, tr("Remote server: {host}", host=server.host) if server.host else "")
        show_text(self.state, state_of(card))
        set_level(self.state, "warning" if card.problem else "fine")
        show_text(self.said, card.said if card.state == protocol.TOOLS_FAILED else "")
        names = tr(", ", about="between the names of a list").join(card.allowed)
        show_text(self.allowed, tr("Always allowed: {names}", names=names) if names else "")
        self.ask.setVisible(bool(card.allowed))
        self.restart.setVisible(server.enabled and card.state != protocol.TOOLS_STARTING)


class ToolsPage(SettingsPage):
    """Without effect until `follow`. posted: a message, and what its Undo does."""

    posted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__(tr("Tools"), tr(
            "Tool servers (MCP) let models read files, search and more. Nothing runs until you allow it."
        ))  # fmt: skip
        self._servers: ToolServerList | None = None
        words = tr("tools mcp servers model context protocol functions plugins", about="words of the search")
        inside = QWidget(self)
        self.add = make_button(tr("Add server…"), inside, lambda: self.edit(None), auto_default=False)
        self.paste = make_button(tr("Import JSON…"), inside, self.import_json, auto_default=False)
        self.problem = make_label("", inside, "restart", wrap=True)
        self.none = make_label(tr("No tool servers yet"), inside, "muted")
        self._list = vbox(spacing=10)
        buttons = FlowLayout()
        for button in (self.add, self.paste):
            buttons.addWidget(button)
        vbox(buttons, self.problem, self.none, self._list, parent=inside, margins=(0, 6, 0, 9), spacing=10)
        self.problem.hide()
        self.add_extra(inside, words)
        self.rows: dict[str, ServerRow] = {}

    def follow(self, servers: ToolServerList) -> None:
        """Show these servers, and change them."""
        self._servers = servers
        servers.changed.connect(self._fill)
        servers.failed.connect(self._refused)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        servers = self._servers
        assert servers is not None
        show_text(self.problem, servers.problem)
        there = {card.id for card in servers.cards}
        for name in [name for name in self.rows if name not in there]:
            row = self.rows.pop(name)
            row.hide()
            row.deleteLater()
        for card in servers.cards:
            if card.id in self.rows:
                self.rows[card.id].show_card(card)
            else:
                self.rows[card.id] = ServerRow(self, card)
                self._list.addWidget(self.rows[card.id])
        self.none.setVisible(not servers.cards)

    @Slot(object)
    def _refused(self, event: protocol.Failed) -> None:
        show_text(self.problem, sentences(event.sentence, event.action))

    def enable(self, card: protocol.ToolServerCard, on: bool) -> None:
        """Switch a server on or off."""
        self._known.enable(card, on)

    def restart(self, card: protocol.ToolServerCard) -> None:
        """Start a server anew."""
        self._known.restart(card)

    def ask_again(self, card: protocol.ToolServerCard) -> None:
        """Ask again before each of a server's tools."""
        self._known.allow(card.id, "", False)

    def edit(self, card: protocol.ToolServerCard | None) -> ToolServerEditor:
        """Open the dialog for a server; None for a new one."""
        dialog, replacing = ToolServerEditor(card, self), card.id if card is not None else ""
        done, refused = _while_open(dialog, dialog.accept), _while_open(dialog, dialog.refuse)

        def save(server: protocol.ToolServer, secrets: dict[str, str]) -> None:
            self._known.save(
                server, replacing, secrets, done, lambda event: refused(sentences(event.sentence, event.action))
            )  # fmt: skip

        dialog.saved.connect(save)
        return open_dialog(dialog)

    def import_json(self) -> PasteDialog:
        """Open the dialog for pasted servers."""
        dialog = PasteDialog(self)
        done, refused = _while_open(dialog, dialog.accept), _while_open(dialog, dialog.refuse)

        def save(left: list[Pasted]) -> None:
            """One after the other; the first that is refused, and those behind it, stay in the dialog."""
            if not left:
                done()
                return
            (server, secrets), *rest = left

            def failed(event: protocol.Failed) -> None:
                refused(sentences(f"{server.name}: {event.sentence}", event.action))

            self._known.save(server, "", secrets, partial(save, rest), failed)

        dialog.pasted.connect(save)
        return open_dialog(dialog)

    def delete(self, card: protocol.ToolServerCard) -> None:
        """Delete a server and its secrets; the toast brings it back without those."""

        def deleted(server: protocol.ToolServer) -> None:
            self.posted.emit(tr("{name} deleted", name=server.name), partial(self._known.save, server))

        self._known.delete(card, deleted)

    @property
    def _known(self) -> ToolServerList:
        assert self._servers is not None
        return self._servers


def _while_open(dialog: QWidget, do: Callable[..., object]) -> Callable[..., None]:
    """The same, but nothing once the dialog is gone."""
    gone: list[bool] = []
    dialog.destroyed.connect(lambda: gone.append(True))

    def act(*values: object) -> None:
        if not gone:
            do(*values)

    return act
