"""How long chats take: search over 100,000 messages, opening one of 5,000, and writing.

    python -m tests.benchmarks.chats [--messages 100000] [--json]

The text is made up of words as frequent as words are, one message in ten of Chinese. Milliseconds, the median of five.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from app.storage import branches
from app.storage.records import Chat, StoredMessage, new_id
from app.storage.search import find
from app.storage.store import ChatStore
from tests.benchmarks.common import arguments, emit, in_turns

WORDS, SIGNS = 8000, 3000
LONG = 5000  # messages of the one long chat
OLD = 2000  # messages, the oldest, in letters that no other has
TURNS = 5
BAR = 100.0  # milliseconds of the slowest search


def main() -> None:
    """Fill a database, ask it, print."""
    options = arguments(__doc__)
    options.add_argument("--messages", type=int, default=100_000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = ChatStore(Path(folder) / "chats.db")
        words, long_chat = _fill(store, chosen.messages)
        asked = {
            "frequent word": words[30], "rare word": words[-1], "two words": f"{words[50]} {words[4000]}",
            "part of a word": words[-2][1:4], "nothing": "qqqzzz", "two Chinese signs": "\u4e01\u4e8f",
            "one Chinese sign": "\u4e01", "two of them apart": "\u4e01 \u4e8f", "two letters that are nowhere": "q!",
            "two letters": "th", "one letter": "e", "four letters apart": "a b c d", "rare pairs": "pv mm yk",
            "pairs that never meet": "th \u4e01", "frequent word, one letter": f"{words[30]} e",
            "frequent word, one sign": f"{words[30]} \u4e01", "two letters, old chats only": "\u03b1\u03b2",
            "one letter, old chats only": "\u03b1",
        }  # fmt: skip
        figures = {f"search, {name}": median_ms(lambda text=text: find(store, text)) for name, text in asked.items()}
        figures[f"read a chat of {LONG:,}"] = median_ms(lambda: branches.read(store, long_chat))
        figures["list of chats"] = median_ms(store.chats)
        figures["check at the start"] = median_ms(store.check)
        figures["a question, on disk"] = median_ms(
            lambda: store.add(StoredMessage(id=new_id(), chat_id=long_chat, parent_id=None, role="user", content="Q"))
        )
        slowest = max(value for name, value in figures.items() if name.startswith("search"))
        figures |= {"bar of a search": BAR, "slowest search / bar": slowest / BAR}
        store.close()
        figures["size of the file, MB"] = (Path(folder) / "chats.db").stat().st_size / 1e6
    emit(figures, chosen.json)


def median_ms(action: Callable[[], object]) -> float:
    """Milliseconds of an action, the median of TURNS."""
    return 1e3 * median(in_turns({"it": action}, TURNS, warm=0)["it"])


def _fill(store: ChatStore, messages: int) -> tuple[list[str], int]:
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlucmfwypvbgk", k=dice.randint(3, 9))) for _ in range(WORDS)]
    weights = [1 / (n + 1) for n in range(WORDS)]
    signs = [chr(0x4E00 + n) for n in range(SIGNS)]
    left, last = messages, 0
    while left > 0:
        count = LONG if left == messages else min(left, dice.choice((2, 6, 20, 60)))
        chat = Chat(id=new_id(), title=" ".join(dice.choices(words, k=4)))
        rows: list[StoredMessage] = []
        for n in range(count):
            if messages - left + n < OLD:  # the first chat begins in Greek
                text = "".join(dice.choices("\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7 ", k=300))
            elif dice.random() < 0.1:
                text = "".join(dice.choices(signs, k=120))
            else:
                text = " ".join(dice.choices(words, weights, k=dice.randint(10, 90)))
            role, tokens = ("assistant", tuple(range(60))) if n % 2 else ("user", ())
            rows.append(
                StoredMessage(
                    id=new_id(),
                    chat_id=chat.id,
                    parent_id=rows[-1].id if rows else None,
                    role=role,
                    content=text,
                    token_ids=tokens,
                )
            )
        store.create(chat, *rows)
        last = last or chat.id
        left -= count
    return words, last


if __name__ == "__main__":
    main()
