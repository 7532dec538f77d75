"""The button of the composer that says how many tools the open chat offers, and its menu: which servers it uses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QToolButton

from app.backend import READY, Models, is_team
from app.chat.conversation import Conversation
from app.composer import Composer
from app.i18n.translate import plural, tr
from app.tool_servers import MOST, offered, state_of, too_long
from app.widgets.menus import make_menu
from engine import protocol


class ToolChooser(QObject):
    """settings_requested: the page of tool servers is wanted."""

    settings_requested = Signal()

    def __init__(self, composer: Composer, conversation: Conversation, models: Models) -> None:
        super().__init__(composer)
        self._conversation, self._models = conversation, models
        self._servers = conversation.tool_calls.servers
        self.button = composer.tools
        self.menu = make_menu(self.button)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self.menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for signal in (self._servers.changed, conversation.opened, conversation.added, models.changed):
            signal.connect(self.show)
        conversation.tool_calls.chat_allowed.connect(self.show)
        self.show()

    @property
    def obstacle(self) -> str:
        """Why the open chat offers no tools to what answers it; '' where it may."""
        card = self._models.card
        if is_team(self._models.choice):
            return tr("Teams don't use tools")
        if self._own and card is not None and not card.calls_tools:
            return tr("{model} can't use tools: its family has no form for tool calls", model=card.title)
        return ""

    @Slot()
    def show(self) -> None:
        """Show how many tools there are, or why there are none."""
        why, offers = self.obstacle, offered(self._servers.cards, self._conversation.tools.off)
        self.button.setEnabled(not why)
        if not why and too_long(offers, self._context):
            why, offers = tr("Tools would fill this model's context. Turn some off."), {}
        count = len(offers)
        self.button.set_count(0 if why else count)
        name = plural("1 tool for this chat", "%n tools for this chat", count) if count else tr("Tools")
        self.button.set_label(why or name)

    @property
    def _context(self) -> int:
        card = self._models.card if self._own else None
        return card.context_length if card is not None else 0

    @property
    def _own(self) -> bool:
        """Whether the open model answers."""
        return self._models.endpoint_card is None and not self._models.to_load and self._models.state == READY

    @Slot()
    def _fill(self) -> None:
        menu, off = self.menu, self._conversation.tools.off
        menu.clear()
        for card in self._servers.cards:
            if not card.server.enabled:
                continue
            ready = card.state == protocol.TOOLS_READY
            count = plural("1 tool", "%n tools", len(card.tools)) if ready else tr("not connected")
            action = menu.addAction(f"{card.server.name}  ·  {count}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(card.id not in off)
            action.setToolTip(state_of(card))
            action.toggled.connect(partial(self._use, card.id))
        if len(offered(self._servers.cards, off)) >= MOST:
            menu.addAction(tr("Only the first {count} tools are used", count=MOST)).setEnabled(False)
        if not menu.isEmpty():
            menu.addSeparator()
        menu.addAction(tr("Manage tools…"), self.settings_requested.emit)

    def _use(self, server: str, wanted: bool) -> None:
        tools = self._conversation.tools
        off = tuple(each for each in tools.off if each != server)
        self._conversation.set_tools(replace(tools, off=off if wanted else (*off, server)))
        self.show()
