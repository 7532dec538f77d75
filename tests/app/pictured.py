"""What the pictures in the documentation show: chats of somebody who has used Underhill for a while."""

from __future__ import annotations

import time

from app.platform.logs import AppPaths
from app.storage.records import Chat, StoredMessage, new_id
from app.storage.store import ChatStore
from engine.library.dials import Calibration, Cost, DialCost
from engine.protocol import Passage, ServerRequest

DAY = 86_400.0
_CHATS = (  # title, days ago, folder, pinned
    ("Reading list for the winter", 9.0, "", True),
    ("Letter to the landlord", 3.0, "Letters", False),
    ("Thank-you note for Aunt Vera", 5.0, "Letters", False),
    ("Why is the sky blue?", 0.02, "", False),
    ("Packing list for the mountains", 0.04, "", False),
    ("Finding duplicate files", 1.0, "", False),
    ("A week of simple dinners", 1.1, "", False),
    ("Heat pumps, for and against", 3.5, "", False),
    ("Birthday poem for Lena", 4.0, "", False),
)
_MODEL, _CHAT_PATH = "olmoe-1b-7b", "/v1/chat/completions"
ASKS = (
    ServerRequest(
        id="server:9",
        client="127.0.0.1 OpenAI/Python",
        way=_CHAT_PATH,
        model=_MODEL,
        state="answering",
        tokens=124,
        seconds=9.4,
    ),
)
ASKED = (
    ServerRequest(
        id="server:8",
        client="127.0.0.1 Zed/0.210",
        way=_CHAT_PATH,
        model=_MODEL,
        state="answered",
        tokens=311,
        seconds=24.2,
    ),
    ServerRequest(
        id="server:7",
        client="127.0.0.1 curl/8.9",
        way="/v1/completions",
        model=_MODEL,
        state="answered",
        tokens=16,
        seconds=1.3,
    ),
)
ASKED_OF_SOURCES = "How often does the heat pump need service, and what do I do myself?"
FROM_SOURCES = """The maker wants a service **once a year**, before the heating season [1]. It takes about an hour and
is part of the contract until 2028 [2].

Yourself you can do two things each month:

- clear leaves and snow from the grille outside [1]
- look whether the pressure stands between 1.2 and 1.8 bar, and write it down [3]"""
_HOUSE = "/home/anna/House"
SOURCES = (
    Passage(
        file=f"{_HOUSE}/heat pump manual.pdf", name="House/heat pump manual.pdf", heading="", page=41, line=3,
        last_line=9,
        text="The unit is to be serviced once a year, before the heating season, by a technician who knows it.\n"
        "Each month the owner removes leaves and snow from the outer grille. Do not use a pressure washer.",
    ),
    Passage(
        file=f"{_HOUSE}/contracts/service.md", name="House/contracts/service.md", heading="Service contract › Extent",
        page=0, line=12, last_line=18, text="One visit of an hour each year until the end of 2028, spare parts apart.",
    ),
    Passage(
        file=f"{_HOUSE}/log 2026.txt", name="House/log 2026.txt", heading="", page=0, line=31, last_line=44,
        text="3 March: 1.5 bar. Should be 1.2 to 1.8, else call Mr Novak.",
    ),
)  # fmt: skip
ASKED_OF_IMAGES = ("What time of day is this?", "And which of these two is warmer?")
OF_IMAGES = (
    "It looks like **early morning**: the sun stands low on the left, and its sky fades to a pale yellow.",
    "The first. Its sky is orange from top to bottom; the second has the blue of a clear, cool day.",
)
MORE_OF_IMAGES = "Could both be painted from the same place?"
SIMILAR = "How do I tell how alike two texts are? Show me the formula, a little code and some numbers."
SIMILAR_ANSWER = r"""Turn each text into a vector with an embedding model, then take the **cosine** of the angle between
the two:

$$\cos(a, b) = \frac{a \cdot b}{\|a\| \, \|b\|} = \frac{\sum_i a_i b_i}{\sqrt{\sum_i a_i^2} \sqrt{\sum_i b_i^2}}$$

It is $1$ for texts that say the same and about $0$ for texts that have nothing to do with each other.

```python
import numpy as np

def cosine(a: np.ndarray, b: np.ndarray) -> float:
    \"\"\"1.0: the same direction; 0.0: nothing in common.\"\"\"
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
```

| First text | Second text | Cosine |
|:-----------|:------------|-------:|
| a cat on a mat | a kitten on a rug | 0.87 |
| a cat on a mat | a dog in a car | 0.41 |
| a cat on a mat | interest rates rose | 0.06 |
""".replace('\\"', '"')
PUZZLE = "A bat and a ball cost 1.10 together, and the bat costs 1.00 more than the ball. What does the ball cost?"
PUZZLE_ANSWER = """<think>
The quick answer would be 0.10, but then the bat would cost 1.10 and both together 1.20. Let the ball cost x. Then the
bat costs x + 1.00, and together they cost 2x + 1.00 = 1.10. So x = 0.05.
</think>
The ball costs **0.05**.

If the ball costs $x$, the bat costs $x + 1.00$, and together they cost $2x + 1.00 = 1.10$, so $x = 0.05$. The answer
that comes to mind first, 0.10, would make the bat 1.10 and both together 1.20.
"""
CHINESE = "混合专家模型为什么能在内存不够的电脑上运行？"
CHINESE_ANSWER = """因为每生成一个词元，只有少数几个**专家**参与计算，其余的都在休息。

1. 常用的专家留在内存里；
2. 其余的放在磁盘上，需要时才读取；
3. 不太重要的专家可以用较低的精度，读取的字节更少。

| 精度 | 每个权重的位数 | 适合 |
|:-----|------:|:-----|
| 完整 | 8.3 | 最重要的专家 |
| 较粗 | 4.3 | 大多数专家 |
| 最粗 | 2.5 | 权重很小的专家 |

> 磁盘越快、内存越大，速度就越快。
"""
CALIBRATION = Calibration(
    tokens=8192, scored=4096, scored_here=2048, share=0.25, exact_perplexity=9.87,
    dials={"hobbit": DialCost(0.71, 0.985, Cost(0.004, 0.002), Cost(0.002, 0.001)),
     "balanced": DialCost(0.62, 0.91, Cost(0.021, 0.012), Cost(0.009, 0.004)),
     "fast": DialCost(0.35, 0.72, Cost(0.094, 0.061), Cost(0.038, 0.024))},
    scores=(4000, *(round(900 * (n / 200) ** 0.7 * (1.02 - n / 200) ** 0.5) for n in range(1, 200))),
)  # fmt: skip


def furnish(paths: AppPaths) -> None:
    """Put the chats into a folder that has none yet."""
    store = ChatStore(paths.chats)
    for title, days, folder, pinned in _CHATS:
        chat = Chat(id=new_id(), title=title, title_by_hand=True, updated_at=time.time() - days * DAY)
        question = StoredMessage(id=new_id(), chat_id=chat.id, parent_id=None, role="user", content=title)
        answer = StoredMessage(id=new_id(), chat_id=chat.id, parent_id=question.id, role="assistant", content="Gladly.")
        store.create(chat, question, answer)
        store.set_field(chat.id, "pinned", pinned)
        if folder:
            store.set_field(chat.id, "folder_id", store.make_folder(folder).id)
        store.db.execute("UPDATE chats SET updated_at = ? WHERE id = ?", (chat.updated_at, chat.id))
    store.close()


COMPARED = "Why does ice float on water?"
EXACT_ANSWER = """Ice floats because it is **less dense** than liquid water.

When water freezes, its molecules settle into an open lattice held by hydrogen bonds:

- each molecule touches four neighbours,
- the lattice leaves more empty room than the liquid does,
- so the same mass takes about 9 % more space.

A block of ice therefore displaces its own weight of water before it is fully under, and floats."""
FAST_ANSWER = """Ice floats because it is **less dense** than water.

When water freezes, its molecules settle into an open lattice held by hydrogen bonds:

- each molecule has four neighbours,
- the lattice leaves more room than the liquid does,
- so the same mass takes about 10 % more space.

A block of ice displaces its own weight of water before it is fully under, and so it floats."""
