"""Header above the chat: the model and its state, progress, how much it thinks, and the switches of the window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QPushButton, QToolButton, QWidget

from app import backend
from app.backend import Models, team_key
from app.i18n.translate import plural, sentences, tr, tr_noop
from app.teams.words import team_about, team_name
from app.theme import sizes
from app.theme.icons import icon
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_bar, make_button, set_level, set_progress, vbox
from app.widgets.buttons import ElidedButton, ElidedLabel, IconButton
from app.widgets.menus import make_menu
from app.widgets.text import percent, plain_entry, plain_tip, size, time_left
from engine import protocol

NAMES = {
    "off": tr_noop("Off"),
    "minimal": tr_noop("Minimal"),
    "low": tr_noop("Low"),
    "auto": tr_noop("Automatic"),
    "medium": tr_noop("Medium"),
    "on": tr_noop("On"),
    "high": tr_noop("High"),
    "xhigh": tr_noop("Very high"),
    "max": tr_noop("Maximum"),
}


class ThinkingButton(IconButton):
    """Chooses how much the model thinks: a switch for two levels, a menu for more."""

    level_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "thought", tr("Thinking"), parent)
        self.level = "on"
        self._levels: tuple[str, ...] = ()
        self._on = ""
        self.choices = make_menu(self)
        self.choices.setLayoutDirection(self.layoutDirection())
        self._group = QActionGroup(self.choices)
        self.clicked.connect(self._switched)
        self.hide()

    @property
    def _is_switch(self) -> bool:
        return len(self._levels) == 2 and self._levels[0] == "off"

    def offer(self, levels: tuple[str, ...], on: str) -> None:
        """Set the levels that the model can be asked for, and what plain thinking means. None: nothing to choose."""
        if (levels, on) != (self._levels, self._on):
            self._levels, self._on = levels, on
            self.choices.clear()
            for level in () if self._is_switch else levels:
                action = self.choices.addAction(tr(NAMES[level]), self._chosen)
                action.setData(level)
                action.setCheckable(True)
                self._group.addAction(action)
            self.setMenu(None if self._is_switch else self.choices)  # type: ignore[arg-type]
            self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            self.setCheckable(self._is_switch)
        self.setVisible(bool(levels))
        self._show()

    def set_level(self, level: str) -> None:
        """Set the level that the person wants, whichever model answers."""
        self.level = level
        self._show()

    def _show(self) -> None:
        now = protocol.nearest_thinking(self._levels, self._on, self.level)
        self.setChecked(self._is_switch and now != "off")
        for action in self.choices.actions():
            action.setChecked(action.data() == now)
        label = tr("Thinking")
        if now and not self._is_switch:
            label = tr("Thinking: {choice}", choice=tr(NAMES[now]))
        self.set_label(label)

    @Slot()
    def _switched(self) -> None:
        if self._is_switch:
            self._want("on" if self.isChecked() else "off")

    @Slot()
    def _chosen(self) -> None:
        self._want(str(self.sender().data()))  # type: ignore[attr-defined]

    def _want(self, level: str) -> None:
        self.set_level(level)
        self.level_chosen.emit(level)


class Header(QFrame):
    """Model menu, state, progress, buttons, and the actions of the menu behind 'More'. chosen: a model's name.
    team_chosen: a team's id. endpoint_chosen: the key of one.
    """

    chosen = Signal(str)
    team_chosen = Signal(str)
    endpoint_chosen = Signal(str)

    def __init__(self, theme: Theme, known: Models, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._theme = theme
        self._models = known
        self.sidebar = IconButton(theme, "sidebar", tr("Toggle sidebar"), self, "Ctrl+B")
        self.sidebar.setCheckable(True)
        self.model = ElidedButton(tr("No model"), self)
        self.model.setObjectName("model")
        self.menu = make_menu(self.model)
        self.menu.setLayoutDirection(self.layoutDirection())
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.fill_menu)
        self.menu.installEventFilter(self)
        self.open_library = QAction(tr("Manage models…") + "\tCtrl+Shift+M", self)
        self.open_teams = QAction(tr("Manage teams…"), self)
        self.open_endpoints = QAction(tr("Manage endpoints…"), self)
        self.import_folder = QAction(tr("Import folder…"), self)
        self.import_file = QAction(tr("Import GGUF file…"), self)
        self.model.setMenu(self.menu)
        self.model.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the chevron goes to the right of the name
        self.state = ElidedLabel(self)
        self.state.setObjectName("muted")
        self._answering = False
        self.cancel = make_button(tr("Cancel"), self, self._cancel, "quiet")
        self.downloads = _make_badge("", self, "downloads")
        self.offline = _make_badge(tr("Offline"), self, "offline")
        self.server = _make_badge("", self, "downloads")
        self.thinking = ThinkingButton(theme, self)
        self.live = IconButton(theme, "live", tr("Toggle performance panel"), self, "Ctrl+L")
        self.live.setCheckable(True)
        self.settings = IconButton(theme, "settings", tr("Settings"), self, "Ctrl+,")
        self.more = IconButton(theme, "more", tr("More"), self)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._fill_more_menu()
        self.bar = make_bar(self, tr("Progress"))
        row = hbox(
            self.sidebar, self.model, (self.state, 1), self.cancel, self.downloads, self.offline, self.server,
            self.thinking, self.live, self.settings, self.more, margins=(10, 7, 10, 5), spacing=4,
        )  # fmt: skip
        vbox(row, self.bar, parent=self, margins=0, spacing=0)
        known.changed.connect(self.refresh)
        known.import_changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def _fill_more_menu(self) -> None:
        more = make_menu(self.more)
        self.compare = more.addAction(tr("Compare answers…") + "\tCtrl+Shift+K")
        self.prompts = more.addAction(tr("Prompts…"))
        more.addSeparator()
        self.shortcuts = more.addAction(tr("Keyboard shortcuts") + "\tF1")
        more.addSeparator()
        self.tour = more.addAction(tr("Welcome tour"))
        self.computer = more.addAction(tr("About this computer"))
        self.privacy = more.addAction(tr("Privacy"))
        self.logs = more.addAction(tr("Open log folder"))
        self.about = more.addAction(tr("About Underhill"))
        self.more.setMenu(more)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Put the menu of models below the left end of its button: Qt aligns it with the right one, where the button
        is laid out from right to left, and so over the list of chats."""
        if watched is self.menu and event.type() == QEvent.Type.Show:
            self.menu.move(self.model.mapToGlobal(QPoint(0, self.model.height())))
        return False

    @Slot()
    def refresh(self) -> None:
        """Show the model's state."""
        m = self._models
        title = self._title()
        self.model.setText(plain_entry(title))
        about = filter(None, (title, self._about_other(), tr("Select a model")))  # there may be no room for the state
        self.model.setToolTip("\n".join(dict.fromkeys(about)) + "  (Ctrl+M)")
        self.model.setAccessibleName(tr("Model: {name}", name=title))
        self.model.setIcon(icon("chevron-down", self._theme.palette.muted))
        here = m.endpoint_card is None and m.state == backend.READY
        card = m.card_of(m.to_load) if m.to_load else m.card if here else None
        self.thinking.offer(*((card.thinking, card.plain_thinking) if card is not None else ((), "")))
        self._refresh_state()

    def _refresh_state(self) -> None:
        """Show what goes on: the loading of a model, or whether an answer is being written."""
        m = self._models
        progress = m.progress if m.state == backend.LOADING else m.importing
        self.bar.setVisible(progress is not None)
        self.cancel.setVisible(progress is not None)
        if progress is not None:
            set_progress(self.bar, progress.done, progress.total)
            share = percent(100 * progress.done // progress.total / 100) if progress.total else ""
            what = progress.text if m.state == backend.LOADING else tr("Importing: {step}", step=progress.text)
            if m.state == backend.LOADING and m.to_load:
                what = tr("Loading {model}", model=_named(m, m.wanted))
            # what changes stands first: the end is cut off where there is little room
            self.state.setText("  ·  ".join(filter(None, (share, _left(progress.left), what))))
        else:
            words = {
                backend.READY: tr("Generating…") if self._answering else tr("Ready"),
                backend.FAILED: tr("Failed to load"),
                backend.STOPPED: tr("Engine stopped"),
            }
            self.state.setText(self._other() or words.get(m.state, ""))
        self.state.setToolTip(plain_tip(self._about_other() or self.state.text()))

    def _title(self) -> str:
        """What is called that answers in the open chat."""
        m = self._models
        if m.team_card is not None:
            return team_name(m.team_card)
        if m.endpoint_card is not None:
            return m.endpoint_card.endpoint.name
        if m.to_load or m.state == backend.LOADING:
            return _named(m, m.to_load or m.wanted)
        return m.card.title if m.card is not None else tr("Select a model")

    def _other(self) -> str:
        """What is said where the model of the open chat is not the open one."""
        if self._models.missing:
            return tr("{model} not available", model=_named(self._models, self._models.missing))
        if self._models.endpoint_card is not None:
            return tr("Remote server")
        return tr("Loads when you send") if self._models.to_load else ""

    def _about_other(self) -> str:
        """The same, at length."""
        m = self._models
        opened = m.card.title if m.card is not None and m.state == backend.READY else ""
        if m.missing:
            missing = tr("{model}, chosen for this chat, is not available.", model=_named(m, m.missing))
            return sentences(missing, tr("{model} answers instead.", model=opened) if opened else "")
        if m.endpoint_card is not None:
            host = m.endpoint_card.endpoint.host
            return tr("Answers come from {host}. Your messages leave this computer.", host=host)
        if not m.to_load:
            return ""
        loaded = tr("{model} is loaded now.", model=opened) if opened else ""
        return sentences(loaded, tr("Sending a message loads {model}.", model=_named(m, m.to_load)))

    def show_answering(self, answering: bool) -> None:
        """Show whether an answer is being written, in whichever chat."""
        if answering is not self._answering:
            self._answering = answering
            self._refresh_state()  # the rest is as it was, and would be laid out again

    def show_offline(self, offline: bool, by_environment: bool) -> None:
        """Show whether Underhill stays off the network, and what says so."""
        self.offline.setVisible(offline)
        self.offline.setToolTip(tr(
            "Offline: the HF_HUB_OFFLINE variable is set. Click to open the setting."
            if by_environment
            else "Offline mode is on. Click to open the setting."
        ))  # fmt: skip
        self.offline.setAccessibleName(tr("Offline: open setting"))

    def show_server(self, address: str, requests: int) -> None:
        """Show that other apps can ask, and how many requests wait or are answered. address: '' hides it."""
        self.server.setVisible(bool(address))
        count = plural("1 request", "%n requests", requests) if requests else tr("no requests now")
        said = tr("{count}", about="in the header: requests to the local server", count=count)  # room for little more
        self.server.setText(said if requests else tr("Server"))
        self.server.setAccessibleName(tr("Local server: {count}", count=count))
        self.server.setToolTip(
            tr("Apps can connect at {address}: {count}. Click to see them.", address=address, count=count)
        )

    def show_downloads(self, count: int, share: float, failed: int) -> None:
        """Show how many models are being downloaded, what share of them is here, and how many downloads failed."""
        self.downloads.setVisible(count > 0 or failed > 0)
        so_far = percent(int(100 * share) / 100)
        running = plural("Downloading 1 model", "Downloading %n models", count) if count else ""
        broken = plural("1 download failed", "%n downloads failed", failed) if failed else ""
        self.downloads.setText(f"↓ {so_far}" if not failed else f"↓ {so_far} !" if count else "↓ !")
        said = "  ·  ".join(filter(None, (broken, tr("Downloading {share}", share=so_far) if count else "")))
        self.downloads.setAccessibleName(said)
        self.downloads.setToolTip("\n".join(filter(None, (broken, running))))
        level = "failed" if failed else ""
        if self.downloads.property("level") != level:
            set_level(self.downloads, level)

    @Slot()
    def fill_menu(self) -> None:
        """Fill the menu with the models there are, and ways to get more."""
        self.menu.clear()
        models = self._models
        current = models.to_load or (models.card.name if models.card is not None else "")
        for card in self._models.cards:
            text = f"{plain_entry(card.title)}\t{size(card.disk_bytes)}"
            action = self.menu.addAction(text, self._choose)
            action.setData(card.name)
            action.setToolTip(card.note if card.usable else sentences(card.problem, card.action))
            action.setEnabled(card.usable)
            action.setCheckable(True)
            action.setChecked(models.team_card is None and models.endpoint_card is None and card.name == current)
        if self._models.cards:
            self.menu.addSeparator()
        self._add_endpoints()
        self._add_teams()
        for action in (self.import_folder, self.import_file):
            action.setEnabled(self._models.importing is None)
        self.menu.addActions([self.open_library, self.import_folder, self.import_file])

    def _add_endpoints(self) -> None:
        """Servers on other computers, which are chosen like models."""
        for card in self._models.endpoints:
            text = plain_entry(card.endpoint.name) + "\t" + tr("Remote server")
            action = self.menu.addAction(text, self._choose_endpoint)
            action.setData(card.key)
            action.setToolTip(plain_tip(f"{card.endpoint.model}, {card.endpoint.host}"))
            action.setCheckable(True)
            action.setChecked(card.key == self._models.choice)
        self.menu.addAction(self.open_endpoints)
        self.menu.addSeparator()

    @Slot()
    def _choose_endpoint(self) -> None:
        self.endpoint_chosen.emit(str(self.sender().data()))  # type: ignore[attr-defined]

    def _add_teams(self) -> None:
        """The teams, which are chosen like models."""
        for card in self._models.teams:
            if card.team is None:
                continue
            action = self.menu.addAction(plain_entry(team_name(card)) + "\t" + tr("Team"), self._choose_team)
            action.setData(card.id)
            absent = tr("Missing models: {names}", names=", ".join(card.missing)) if card.missing else ""
            action.setToolTip(absent or team_about(card))
            action.setEnabled(not card.missing)
            action.setCheckable(True)
            action.setChecked(team_key(card.id) == self._models.choice)
        self.menu.addAction(self.open_teams)
        self.menu.addSeparator()

    @Slot()
    def _choose_team(self) -> None:
        self.team_chosen.emit(str(self.sender().data()))  # type: ignore[attr-defined]

    @Slot()
    def _choose(self) -> None:
        self.chosen.emit(str(self.sender().data()))  # type: ignore[attr-defined]

    @Slot()
    def _cancel(self) -> None:
        if self._models.state == backend.LOADING:
            self._models.cancel_load()
        else:
            self._models.cancel_import()


def _make_badge(text: str, parent: QWidget, style: str) -> QPushButton:
    """A small button that is shown while it has something to say."""
    badge = make_button(text, parent, style=style)
    sizes.set_font(badge, 0.84, badge.font().Weight.DemiBold)
    badge.hide()
    return badge


def _named(known: Models, key: str) -> str:
    """What a model or team is called, or where that is not known, its name or folder."""
    return known.title(key) or _short(key)


def _short(model: str) -> str:
    model = model.removeprefix(protocol.TEAM_PREFIX).removeprefix(protocol.ENDPOINT_PREFIX)
    return (
        tr("Underhill demo model") if model == "builtin" else model.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    )


def _left(seconds: float | None) -> str:
    """Time left for people; nothing of a few seconds."""
    return "" if seconds is None or seconds < 10 else time_left(seconds)
