"""What a model is good at, as far as its page on a hub says it."""

from __future__ import annotations

import re
from typing import Any

from huggingface_hub.hf_api import ModelInfo

from engine.library.entries import CODE, THINKING, in_order

# Tags of a page, or parts of a repository's name.
_SAID = {
    THINKING: {"thinking", "reasoning", "reasoner"},
    CODE: {"code", "coder", "coding"},
}
_DENIED = re.compile(r"non?[-_](thinking|reasoning)")  # 'Non-Thinking' in a name
_SWITCH = "enable_thinking"  # of the chat templates of many families that think when asked to


def stated_uses(info: ModelInfo) -> tuple[str, ...]:
    """Thinking and code, where tags, name or chat template say so; what nobody says is not in it.

    Whether it reads images is not asked: of that the config decides, see families.vision_prefixes.
    """
    name = _DENIED.sub("", info.id.rpartition("/")[2].lower())
    words = {tag.lower() for tag in info.tags or ()} | set(re.split(r"[-_. ]", name))
    found = {use for use, said in _SAID.items() if words & said}
    if any(_SWITCH in template for template in _templates(info)):
        found.add(THINKING)
    return in_order(found)


def _templates(info: ModelInfo) -> list[str]:
    """Chat templates, from wherever a hub puts them."""
    config: dict[str, Any] = info.config if isinstance(info.config, dict) else {}
    header: dict[str, Any] = info.gguf if isinstance(info.gguf, dict) else {}
    tokenizer = config.get("tokenizer_config")
    inner = tokenizer.get("chat_template") if isinstance(tokenizer, dict) else None
    found = (config.get("chat_template_jinja"), inner, header.get("chat_template"))
    return [template for template in found if isinstance(template, str)]
