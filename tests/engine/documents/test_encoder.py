"""The encoder against transformers' own, and what fusing words and meaning finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.documents import encoder as encoding
from engine.documents import indexer, search
from engine.documents.encoder import Encoder
from engine.documents.index import DocumentIndex

pytestmark = pytest.mark.long

TEXTS = {
    "cats.txt": "A feline sleeps most of the day and hunts mice at dusk.",
    "sea.txt": "The vessel left the harbour at dawn and sailed north.",
    "code.txt": "Error E4711 means that the fuse of pump P-12 has blown.",
    "bread.txt": "Knead the dough, let it rise for an hour, bake it until brown.",
    "tax.txt": "Returns are due at the end of May; late ones cost a fee.",
    "pump.txt": "Pumps are serviced once a year by the maker.",
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


def test_vectors_are_those_of_transformers(encoder: Encoder) -> None:
    from transformers import AutoTokenizer, BertModel

    texts = ["How large is the cache?", *TEXTS.values(), "你好，世界", "word " * 400, ""]
    tokenizer = AutoTokenizer.from_pretrained(encoding.folder())
    model = BertModel.from_pretrained(encoding.folder())
    read = tokenizer(texts, padding=True, truncation=True, max_length=encoding.LONGEST, return_tensors="pt")
    with torch.inference_mode():
        states = model(**read).last_hidden_state
    kept = read["attention_mask"].unsqueeze(-1)
    expected = torch.nn.functional.normalize((states * kept).sum(1) / kept.sum(1), dim=-1).numpy()
    assert float(np.abs(encoder.encode(texts) - expected).max()) < 1e-5
    alone = encoder.encode(texts[:1])
    assert float(np.abs(alone - expected[:1]).max()) < 1e-5  # what a text is padded to changes nothing


def test_fused_has_what_words_and_what_meaning_finds(encoder: Encoder, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    paused: list[int] = []
    with DocumentIndex(tmp_path / "notes.db", folder) as index:
        assert indexer.update(index, lambda text, done, total: None, lambda: False).unencoded == len(TEXTS)
        indexer.encode(index, encoder, lambda text, done, total: None, lambda: False, lambda: paused.append(1))
        assert indexer.summary(index).unencoded == 0
        assert paused  # an answer that is being made is let go first

        def best(question: str) -> tuple[str, str, str]:
            vector = encoder.encode([question])[0]
            lists = (
                search.by_words([index], question), search.by_meaning([index], vector),
                search.ranked([index], question, vector),
            )  # fmt: skip
            found = [search.chosen([index], keys[:1], 10_000) for keys in lists]
            return tuple(Path(one[0].file).name if one else "" for one in found)  # type: ignore[return-value]

        assert best("When did a ship depart?") == ("", "sea.txt", "sea.txt")
        words, _, fused = best("P-12 E4711")
        assert (words, fused) == ("code.txt", "code.txt")
        assert len(search.chosen([index], search.by_words([index], "pump day"), 40)) == 1  # the budget
    assert search.meaning_weight("缓存有多大") == 0.0
    assert search.meaning_weight("How large is the cache?") == 1.0
