"""English that is left in a Chinese text."""

from __future__ import annotations

import re

# Names, units and what people type: the same in every language.
NAMES = frozenset(
    "Underhill CPU GPU CUDA GB MB GGUF JSON KL KV MoE T1 T2 UTF token tok torch safetensors config json Card avx2 "
    "HF_TOKEN Linux GNOME Keyring KWallet underhill cli https http".split()
)


def english(text: str, *known: str) -> list[str]:
    """Words of Latin letters, but for NAMES, commands (in ` `) and what is in `known`: names that were put in."""
    text = re.sub("`[^`]*`", "", text)
    for name in sorted(known, key=len, reverse=True):
        text = text.replace(name, "")
    return [word for word in re.findall(r"[A-Za-z][A-Za-z_0-9]+", text) if word not in NAMES]


def is_chinese(text: str) -> bool:
    return re.search("[一-鿿]", text) is not None
