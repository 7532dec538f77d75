"""What becomes of the settings of Underhill as a whole: the engine keeps them, and says what it kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Slot

from app.backend.models import Models
from app.i18n.translate import sentences
from app.settings.shared import SharedPage
from engine import api


class SharedDesk(QObject):
    """Between the page, whose child it is, and the engine. What comes after the page has gone is not heard."""

    def __init__(self, page: SharedPage, known: Models, told: Callable[[dict[str, Any]], object]) -> None:
        """told: gets what is kept of all of them, as often as the engine says it."""
        super().__init__(page)
        self._told = told
        self._page: SharedPage | None = page
        self._models = known
        page.changed.connect(self._keep)
        page.token.kept.connect(self._keep_token)
        page.token.forgotten.connect(self._forget_token)
        page.folders.added.connect(lambda path: self._folders(api.AddFolder, path))
        page.folders.preferred.connect(lambda path: self._folders(api.AddFolder, path, True))
        page.folders.forgotten.connect(lambda path: self._folders(api.ForgetFolder, path))
        self._ask(api.ReadSettings, page.show_kept, page.token.say)
        self._folders(api.ListFolders)
        page.seen.connect(self._ask_token)  # not before: a keyring that is locked asks for its password

    def end(self) -> None:
        """The page goes."""
        self._page = None

    def _ask(
        self, kind: type[api.Command], done: Callable[..., object], failed: Callable[[str], object], *values: object
    ) -> None:
        def heard(event: api.Event) -> None:
            if isinstance(event, api.Done) and kind in (api.ReadSettings, api.KeepSettings):
                self._told(event.result)  # the window wants to know, also once the page has gone
            if self._page is None:
                return
            if isinstance(event, api.Failed):
                failed(sentences(event.sentence, event.action))
            elif isinstance(event, api.Done):
                done(event.result)
                if kind in (api.AddFolder, api.ForgetFolder):
                    self._models.refresh()  # models come and go with their folder

        self._models.ask(kind, heard, *values)

    @Slot(str, object)
    def _keep(self, name: str, value: object) -> None:
        assert self._page is not None
        page = self._page
        self._ask(api.KeepSettings, lambda kept: self._kept(name, kept), lambda why: page.refuse(name, why),
                  {name: value})  # fmt: skip

    def _kept(self, name: str, values: dict[str, Any]) -> None:
        assert self._page is not None
        self._page.show_kept(values)
        if name == "endpoint":  # another hub has another token
            self._ask_token()

    def _folders(self, kind: type[api.Command], *values: object) -> None:
        assert self._page is not None
        self._ask(kind, self._page.folders.show_folders, self._page.folders.say, *values)

    @Slot()
    def _ask_token(self) -> None:
        assert self._page is not None
        self._ask(api.AskToken, self._page.token.show_state, self._page.token.say)

    @Slot(str)
    def _keep_token(self, token: str) -> None:
        assert self._page is not None
        self._ask(api.KeepToken, lambda account: self._ask_token(), self._page.token.say, token)

    @Slot()
    def _forget_token(self) -> None:
        assert self._page is not None
        self._ask(api.ForgetToken, lambda there_was: self._ask_token(), self._page.token.say)
