"""Write own text: `python -m training.generate --out FILE --seed N (--count N | --bytes N) [options]`.

Chats that stand in an excluded file are left out: short templated chats repeat, so another seed is not enough to hold
text out. For text to be held out, ask for several exchanges a chat: a lone greeting must not vanish from training.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from training.generator.chats import Message, chats


def _key(messages: list[Message]) -> str:
    return json.dumps([(m["role"], m["content"]) for m in messages], ensure_ascii=False)


def select(seed: int, excluded: set[str], exchanges: int = 1, distinct: bool = False) -> Iterator[list[Message]]:
    """Chats of `seed` with at least that many exchanges, none excluded and, when `distinct`, none twice."""
    seen = set(excluded)
    for messages in chats(seed):
        key = _key(messages)
        if key not in seen and sum(m["role"] == "user" for m in messages) >= exchanges:
            if distinct:
                seen.add(key)
            yield messages


def read_keys(paths: list[Path]) -> set[str]:
    """Keys of all chats in JSON-lines files."""
    return {
        _key(json.loads(line)["messages"]) for path in paths for line in path.read_text(encoding="utf-8").splitlines()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--count", type=int, help="number of chats")
    size.add_argument("--bytes", type=int, help="stop at this size")
    parser.add_argument("--exclude", type=Path, action="append", default=[])
    parser.add_argument("--exchanges", type=int, default=1, help="fewest exchanges a chat must have")
    parser.add_argument("--distinct", action="store_true", help="no chat twice")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    written = count = 0
    with open(args.out, "w", encoding="utf-8") as file:
        for messages in select(args.seed, read_keys(args.exclude), args.exchanges, args.distinct):
            written += file.write(json.dumps({"messages": messages}, ensure_ascii=False) + "\n")
            count += 1
            if count == args.count or (args.bytes and written >= args.bytes):
                break
    print(f"{count} chats, {written:,} characters")


if __name__ == "__main__":
    main()
