"""What the service asks a hub, one thing after the other: searches, a model in detail, the token; never weights."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.errors import Kind, UnderhillError
from engine.service.command_worker import CancelledWork

if TYPE_CHECKING:
    from engine.hub.client import Hub

ASKING = (protocol.SearchModels, protocol.DescribeModel, protocol.AskToken, protocol.KeepToken, protocol.ForgetToken)
PER_PAGE = 20  # models


class HubWorker:
    """Answers what is asked of a hub, one command after the other, on a thread of its own. emit: where events go."""

    def __init__(self, emit: Callable[[protocol.Event], None]) -> None:
        self._emit = emit
        # Guards `_open`, which `go_offline` goes through from another thread.
        self._lock = threading.Lock()
        self._open: set[Hub] = set()
        # Pages of one search are pages of one list: asked anew for each, models that were updated meanwhile would come
        # twice or never.
        self._last: tuple[tuple[str, str], tuple[protocol.HubModel, ...]] | None = None  # hub and words, what was found

    def do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        """One of ASKING, on the thread for those."""
        from engine.hub import client, tokens

        with self.hub() as hub:
            match command:
                case protocol.SearchModels():
                    return self._search(hub, command, cancelled)
                case protocol.DescribeModel():
                    return self._describe(hub, command)
                case protocol.AskToken():
                    return client.token_state(hub)
                case protocol.KeepToken():
                    return client.accept_token(hub, command.token)
                case protocol.ForgetToken():
                    return tokens.forget(hub.endpoint)
        raise TypeError(f"not a question for a hub: {command!r}")

    @staticmethod
    def catalogue(command: protocol.Command, cancelled: Callable[[], bool]) -> tuple[protocol.HubModel, ...]:
        """Of ListCatalogue, on a thread of its own: no hub is asked, so none is waited for."""
        from engine.hub import listings
        from engine.library.fit_estimates import FitEstimates

        assert isinstance(command, protocol.ListCatalogue)
        return listings.of_catalogue(FitEstimates(command.settings))

    @contextmanager
    def hub(self, endpoint: str = "") -> Iterator[Hub]:
        """The hub of the settings, or another with their proxy. It goes offline as soon as the settings say so."""
        from engine.hub.client import connect
        from engine.library import settings_file

        chosen = settings_file.hub()
        with connect(chosen | {"endpoint": endpoint} if endpoint else chosen) as hub:
            with self._lock:
                self._open.add(hub)
            try:
                yield hub
            finally:
                with self._lock:
                    self._open.discard(hub)

    def go_offline(self) -> None:
        """From now on nothing is sent by hubs that are in use."""
        with self._lock:
            for hub in self._open:
                hub.offline = True

    @staticmethod
    def _describe(hub: Hub, command: protocol.DescribeModel) -> protocol.ModelDetails:
        """All that is known of a model; where the hub is not reached, what the catalogue has."""
        from engine.hub import listings
        from engine.library import catalogue
        from engine.library.fit_estimates import FitEstimates

        estimates = FitEstimates(command.settings)
        try:
            return listings.details(hub, command.repo, command.revision, estimates, command.gguf)
        except UnderhillError as problem:
            entry = catalogue.find(command.repo)
            if entry is None or problem.kind not in (Kind.OFFLINE, Kind.NO_NETWORK):
                raise
            return listings.bundled_details(hub, entry, command.repo, estimates)

    def _search(self, hub: Hub, command: protocol.SearchModels, cancelled: Callable[[], bool]) -> protocol.SearchPage:
        from engine.hub import listings
        from engine.library.fit_estimates import FitEstimates

        asked = hub.endpoint, command.words.strip()
        if command.page <= 0 or self._last is None or self._last[0] != asked:
            self._last = asked, listings.listed(hub, asked[1])
        if cancelled():
            raise CancelledWork()
        found = self._last[1]
        pages = -(-len(found) // PER_PAGE)
        page = max(0, min(command.page, pages - 1))
        models = found[page * PER_PAGE : (page + 1) * PER_PAGE]
        self._emit(protocol.Listed(command.id, protocol.SearchPage(models, page, pages, len(found))))
        judged = listings.judged(hub, models, FitEstimates(command.settings))
        if cancelled():
            raise CancelledWork()
        return protocol.SearchPage(judged, page, pages, len(found))
