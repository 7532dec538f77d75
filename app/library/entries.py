"""Entries of the library page, one a model, download or folder, and the sections that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.i18n.translate import tr
from app.library.model_text import fit_badge, fit_badges, fit_level, unbroken
from app.theme import sizes
from app.widgets.builders import (
    centred,
    empty,
    hbox,
    make_bar,
    make_button,
    make_label,
    reserve_bar,
    set_level,
    show_text,
    vbox,
)
from app.widgets.menus import make_menu
from app.widgets.name_editor import NameEditor
from app.widgets.text import plain_entry, plain_tip
from app.widgets.touch import scroll_by_touch
from engine import protocol

WIDEST = 860  # pixels beside text of the base size; longer lines are hard to read


@dataclass(frozen=True)
class Action:
    """Button of an entry. quiet: without a frame. menu: it goes into the menu behind 'More' instead. why: it cannot be
    pressed now, which its tooltip says; '' where it can."""

    words: str
    do: Callable[[], object]
    primary: bool = False
    quiet: bool = False
    menu: bool = False
    why: str = ""


@dataclass(frozen=True)
class Choices:
    """Menu of its own in the menu behind 'More'. among: what each of its entries does. why: as of Action."""

    words: str
    among: Mapping[str, Callable[[], object]]
    why: str = ""


class LibraryEntry(QFrame):
    """One model, download or folder. facts: a line below the title. sentence: why it fits, or what is wrong.

    title_left: its title is not being edited any more.
    """

    title_left = Signal()

    def __init__(
        self, title: str, facts: str, *, fit: protocol.Fit | None = None, sentence: str = "", note: str = "",
        actions: Sequence[Action | Choices] = (), progress: bool = False, compact: bool = False,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """fit: shown as a badge, with its sentence where none is given. progress: with a bar. compact: `facts` have the
        sentence."""
        super().__init__(parent)
        sentence = sentence or (fit.sentence if fit is not None else "")
        self.setObjectName("entry")
        self.title = title
        self.editor: NameEditor | None = None
        self._head = make_label(title, self, heading=1.08, selectable=True, wrap=True)
        self._top = top = hbox((self._head, 1), spacing=10)
        self.badge: QLabel | None = None
        if fit is not None:
            word = fit_badge(fit)
            self.badge = badge = make_label(word, self, "badge")
            badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
            badge.setProperty("level", fit_level(fit))
            badge.setToolTip(sentence)
            badge.setAccessibleName(tr("{pill}: {reason}", pill=word, reason=sentence))
            top.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self.facts = _muted(unbroken(facts), self)
        self.sentence = _muted("" if compact else sentence, self)
        self.note = make_label(note, self, wrap=True)
        self.note.setVisible(bool(note))
        self.bar = make_bar(self, tr("Progress of {title}", title=title))
        self.bar.setVisible(progress)
        self.refusal = _muted("", self)
        set_level(self.refusal, "warning")
        left = vbox(top, self.refusal, self.note, self.facts, self.sentence, self.bar, spacing=2 if compact else 4)
        self.buttons: dict[str, QPushButton] = {}
        self._buttons_row = QHBoxLayout()
        self._buttons_row.setSpacing(8)
        hbox(
            (left, 1),
            self._buttons_row,
            parent=self,
            margins=(16, 8, 14, 8) if compact else (16, 12, 14, 12),
            spacing=12,
        )
        self.set_actions(actions)

    def set_actions(self, actions: Sequence[Action | Choices]) -> None:
        """Replace the buttons, unless they are the same."""
        hidden = [action for action in actions if isinstance(action, Choices) or action.menu]
        if [d.words for d in actions] == list(self.buttons) and not hidden:
            return
        held = any(button.hasFocus() for button in self.buttons.values())
        empty(self._buttons_row)
        self.buttons = {}
        for action in actions:
            if isinstance(action, Choices) or action.menu:
                continue
            button = self._button(action.words)
            if action.primary or action.quiet:
                button.setObjectName("primary" if action.primary else "quiet")
            button.setEnabled(not action.why)
            button.setToolTip(plain_tip(action.why))
            button.setAccessibleDescription(action.why)
            button.clicked.connect(partial(_call, action.do))
        if hidden:
            self._make_menu(hidden)
        if held:
            self.take_focus()

    def align(self, badge: int, *buttons: int) -> None:
        """Give the badge and the last buttons widths in pixels, so that they stand below those of other entries."""
        if self.badge is not None:
            self.badge.setMinimumWidth(badge)
        for button, width in zip(reversed(self.buttons.values()), reversed(buttons), strict=False):
            button.setMinimumWidth(width)

    def take_focus(self, words: str = "") -> bool:
        """Focus the button of this name, or else the first that can be pressed; False where there is none."""
        usable = {name: button for name, button in self.buttons.items() if button.isEnabled()}
        found = usable.get(words) or next(iter(usable.values()), None)
        if found is not None:
            found.setFocus()
        return found is not None

    def show_facts(self, facts: str) -> None:
        """Show a line made by `joined`, broken between its parts."""
        self.facts.setText(unbroken(facts))

    def show_problem(self, problem: str) -> None:
        """Show what is wrong with it; '' for nothing."""
        show_text(self.sentence, problem)
        set_level(self.sentence, "warning")

    def _make_menu(self, hidden: Sequence[Action | Choices]) -> None:
        """Make the button 'More' with its menu."""
        more = self._button(tr("More"))
        menu = make_menu(more)
        menu.setToolTipsVisible(True)
        for action in hidden:
            if isinstance(action, Choices):
                inner = menu.addMenu(action.words)
                for words, do in action.among.items():
                    inner.addAction(plain_entry(words), do)
                made = inner.menuAction()
            else:
                made = menu.addAction(action.words, action.do)
            made.setEnabled(not action.why)
            made.setToolTip(plain_tip(action.why))
        more.setMenu(menu)

    def edit_title(self, keep: Callable[[str], object]) -> None:
        """Edit the title in its place: Enter and leaving it keep what is written, Esc what was there.

        keep: called with another title. After Enter the editor stays until `end_editing`, or says why it was refused.
        """
        if self.editor is None:
            self.editor = editor = NameEditor(tr("New name of {title}", title=self.title), self.refusal, self)
            editor.entered.connect(partial(self._title_entered, keep))
            editor.left.connect(partial(self._title_left, keep))
            editor.cancelled.connect(self.end_editing)
            self._head.hide()
            self._top.insertWidget(0, editor, 1)
            editor.show()  # the layout would do so later, and what is hidden takes no focus
            editor.begin(self.title)
        self.editor.setFocus()

    @Slot()
    def end_editing(self) -> None:
        """Show the title again, where it is being edited."""
        if (editor := self.editor) is None:
            return
        self.editor = None
        if editor.hasFocus() or (not self.isActiveWindow() and self.window().focusWidget() is editor):
            self.take_focus(tr("More"))  # before the editor is gone: Qt would focus whatever is next
        editor.hide()
        editor.deleteLater()
        show_text(self.refusal, "")
        self._head.show()
        self.title_left.emit()

    def _title_entered(self, keep: Callable[[str], object], written: str) -> None:
        if written == self.title:
            self.end_editing()
        else:
            keep(written)

    def _title_left(self, keep: Callable[[str], object], written: str) -> None:
        if self.editor is None:
            return  # the focus left it since it is gone
        self.end_editing()
        if written not in ("", self.title):
            keep(written)

    def _button(self, words: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAccessibleName(tr("{deed}: {title}", deed=words, title=self.title))
        self.buttons[words] = button
        self._buttons_row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button


def _widest(sample: QLabel | QPushButton, texts: Iterable[str]) -> int:
    """Pixels that the longest of these texts takes on a widget like this one, which is deleted."""
    sample.hide()  # or it would be shown with its parent, until it is deleted
    sample.ensurePolished()
    widths = []
    for text in texts:
        sample.setText(text)
        widths.append(sample.sizeHint().width())
    sample.deleteLater()
    return max(widths)


def _muted(words: str, parent: QWidget) -> QLabel:
    label = make_label(words, parent, "muted", wrap=True)
    label.setVisible(bool(words))
    return label


def _call(do: Callable[[], object], _checked: bool = False) -> None:
    """Slot that drops the argument of `clicked`."""
    do()


class LibrarySection(QScrollArea):
    """Scrolling page of entries. `head` is the layout above them, `foot` the one below.

    left: the entry that had the focus is gone, and no other can have it.
    """

    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus, and is scrolled to
        self.setAccessibleName(name)
        page = QWidget(self)
        page.setObjectName("page")
        self.head, self._column, self.foot = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        inner = QWidget(page)
        sizes.set_widest(inner, WIDEST)
        column = vbox(parent=inner, margins=(24, 14, 24, 24), spacing=10)
        for part in (self.head, self._column, self.foot):
            part.setSpacing(10)
            column.addLayout(part)
        column.addStretch(1)
        centred(inner, page)
        self.setWidget(page)
        scroll_by_touch(self)
        reserve_bar(self)
        self.nothing = make_label("", page, "muted", wrap=True)
        self.foot.addWidget(self.nothing)
        self.entries: list[LibraryEntry] = []
        self._buttons: tuple[Sequence[str], ...] = ()
        self._widths: tuple[int, ...] = ()  # pixels of badges and of the last buttons; () where each has its own

    def align_columns(self, *buttons: Sequence[str]) -> None:
        """Have badges and buttons stand below each other in all entries, whatever they say now or later. buttons: of
        each of the last ones, all that it may say."""
        self._buttons = buttons
        sizes.follow(self, LibrarySection._align)

    def _align(self) -> None:
        badge = _widest(make_label("", self, "badge"), fit_badges())
        self._widths = (badge, *(_widest(make_button("", self), texts) for texts in self._buttons))
        for entry in self.entries:
            entry.align(*self._widths)

    def way_on(self, words: str, act: SignalInstance) -> QPushButton:
        """A button below the sentence that is shown where there is no entry."""
        made = make_button(words, self, act, "primary")
        self.foot.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
        made.hide()
        return made

    def show_entries(self, entries: Sequence[LibraryEntry], nothing: str, groups: Sequence[str] = ()) -> None:
        """Replace all entries. nothing: a sentence where there is none. groups: of each entry, the heading it is under;
        () for no headings."""
        at = self.verticalScrollBar().value()
        now = self.window().focusWidget()  # also while a dialog in front of the window has the keyboard
        held = next((n for n, e in enumerate(self.entries) if now is not None and e.isAncestorOf(now)), -1)
        before = self.entries[held] if held >= 0 else None
        empty(self._column)
        self.entries = list(entries)
        above = ""
        for number, entry in enumerate(self.entries):
            if groups and groups[number] != above:
                above = groups[number]
                self._column.addWidget(heading(above, self))
            self._column.addWidget(entry)
            if self._widths:
                entry.align(*self._widths)
        if before is not None:
            self._keep_focus(before, held, next((w for w, b in before.buttons.items() if b is now), ""))
        self.nothing.setText(nothing)
        self.nothing.setVisible(not entries and bool(nothing))
        QTimer.singleShot(0, self, partial(self.verticalScrollBar().setValue, at))  # once they have their heights

    def _keep_focus(self, before: LibraryEntry, place: int, words: str) -> None:
        """Focus the entry that is as `before` was, or else the one in its place: Qt would go to New chat.

        words: of the button that had it. Several models may have one title; the nearest is meant.
        """
        same = [number for number, entry in enumerate(self.entries) if entry.title == before.title]
        wanted = min(same, key=lambda number: abs(number - place), default=place)
        nearest = sorted(enumerate(self.entries), key=lambda pair: (abs(pair[0] - wanted), -pair[0]))
        if not any(entry.take_focus(words) for _, entry in nearest):
            self.left.emit()


def import_buttons(parent: QWidget, folder: SignalInstance, file: SignalInstance) -> QHBoxLayout:
    """Row of the two buttons to import a model from this computer."""
    from_folder = make_button(tr("Import folder…"), parent, folder.emit)
    return hbox(from_folder, make_button(tr("Import GGUF file…"), parent, file.emit), ...)


def heading(words: str, parent: QWidget) -> QLabel:
    """Heading of a part of a section."""
    label = make_label(words, parent, heading=1.2)
    label.setContentsMargins(0, 14, 0, 0)
    return label
