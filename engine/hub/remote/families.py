"""Which kinds of model can be opened, by the name their config gives: what a search keeps."""

from __future__ import annotations

from engine.hub.layouts import FAMILIES

# Families without a file of our own, which the compatibility backend opens: those that docs/model-families.md lists so.
COMPATIBLE = frozenset(
    """
    aria aria_text axk1 axk2 bailing_hybrid beam cohere2_moe
    dots3_note dots3_note_text flint glm4v_moe glm5_next granitemoe_swa
    hy_v4 inkling2 inkling2_text inkling_mm_model inkling_text jamba
    kolibri1 laguna mellum minimax minimax_m3_vl_text
    mistral_large4 muse_spark qwen3_omni_moe_thinker qwen3_vl_moe qwen4_exp
    qwen4_exp_text zaya
    """.split()
)


def opens(model_type: str) -> bool:
    """Whether models of this type can be opened, as far as the type alone says it."""
    return model_type in FAMILIES or model_type in COMPATIBLE
