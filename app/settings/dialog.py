"""The settings dialog: pages on the left, the settings of a page on the right; changes apply at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QListWidget,
    QMessageBox,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from app.i18n.translate import tr, tr_noop
from app.settings.editor import SettingEditor, value_text
from app.settings.measure_row import MeasureRow
from app.settings.pages import AppearancePage, SettingsPage, SharedSettingsPage, SwitchRow, heading
from app.settings.preferences import Preferences
from app.settings.preset_cards import PresetCards
from app.settings.scores import ScoresPanel, cuts_of, pushed_cuts
from app.settings.server_page import ServerPage
from app.settings.tools_page import ToolsPage
from app.telemetry.charts import MemoryBar
from app.theme import fonts, sizes
from app.theme.theme import Theme
from app.widgets.builders import BAR, hbox, make_button, make_combo, make_label, reserve_bar, scroll_area, vbox
from app.widgets.search_field import SearchField
from app.widgets.text import plain_tip
from app.widgets.touch import scroll_by_touch
from engine import protocol

_PAGES = {
    "sampling": (tr_noop("Generation"), tr_noop("Applies to the next answer.")),
    "speed": (tr_noop("Performance"), tr_noop("How fast and how precise answers are.")),
    "memory": (tr_noop("Memory"), tr_noop("How much memory the app uses.")),
}
_SAMPLING = {s.name for s in protocol.settings.SAMPLING}


class SettingsDialog(QDialog):
    """Emits values as they change; there is nothing to confirm.

    engine_changed: name, value, and the model that it is for, '' for all. all_reset: every setting is to be as it was
    at first. closed with the model's own settings in sight, it opens with those of all models again.
    """

    engine_changed = Signal(str, object, str)
    sampling_changed = Signal(str, object)
    all_reset = Signal()
    titles_toggled = Signal(bool)  # whether the model writes titles for new chats

    def __init__(self, preferences: Preferences, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Settings"))
        self.resize(820, 640)
        self._percent = 100  # that its size is made for
        sizes.follow(self, SettingsDialog._fit)
        self._preferences = preferences
        self._theme = theme
        self._card: protocol.ModelCard | None = None
        self._titles: Mapping[str, str] = {}
        self.editors: dict[str, SettingEditor] = {}
        self.search = SearchField(tr("Search settings"), self)
        self.search.textChanged.connect(self._filter)
        self.page_list = QListWidget(self)
        self.page_list.setObjectName("pages")
        self.page_list.setAccessibleName(tr("Settings pages"))
        scroll_by_touch(self.page_list)
        self.advanced = QCheckBox(tr("Show advanced"), self)
        self.advanced.setObjectName("switch")
        self.advanced.setToolTip(tr("Also show settings that few people need"))
        self.advanced.setChecked(preferences.advanced)
        self.advanced.toggled.connect(self._filter)
        self.stack = QStackedWidget(self)
        self.pages: list[SettingsPage] = []
        self.look = AppearancePage(preferences)
        self._add_page(self.look)
        for group in _PAGES:
            self._add_page(self._settings_page(group))
        self.tools = ToolsPage()
        self._add_page(self.tools)
        self.server = ServerPage(preferences)
        self._add_page(self.server)
        self.shared = SharedSettingsPage()
        self._add_page(self.shared)
        self.page_list.currentRowChanged.connect(self.stack.setCurrentIndex)
        self.page_list.setCurrentRow(0)
        self._build()
        self.need_reload(False)
        self._show_needs()
        self._filter()

    def _build(self) -> None:
        side = QWidget(self)
        side.setObjectName("settings-side")
        names = [page.title for page in self.pages]
        sizes.follow(side, lambda s: s.setFixedWidth(64 + max(map(s.fontMetrics().horizontalAdvance, names))))
        vbox(self.search, (self.page_list, 1), self.advanced, parent=side, margins=(10, 12, 10, 14))
        self.nothing_found = make_label(tr("No matching settings"), self, "muted")
        self.nothing_found.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing_found.setContentsMargins(26, 12, 26, 0)
        everywhere = (tr("All models"), "")
        self.scope = make_combo(self, tr("Models these settings apply to"), [everywhere], letters=28)
        self.scope.currentTextChanged.connect(lambda text: self.scope.setToolTip(plain_tip(text)))
        self.scope.currentIndexChanged.connect(self._scope_chosen)
        self._scope_row = QWidget(self)
        hbox((self.scope, 1), parent=self._scope_row, margins=(26, 12, 26 + BAR, 8))
        self._reload_note = make_label(tr("Reload the model to apply some changes"), self, "restart", wrap=True)
        self.reload_button = make_button(tr("Reload now"), self, style="primary")
        self.reload_button.clicked.connect(lambda: self.need_reload(False))
        self.reset_all = make_button(tr("Reset all…"), self, self._ask_to_reset)
        close = make_button(tr("Close"), self, self.accept)
        line = QFrame(self)
        line.setObjectName("foot")
        foot = hbox(self.reset_all, (self._reload_note, 1), parent=line, margins=(20, 10, 20, 14), spacing=10)
        foot.addStretch(0)  # takes the room where the note is hidden
        for button in (self.reload_button, close):
            foot.addWidget(button)
        right = vbox(self._scope_row, (self.nothing_found, 1), (self.stack, 1), line, spacing=0)
        hbox(side, (right, 1), parent=self, margins=0, spacing=0)
        self.setTabOrder(self.advanced, self.scope)
        self.stack.currentChanged.connect(self._show_scope)
        self._show_scope()

    def _fit(self) -> None:
        """Grow and shrink with the text, as far as the screen has room."""
        by, screen = fonts.percent() / self._percent, self.screen().availableGeometry()
        self._percent = fonts.percent()
        self.resize(
            min(round(by * self.width()), screen.width() - 20),
            min(round(by * self.height()), screen.height() - 60),
        )
        if self.isVisible():
            at = self.frameGeometry()
            at.moveRight(min(at.right(), screen.right()))
            at.moveBottom(min(at.bottom(), screen.bottom()))
            self.move(max(at.left(), screen.left()), max(at.top(), screen.top()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep Enter, which ends what is typed into a field, from closing the dialog."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    @property
    def page(self) -> int:
        """Number of the page that is open."""
        return self.page_list.currentRow()

    def show_page(self, number: int) -> None:
        """Open a page: 0 AppearancePage, then the groups in their order."""
        self.page_list.setCurrentRow(number)

    def show_setting(self, name: str) -> None:
        """Open the page of a setting and focus it."""
        for number, page in enumerate(self.pages):
            for editor in page.editors:
                if editor.setting.name == name:
                    self.search.clear()
                    self.advanced.setChecked(self.advanced.isChecked() or editor.setting.advanced)
                    self.show_page(number)
                    editor.control.setFocus()
                    scroll = self.stack.widget(number)
                    assert isinstance(scroll, QScrollArea)
                    scroll.ensureWidgetVisible(editor)
                    # Once more where it has its place: advanced settings may only just have come.
                    QTimer.singleShot(0, editor, partial(scroll.ensureWidgetVisible, editor))

    def show_card(self, card: protocol.ModelCard | None, titles: Mapping[str, str]) -> None:
        """Show what is known of the open model's quality presets, and offer settings of its own.

        card None: none is open. titles: of all models, by their names.
        """
        self._card = card
        self._titles = {**titles, **({card.name: card.title} if card is not None else {})}
        presets = self.editors["dial"].control
        assert isinstance(presets, PresetCards)
        presets.show_costs(card)
        if card is not None:
            self._set_high("context_length", card.context_length)
        self.measure.show_model(card)
        self._list_models()
        self._show_elsewhere()
        self._show_scores()

    def recommend(self, found: protocol.Recommended) -> None:
        """Mark what Underhill chooses for memory and context where nobody does."""
        self._set_high("memory_gb", math.floor(found.memory_most / 1e8) / 10)  # which a person can type
        self.editors["memory_gb"].recommend(round(found.memory / 1e9, 1))
        self.editors["context_length"].recommend(found.context)
        share = found.cache_fraction
        self.editors["cache_fraction"].recommend(None if share is None else round(share, 2))

    def _set_high(self, name: str, high: float) -> None:
        slider = self.editors[name].slider
        assert slider is not None
        slider.set_high(high)

    def forbid(self, choices: Mapping[str, Mapping[str, str]]) -> None:
        """Disable choices by setting, each with why."""
        for name, reasons in choices.items():
            self.editors[name].forbid(reasons)

    @Slot(object)
    def show_telemetry(self, telemetry: protocol.Telemetry) -> None:
        """Show where the bytes of the memory limit go now, and what predicts experts, and how well."""
        self.memory.show_use(telemetry.memory)
        self.editors["predictor"].explain(telemetry.ahead)

    def refuse(self, name: str, sentence: str) -> None:
        """Show a value's refusal by the engine; the editor shows the old value again."""
        self._fill()
        self.editors[name].show_note(sentence)

    def _add_page(self, page: SettingsPage) -> None:
        self.pages.append(page)
        self.page_list.addItem(page.title)
        area = scroll_area(page, self)
        reserve_bar(area)
        self.stack.addWidget(area)

    def _settings_page(self, group: str) -> SettingsPage:
        page = SettingsPage(*(tr(text) for text in _PAGES[group]))
        for setting in (s for s in protocol.settings.ALL.values() if s.group == group):
            editor = SettingEditor(setting, self._value(setting.name), page)
            editor.changed.connect(self._edited)
            editor.elsewhere.chosen.connect(self._go_to)
            self.editors[setting.name] = editor
            page.add_editor(editor)
            if setting.name == "dial":
                self.measure = MeasureRow(page)
                page.add_extra(self.measure, tr("measure quality calibrate loss kl speed", about="words of the search"))
            if setting.name == "policy":
                self.recordings = make_button(tr("Recordings…"), page, auto_default=False)
                words = tr("recording trace replay timeline cache policies hit rate", about="words of the search")
                page.add_extra(self.recordings, words, advanced=True)
            if setting.name == "t2":
                self.scores = ScoresPanel(self._theme, page)
                self.scores.chart.cut.connect(self._cut)
                page.add_extra(
                    self.scores,
                    tr("threshold t1 t2 scores distribution chart", about="words of the search"),
                    advanced=True,
                )
            if setting.name == "memory_gb":
                box = QWidget(page)
                self.memory = MemoryBar(self._theme, box)
                title = heading(self.memory.bar.accessibleName(), box)
                vbox(title, self.memory, parent=box, margins=(0, 9, 0, 9), spacing=5)
                page.add_extra(box, tr("memory cache limit ceiling free bar", about="words of the search"))
        if group == "sampling":
            self.titles = SwitchRow(
                tr("Name new chats automatically"),
                tr("The model writes a short title after the first answer, while nothing else is asked of it."), page,
            )  # fmt: skip
            self.titles.switch.setChecked(self._preferences.auto_titles)
            self.titles.switch.toggled.connect(self.titles_toggled)
            page.add_extra(self.titles, tr("titles names of chats automatic", about="words of the search"))
        return page

    # ---- what is in force -------------------------------------------------------------------------------------

    @property
    def _model(self) -> str:
        """Whose settings are shown; '' for all models'."""
        return str(self.scope.currentData() or "") if hasattr(self, "scope") else ""

    @property
    def _is_open(self) -> bool:
        """Whether these are the settings of the open model, its own or those of all."""
        return self._model in ("", self._card.name if self._card is not None else "")

    def _base(self, name: str) -> Any:
        """Value of a setting that is not chosen here: the default, or for one model what all have."""
        setting = protocol.settings.ALL[name]
        return self._preferences.engine.get(name, setting.default) if self._model else setting.default

    def _value(self, name: str) -> Any:
        if name in _SAMPLING:
            return self._preferences.sampling.get(name, protocol.settings.ALL[name].default)
        own: Mapping[str, Any] = self._preferences.models.get(self._model, {}) if self._model else {}
        return own.get(name, self._preferences.engine.get(name, protocol.settings.ALL[name].default))

    def _fill(self) -> None:
        """Show what is in force."""
        for name, editor in self.editors.items():
            editor.base = protocol.settings.ALL[name].default if name in _SAMPLING else self._base(name)
            editor.set_value(self._value(name))
        self._show_needs()
        self._show_elsewhere()
        self._show_scores()

    def _list_models(self) -> None:
        """List the models that can be set apart: the open one, and those that are set apart by now."""
        names = dict.fromkeys([*([self._card.name] if self._card is not None else []), *self._preferences.models])
        wanted = [("", tr("All models"))]
        wanted += [(name, tr("{model} only", model=self._titles.get(name, name))) for name in names]
        if wanted == [(self.scope.itemData(i), self.scope.itemText(i)) for i in range(self.scope.count())]:
            return
        now = self._model
        with QSignalBlocker(self.scope):
            self.scope.clear()
            for name, words in wanted:
                self.scope.addItem(words, name)
            self.scope.setCurrentIndex(max(0, self.scope.findData(now)))
        self.scope.setToolTip(plain_tip(self.scope.currentText()))
        if self._model != now:
            self._scope_chosen()

    def _show_elsewhere(self) -> None:
        """Beside each setting what it is for models that are set apart, or, where one of those is shown, for all."""
        for name, editor in self.editors.items():
            own = [(m, values[name]) for m, values in self._preferences.models.items() if name in values]
            if not self._model:
                words = [
                    (m, tr("{name}: {value}", name=self._titles.get(m, m), value=value_text(editor.setting, value)))
                    for m, value in own
                ]
                editor.elsewhere.show_values(tr("Models with their own setting:"), words)
            elif name not in _SAMPLING:
                all_models = tr("All models: {value}", value=value_text(editor.setting, self._base(name)))
                editor.elsewhere.show_values("", [("", all_models)] if self._model in dict(own) else [])

    @Slot(str)
    def _go_to(self, model: str) -> None:
        """To the settings of a model, or to those of all, at the setting that was looked at."""
        editor = next((e for e in self.editors.values() if e.elsewhere is self.sender()), None)
        self.scope.setCurrentIndex(self.scope.findData(model))
        if editor is not None:
            editor.control.setFocus()

    def _show_needs(self) -> None:
        """Grey out what has nothing to do for want of another setting's value."""
        for editor in self.editors.values():
            if editor.setting.needs is not None:
                other = protocol.settings.ALL[editor.setting.needs[0]]
                editor.needs(other, self._value(other.name))

    def _show_scores(self) -> None:
        t1, t2 = self._value("t1"), self._value("t2")
        dial = str(self._value("dial"))
        card = self._card if self._is_open else None
        self.scores.show_model(card, dial, t1, t2)
        pushed = pushed_cuts(card, dial, t1, t2)
        of_preset = None if card is None else cuts_of(card, dial, None, None)
        for cut, automatic in zip(("t1", "t2"), of_preset or (None, None), strict=True):
            self.editors[cut].explain(pushed.get(cut, ""))
            self.editors[cut].recommend(automatic)

    @Slot()
    def _scope_chosen(self) -> None:
        self._fill()
        self._filter()

    @Slot()
    def _show_scope(self) -> None:
        """Show the choice of models only on pages of engine settings: appearance and sampling are for all."""
        page = self.pages[self.stack.currentIndex()]
        self._scope_row.setVisible(any(e.setting in protocol.settings.ENGINE for e in page.editors))

    @Slot(str, object)
    def _edited(self, name: str, value: object) -> None:
        if name in _SAMPLING:
            self.sampling_changed.emit(name, value)
            return
        self.engine_changed.emit(name, value, self._model)
        if name == "dial":  # T1 and T2 are its own again
            for cut in ("t1", "t2"):
                if self._value(cut) is not None:
                    self.editors[cut].set_value(None)
                    self.engine_changed.emit(cut, None, self._model)
        self._show_needs()
        self._show_elsewhere()
        self._show_scores()
        if not protocol.settings.ALL[name].live and self._is_open:
            self.need_reload(True)

    @Slot(float, float)
    def _cut(self, t1: float, t2: float) -> None:
        """Apply cuts that were dragged in the chart."""
        for name, value in (("t1", t1), ("t2", t2)):
            self.editors[name].set_value(value)
            self.engine_changed.emit(name, value, self._model)
        self._show_scores()

    # ---- finding, resetting, loading again --------------------------------------------------------------------

    @Slot()
    def _filter(self) -> None:
        """Show only the pages and settings that the search finds."""
        words = self.search.text().lower().split()
        presets = self.editors["dial"].control
        assert isinstance(presets, PresetCards)
        presets.show_all(self.advanced.isChecked())
        first = -1
        for row, page in enumerate(self.pages):
            left = page.show_only(words, advanced=self.advanced.isChecked())
            self.page_list.setRowHidden(row, not left)
            if left and first < 0:
                first = row
        self.nothing_found.setVisible(first < 0)
        self.stack.setVisible(first >= 0)
        if first >= 0 and self.page_list.isRowHidden(self.page_list.currentRow()):
            self.page_list.setCurrentRow(first)

    @Slot()
    def _ask_to_reset(self) -> None:
        """Reset everything after a confirmation."""
        box = QMessageBox(QMessageBox.Icon.Question, tr("Reset all settings"), tr("Reset all settings?"), parent=self)
        box.setInformativeText(tr("All settings return to their defaults, including those for single models. "
                                  "Chats and models stay."))  # fmt: skip
        reset = box.addButton(tr("Reset all"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.exec()
        if box.clickedButton() is reset:
            self.reset_everything()
        box.deleteLater()

    def reset_everything(self) -> None:
        """Reset everything without asking."""
        held = {**self._preferences.engine, **self._preferences.models.get(self._card.name if self._card else "", {})}
        self.all_reset.emit()
        self.scope.setCurrentIndex(0)
        self._list_models()
        self._fill()
        self.look.reset()
        self.titles.switch.setChecked(True)
        self.server.reset()
        if any(not protocol.settings.ALL[name].live for name in held):
            self.need_reload(True)

    def need_reload(self, needed: bool) -> None:
        """Offer to load the model again, for what takes effect only then."""
        self.reload_button.setVisible(needed)
        self._reload_note.setVisible(needed)
