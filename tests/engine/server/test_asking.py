"""What requests ask of the engine before they are answered, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.protocol import BLANK_CARD, Command, ListModels
from engine.server import asking
from engine.server.asking import Asker
from engine.translatable import translated


class SlowBridge:
    """Stands for the engine: one model, 'one', told of after a while. asked: kinds of the commands that came."""

    def __init__(self) -> None:
        self.asked: list[type[Command]] = []
        self.fails = 0

    async def ask(self, make: Callable[[str], Command]) -> Any:
        command = make("1")
        self.asked.append(type(command))
        await asyncio.sleep(0.01)
        if self.fails:
            self.fails -= 1
            raise UnderhillError(Kind.STOPPED, translated("Stopped."))
        return (replace(BLANK_CARD, name="one"),) if isinstance(command, ListModels) else ()

    @property
    def lists(self) -> int:
        return self.asked.count(ListModels)


@pytest.fixture
def bridge() -> SlowBridge:
    return SlowBridge()


def all_at_once(asker: Asker, count: int = 4) -> list[Any]:
    """What so many requests find, those that raise included."""

    async def ask() -> list[Any]:
        return await asyncio.gather(*(asker.model("one") for _ in range(count)), return_exceptions=True)

    return asyncio.run(ask())


def test_requests_that_come_together_ask_for_the_list_once(bridge: SlowBridge) -> None:
    found = all_at_once(Asker(bridge, {}))  # type: ignore[arg-type]
    assert [card.name for card in found] == ["one"] * 4
    assert bridge.lists == 1
    assert len(bridge.asked) == 2  # and for the teams


def test_a_list_that_fails_fails_one_request_alone(bridge: SlowBridge) -> None:
    bridge.fails = 1
    found = all_at_once(Asker(bridge, {}))  # type: ignore[arg-type]
    assert sum(isinstance(one, UnderhillError) for one in found) == 1
    assert bridge.lists == 2


def test_a_list_is_asked_for_again_after_a_while(bridge: SlowBridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LISTED_FOR", 0.0)
    asker = Asker(bridge, {})  # type: ignore[arg-type]
    asyncio.run(asker.models())
    asyncio.run(asker.models())
    assert bridge.lists == 2
