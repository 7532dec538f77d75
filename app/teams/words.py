"""What teams are called: those that come along in the window's language, the user's own as they are."""

from __future__ import annotations

from app.i18n.translate import tr, tr_noop
from engine.protocol import TeamCard

SHIPPED = (
    tr_noop("Draft and check"),
    tr_noop("Code or talk"),
    tr_noop("Answer in my language"),
    tr_noop("One model writes an answer, another looks for mistakes, and what is wrong is put right."),
    tr_noop("Questions about programming go to one model, everything else to another."),
    tr_noop("A message in another language is put into English, answered, and the answer put back into its language."),
    tr_noop("Draft"),
    tr_noop("Check"),
    tr_noop("Improve"),
    tr_noop("Sort"),
    tr_noop("Talk"),
    tr_noop("Code"),
    tr_noop("Into English"),
    tr_noop("Answer"),
    tr_noop("Translate back"),
)  # fmt: skip


def team_name(card: TeamCard) -> str:
    """The name of a team, to be shown."""
    return tr(card.name) if card.shipped and not card.changed else card.name


def team_about(card: TeamCard) -> str:
    """What a team is good for, to be shown."""
    about = card.team.about if card.team is not None else ""
    return tr(about) if card.shipped and not card.changed else about


def step_name(name: str) -> str:
    """The name of a step, to be shown: the words of those that come along are translated."""
    return tr(name) if name in SHIPPED else name
