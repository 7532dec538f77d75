"""How well passages are found: questions about this project's own docs, and the passage that answers each.

    python -m tests.benchmarks.documents [--json]

A question counts where a passage with the words beside it is among the first five: by words alone (BM25), by meaning
alone (cosine of the encoder's vectors), and by both, fused. The questions were written before any of it was tuned, most
of them in other words than the docs have. Also: how fast documents are read and encoded, and a question is answered.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.documents import indexer, search
from engine.documents.encoder import Encoder, Vectors
from engine.documents.index import DocumentIndex
from tests.benchmarks.common import arguments, emit

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIRST = 5
ASKED = (  # a question, the file that answers it, and words of the passage
    ("Does any of my chat end up in the log file?", "privacy.md", "no word of a chat"),
    ("Which key searches through all messages?", "user-guide.md", "Ctrl+K searches all messages"),
    ("How do I rename a conversation?", "user-guide.md", "F2 renames a chat"),
    ("How can I stop the program from remembering which experts I used?", "user-guide.md", "Remember expert use"),
    ("Can I limit how much RAM the application uses?", "user-guide.md", "limits the memory of the whole"),
    ("Where do I find a crash report?", "user-guide.md", "crash-DATE.log"),
    ("What do the ticks and circles above a team's answer mean?", "user-guide.md", "is done, ● works"),
    ("keyboard shortcut to stop generating", "user-guide.md", "| Esc | stop the answer |"),
    ("Can I keep one of two compared answers?", "user-guide.md", "Use this answer"),
    ("chat in a terminal without a display", "installing.md", "a chat in the terminal"),
    ("Why isn't the CUDA build of PyTorch installed?", "installing.md", "pulls in about 3 GB of CUDA"),
    ("What do developers run to check everything?", "installing.md", "adds the tools of `requirements/dev.txt`"),
    ("Which GGUF architectures can be opened?", "importing.md", "Architectures: `afmoe`"),
    ("the download failed behind a hotel's sign-in page", "importing.md", "a captive portal"),
    ("What happens when the file changed on the server while downloading?", "importing.md", "changed on the hub"),
    ("How much memory does converting a model take?", "importing.md", "one matrix of an expert for each thread"),
    ("Which methods for giving experts fewer bits are there?", "offloading.md", "experts 2, 4 or all bits each"),
    ("Why are buffers not made of small pages?", "offloading.md", "run at about half the rate"),
    ("How does the app notice that it exceeds its memory limit?", "offloading.md", "twice a second"),
    ("predict the experts of the next layers with their routers", "offloading.md", "routers of coming layers"),
    ("How large can the tables of the predictors become?", "offloading.md", "16 MB each at most"),
    ("Is the order of columns padded with zeros?", "store-format.md", "padded to the group with code 0"),
    ("On what boundaries do sections begin in a record?", "store-format.md", "multiples of 64 bytes"),
    ("What happens when the disk fills up while a store is written?", "store-format.md", "fills up meanwhile"),
    ("How many columns share one scale?", "store-format.md", "**Group size** is 64 columns"),
    ("difference between hit rate and miss penalty", "caching.md", "*Hit rate*"),
    ("Is there an optimal policy that knows the future?", "caching.md", "Belady's bound"),
    ("How do HOBBIT's weights change with a small cache?", "caching.md", "the smaller, the more recency counts"),
    ("What error do MXFP4 weights have after import?", "quantization.md", "| MXFP4 | 4.25 | 0 |"),
    ("Do different processors quantize to identical results?", "quantization.md", "give the same bytes"),
    ("How are attention weights held in memory?", "quantization.md", "as the setting *Shared weights* says"),
    ("How long does measuring the computer take?", "planning.md", "took 11.7 seconds"),
    ("With which file is the speed of the disk measured?", "planning.md", "at most 512 MB"),
    ("Chinese punctuation style for translators", "translating.md", "full-width punctuation"),
    ("What is direct I/O?", "glossary.md", "bypass the system's file cache"),
    ("common mistakes when adding a new architecture", "adding-a-family.md", "Common mistakes"),
    ("How is memory shared between several loaded models?", "architecture.md", "share one byte budget"),
    ("What happens first after I send a question?", "architecture.md", "stores the message and sends"),
    ("Which models know a thinking switch with low and high?", "model-families.md", "Solar-Open"),
    ("Why can't translation models like NLLB be opened?", "model-families.md", "encoder-decoder model, made for"),
)


def recall(rank: Callable[[str], Sequence[tuple[int, int]]], index: DocumentIndex) -> tuple[float, list[str]]:
    """Share of questions whose passage is among the first, and the others."""
    missed = [asked for asked, file, words in ASKED if not _answered(index, rank(asked)[:FIRST], file, words)]
    return 1 - len(missed) / len(ASKED), missed


def _answered(index: DocumentIndex, keys: Sequence[tuple[int, int]], file: str, words: str) -> bool:
    found = (index.passage(number) for _, number in keys)
    wanted = " ".join(words.split())
    return any(p and Path(p.file).name == file and wanted in " ".join(p.text.split()) for p in found)


def measure(index: DocumentIndex, encoder: Encoder) -> dict[str, float]:
    """Index the docs, and ask."""
    begun = time.perf_counter()
    now = indexer.update(index, lambda text, done, total: None, lambda: False)
    read = time.perf_counter() - begun
    begun = time.perf_counter()
    indexer.encode(index, encoder, lambda text, done, total: None, lambda: False, lambda: None)
    encoded = time.perf_counter() - begun

    def vector(asked: str) -> Vectors:
        return encoder.encode([asked])[0]

    figures = {"questions": float(len(ASKED)), "files": float(now.files), "passages": float(now.passages)}
    figures["words, recall@5"] = recall(lambda asked: search.by_words([index], asked), index)[0]
    figures["meaning, recall@5"] = recall(lambda asked: search.by_meaning([index], vector(asked)), index)[0]
    begun = time.perf_counter()
    figures["fused, recall@5"] = recall(lambda asked: search.ranked([index], asked, vector(asked)), index)[0]
    asked = time.perf_counter() - begun
    figures |= {"read, passages/s": now.passages / read, "encoded, passages/s": now.passages / encoded}
    return figures | {"a question, ms": 1000 * asked / len(ASKED)}


def main() -> None:
    """Measure, print."""
    options = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder, DocumentIndex(Path(folder) / "docs.db", DOCS) as index:
        emit(measure(index, Encoder()), options.json)


if __name__ == "__main__":
    main()
