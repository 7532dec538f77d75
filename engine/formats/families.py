"""The families of models that are known: how each names its experts in a checkpoint; what is refused, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

PARTS = ("gate", "up", "down")


@dataclass(frozen=True, kw_only=True)
class ExpertNames:
    """How a family names its experts. module: path below ``layers.{i}.``; single: names of one expert's matrices.

    gate_up, down: names of tensors that hold all experts; gate and up are the two halves of the rows of an expert, or
    of its columns when `transposed`: matrices are [in, out]. either_way: they may be, which the shapes tell.
    interleaved: gate and up are every other row or column instead.
    bias: there are biases. gated: else `gate_up` is up alone. counted: key of the config that says how many of them are
    experts; what lies beyond is none. stacked: `single` names tensors that hold that matrix of all experts.
    """

    module: str = "mlp.experts"
    single: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")
    gate_up: str = "gate_up_proj"
    down: str = "down_proj"
    transposed: bool = False
    either_way: bool = False
    interleaved: bool = False
    bias: bool = False
    gated: bool = True
    counted: str = ""
    stacked: bool = False


_MLP = ExpertNames()
_MIXTRAL = ExpertNames(module="block_sparse_moe.experts", single=("w1", "w3", "w2"))
_NEMOTRON = ExpertNames(module="mixer.experts", single=("", "up_proj", "down_proj"), gate_up="up_proj", gated=False)
_STEP = ExpertNames(module="moe", stacked=True)
_LLAMA4 = ExpertNames(module="feed_forward.experts", transposed=True)
_GRANITE = ExpertNames(module="block_sparse_moe", gate_up="input_linear.weight", down="output_linear.weight")

FAMILIES: dict[str, ExpertNames] = {
    "afmoe": _MLP,
    "bailing_moe": _MLP,
    "bailing_moe_v2": _MLP,
    "deepseek_v2": _MLP,
    "deepseek_v3": _MLP,
    "deepseek_v32": _MLP,
    "deepseek_v4": ExpertNames(module="ffn.experts", single=("w1", "w3", "w2")),
    "dots1": _MLP,
    "ernie4_5_moe": _MLP,
    "exaone_moe": _MLP,
    "flex_olmo": _MLP,
    "gemma4": ExpertNames(module="experts"),
    "gemma4_text": ExpertNames(module="experts"),
    "glm4_moe": _MLP,
    "glm4_moe_lite": _MLP,
    "glm4v_moe": _MLP,
    "glm_moe_dsa": _MLP,
    "gpt_oss": ExpertNames(transposed=True, interleaved=True, bias=True),
    "granitemoe": _GRANITE,
    "granitemoehybrid": _GRANITE,
    "granitemoeshared": _GRANITE,
    "hunyuan_v1_moe": _MLP,
    "hy_v3": _MLP,
    "kimi_k2": _MLP,
    "kimi_k25": _MLP,
    "kimi_linear": _MIXTRAL,
    "lfm2_moe": ExpertNames(module="feed_forward.experts", single=("w1", "w3", "w2")),
    "llama4": _LLAMA4,
    "llama4_text": _LLAMA4,
    "longcat_flash": ExpertNames(counted="n_routed_experts"),
    "mimo_v2_flash": _MLP,
    "minimax_m2": _MIXTRAL,
    "minimax_m3_vl": _MIXTRAL,
    "mistral3": _MLP,
    "mistral4": _MLP,
    "mixtral": _MIXTRAL,
    "nemotron_h": _NEMOTRON,
    "olmoe": _MLP,
    "phimoe": _MIXTRAL,
    "qwen2_moe": _MLP,
    "qwen3_5_moe": _MLP,
    "qwen3_5_moe_text": _MLP,
    "qwen3_moe": _MLP,
    "qwen3_next": _MLP,
    "qwen3_vl_moe": ExpertNames(either_way=True),
    "solar_open": _MLP,
    "step3p5": _STEP,
    "step3p7": _STEP,
}

# Families without a file of our own, which the compatibility backend opens: those that docs/model-families.md lists so.
COMPATIBLE = frozenset(
    """
    aria aria_text axk1 axk2 bailing_hybrid beam cohere2_moe
    dots3_note dots3_note_text flint glm5_next granitemoe_swa
    hy_v4 inkling2 inkling2_text inkling_mm_model inkling_text jamba
    kolibri1 laguna mellum minimax minimax_m3_vl_text
    mistral_large4 muse_spark qwen3_omni_moe_thinker qwen4_exp
    qwen4_exp_text zaya
    """.split()
)

EXPERT_COUNT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")  # what configs call it
_KEPT = (None, "fp8", "mxfp4")  # quantizations whose weights are read as they lie, with scales beside them


def opens(model_type: str) -> bool:
    """Whether models of this type can be opened, as far as the type alone says it."""
    return model_type in FAMILIES or model_type in COMPATIBLE


def counts_experts(config: Mapping[str, Any]) -> bool:
    """Whether a config speaks of routed experts."""
    return any(text_config(config).get(key) for key in EXPERT_COUNT_KEYS)


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language model's part of a config that may hold others beside it."""
    inner = config.get("text_config")
    return inner if isinstance(inner, Mapping) else config


# What a model sees with, in families whose vision tower Underhill runs: the beginnings of its tensors' names.
_VISION = {
    "gemma4": ("model.vision_tower.", "model.embed_vision."),
    "glm4v_moe": ("model.visual.",),
    "kimi_k25": ("vision_tower.", "mm_projector."),
    "qwen3_5_moe": ("model.visual.",),
    "qwen3_vl_moe": ("model.visual.",),
}


def image_token(config: Mapping[str, Any]) -> int | None:
    """The token that a model's chat template writes for a picture; None where its config names none."""
    found = config.get("image_token_id", config.get("media_placeholder_token_id"))
    return found if type(found) is int and found >= 0 else None


def vision_prefixes(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What the names of the tensors that a model of this config sees with begin with; () where Underhill has none."""
    kind = str(config.get("model_type"))
    if not isinstance(config.get("vision_config"), Mapping) or image_token(config) is None:
        return ()
    # Gemma 4 with inputs of every layer has another input for pictures there; no published one with experts has them.
    if kind == "gemma4" and text_config(config).get("hidden_size_per_layer_input", 256):
        return ()
    return _VISION.get(kind, ())


def misfit(config: Mapping[str, Any]) -> UnderhillError:
    """BROKEN_FILE, of a config.json from which transformers makes no module."""
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg("The config.json of this {config} model does not fit together.", config=config.get("model_type")),
        msg("Download it again; if that does not help, the model needs another version of Underhill."),
    )


def dense_model(kind: str) -> UnderhillError:
    """UNSUPPORTED_MODEL for a model of this kind that has no routed experts."""
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("This {kind} model is dense. Only Mixture-of-Experts models are supported.", kind=kind),
        msg("Choose a Mixture-of-Experts model."),
    )


def check_quantization(config: Mapping[str, Any]) -> None:
    """Of a source that was unpacked already. Raises UnderhillError(UNSUPPORTED_MODEL) where another packing is left."""
    settings = config.get("quantization_config")
    method = settings.get("quant_method") if isinstance(settings, dict) else settings
    if method not in _KEPT:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("This quantization isn't supported ({method}).", method=method),
            msg("Use the original precision, a GGUF, GPTQ or AWQ version."),
        )


@dataclass(frozen=True)
class MtpNames:
    """What a checkpoint calls its layer for multi-token prediction, and what is beside it.

    joint: the projection of a token's embedding and of the hidden state before it; embedding_norm, hidden_norm: of
    these; norm: what the head reads. apart: all of it is under this name, its layers counted from 0; '': its layer
    follows the model's own by its number, with these inside.
    """

    joint: str
    embedding_norm: str
    hidden_norm: str
    norm: str
    apart: str = ""

    @property
    def joining(self) -> tuple[str, ...]:
        """All of these names."""
        return (self.joint, self.embedding_norm, self.hidden_norm, self.norm)

    def layer(self, root: str, number: int) -> str:
        """What the tensors of the layer are under, in a model whose own are under `root`."""
        return f"{self.apart}.layers.0" if self.apart else f"{root}.layers.{number}"

    def place(self, name: str) -> str | None:
        """What a tensor that is apart is called within its layer, or beside it; None: it is no such one, or of a
        further layer."""
        if not self.apart or not name.startswith(f"{self.apart}."):
            return None
        rest = name.removeprefix(f"{self.apart}.").removeprefix("layers.0.")
        return None if rest.startswith("layers.") else rest


_INSIDE = MtpNames("eh_proj", "enorm", "hnorm", "shared_head.norm")
_APART = MtpNames("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", apart="mtp")
# Families whose layers for multi-token prediction Underhill drafts with.
_PREDICTING = {
    "deepseek_v3": _INSIDE, "glm4_moe": _INSIDE, "glm4_moe_lite": _INSIDE,
    "qwen3_5_moe": _APART, "qwen3_5_moe_text": _APART, "qwen3_next": _APART,
}  # fmt: skip
_NOT_SAID = {"qwen3_next": 1}  # of published ones that have one layer, and a config that does not say so


def mtp_names(config: Mapping[str, Any]) -> MtpNames:
    """Of a model that has an `mtp_layer`."""
    return _PREDICTING[str(config["model_type"])]


def mtp_layer(config: Mapping[str, Any]) -> int | None:
    """The number of the layer in a checkpoint that predicts the token after the next; None where none is of use here.

    It follows the model's own. Of several the first is taken, which the others go on from.
    """
    text, kind = text_config(config), str(config.get("model_type"))
    layers = text.get("num_hidden_layers")
    more = text.get("num_nextn_predict_layers", text.get("mtp_num_hidden_layers", _NOT_SAID.get(kind, 0)))
    known = kind in _PREDICTING and type(layers) is int and type(more) is int and more > 0
    return layers if known and not text.get("mtp_use_dedicated_embeddings") else None


def of_mtp(name: str, layers: Iterable[int]) -> bool:
    """Whether this tensor belongs to multi-token prediction, for which layers of these numbers are."""
    return any(f".layers.{layer}." in name or name.startswith(f"{_APART.apart}.") for layer in layers)
