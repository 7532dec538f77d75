"""Prompts with pictures against transformers' own models of the families, in float32."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.convert.expert_plan import find_experts
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.families import vision_prefixes
from engine.models.decoder import Decoder
from engine.models.layers.state import SequenceState
from engine.models.vision.pictures import NoPictures, Pictures
from engine.translatable import msg
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, Pair, layers_pair
from tests.engine.models.reference_experts import ReferenceExperts
from tests.engine.models.vision import seeing_gemma as gemma
from tests.engine.models.vision import seeing_glm as glm
from tests.engine.models.vision import seeing_kimi as kimi
from tests.engine.models.vision import seeing_qwen as qwen
from tests.engine.models.vision import seeing_qwen_vl as qwen_vl

WORDS = torch.randint(6, 90, (40,), generator=torch.Generator().manual_seed(3)).tolist()


Seeing = Any  # one of the modules seeing_*
FAMILIES = {"gemma4": gemma, "glm4v_moe": glm, "kimi_k25": kimi, "qwen3_5_moe": qwen, "qwen3_vl_moe": qwen_vl}


@pytest.fixture(scope="module", params=FAMILIES.values(), ids=FAMILIES.keys())
def family(request: pytest.FixtureRequest) -> Seeing:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, family: Seeing) -> Path:
    return tmp_path_factory.mktemp("seeing")


@pytest.fixture(scope="module")
def pair(folder: Path, family: Seeing) -> Pair:
    made = family.model()
    family.checkpoint(made, folder)
    raw = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = DirectoryWeights(folder)
    return Pair(made, open_decoder(raw, weights, ReferenceExperts(made)), raw, weights)


def own(ids: list[int]) -> torch.Tensor:
    """Those of the picture itself."""
    return torch.tensor([one for one in ids if one < 0])


def seeing(pair: Pair, decoder: Decoder, folder: Path) -> Pictures:
    decoder.pictures = Pictures(pair.config, folder, pair.weights, lambda: None)
    return decoder.pictures


@pytest.mark.parametrize("native", [False, True])
def test_a_prompt_with_two_pictures_steps_and_a_rollback(
    family: Seeing, pair: Pair, native: bool, folder: Path
) -> None:
    used = pair if native else layers_pair(pair)
    assert used is not None
    pictures = seeing(pair, used.ours, folder)
    images = [gemma.picture(1), gemma.picture(2, 40, 90)]
    first, second = ([*WORDS[:7], *pictures.ids(images[0]), *WORDS[7:10]], [*pictures.ids(images[1]), *WORDS[10:12]])
    ids = [*first, *second]
    wanted = family.oracle(pair.model, [*ids, *WORDS[12:28]], images)
    state = used.ours.new_state()
    parts = [used.ours.forward(first, state, "all")]
    state.snapshot()
    parts.append(used.ours.forward(second, state, "all"))
    parts += [used.ours.forward([token], state) for token in WORDS[12:28]]
    found = torch.cat([one for one in parts if one is not None]) - wanted
    print(f"{used.ours.spec.family} with pictures: max {found.abs().max():.1e} mean {found.abs().mean():.1e}")
    assert found.abs().max() <= TOLERANCE

    assert state.rollback(len(first)) == len(first)
    other = WORDS[20:36]
    again = [used.ours.forward(other[:3], state, "all"), *(used.ours.forward([token], state) for token in other[3:])]
    wanted = family.oracle(pair.model, [*first, *other], images[:1])[len(first) :]
    assert (torch.cat([one for one in again if one is not None]) - wanted).abs().max() <= TOLERANCE

    assert state.rollback(0) == 0
    plain = used.ours.forward(WORDS[:20], state, "all")
    assert plain is not None
    assert (plain - family.oracle(pair.model, WORDS[:20], [])).abs().max() <= TOLERANCE


def test_sequences_with_and_without_pictures_step_together(pair: Pair, folder: Path) -> None:
    pictures = seeing(pair, pair.ours, folder)
    prompts = [
        WORDS[:9],
        [*pictures.ids(gemma.picture(1)), *WORDS[:3]],
        WORDS[3:8],
        [*pictures.ids(gemma.picture(2)), 7],
    ]

    def read() -> list[SequenceState]:
        states = [pair.ours.new_state() for _ in prompts]
        for prompt, state in zip(prompts, states, strict=True):
            pair.ours.forward(prompt, state, "none")
        return states

    alone = [pair.ours.forward([11], state) for state in read()]
    together = pair.ours.forward_sequences([11] * 4, read())
    parts = pair.ours.forward_parts([(torch.tensor([11]), state, "last", 0) for state in read()])
    for one, row, part in zip(alone, together, parts, strict=True):
        assert one is not None
        assert part is not None
        assert (one[0] - row).abs().max() <= TOLERANCE  # not to the last bit: the experts are torch's here
        assert (one - part).abs().max() <= TOLERANCE
    several = [pair.ours.forward([11, 12], state, "all") for state in read()]
    by_one = [(pair.ours.forward([11], state), pair.ours.forward([12], state)) for state in read()]
    for two, ones in zip(several, by_one, strict=True):
        assert two is not None
        assert (two - torch.cat([one for one in ones if one is not None])).abs().max() <= TOLERANCE


@pytest.mark.parametrize("family", [gemma], indirect=True)
def test_within_a_picture_gemma_looks_ahead(
    family: Seeing, pair: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [*WORDS[:7], *seeing(pair, pair.ours, folder).ids(gemma.picture(1)), *WORDS[7:10]]
    monkeypatch.setattr("engine.models.decoder.spans", lambda ids: [])
    causal = pair.ours.forward(ids, pair.ours.new_state(), "all")
    assert causal is not None
    assert (causal - family.oracle(pair.model, ids, [gemma.picture(1)])).abs().max() > 100 * TOLERANCE


@pytest.mark.parametrize("family", [qwen_vl], indirect=True)
def test_layers_add_what_the_middle_of_the_tower_saw(
    family: Seeing, pair: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = seeing(pair, pair.ours, folder)
    ids = [*WORDS[:7], *pictures.ids(gemma.picture(1)), *WORDS[7:10]]
    assert len(pictures.rows(own(ids))) == 1 + 2  # of the layers 0 and 2 of 4
    rows = pictures.rows
    monkeypatch.setattr(pictures, "rows", lambda ids: rows(ids)[:1])
    shallow = pair.ours.forward(ids, pair.ours.new_state(), "all")
    assert shallow is not None
    assert (shallow - family.oracle(pair.model, ids, [gemma.picture(1)])).abs().max() > 100 * TOLERANCE


def test_what_it_sees_with_is_kept_and_looked_at_whole(pair: Pair, folder: Path) -> None:
    plan = find_experts(Checkpoint.open(folder))
    assert not plan.unused
    assert {name for name in pair.weights.names if name.startswith(vision_prefixes(pair.config))} == set(plan.vision)
    assert not set(plan.dense) & set(plan.vision)
    pair.weights.seen.clear()
    pictures = seeing(pair, pair.ours, folder)
    pictures.rows(own(pictures.ids(gemma.picture(5))))
    assert set(plan.vision) == pair.weights.seen


@pytest.mark.parametrize("size", [(61, 47), (40, 90), (8, 8), (300, 30), (1000, 700)])
def test_tokens_are_counted_without_the_picture(
    pair: Pair, folder: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = Pictures(pair.config, folder, pair.weights, lambda: None)
    with monkeypatch.context() as without:
        without.setattr("engine.models.vision.pictures.ENCODERS", {})
        counted = pictures.tokens(*size)
    assert counted == len(pictures.ids(gemma.picture(1, *size))) > 0


def test_a_picture_that_would_be_refused_counts_for_nothing(pair: Pair, folder: Path, tmp_path: Path) -> None:
    assert Pictures(pair.config, folder, pair.weights, lambda: None).tokens(30_000, 1) in (0, 50, 72)  # narrow
    (tmp_path / "processor_config.json").write_text('{"image_processor": {"max_soft_tokens": 3}}', encoding="utf-8")
    assert Pictures(pair.config, tmp_path, pair.weights, lambda: None).tokens(60, 40) == 0
    assert NoPictures().tokens(60, 40) == 0


def test_without_eyes_of_ours_nothing_is_kept(pair: Pair) -> None:
    text = pair.config["text_config"]
    assert vision_prefixes(pair.config)
    for other in (
        {**pair.config, "vision_config": None},
        {**pair.config, "model_type": "mistral3"},
        {**pair.config, "image_token_id": None, "media_placeholder_token_id": None},
        {**pair.config, "model_type": "gemma4", "text_config": {**text, "hidden_size_per_layer_input": 8}},
        text,
    ):
        assert vision_prefixes(other) == ()


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (gemma, {"max_soft_tokens": 100}),
        (gemma, {"patch_size": 8}),
        (gemma, {"do_normalize": True, "image_mean": [0.5, 0.5, 0.5]}),
        (qwen, {**qwen.PREPARED, "merge_size": 3}),
        (qwen, {**qwen.PREPARED, "image_std": [0.2] * 3}),
        (qwen, {**qwen.PREPARED, "size": {}}),
        (qwen, {}),
        (glm, {**glm.PREPARED, "image_mean": [0.5] * 3}),
        (glm, {**glm.PREPARED, "size": {"longest_edge": 64, "shortest_edge": 64}}),
        (kimi, {}),
        (kimi, {"media_proc_cfg": {**kimi.PREPARED, "patch_size": 8}}),
        (kimi, {"media_proc_cfg": {**kimi.PREPARED, "fixed_output_tokens": 16}}),
    ],
    indirect=["family"],
)
def test_another_preparation_is_refused_with_the_first_picture(
    pair: Pair, said: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(said), encoding="utf-8")
    pictures = seeing(pair, pair.ours, tmp_path)
    with pytest.raises(UnderhillError, match="isn't known") as refused:
        pictures.ids(gemma.picture(1))
    assert refused.value.kind is Kind.UNSUPPORTED_MODEL


@pytest.mark.parametrize("family", [kimi], indirect=True)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"merge_type": "other"}, "merge_type"),
        ({"init_pos_emb_width": 7}, "isn't known"),
        ({"merge_kernel_size": [2]}, "isn't known"),
        ({"mm_projector_type": "mlp"}, "mm_projector_type"),
    ],
)
def test_a_tower_of_another_kind_is_refused_with_the_first_picture(
    pair: Pair, folder: Path, change: dict[str, object], said: str
) -> None:
    config = {**pair.config, "vision_config": {**pair.config["vision_config"], **change}}
    with pytest.raises(UnderhillError, match=said) as refused:
        Pictures(config, folder, pair.weights, lambda: None).ids(gemma.picture(1))
    assert refused.value.kind is Kind.UNSUPPORTED_MODEL


def test_weights_of_another_shape_and_a_stop_are_told(pair: Pair, folder: Path) -> None:
    pictures = seeing(pair, pair.ours, folder)
    ids = own(pictures.ids(gemma.picture(6)))
    config = {**pair.config, "vision_config": {**pair.config["vision_config"], "intermediate_size": 44}}
    other = Pictures(config, folder, pair.weights, lambda: None)
    assert own(other.ids(gemma.picture(6))).tolist() == ids.tolist()
    with pytest.raises(UnderhillError, match=r"disagree: (model|vision_tower)\."):
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
        pictures.rows(own(first))
    assert pictures.ids(gemma.picture(1)) == first
    assert pictures.rows(own(first)).shape[1] == len(own(first))
