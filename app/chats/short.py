"""Terms of one or two characters, which the index of threes does not hold.

It is asked for the threes that begin with such a term. What stands at the very end of a message begins no three: the
index `ends` has the last two characters of every message, with two characters after them that nobody types.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from itertools import product

_LISTED = 6000  # places in an index that are read one by one: 5 ms
_THREES = 200  # threes by which messages are looked for: 20 ms
_LAST = "\U0010ffff"
_NEXT = "\x01"  # a three and this: what comes after it


@dataclass(frozen=True)
class Threes:
    """What a term begins in the indexes: within messages, and at their ends."""

    inside: tuple[str, ...]
    ending: tuple[str, ...]


def messages_with(db: sqlite3.Connection, term: str) -> frozenset[int] | None:
    """Ids of all messages that have a term; None where it stands in too many places to be listed."""
    found: set[int] = set()
    room = _LISTED
    for table, start in product(("found_threes", "ends_threes"), _starts(term)):
        rows = db.execute(
            f"SELECT doc FROM {table} WHERE term >= ? AND term <= ? LIMIT ?", (start, start + _LAST, room)
        ).fetchall()
        found.update(doc for (doc,) in rows)
        room -= len(rows)
        if room <= 0:
            return None
    return frozenset(found)


def threes(db: sqlite3.Connection, term: str) -> Threes | None:
    """What to look for instead of a term; None where it begins too many threes."""
    inside, ending = _listed(db, "found_threes", term), _listed(db, "ends_threes", term)
    return Threes(inside, ending) if inside is not None and ending is not None else None


def any_of(found: tuple[str, ...]) -> str:
    """Any of these threes, for MATCH."""
    return "(" + " OR ".join('"' + three.replace('"', '""') + '"' for three in found) + ")"


def condition(term: str) -> tuple[str, list[str]]:
    """SQL that looks for a term in a message m itself, and its values."""
    spelt = ["".join(spelling) for spelling in product(*({c, *_cases(c)} for c in term))]
    return f"({' OR '.join(['instr(m.content, ?) > 0'] * len(spelt))})", spelt


def _cases(character: str) -> tuple[str, ...]:
    return tuple(c for c in (character.lower(), character.upper()) if len(c) == 1)


def _starts(term: str) -> set[str]:
    """A term as the index has it, which folds the letters that it knows two cases of."""
    return {term, "".join(c.lower() if len(c.lower()) == 1 else c for c in term)}


def _listed(db: sqlite3.Connection, table: str, term: str) -> tuple[str, ...] | None:
    """Each is found anew behind the one before it: nothing is read of the places where they stand."""
    found: list[str] = []
    for start in _starts(term):
        at = start
        while row := db.execute(
            f"SELECT term FROM {table} WHERE term >= ? AND term <= ? LIMIT 1", (at, start + _LAST)
        ).fetchone():
            found.append(row[0])
            at = row[0] + _NEXT
            if len(found) > _THREES:
                return None
    return tuple(found)
