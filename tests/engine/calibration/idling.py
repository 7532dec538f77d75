"""The idle tasks of sessions that tests open, as the service has them beside each."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from engine.calibration.idle_tasks import IdleTasks
from engine.session import Session

_TASKS: WeakKeyDictionary[Session, list[IdleTasks]] = WeakKeyDictionary()


def idle(session: Session) -> IdleTasks:
    """Those of this session, the same ones every time."""
    if session not in _TASKS:
        _TASKS[session] = [IdleTasks(session)]
    return _TASKS[session][0]


def rest(session: Session, quiet: bool = True) -> bool:
    """One step; whether the card has changed."""
    return idle(session).use(lambda: False, quiet)


def rested(opened: Session, until: Callable[[], bool] = lambda: False) -> list[str]:
    """Let it idle until there is nothing left to do, or until `until`; what it said it did."""
    said = []
    while not idle(opened).over and not until():
        rest(opened)
        said.append(str(opened.card.doing))
    return said
