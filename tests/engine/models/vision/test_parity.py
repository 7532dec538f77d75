"""A prompt with pictures against transformers' Gemma4ForConditionalGeneration, in float32."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from engine.convert.expert_plan import find_experts
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.families import eyes
from engine.models.decoder import Decoder
from engine.models.vision.pictures import Pictures
from engine.translatable import msg
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, Pair, native_pair
from tests.engine.models.reference_experts import ReferenceExperts
from tests.engine.models.vision import seeing_gemma as gemma

WORDS = torch.randint(6, 90, (40,), generator=torch.Generator().manual_seed(3)).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gemma")


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    made = gemma.model()
    gemma.checkpoint(made, folder)
    raw = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = DirectoryWeights(folder)
    return Pair(made, open_decoder(raw, weights, ReferenceExperts(made)), raw, weights)


def seeing(pair: Pair, decoder: Decoder, folder: Path) -> Pictures:
    decoder.pictures = Pictures(pair.config, folder, pair.weights, lambda: None)
    return decoder.pictures


@pytest.mark.parametrize("native", [False, True])
def test_a_prompt_with_two_pictures_and_steps(
    pair: Pair, native: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = native_pair(pair) if native else pair
    assert used is not None
    pictures = seeing(pair, used.ours, folder)
    images = [gemma.picture(1), gemma.picture(2, 40, 90)]
    ids = [*WORDS[:7], *pictures.ids(images[0]), *WORDS[7:10], *pictures.ids(images[1]), *WORDS[10:12]]
    whole = [*ids, *WORDS[12:28]]
    wanted = gemma.oracle(pair.model, whole, images)
    state = used.ours.new_state()
    found = used.ours.forward(ids, state, "all")
    steps = [used.ours.forward([token], state) for token in WORDS[12:28]]
    assert found is not None
    every = torch.cat([found, *(one for one in steps if one is not None)])
    print(f"gemma4 with pictures: max {(every - wanted).abs().max():.1e} mean {(every - wanted).abs().mean():.1e}")
    assert (every - wanted).abs().max() <= TOLERANCE
    monkeypatch.setattr("engine.models.decoder.spans", lambda ids: [])
    causal = used.ours.forward(ids, used.ours.new_state(), "all")
    assert causal is not None
    assert (causal - wanted[: len(ids)]).abs().max() > 100 * TOLERANCE  # what looks ahead matters


def test_what_it_sees_with_is_kept_and_looked_at_whole(pair: Pair, folder: Path) -> None:
    plan = find_experts(Checkpoint.open(folder))
    assert not plan.unused
    assert {name for name in pair.weights.names if name.startswith(eyes(pair.config))} == set(plan.eyes)
    assert not set(plan.dense) & set(plan.eyes)
    pair.weights.seen.clear()
    pictures = seeing(pair, pair.ours, folder)
    pictures.rows(torch.tensor(pictures.ids(gemma.picture(5))[1:-1]))
    assert set(plan.eyes) == pair.weights.seen


def test_without_eyes_of_ours_nothing_is_kept(pair: Pair) -> None:
    text = pair.config["text_config"]
    assert eyes(pair.config)
    for other in (
        {**pair.config, "vision_config": None},
        {**pair.config, "model_type": "kimi_k25"},
        {**pair.config, "text_config": {**text, "hidden_size_per_layer_input": 8}},
        text,
    ):
        assert eyes(other) == ()


@pytest.mark.parametrize(
    "said", [{"max_soft_tokens": 100}, {"patch_size": 8}, {"do_normalize": True, "image_mean": [0.5, 0.5, 0.5]}]
)
def test_another_preparation_is_refused(pair: Pair, said: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(UnderhillError, match="isn't known") as refused:
        seeing(pair, pair.ours, tmp_path)
    assert refused.value.kind is Kind.UNSUPPORTED_MODEL


def test_weights_of_another_shape_and_a_stop_are_told(pair: Pair, folder: Path) -> None:
    pictures = seeing(pair, pair.ours, folder)
    ids = torch.tensor(pictures.ids(gemma.picture(6))[1:-1])
    config = {**pair.config, "vision_config": {**pair.config["vision_config"], "intermediate_size": 44}}
    other = Pictures(config, folder, pair.weights, lambda: None)
    assert other.ids(gemma.picture(6))[1:-1] == ids.tolist()
    with pytest.raises(UnderhillError, match="disagree: model"):
        other.rows(ids)

    def stop() -> None:
        raise UnderhillError(Kind.CANCELLED, msg("Stopped."))

    stopped = Pictures(pair.config, folder, pair.weights, stop)
    stopped.ids(gemma.picture(6))
    with pytest.raises(UnderhillError, match="Stopped"):
        stopped.rows(ids)


def test_of_more_pictures_than_are_kept_the_first_are_forgotten(
    pair: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.models.vision.pictures.PICTURES_KEPT", 1)
    pictures = seeing(pair, pair.ours, folder)
    first = pictures.ids(gemma.picture(1))
    pictures.ids(gemma.picture(2))
    with pytest.raises(UnderhillError, match="Too many images"):
        pictures.rows(torch.tensor(first[1:-1]))
    assert pictures.ids(gemma.picture(1)) == first
    assert len(pictures.rows(torch.tensor(first[1:-1]))) == 63
