"""The tool servers there are, as the engine tells, and the tools that a chat offers to its model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.backend import EngineLink
from app.i18n.translate import plural, sentences, tr
from engine import protocol

_NAMES = 12  # tools that are named beside a server
MOST = 128  # tools that a model is told of at once; what OpenAI's API takes
_PER_TOKEN = 3  # characters of JSON, at least
_LONGEST = 64  # characters of a tool's name, likewise
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Offer:
    """A tool that a model is told of. tool: as it is told; name: as the server calls it."""

    card: protocol.ToolServerCard
    tool: protocol.Tool
    name: str


def state_of(card: protocol.ToolServerCard) -> str:
    """How a server is, in a sentence."""
    if not card.server.enabled:
        return tr("Off")
    if card.state == protocol.TOOLS_STARTING:
        return tr("Connecting…")
    if card.state == protocol.TOOLS_READY:
        names = tr(", ", about="between the names of a list").join(tool.name for tool in card.tools[:_NAMES])
        count = plural("1 tool", "%n tools", len(card.tools))
        more = "…" if len(card.tools) > _NAMES else ""
        return sentences(tr("Connected, {tools}: {names}", tools=count, names=names + more), card.problem)
    if card.problem:
        return sentences(card.problem, tr("Change the server or start it again."))
    return tr("Not connected")


class ToolServerList(QObject):
    """changed: any is another. problem: why they could not be listed; ''."""

    changed = Signal()
    failed = Signal(object)  # protocol.Failed

    def __init__(self, link: EngineLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.cards: tuple[protocol.ToolServerCard, ...] = ()
        self.problem = ""
        link.tool_servers_changed.connect(self._take)

    def refresh(self) -> None:
        """Ask for the list; servers that are on are started."""
        self._link.request(self._take, self._refused, protocol.ListToolServers)

    def card(self, server: str) -> protocol.ToolServerCard | None:
        """The server with this id; None where there is none."""
        return next((card for card in self.cards if card.id == server), None)

    def save(
        self, server: protocol.ToolServer, replacing: str = "", secrets: Mapping[str, str] | None = None,
        done: Callable[[], object] = lambda: None, failed: Callable[[protocol.Failed], object] | None = None,
    ) -> None:  # fmt: skip
        """Keep a server. replacing, secrets: as of protocol.SaveToolServer. failed: None emits the signal."""

        def saved(_: protocol.ToolServerCard) -> None:
            done()
            self.refresh()

        values = server, replacing, dict(secrets or {})
        self._link.request(saved, failed or self.failed.emit, protocol.SaveToolServer, *values)

    def enable(self, card: protocol.ToolServerCard, on: bool) -> None:
        """Switch a server on or off."""
        self.save(replace(card.server, enabled=on), card.id)

    def delete(self, card: protocol.ToolServerCard, done: Callable[[protocol.ToolServer], object]) -> None:
        """Delete a server and its secrets."""

        def deleted(server: protocol.ToolServer) -> None:
            self.refresh()
            done(server)

        self._link.request(deleted, self.failed.emit, protocol.DeleteToolServer, card.id)

    def restart(self, card: protocol.ToolServerCard) -> None:
        """Start a server anew."""
        self._link.request(lambda _: None, self.failed.emit, protocol.RestartToolServer, card.id)

    def allow(self, server: str, tool: str, allowed: bool = True) -> None:
        """Call a tool without asking from now on, or not any more. tool: '' for all of the server's."""
        self._take(tuple(_allowing(card, tool, allowed) if card.id == server else card for card in self.cards))
        self._link.request(lambda _: self.refresh(), self.failed.emit, protocol.AllowTool, server, tool, allowed)

    def _take(self, cards: Sequence[protocol.ToolServerCard]) -> None:
        self.cards, self.problem = tuple(cards), ""
        self.changed.emit()

    def _refused(self, event: protocol.Failed) -> None:
        self.problem = sentences(event.sentence, event.action)
        self.changed.emit()


def _allowing(card: protocol.ToolServerCard, tool: str, allowed: bool) -> protocol.ToolServerCard:
    kept = tuple(each for each in card.allowed if tool and each != tool)
    return replace(card, allowed=(*kept, tool) if allowed else kept)


def too_long(offers: Mapping[str, Offer], context: int) -> bool:
    """Whether telling a model of these tools would take about half of its context. context: in tokens, 0 for any."""
    tools = [offer.tool for offer in offers.values()]
    told = sum(len(tool.description) + len(json.dumps(tool.parameters)) + 60 for tool in tools)
    return bool(context) and told / _PER_TOKEN > context / 2


def offered(cards: Iterable[protocol.ToolServerCard], off: Sequence[str]) -> dict[str, Offer]:
    """The tools that a chat offers, by the names that its model is told. off: ids of servers that it may not use."""
    used = [card for card in cards if card.state == protocol.TOOLS_READY and card.id not in off]
    plain = [_OTHER.sub("_", tool.name)[:_LONGEST] for card in used for tool in card.tools]
    found: dict[str, Offer] = {}
    for card in used:
        for tool in card.tools:
            name = _OTHER.sub("_", tool.name)[:_LONGEST]
            if plain.count(name) > 1:
                name = _free(f"{card.id}_{name}"[:_LONGEST], found)
            if len(found) < MOST:
                found[name] = Offer(card, replace(tool, name=name), tool.name)
    return found


def _free(name: str, taken: Mapping[str, object]) -> str:
    number, made = 2, name
    while made in taken:
        made, number = f"{name[: _LONGEST - 4]}_{number}", number + 1
    return made
