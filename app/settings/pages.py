"""Pages of the settings dialog: title, editors and a search over them; appearance; Underhill as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QDir, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from app.i18n import languages
from app.i18n.translate import sentences, tr, tr_engine
from app.settings.editor import SettingEditor
from app.settings.preferences import FONT_PERCENTS, Preferences
from app.spelling.checker import OFF, SYSTEM, SpellChecker
from app.theme import sizes
from app.theme.theme import MODES
from app.widgets.builders import FlowLayout, hbox, make_button, make_combo, make_label, show_text, vbox
from app.widgets.text import plain_tip, size
from engine import protocol

_OWN = Qt.ItemDataRole.UserRole + 1  # whether a folder is the one that cannot be taken out
_AROUND_LIST = 24  # pixels beside the texts of a list that opens: its frame, and room for a scroll bar
_SHOWN = [s for s in protocol.settings.SHARED if s.name != "model_folders"]  # which has a list of its own


class SettingsPage(QWidget):
    """Page of editors in their order; `extra` widgets go with the words that find them."""

    def __init__(self, title: str, intro: str) -> None:
        super().__init__()
        self.setObjectName("page")
        self.title = title
        self.editors: list[SettingEditor] = []
        self._extras: list[tuple[QWidget, str, bool]] = []
        head = make_label(title, self, heading=1.4)
        text = make_label(intro, self, "muted", wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._column = vbox(head, text, 12, ..., parent=self, margins=(26, 22, 26, 22), spacing=2)

    def add_editor(self, editor: SettingEditor) -> None:
        """Append an editor."""
        self.editors.append(editor)
        self._column.insertWidget(self._column.count() - 1, editor)

    def add_extra(self, widget: QWidget, words: str, *, advanced: bool = False) -> None:
        """Append another widget. words: that find it; '' for what a search leaves out."""
        self._extras.append((widget, words.lower(), advanced))
        self._column.insertWidget(self._column.count() - 1, widget)

    def show_only(self, wanted: Sequence[str], *, advanced: bool) -> int:
        """Show what has all of the words; none: all, or all but advanced ones. Returns how many are left."""
        left = 0
        for editor in self.editors:
            s = editor.setting
            shown = " ".join(map(tr_engine, (s.label, s.help, *s.names)))
            text = f"{shown} {s.label} {s.name} {s.help} {' '.join((*s.choices, *s.names))}".lower()
            fits = all(word in text for word in wanted) if wanted else advanced or not s.advanced or editor.set
            editor.setVisible(fits)
            left += fits
        for widget, text, needs in self._extras:
            fits = bool(text) and all(word in text for word in wanted) if wanted else advanced or not needs
            widget.setVisible(fits)
            left += fits
        return left


class AppearancePage(SettingsPage):
    """Page of theme, text size and language. Where another language has to wait, a restart is offered.

    changed: name of one of Preferences, and its value.
    """

    changed = Signal(str, object)
    restart_requested = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(tr("Appearance"), tr("Theme, contrast, motion, font size, language and code."))
        modes = zip((tr("System"), tr("Light"), tr("Dark")), MODES)
        percents = [(tr("{number:.0f}%", number=percent), percent) for percent in FONT_PERCENTS]
        codes = [(name, code) for code, name in languages.languages().items()]
        codes.insert(0, (tr("System"), languages.SYSTEM))
        self.theme = make_combo(self, tr("Theme"), modes, preferences.theme)
        self.theme.currentIndexChanged.connect(lambda: self.changed.emit("theme", self.theme.currentData()))
        automatic = [(tr("System"), "system"), (tr("On"), "on"), (tr("Off"), "off")]
        self.contrast = make_combo(self, tr("High contrast"), automatic, preferences.contrast)
        self.contrast.currentIndexChanged.connect(lambda: self.changed.emit("contrast", self.contrast.currentData()))
        self.motion = make_combo(self, tr("Reduce motion"), automatic, preferences.motion)
        self.motion.currentIndexChanged.connect(lambda: self.changed.emit("motion", self.motion.currentData()))
        self.font_size = make_combo(self, tr("Font size"), percents, preferences.font_percent)
        self.font_size.currentIndexChanged.connect(
            lambda: self.changed.emit("font_percent", self.font_size.currentData())
        )
        self.spelling = SpellingRow(preferences.spelling, self)
        self.spelling.chosen.connect(partial(self.changed.emit, "spelling"))
        self.language = make_combo(self, tr("Language"), codes, preferences.language)
        self.language.currentIndexChanged.connect(lambda: self.changed.emit("language", self.language.currentData()))
        found = tr("theme appearance dark light system colors", about="words of the search")
        self.add_extra(_row(self.theme, self), found)
        found = tr("contrast appearance accessibility colors", about="words of the search")
        self.add_extra(_row(self.contrast, self), found)
        found = tr("motion animation blinking accessibility", about="words of the search")
        self.add_extra(_row(self.motion, self), found)
        found = tr("text font size appearance larger smaller", about="words of the search")
        self.add_extra(_row(self.font_size, self), found)
        self.add_extra(self.spelling, tr("spelling spell check dictionary typing", about="words of the search"))
        self.add_extra(_row(self.language, self), "language english chinese 中文 语言")
        self.wrap_code = SwitchRow(tr("Wrap long lines of code"), tr("If off, wide code scrolls sideways."), self)
        self.wrap_code.switch.setChecked(preferences.wrap_code)
        self.wrap_code.switch.toggled.connect(partial(self.changed.emit, "wrap_code"))
        self.add_extra(self.wrap_code, tr("wrap lines code wide scroll chat", about="words of the search"))
        self.note = QWidget(self)
        text = make_label(tr("The language changes when the current work is done."), self.note, "restart", wrap=True)
        restart = make_button(tr("Restart now"), self.note, self.restart_requested)
        hbox((text, 1), restart, parent=self.note, margins=(0, 6, 0, 6))
        self.note.hide()
        self.language.currentIndexChanged.connect(self._show_note)
        self._column.insertWidget(self._column.count() - 1, self.note)  # not as an extra: a search leaves it as it is

    @Slot()
    def _show_note(self) -> None:
        self.note.setVisible(languages.resolve(self.language.currentData()) != languages.installed())

    def reset(self) -> None:
        """Choose the defaults."""
        for control in (self.theme, self.contrast, self.motion, self.spelling.choice):
            control.setCurrentIndex(0)
        self.font_size.setCurrentIndex(self.font_size.findData(100))
        self.language.setCurrentIndex(0)
        self.wrap_code.switch.setChecked(False)


class SpellingRow(QWidget):
    """Which dictionary checks what is typed; it says where there is none. chosen: as of app.spelling.checker."""

    chosen = Signal(str)

    def __init__(self, choice: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._chosen = choice
        self._checker: SpellChecker | None = None
        self.choice = make_combo(self, tr("Spelling"), [(tr("System"), SYSTEM), (tr("Off"), OFF)], choice)
        self.choice.currentIndexChanged.connect(self._choose)
        sizes.follow(self.choice, _widen_list)
        self.note = make_label("", self, "muted", wrap=True)
        vbox(_row(self.choice, self), self.note, parent=self, margins=0, spacing=0)
        self.note.hide()

    def follow(self, checker: SpellChecker) -> None:
        """Offer what the checker has, once it knows."""
        self._checker = checker
        checker.changed.connect(self._show)
        checker.start()
        self._show()

    @Slot()
    def _show(self) -> None:
        checker = self._checker
        if checker is None or not checker.looked:
            return
        with QSignalBlocker(self.choice):
            for code in checker.languages[max(0, self.choice.count() - 2) :]:
                self.choice.addItem(languages.name_of(code), code)
            self.choice.setCurrentIndex(max(0, self.choice.findData(self._chosen)))
        _widen_list(self.choice)
        self.choice.setToolTip(plain_tip(self.choice.currentText()))  # the box is as narrow as its like
        missing = tr("No dictionary is installed for this language.")
        show_text(self.note, "" if checker.language or self.choice.currentData() == OFF else missing)

    @Slot()
    def _choose(self) -> None:
        self._chosen = self.choice.currentData()
        self.chosen.emit(self._chosen)
        self._show()


def _widen_list(box: QComboBox) -> None:
    """Give the list that a box opens the width of its longest text, which may be more than that of the box."""
    view = box.view()
    view.setMinimumWidth(view.sizeHintForColumn(0) + _AROUND_LIST)


def _row(control: QComboBox, parent: QWidget) -> QWidget:
    """A line with what a control is called, and the control."""
    row = QWidget(parent)
    label = heading(control.accessibleName(), row)
    label.setBuddy(control)
    sizes.follow(control, lambda box: box.setFixedWidth(17 * box.fontMetrics().averageCharWidth()))  # as of its like
    hbox((label, 1), control, parent=row, margins=(0, 6, 0, 6))
    return row


class SwitchRow(QWidget):
    """A switch with what it is called and a sentence about it, if there is one."""

    def __init__(self, label: str, text: str, parent: QWidget, *, flush: bool = False) -> None:
        """flush: without space above and below."""
        super().__init__(parent)
        name = heading(label, self)
        self.switch = QCheckBox(self)
        self.switch.setObjectName("switch")
        self.switch.setProperty("bare", True)
        self.switch.setAccessibleName(label)
        self.switch.setAccessibleDescription(text)
        name.setBuddy(self.switch)
        help_label = make_label(text, self, "muted", wrap=True)
        help_label.setVisible(bool(text))
        margins = 0 if flush else (0, 9, 0, 9)
        vbox(hbox((name, 1), self.switch), help_label, parent=self, margins=margins, spacing=3)


class TokenEditor(QWidget):
    """Editor of the hub's access token, which is never shown. kept: the one that was typed in."""

    kept = Signal(str)
    forgotten = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = heading(tr("Hugging Face token"), self)
        self.state = make_label(tr("Checking…"), self, "muted", wrap=True)
        self.line = QLineEdit(self)
        self.line.setEchoMode(QLineEdit.EchoMode.Password)
        self.line.setPlaceholderText(tr("Paste a token"))
        self.line.setAccessibleName(tr("Hugging Face token"))
        self.line.textChanged.connect(self._typed)
        self.line.returnPressed.connect(self._keep)
        label.setBuddy(self.line)
        self.keep = make_button(tr("Save"), self, self._keep)
        self.forget = make_button(tr("Remove"), self, self.forgotten, name=tr("Remove the token"))
        row = hbox((self.line, 1), self.keep, self.forget, spacing=8)
        vbox(label, self.state, row, parent=self, margins=(0, 9, 0, 9), spacing=3)
        self._typed()
        self.forget.hide()

    def show_state(self, state: protocol.TokenState) -> None:
        """Show whether there is a token, and where."""
        where = {
            "keyring": tr("Token for {hub} saved in the system keyring.", hub=state.endpoint),
            "HF_TOKEN": tr("Using HF_TOKEN from the environment."),
        }.get(
            state.source,
            tr("No token for {hub}. Some models need one.", hub=state.endpoint),
        )
        self.state.setText(sentences(where, state.note))
        self.forget.setVisible(state.source == "keyring")

    @Slot()
    def _typed(self) -> None:
        self.keep.setEnabled(bool(self.line.text().strip()))

    @Slot()
    def _keep(self) -> None:
        token = self.line.text().strip()
        if token:
            self.line.clear()
            self.state.setText(tr("Checking…"))
            self.kept.emit(token)


class FolderList(QWidget):
    """List of model folders. added, preferred, forgotten: a folder; preferred: new models go there from now on."""

    added = Signal(str)
    preferred = Signal(str)
    forgotten = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = heading(tr("Model folders"), self)
        self.list = QListWidget(self)
        self.list.setObjectName("rows")
        self.list.setAccessibleName(tr("Model folders"))
        sizes.set_lines(self.list, 5)
        self.list.currentItemChanged.connect(self._chosen)
        label.setBuddy(self.list)
        note = make_label(tr(
            "New models are saved in the first folder. Removing a folder keeps its files."
        ), self, "muted", wrap=True)  # fmt: skip
        self._problem = make_label("", self, "restart", wrap=True)
        self._problem.hide()
        add = make_button(tr("Add folder…"), self, self._choose)
        self.first = make_button(tr("Save new models here"), self, lambda: self.preferred.emit(self._current()))
        self.remove = make_button(tr("Remove from list"), self, lambda: self.forgotten.emit(self._current()))
        row = FlowLayout()
        for button in (add, self.first, self.remove):
            row.addWidget(button)
        vbox(label, note, self.list, self._problem, row, parent=self, margins=(0, 9, 0, 9), spacing=5)
        self._chosen()

    def show_folders(self, folders: tuple[protocol.ModelFolder, ...]) -> None:
        """Fill the list; the folder for new models comes first."""
        self.list.clear()
        for folder in folders:
            free = tr("{amount} free", amount=size(folder.free)) if folder.there else tr("not connected")
            item = QListWidgetItem(f"{folder.path}   {free}", self.list)
            item.setData(Qt.ItemDataRole.UserRole, folder.path)
            item.setData(_OWN, folder.own)
        self.show_problem("")
        self._chosen()

    def show_problem(self, text: str) -> None:
        """Show an error; '' for nothing."""
        show_text(self._problem, text)

    def _current(self) -> str:
        item = self.list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole)) if item is not None else ""

    @Slot()
    def _chosen(self) -> None:
        item = self.list.currentItem()
        self.first.setEnabled(self.list.currentRow() > 0)
        self.remove.setEnabled(item is not None and not item.data(_OWN))

    @Slot()
    def _choose(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Model folder"), QDir.homePath())
        if folder:
            self.added.emit(folder)


class SharedSettingsPage(SettingsPage):
    """Disabled until `show_kept`. changed: one of protocol.settings.SHARED. first_shown: for the first time."""

    changed = Signal(str, object)
    new_chat_model_chosen = Signal(str)  # '' for the one that answered last
    first_shown = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Models and network"), tr("Default model, model sources and folders."))
        self.new_chats = make_combo(self, tr("Model for new chats"), letters=24)
        self.new_chats.activated.connect(lambda: self.new_chat_model_chosen.emit(self.new_chats.currentData()))
        row = QWidget(self)
        label = heading(self.new_chats.accessibleName(), row)
        label.setBuddy(self.new_chats)
        vbox(label, self.new_chats, parent=row, margins=(0, 9, 0, 9), spacing=3)  # names of models are long
        self.add_extra(row, tr("default model team new chats last used", about="words of the search"))
        for setting in _SHOWN:
            editor = SettingEditor(setting, setting.default, self)
            editor.changed.connect(self.changed)
            editor.setEnabled(False)
            self.add_editor(editor)
            if setting.name == "proxy":
                self.token = TokenEditor(self)
                self.add_extra(
                    self.token, tr("access token hub keyring license gated network", about="words of the search")
                )
        self.updates = QCheckBox(tr("Check for updates at startup"), self)
        self.updates.setObjectName("switch")
        self.updates.hide()
        self.folders = FolderList(self)
        self.add_extra(self.folders, tr("model folders disk library", about="words of the search"))
        self._seen = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._seen:
            self._seen = True
            self.first_shown.emit()

    def offer_updates(self, allowed: bool) -> None:
        """Show whether updates are asked for; there is none of this where nobody publishes any."""
        self.updates.setChecked(allowed)
        self.add_extra(self.updates, tr("updates new version network", about="words of the search"))
        self.updates.show()

    def offer_models(self, titles: Mapping[str, str], chosen: str) -> None:
        """Fill the list of models for new chats. titles: of models and teams, by key. chosen: see Preferences."""
        known = {"": tr("Last used"), **titles}
        known.setdefault(chosen, tr("{name} (missing)", name=chosen))
        shown = [(self.new_chats.itemData(i), self.new_chats.itemText(i)) for i in range(self.new_chats.count())]
        if (shown, self.new_chats.currentData()) == (list(known.items()), chosen):
            return
        self.new_chats.clear()
        for key, title in known.items():
            self.new_chats.addItem(title, key)
        self.new_chats.setCurrentIndex(self.new_chats.findData(chosen))
        self.new_chats.setToolTip(plain_tip(self.new_chats.currentText()))

    def show_kept(self, values: dict[str, Any]) -> None:
        """Show the values that the engine keeps."""
        for editor in self.editors:
            editor.setEnabled(True)
            editor.set_value(values[editor.setting.name])

    def show_token(self, state: protocol.TokenState) -> None:
        """Show whether there is a token, and which hub is asked where no other is given."""
        self.token.show_state(state)
        hub = self._editor("endpoint")
        if not hub.set:
            assert isinstance(hub.control, QLineEdit)
            hub.control.setPlaceholderText(state.endpoint)

    def refuse(self, name: str, sentence: str) -> None:
        """Show why a value could not be kept."""
        self._editor(name).show_note(sentence)

    def _editor(self, name: str) -> SettingEditor:
        return next(editor for editor in self.editors if editor.setting.name == name)


def heading(text: str, parent: QWidget) -> QLabel:
    """What a part of a page is called."""
    label = QLabel(text, parent)
    sizes.set_font(label, 1.0, label.font().Weight.Medium)
    return label
