"""Models kept open side by side while memory lasts; the least recently used leaves first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.translatable import Translatable

Report = Callable[[Translatable, int, int], None]


class Open(Protocol):
    """What the pool needs of a session."""

    def close(self) -> None:
        """Release its memory."""

    @property
    def all_in_memory(self) -> bool:
        """Whether its plan found room for everything."""


class Pool:
    """Sessions by model and settings that need a reload. Used from one thread.

    A model that would have to read from disk while another one idly holds memory gets that memory: the idle ones are
    closed, least recently used first, and the model is opened again under a better plan.
    """

    def __init__(self, open_session: Callable[[str, Mapping[str, Any], Report], Any]) -> None:
        self._open = open_session
        self._sessions: OrderedDict[tuple[str, str], Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def acquire(self, model: str, chosen: Mapping[str, Any], report: Report) -> Any:
        """The session of this model, opened if need be; settings that are live are the caller's to apply.

        Raises what opening raises.
        """
        key = (model, repr([chosen.get(s.name) for s in settings.ENGINE if not s.live]))
        if key not in self._sessions:
            for same in [k for k in self._sessions if k[0] == model]:  # the same model under other settings
                self._sessions.pop(same).close()
            self._sessions[key] = self._make_room_for(model, chosen, report)
        self._sessions.move_to_end(key)
        return self._sessions[key]

    def _make_room_for(self, model: str, chosen: Mapping[str, Any], report: Report) -> Any:
        while True:
            try:
                session = self._open(model, chosen, report)
            except UnderhillError as e:
                if e.kind is not Kind.OUT_OF_MEMORY or not self._sessions:
                    raise
            else:
                if session.all_in_memory or not self._sessions:
                    return session
                # Before another one is closed: a plan is made by what is free, and this session's own memory would
                # count as taken.
                session.close()
            self._sessions.popitem(last=False)[1].close()

    def holds(self, session: Any) -> bool:
        """Whether this one is open still."""
        return any(session is one for one in self._sessions.values())

    def release(self, gone: Callable[[Any], bool]) -> None:
        """Close the sessions for which `gone` is true."""
        for key in [k for k, session in self._sessions.items() if gone(session)]:
            self._sessions.pop(key).close()

    def close(self) -> None:
        """Close all."""
        while self._sessions:
            self._sessions.popitem()[1].close()
