"""The shape of the built-in model and the special tokens of its tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

END_OF_TEXT = "<|endoftext|>"  # id 0: separates documents, pads
TURN_START = "<|im_start|>"  # id 1
TURN_END = "<|im_end|>"  # id 2: ends an answer

# ChatML. No default system message: the model is too small to make use of one.
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@dataclass(frozen=True)
class Shape:
    """Widths in multiples of 64, so that the quantized kernels of real models are exercised unchanged."""

    vocab: int = 4096
    hidden: int = 256
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    experts: int = 28
    top_k: int = 4
    width: int = 128  # inner width of one expert
    theta: float = 10000.0  # rotary base
    eps: float = 1e-6
    context: int = 2048  # positions the checkpoint declares
