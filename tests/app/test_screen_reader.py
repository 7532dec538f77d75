"""The window as a screen reader has it: read over AT-SPI from another process, as Orca does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.app.platform.test_notifications import Bus
from tests.waiting import LONGEST

ROOT = Path(__file__).parents[2]
LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
pytestmark = [
    pytest.mark.alone("starts a display, two buses and a window"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or not LAUNCHER.exists() or not shutil.which("Xvfb"),
        reason="needs Xvfb and AT-SPI",
    ),
]
ACCESSIBLE = "org.a11y.atspi.Accessible"
FOCUSABLE, SHOWING = 11, 25  # bits of a state, by AtspiStateType
INERT = {"", "invalid", "unknown"}  # what says nothing of a control


@dataclass(frozen=True)
class Node:
    """One accessible object as AT-SPI tells of it."""

    role: str
    name: str
    description: str
    focusable: bool
    showing: bool


class Reader:
    """A screen reader's connection to the bus of accessibility."""

    def __init__(self, session: str) -> None:
        from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        with open_dbus_connection(session) as bus:
            asked = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
            (address,) = bus.send_and_get_reply(asked, timeout=LONGEST).body
        self._bus = open_dbus_connection(address)
        registry = DBusAddress("/org/a11y/atspi/registry", "org.a11y.atspi.Registry", "org.a11y.atspi.Registry")
        self._ask(new_method_call(registry, "RegisterEvent", "s", ("object:announcement",)))
        rule = MatchRule(type="signal", interface="org.a11y.atspi.Event.Object", member="Announcement")
        self._ask(message_bus.AddMatch(rule))
        self.announced: deque[tuple[str, int]] = deque()  # words and politeness

    def close(self) -> None:
        self._bus.close()

    def _ask(self, call: Any) -> Any:
        from jeepney import HeaderFields, MessageType

        serial = next(self._bus.outgoing_serial)
        self._bus.send(call, serial=serial)
        while True:
            found = self._bus.receive(timeout=LONGEST)
            if found.header.message_type is MessageType.signal:
                self._note(found)
            elif found.header.fields.get(HeaderFields.reply_serial) == serial:
                return found.body

    def _note(self, signal: Any) -> None:
        from jeepney import HeaderFields

        if signal.header.fields.get(HeaderFields.member) == "Announcement":
            _, politeness, _, (_, words), *_ = signal.body
            self.announced.append((words, politeness))

    def _call(self, where: tuple[str, str], interface: str, what: str, *values: str) -> Any:
        from jeepney import DBusAddress, new_method_call

        name, path = where
        return self._ask(new_method_call(DBusAddress(path, name, interface), what, "s" * len(values) or None, values))

    def children(self, where: tuple[str, str]) -> list[tuple[str, str]]:
        (found,) = self._call(where, ACCESSIBLE, "GetChildren")
        return [(name, path) for name, path in found]

    def node(self, where: tuple[str, str]) -> Node:
        properties = "org.freedesktop.DBus.Properties"
        ((_, name),) = self._call(where, properties, "Get", ACCESSIBLE, "Name")
        ((_, description),) = self._call(where, properties, "Get", ACCESSIBLE, "Description")
        (role,) = self._call(where, ACCESSIBLE, "GetRoleName")
        ((low, _),) = self._call(where, ACCESSIBLE, "GetState")
        return Node(role, name, description, bool(low >> FOCUSABLE & 1), bool(low >> SHOWING & 1))

    def walk(self) -> list[Node]:
        """What is shown of every window, in the order of the tree."""
        found: list[Node] = []
        roots = self.children(("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"))
        waiting = [child for root in roots for child in self.children(root)][::-1]
        while waiting:
            here = waiting.pop()
            node = self.node(here)
            if node.showing:
                found.append(node)
                waiting += self.children(here)[::-1]
        return found

    def heard(self) -> tuple[str, int]:
        """The next announcement."""
        while not self.announced:
            self._note(self._bus.receive(timeout=LONGEST))
        return self.announced.popleft()


class Window:
    """A window in a process of its own, on a display that nobody sees."""

    def __init__(self, folder: Path, bus: str) -> None:
        read, write = os.pipe()
        self._display = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=(write,), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as told:
            number = told.readline().strip()
        surroundings = {
            **os.environ, "PYTHONPATH": str(ROOT), "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb",
            "DBUS_SESSION_BUS_ADDRESS": bus, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("read_window.py")), str(folder)], cwd=ROOT, env=surroundings,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._until_done()  # the model is open

    def tell(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        self._until_done()

    def _until_done(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "done\n"

    def end(self) -> None:
        for process in (self._process, self._display):
            process.kill()
            process.communicate()


@pytest.fixture
def bus() -> Iterator[Bus]:
    made = Bus()
    yield made
    made.end()


def test_orca_finds_names_roles_and_messages_in_order_and_hears_of_answers(tmp_path: Path, bus: Bus) -> None:
    reader = Reader(bus.address)
    window = Window(tmp_path, bus.address)
    try:
        window.tell("ask Where is the treasure?")
        assert reader.heard() == ("Answer: The treasure is under the oak.", 1)  # after what is being read
        read = [node.name for node in reader.walk() if node.role == "label"]
        messages = [name for name in read if name.startswith(("You: ", "Answer: "))]
        assert messages == ["You: Where is the treasure?", "Answer: The treasure is under the oak."]
        window.tell("fail")
        assert reader.heard() == ("The disk is full. Delete something.", 2)  # at once
        shown = {
            "ask And where is the oak?": {"Message", "Chats", "Search chats", "Conversation", "Settings", "Copy"},
            "library": {"My models", "Discover", "Back to chat"},
            "settings": {"Settings pages", "Search settings", "Show advanced"},
        }
        for order, names in shown.items():
            window.tell(order)
            found = controls(reader)
            assert {node for node in found if not node.name.strip() or node.role in INERT} == set(), order
            assert names - {node.name for node in found} == set(), order
    finally:
        window.end()
        reader.close()


def controls(reader: Reader) -> list[Node]:
    """What the keyboard can come to, once all of it is there."""
    end = time.monotonic() + LONGEST
    before: list[Node] = []
    while (now := [node for node in reader.walk() if node.focusable]) != before or not now:
        before = now
        assert time.monotonic() < end
    return now


def test_orca_finds_names_and_roles_in_the_tour_the_comparison_and_the_panels(tmp_path: Path, bus: Bus) -> None:
    reader = Reader(bus.address)
    window = Window(tmp_path, bus.address)
    try:
        shown = {
            "tour 0": {"Privacy", "Check this computer", "Skip"},
            "tour 1": {"Measure again", "Show figures", "Select a model", "Back", "Skip"},
            "tour 2": {"Done", "Back"},
            "compare Where is the oak?": {
                "Question", "Back to chat", "Ask both", "Left: model", "Left: quality", "Left: answer",
                "Right: copy", "Right: use this answer",
            },
            "panels": {
                "Heatmap of layers and experts", "Color legend", "Close expert details",
                "Gate weight: last 0.250, average 0.310", "Close Performance", "Close Experts",
                "Undock or dock Performance", "Undock or dock Experts",
            },
        }  # fmt: skip
        for order, names in shown.items():
            window.tell(order)
            found = controls(reader)
            assert {node for node in found if not node.name.strip() or node.role in (*INERT, "filler")} == set(), order
            assert names - {said for node in found for said in (node.name, node.description)} == set(), order
    finally:
        window.end()
        reader.close()
