"""Every text of the window with its place and its Chinese, and the style that all of them keep.

`python -m tests.app.i18n.wording [PART OF A PATH]` prints them for a reader; docs/translating.md has the rules.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from app.i18n import build

# What only a damaged or odd file makes the engine say: precise, for whoever made that file.
INTERNAL = (
    "engine/calibration/evaluate.py", "engine/convert", "engine/experts", "engine/formats", "engine/kernels",
    "engine/models", "engine/native", "engine/quantization", "engine/store", "engine/tracing", "engine/limits.py",
    "engine/hub/outline.py", "engine/hub/revision.py", "engine/hub/streaming.py", "engine/hub/client.py",
    "engine/library/facts.py", "Qt",
)  # fmt: skip
# The app calls itself by its name where it introduces itself, in what is about its releases, and to other programs.
NAMED = (
    "app/application.py", "app/dialogs.py", "app/onboarding.py", "app/chat/welcome.py", "app/chat/header.py",
    "app/controllers/tray.py", "app/setup/updates.py", "app/export/import_chats.py", "app/widgets/keyboard.py",
    "engine/library/listing.py", "engine/library/catalogue.py", "engine/library/settings_file.py",
)  # fmt: skip
# Words of the glossary: what stands here has another word there (docs/glossary.md), or is no plain English.
BANNED = {
    "other weights": "shared weights",
    "graphics memory": "GPU memory",
    "graphics card": "GPU",
    "precision dial": "quality",
    "memory ceiling": "memory limit",
    "read ahead": "prefetch",
    "licence": "license",
    "colour": "color",
    "catalogue": "catalog",
    "summarise": "summarize",
    "fetch": "download, or read",
    "go on": "continue, or resume",
    "goes on": "continues",
    "at hand": "in memory",
    "anew": "again",
    "every byte": "files",
    "for good": "permanently",
    "one a line": "one per line",
    "a second": "/s",
    "tokens/s": "tok/s",
    "may not": "can't, or no permission to",
    "on its way": "downloading",
    "has arrived": "downloaded",
    "in vain": "wasted",
    "taught": "trained",
    "is there already": "already exists",
    "empty takes": "a placeholder",
    "empty lets": "a placeholder",
    "underhill-cli": "what the window has for it",
}
# Names, units and words that keep their capital inside a text.
CAPITALS = frozenset(
    "AMD API AWQ App Auto Balanced CPU CSV ChatGPT Chinese Ctrl Download Downloads EdgeMoE Enter English Esc Exact "
    "Experts Expert Face Fallback Fast Fusion GB GGUF GLM GNOME GPTQ GPU Google HF HOBBIT HTTP HTTPS Hugging I Inter "
    "APIs Anthropic GB/s Korean Mbit/s OpenAI "
    "JSON JetBrains KL KWallet Keyring Kimi LFU LM LRU Linux MB MLX Markdown Mbit Min MoE Mono Mixture Ollama OK "
    "Options P PDF PNG Python Qt Remember Sans Settings Studio T T1 T2 Torch US URL UTF Underhill Use Verify ZIP Droid "
    "Copy States United I/O SSL_CERT_FILE HF_TOKEN HF_HUB_OFFLINE HF_ENDPOINT HTTPS_PROXY HTTP_PROXY NO_PROXY K M "
    "SGLang Q4_K_M Q8_0 MMMM HH".split()
)
_HOLES = re.compile(r"\{[^}]*\}|%n")
_SENTENCE_STARTS = re.compile(r"(^|[.!?:…}]\s+|[“(\n]|·\s+|;;)([A-Z])")
_CJK = "\u4e00-\u9fff"


@dataclass(frozen=True)
class Shown:
    """A text where it is shown. place: the file that has it first."""

    place: str
    english: str
    chinese: tuple[str, ...]


def every() -> list[Shown]:
    """All texts, in the order of the files."""
    known = build.read_ts(build.FOLDER / "underhill_zh_CN.ts")
    return [Shown(t.file, t.source, known[t.key].forms) for t in build.wanted()]


def faults(shown: Shown) -> Iterator[str]:
    """What is wrong with a text, each with what it should be."""
    text = shown.english
    if re.search(r"[\d}] %(?!n)", text) or any(re.search(r"[\d}] %(?!n)", form) for form in shown.chinese):
        yield "no space before %"
    if "..." in text:
        yield "… is one sign"
    if re.search(r"\d(GB|MB|kB|min|tok)\b", text):
        yield "a space before the unit"
    if re.search(r"(?<![\d,.])\d{4,}(?![\d}])", _HOLES.sub("", text)) and "proxy.example" not in text:
        yield "digits grouped by commas"
    if re.search(r"\S {2,}\S", text) and "  ·  " not in text:
        yield "one space between words"
    if any("您" in form for form in shown.chinese):
        yield "你, never 您"
    if not shown.place.startswith(INTERNAL):
        yield from _plain(shown)


def _plain(shown: Shown) -> Iterator[str]:
    """What texts that anybody may meet keep as well."""
    text, words = shown.english, _HOLES.sub("", shown.english)
    for banned, instead in BANNED.items():
        if re.search(rf"\b{re.escape(banned)}\b", words, re.IGNORECASE):
            yield f"not “{banned}”: {instead}"
    if "Underhill" in text and not shown.place.startswith(NAMED):
        yield "the app's name only where it introduces itself"
    inside = _HOLES.sub("", _SENTENCE_STARTS.sub(lambda m: m[1] + m[2].lower(), text))
    for word in re.findall(r"(?<![\w.])[A-Z][\w/]*", inside):
        if word not in CAPITALS and word.lower() != word and not word.isupper():
            yield f"sentence case: {word}"
    alone = shown.place.startswith("app/") and text == words and len(text.split()) <= 2
    if alone and text.endswith(".") and text not in _ACTIONS:
        yield "no full stop on a label"


_ACTIONS = frozenset(("Try again.",))  # what to do, behind a sentence that says what is wrong


def main() -> int:
    """Print the texts whose place has the given part in its path."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    place = ""
    for shown in every():
        if part not in shown.place:
            continue
        if shown.place != place:
            place = shown.place
            print(f"\n{place}")
        print(f"  {shown.english!r}\n    {' | '.join(shown.chinese)!r}")
        for fault in faults(shown):
            print(f"    ! {fault}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
