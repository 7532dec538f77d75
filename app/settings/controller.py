"""Controllers of the settings dialog: what is changed is kept, and where it is live the open model takes it at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QByteArray, QObject, Qt, Signal, Slot

from app.backend import Models, team_key
from app.chat.conversation import Conversation
from app.i18n.translate import sentences, tr
from app.local_server import ServerControl
from app.network import Network
from app.recordings.controller import RecordingsController
from app.settings.dialog import SettingsDialog
from app.settings.pages import SharedSettingsPage
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.spelling.checker import SpellChecker
from app.theme.theme import Theme
from app.widgets.builders import raise_window
from engine import protocol


class SharedSettingsController(QObject):
    """Connects the page, whose child it is, to the engine. Replies after the page has gone are dropped."""

    def __init__(self, page: SharedSettingsPage, known: Models, on_values: Callable[[dict[str, Any]], object]) -> None:
        """on_values: gets the saved values of all shared settings whenever the engine sends them."""
        super().__init__(page)
        self._on_values, self._page, self._models = on_values, page, known
        self._ended = False
        folders, token = page.folders, page.token
        page.changed.connect(self._keep)
        token.kept.connect(lambda text: self._ask(protocol.KeepToken, self._ask_token, token.state.setText, text))
        token.forgotten.connect(lambda: self._ask(protocol.ForgetToken, self._ask_token, token.state.setText))
        folders.added.connect(lambda path: self._folders(protocol.AddFolder, path))
        folders.preferred.connect(lambda path: self._folders(protocol.AddFolder, path, True))
        folders.forgotten.connect(lambda path: self._folders(protocol.ForgetFolder, path))
        self._ask(protocol.ReadSettings, page.show_kept, token.state.setText)
        self._folders(protocol.ListFolders)
        page.first_shown.connect(self._ask_token)  # not before: a keyring that is locked asks for its password

    def end(self) -> None:
        """Drop replies from now on: the page goes."""
        self._ended = True

    def _ask(
        self, kind: type[protocol.Command], done: Callable[..., object], failed: Callable[[str], object],
        *values: object,
    ) -> None:  # fmt: skip
        def succeeded(result: Any) -> None:
            if kind in (protocol.ReadSettings, protocol.KeepSettings):
                self._on_values(result)  # the window wants to know, also once the page has gone
            if not self._ended:
                done(result)
                if kind in (protocol.AddFolder, protocol.ForgetFolder):
                    self._models.refresh()  # models come and go with their folder

        def refused(event: protocol.Failed) -> None:
            if not self._ended:
                failed(sentences(event.sentence, event.action))

        self._models.link.request(succeeded, refused, kind, *values)

    @Slot(str, object)
    def _keep(self, name: str, value: object) -> None:
        def kept(values: dict[str, Any]) -> None:
            self._page.show_kept(values)
            if name == "endpoint":  # another hub has another token
                self._ask_token()

        self._ask(protocol.KeepSettings, kept, partial(self._page.refuse, name), {name: value})

    def _folders(self, kind: type[protocol.Command], *values: object) -> None:
        self._ask(kind, self._page.folders.show_folders, self._page.folders.show_problem, *values)

    def _ask_token(self, _: object = None) -> None:
        self._ask(protocol.AskToken, self._page.show_token, self._page.token.state.setText)


class SettingsController(QObject):
    """Opens the settings dialog and applies what is changed in it."""

    new_chat_model_changed = Signal()
    look_changed = Signal(str)  # name of one of Preferences that others bring into force: language, spelling or motion
    titles_changed = Signal(bool)

    def __init__(
        self,
        shell: Shell,
        theme: Theme,
        known: Models,
        *,
        conversation: Conversation,
        remembered: Preferences,
        state: WindowState,
        network: Network,
        server: ServerControl,
        reload: Callable[[], None],
    ) -> None:
        """reload: opens the model again, with settings that hold from then on."""
        super().__init__(shell)
        self._shell, self._theme, self._models = shell, theme, known
        self._conversation, self._preferences, self._reload = conversation, remembered, reload
        self._state, self._network, self._server = state, network, server
        self._dialog: SettingsDialog | None = None
        self.spelling: SpellChecker | None = None
        self.find_updates: Callable[[], object] | None = None  # asks for updates; None where nobody publishes any
        self._stale = False  # something takes effect when the model is loaded again
        self._page = 0  # that was open last
        self._recommended_for = ""  # model that the recommended values were last asked for, '' for none
        self._place = QByteArray()  # where the dialog was put, and how large it was made
        self.recordings = RecordingsController(shell, theme, known)
        known.loaded.connect(self._model_loaded)
        shell.transcript.wrap_code(remembered.wrap_code)
        shell.transcript.wrap_toggled.connect(self._wrap_toggled)

    @Slot()
    def open(self) -> SettingsDialog:
        """Open the dialog beside the chat, or raise it: there is one at most."""
        if self._dialog is not None:
            raise_window(self._dialog)
            return self._dialog
        dialog = SettingsDialog(self._preferences, self._theme, self._shell)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)  # not open_dialog: it does not block the window
        dialog.engine_changed.connect(self._set_engine)
        dialog.sampling_changed.connect(self._set_sampling)
        dialog.look.changed.connect(self._set_look)
        dialog.look.restart_requested.connect(self._shell.restart_requested)
        if self.spelling is not None:
            dialog.look.spelling.follow(self.spelling)
        if self.find_updates is not None:
            dialog.shared.offer_updates(self._preferences.updates)
            dialog.shared.updates.toggled.connect(self._set_updates)
        dialog.shared.new_chat_model_chosen.connect(self._set_new_chat_model)
        dialog.all_reset.connect(self._reset)
        dialog.advanced.clicked.connect(self._set_advanced)  # by hand: one that is shown once does not count
        dialog.reload_button.clicked.connect(self._reload)
        dialog.finished.connect(self._closed)
        dialog.titles_toggled.connect(self._set_titles)
        dialog.measure.requested.connect(self._calibrate)
        dialog.recordings.clicked.connect(self.recordings.open)
        dialog.server.follow(self._server)
        dialog.server.chosen.connect(self._set_server)
        dialog.tools.follow(self._conversation.tool_calls.servers)
        dialog.tools.posted.connect(self._post)
        self._dialog, self._shared = dialog, SharedSettingsController(dialog.shared, self._models, self._network.take)
        self._models.changed.connect(self._show_card)
        self._models.listed.connect(self._offer_models)
        self._models.teams_listed.connect(self._offer_models)
        self._models.endpoints_listed.connect(self._offer_models)
        self._offer_models()
        self._shell.live.telemetry_received.connect(dialog.show_telemetry)
        self._show_card()
        self._ask_recommended()
        last = self._shell.live.history.last
        if last is not None:
            dialog.show_telemetry(last)
        dialog.need_reload(self._stale)
        dialog.show_page(self._page)
        # where the engine does not say, opening the model refuses what cannot be chosen here
        self._models.link.request(self._forbid, lambda failed: None, protocol.ListUnavailableChoices)
        if not self._place.isEmpty():
            dialog.restoreGeometry(self._place)
        dialog.show()
        return dialog

    @property
    def is_open(self) -> bool:
        """Whether the dialog is open."""
        return self._dialog is not None

    @Slot()
    def open_server(self) -> None:
        """Open the dialog at the page of the local server."""
        dialog = self.open()
        dialog.show_page(dialog.pages.index(dialog.server))

    @Slot()
    def open_tools(self) -> None:
        """Open the dialog at the page of tool servers."""
        dialog = self.open()
        dialog.show_page(dialog.pages.index(dialog.tools))

    @Slot(str, object)
    def _post(self, message: str, undo: Callable[[], object]) -> None:
        self._shell.toast.show_message(message, tr("Undo"), undo)

    @Slot(object, object)
    def _set_server(self, setting: protocol.settings.Setting, value: object) -> None:
        self._preferences.set_server(setting, value)
        self._state.save()
        if setting.name != "server_start":
            self._server.apply()

    @Slot(bool)
    def _set_titles(self, wanted: bool) -> None:
        self._preferences.auto_titles = wanted
        self._state.save()
        self.titles_changed.emit(wanted)

    @Slot(bool)
    def _set_updates(self, allowed: bool) -> None:
        self._preferences.updates = allowed
        self._state.save()
        if allowed and self.find_updates is not None:
            self.find_updates()

    def close(self) -> None:
        """Close the dialog with the window."""
        self.recordings.close()
        if self._dialog is not None:
            self._dialog.reject()

    @Slot()
    def _model_loaded(self) -> None:
        """Withdraw the offer to load again: a model was loaded with everything as it is now."""
        self._stale = False
        if self._dialog is not None:
            self._dialog.need_reload(False)

    @Slot()
    def _closed(self) -> None:
        if self._dialog is not None:
            self._page, self._place = self._dialog.page, self._dialog.saveGeometry()
            self._shell.live.telemetry_received.disconnect(self._dialog.show_telemetry)
        self._dialog = None
        self._shared.end()
        self._models.changed.disconnect(self._show_card)
        self._models.listed.disconnect(self._offer_models)
        self._models.teams_listed.disconnect(self._offer_models)
        self._models.endpoints_listed.disconnect(self._offer_models)

    @Slot()
    def _show_card(self) -> None:
        card = self._models.card
        if self._dialog is not None:
            self._dialog.show_card(card, {card.name: card.title for card in self._models.cards})
            if self._recommended_for != (card.name if card is not None else ""):
                self._ask_recommended()

    def _ask_recommended(self) -> None:
        """Ask what is recommended with the open model, or with none."""
        self._recommended_for = self._models.card.name if self._models.card is not None else ""
        self._models.link.request(self._recommend, lambda failed: None, protocol.RecommendSettings)

    def _recommend(self, found: protocol.Recommended) -> None:
        if self._dialog is not None:
            self._dialog.recommend(found)

    @Slot()
    def _calibrate(self) -> None:
        self._models.link.request(lambda done: None, self._not_measured, protocol.Calibrate)

    def _not_measured(self, event: protocol.Failed) -> None:
        if self._dialog is not None:
            self._dialog.measure.show_text(sentences(event.sentence, event.action))

    @Slot()
    def _offer_models(self) -> None:
        if self._dialog is not None:
            keys = [card.name for card in self._models.cards if card.usable]
            keys += [team_key(card.id) for card in self._models.teams if card.team is not None]
            keys += [card.key for card in self._models.endpoints]
            titles = {key: self._models.title(key) for key in keys}
            self._dialog.shared.offer_models(titles, self._preferences.new_chat_model)

    @Slot(str)
    def _set_new_chat_model(self, key: str) -> None:
        self._preferences.new_chat_model = key
        self._state.save()
        self._offer_models()
        self.new_chat_model_changed.emit()

    def _forbid(self, choices: dict[str, dict[str, str]]) -> None:
        """Disable what cannot be chosen here."""
        if self._dialog is not None:
            self._dialog.forbid(choices)

    @Slot(str, object, str)
    def _set_engine(self, name: str, value: object, model: str) -> None:
        before = self._preferences.of(model, name)
        self._preferences.set(model, name, value)
        self._state.save()
        self._server.update_settings()
        card = self._models.card
        if card is None or model not in ("", card.name):
            return
        if not protocol.settings.ALL[name].live:
            self._stale = True
            return
        if not model and name in self._preferences.models.get(card.name, {}):
            return  # this model has its own

        self._models.update({name: value}, partial(self._refused, model, name, before))

    def _refused(self, model: str, name: str, before: object, event: protocol.Failed) -> None:
        """Undo a change that the engine refused, and say why."""
        self._preferences.set(model, name, before)
        self._state.save()
        self._server.update_settings()
        if self._dialog is not None:
            self._dialog.refuse(name, sentences(event.sentence, event.action))
        else:
            self._shell.show_failure(event)

    @Slot(str, object)
    def _set_sampling(self, name: str, value: object) -> None:
        self._preferences.sampling[name] = value
        self._conversation.sampling = dict(self._preferences.sampling)
        self._state.save()

    @Slot(str, object)
    def _set_look(self, name: str, value: Any) -> None:
        setattr(self._preferences, name, value)
        if name == "theme":
            self._theme.set_mode(value)
        elif name == "contrast":
            self._theme.set_contrast(value)
        elif name == "font_percent":
            self._theme.set_percent(value)
        elif name == "wrap_code":
            self._shell.transcript.wrap_code(value)
        self._state.save()
        if name in ("language", "spelling", "motion"):
            self.look_changed.emit(name)

    @Slot(bool)
    def _wrap_toggled(self, wraps: bool) -> None:
        """Keep what the switch at a block of code says; the dialog, where it is open, says it too."""
        self._preferences.wrap_code = wraps
        self._state.save()
        if self._dialog is not None:
            self._dialog.look.wrap_code.switch.setChecked(wraps)

    @Slot(bool)
    def _set_advanced(self, wanted: bool) -> None:
        self._preferences.advanced = wanted
        self._state.save()

    @Slot()
    def _reset(self) -> None:
        p = self._preferences
        name = self._models.card.name if self._models.card is not None else ""
        live = [n for n in p.engine_for(name) if protocol.settings.ALL[n].live]
        self._stale = self._stale or len(live) < len(p.engine_for(name))
        p.engine.clear()
        p.models.clear()
        p.sampling.clear()
        moved = {"server_port", "server_reach"} & set(p.server)
        p.server.clear()
        self._server.update_settings()
        if moved:
            self._server.apply()
        self._conversation.sampling = {}
        self._set_new_chat_model("")
        self._models.update({n: protocol.settings.ALL[n].default for n in live})
        self._state.save()
