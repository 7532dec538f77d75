"""The families, one declaration each, and what holds for a model of none of them.

Marks, ends, switches and histories are those of the families' own chat templates and of the parsers of vLLM, SGLang and
llama.cpp; `python -m tests.audit.templates FOLDER` holds them against the original templates. Order matters where
the signs of one family are among those of another: the first that fits is taken.
"""

from __future__ import annotations

from engine.generation.formats.declaration import (
    IN_CONTENT,
    NOWHERE,
    PARTS,
    REASONING,
    REASONING_CONTENT,
    THINKING,
    Calls,
    Declaration,
    Switch,
    level,
)

ON_OFF = Switch(
    (
        level("off", enable_thinking=False, thinking=False, thinking_option="off"),
        level("on", enable_thinking=True, thinking=True, thinking_option="on"),
    ),
    "on",
)
THREE = Switch(tuple(level(name, reasoning_effort=name) for name in ("low", "medium", "high")), "medium")
_THINK = ("<think>", "</think>")
_JSON = Calls("<tool_call>", "</tool_call>", "json")
_FUNCTION = Calls("<tool_call>", "</tool_call>", "function")
_BARE_FUNCTION = Calls("<function=", "</function>", "function", whole=True)
_KEYS = Calls("<tool_call>", "</tool_call>", "keys")
_LIST = Calls("<tool_calls>", "</tool_calls>", "json")
_PYTHON = Calls("<|tool_call_start|>", "<|tool_call_end|>", "python")
_BARE_PYTHON = Calls("[", "]", "python", whole=True, bare=True)
_CHATML = ("<|im_end|>",)
_DEEPSEEK_ENDS = ("<｜end▁of▁sentence｜>",)
_GLM_ENDS = ("<|user|>", "<|observation|>", "<|endoftext|>")

DEEPSEEK = (  # V3.2 and V4 without tools; their thoughts live until the next question
    "{# ｜DSML｜ #}{% set on = thinking | default(false) %}{% set last = namespace(user=-1) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set last.user = loop.index0 %}{% endif %}{% endfor %}"
    "<｜begin▁of▁sentence｜>{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}"
    "{% elif m.role == 'user' %}<｜User｜>{{ m.content }}{% elif m.role == 'assistant' %}<｜Assistant｜>"
    "{% if m.reasoning_content and loop.index0 > last.user %}<think>{{ m.reasoning_content }}{% endif %}</think>"
    "{{ m.content }}<｜end▁of▁sentence｜>{% else %}{{ raise_exception('no role ' ~ m.role) }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<｜Assistant｜>{{ '<think>' if on else '</think>' }}{% endif %}"
)

FAMILIES = (
    Declaration(
        name="gpt-oss",
        template=("<|channel|>", "<|message|>", "<|start|>"),
        thoughts=(),
        ends=("<|return|>", "<|call|>"),
        lasting=("<|end|>",),
        header=(("<|start|>", "<|channel|>"), "<|message|>"),
        silent=("<|end|>", "<|constrain|>"),
        history=THINKING,
        switches=(THREE,),
        again=(
            "<|channel|>analysis<|message|>",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
            "<|channel|>final<|message|>",
        ),
    ),
    Declaration(
        name="solar-open",
        template=("<|think|>", "<|content|>", "<|begin|>"),
        thoughts=(("<|think|>", "<|end|>"),),
        silent=("<|begin|>assistant", "<|content|>", "<|end|>"),
        ends=("<|flush|>", "<|calls|>", "<|endoftext|>"),
        again=("<|think|>", "<|end|><|begin|>assistant<|content|>", "<|content|>"),
        lasting=("<|end|>",),
        history=REASONING,
        calls=(Calls("<|tool_calls|>", "<|calls|>", "solar"),),
        switches=(Switch((level("low", reasoning_effort="low"), level("high", reasoning_effort="high")), "high"),),
    ),
    Declaration(
        name="solar-open2",
        template=("<|think:start|>",),
        thoughts=(("<|think:start|>", "<|think:end|>"),),
        calls=(Calls("<|tool_call:start|>", "<|tool_call:end|>", "solar2"),),
        ends=("<|im_end|>", "<|endoftext|>"),
        switches=(
            Switch(
                (
                    level("off", reasoning_effort="none"),
                    *(level(name, reasoning_effort=name) for name in ("medium", "high", "xhigh")),
                ),
                "high",
            ),
        ),
    ),
    Declaration(
        name="minimax-m3",
        template=("mm:think>",),
        thoughts=(("<mm:think>", "</mm:think>"),),
        ends=("[e~[",),
        calls=(
            Calls("]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>", "elements"),
            Calls("<minimax:tool_call>", "</minimax:tool_call>", "invoke"),
        ),
        switches=(
            Switch(
                (
                    level("off", thinking_mode="disabled"),
                    level("auto", thinking_mode="adaptive"),
                    level("on", thinking_mode="enabled"),
                ),
                "on",
            ),
        ),
    ),
    Declaration(
        name="minimax-m2",
        template=("]~b]ai",),
        ends=("[e~[",),
        history=REASONING_CONTENT,
        switches=(ON_OFF,),
        calls=(Calls("<minimax:tool_call>", "</minimax:tool_call>", "invoke"),),
    ),
    Declaration(name="minimax-m1", template=("<beginning_of_sentence>",), ends=("<end_of_sentence>",), calls=(_LIST,)),
    Declaration(
        name="gemma-4",
        template=("<|channel>",),
        thoughts=(("<|channel>thought", "<channel|>"),),
        history=REASONING_CONTENT,
        ends=("<turn|>", "<|tool_response>"),
        calls=(Calls("<|tool_call>", "<tool_call|>", "gemma"),),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="mistral-reasoning",
        template=("[INST]", "[THINK]"),
        thoughts=(("[THINK]", "[/THINK]"),),
        history=PARTS,
        calls=(Calls("[TOOL_CALLS]", "", "mistral"),),
        switches=(Switch((level("off", reasoning_effort="none"), level("high", reasoning_effort="high")), "high"),),
    ),
    Declaration(
        name="mistral",
        template=("[INST]",),
        thoughts=(("[THINK]", "[/THINK]"), _THINK),
        calls=(Calls("[TOOL_CALLS]", "", "mistral"),),
    ),
    Declaration(
        name="hunyuan",
        template=("<|extra_0|>",),
        answer=(("<answer>", "</answer>"),),
        ends=("<|eos|>",),
        calls=(_LIST,),
        lasting=("<|extra_0|>", "<|extra_4|>"),
        history=NOWHERE,
        switches=(ON_OFF,),
        again=("<think>\n", "\n</think>\n<answer>\n", "<answer>\n"),
    ),
    Declaration(
        name="hy3",
        template=("hy_Assistant",),
        ends=("<｜hy_eos｜>",),
        history=REASONING_CONTENT,
        calls=(Calls("<tool_calls>", "</tool_calls>", "keys"), _KEYS),
        switches=(
            Switch(
                (
                    level("off", reasoning_effort="no_think"),
                    level("low", reasoning_effort="low"),
                    level("high", reasoning_effort="high"),
                ),
                "high",
            ),
        ),
    ),
    Declaration(
        name="ernie-thinking",
        template=("<global_setting>",),
        answer=(("<response>", "</response>"),),
        ends=_CHATML,
        calls=(_JSON,),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="granite",
        template=("<|start_of_role|>",),
        answer=(("<response>", "</response>"),),
        ends=("<|end_of_text|>",),
        calls=(Calls("<|tool_call|>", "", "json"), _JSON),
        history=NOWHERE,
        switches=(ON_OFF,),
    ),
    Declaration(
        name="deepseek-v4",
        template=("｜DSML｜", "drop_thinking"),
        ends=_DEEPSEEK_ENDS,
        history=REASONING_CONTENT,
        calls=(
            Calls("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", "invoke"),
            Calls("<｜DSML｜ calls>", "</｜DSML｜ calls>", "invoke"),
        ),
        switches=(
            Switch(
                (
                    level("off", thinking=False, enable_thinking=False),
                    level("high", thinking=True, enable_thinking=True, reasoning_effort="high"),
                    level("max", thinking=True, enable_thinking=True, reasoning_effort="max"),
                ),
                "high",
            ),
        ),
    ),
    Declaration(
        name="deepseek-v3.2",
        template=("｜DSML｜",),
        ends=_DEEPSEEK_ENDS,
        history=REASONING_CONTENT,
        switches=(ON_OFF,),
        own=DEEPSEEK,
        vocabulary=("<｜User｜>", "<｜Assistant｜>", "｜DSML｜"),
        calls=(
            Calls("<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "invoke"),
            Calls("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", "invoke"),
        ),
    ),
    Declaration(
        name="deepseek",
        template=("<｜Assistant｜>",),
        ends=_DEEPSEEK_ENDS,
        history=NOWHERE,
        switches=(ON_OFF,),
        arguments_as_text=True,
        calls=(Calls("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "deepseek"),),
    ),
    Declaration(
        name="kimi-k3",
        template=("<|open|>", "<|sep|>"),
        thoughts=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        answer=(("<|open|>response<|sep|>", "<|close|>response<|sep|>"),),
        silent=("<|close|>response<|sep|>", "<|close|>message<|sep|>"),
        ends=("<|end_of_msg|>", "[EOS]", "[EOT]"),
        calls=(Calls("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", "kimi3"),),
        switches=(ON_OFF,),
        again=("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>", "<|open|>response<|sep|>"),
    ),
    Declaration(
        name="kimi-k2",
        template=("<|im_middle|>",),
        ends=("<|im_end|>", "[EOS]", "[EOT]"),
        switches=(ON_OFF,),
        calls=(
            Calls("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "kimi"),
            Calls("<|tool_call_begin|>", "<|tool_call_end|>", "kimi", whole=True),
        ),
    ),
    Declaration(
        name="glm-5",
        template=("[gMASK]<sop>", "Reasoning Effort"),
        ends=_GLM_ENDS,
        history=REASONING_CONTENT,
        calls=(_KEYS,),
        switches=(
            Switch(
                (
                    level("off", enable_thinking=False),
                    level("high", enable_thinking=True, reasoning_effort="high"),
                    level("max", enable_thinking=True, reasoning_effort="max"),
                ),
                "max",
            ),
        ),
    ),
    Declaration(
        name="glm",
        template=("[gMASK]<sop>",),
        silent=("<|begin_of_box|>", "<|end_of_box|>"),  # around the result in answers of GLM-4.5V and 4.6V
        ends=_GLM_ENDS,
        calls=(_KEYS,),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="lfm2.5",
        template=("keep_past_thinking",),
        ends=_CHATML,
        history=IN_CONTENT,
        calls=(_PYTHON, _BARE_PYTHON),
    ),
    Declaration(
        name="lfm2.5-moe",
        template=("<|im_start|>", "message.thinking", "preserve_thinking"),
        ends=_CHATML,
        history=THINKING,
        calls=(_PYTHON, _BARE_PYTHON),
    ),
    Declaration(
        name="lfm2",
        template=("<|tool_list_start|>",),
        ends=_CHATML,
        calls=(_PYTHON,),
    ),
    Declaration(
        name="nemotron-3",
        template=("truncate_history_thinking",),
        ends=_CHATML,
        history=REASONING_CONTENT,
        calls=(_FUNCTION, _BARE_FUNCTION),
        switches=(
            Switch(
                (
                    level("off", enable_thinking=False),
                    level("low", enable_thinking=True, low_effort=True),
                    level("medium", enable_thinking=True, medium_effort=True),
                    level("on", enable_thinking=True),
                ),
                "on",
            ),
        ),
    ),
    Declaration(
        name="ling-3",
        template=("thinking_option",),
        ends=("<|role_end|>",),
        spelled_ends=("<|role_end|>",),
        calls=(_KEYS,),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="ling",
        template=("<role>",),
        ends=("<|role_end|>",),
        spelled_ends=("<|role_end|>",),
        calls=(_JSON, _KEYS),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="longcat",
        template=("longcat_",),
        thoughts=(("<longcat_think>", "</longcat_think>"),),
        ends=("</longcat_s>",),
        calls=(Calls("<longcat_tool_call>", "</longcat_tool_call>", "keys"),),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="seed-oss",
        template=("<seed:think>",),
        thoughts=(("<seed:think>", "</seed:think>"),),
        ends=("<seed:eos>",),
        calls=(Calls("<seed:tool_call>", "</seed:tool_call>", "function"),),
        switches=(
            Switch(
                (
                    level("off", thinking_budget=0),
                    level("low", thinking_budget=512),
                    level("medium", thinking_budget=4096),
                    level("on", thinking_budget=-1),
                ),
                "on",
            ),
        ),
    ),
    Declaration(
        name="command-a",
        template=("<|START_THINKING|>",),
        thoughts=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        answer=(("<|START_TEXT|>", "<|END_TEXT|>"), ("<|START_RESPONSE|>", "<|END_RESPONSE|>")),
        calls=(Calls("<|START_ACTION|>", "<|END_ACTION|>", "json"),),
        ends=("<|END_OF_TURN_TOKEN|>",),
        switches=(Switch((level("off", reasoning=False), level("on", reasoning=True)), "on"), ON_OFF),
    ),
    Declaration(
        name="exaone",
        template=("endofturn|",),
        ends=("<|endofturn|>", "[|endofturn|]"),
        calls=(_JSON,),
        switches=(ON_OFF,),
    ),
    Declaration(
        name="llama-4",
        template=("<|header_start|>",),
        ends=("<|eot|>", "<|eom|>"),
        calls=(Calls("<|python_start|>", "<|python_end|>", "python"),),
    ),
    Declaration(name="jamba", template=("<|bom|>",), ends=("<|eom|>",), calls=(_LIST,)),
    Declaration(name="dots", template=("<|userprompt|>",), ends=("<|endofresponse|>",), silent=("<|response|>",)),
    Declaration(
        name="qwen-3.8",
        template=("<function=", "resolved_reasoning_effort"),
        ends=("<|im_end|>", "<|endoftext|>"),
        history=REASONING_CONTENT,
        calls=(_FUNCTION, _BARE_FUNCTION),
        switches=(
            Switch(
                (
                    level("off", enable_thinking=False),
                    *(level(name, enable_thinking=True, reasoning_effort=name) for name in ("low", "medium", "xhigh")),
                ),
                "xhigh",
            ),
        ),
    ),
    Declaration(
        name="functions",
        template=("<function=", "<tool_call>"),
        ends=("<|im_end|>", "<|endoftext|>"),
        calls=(_FUNCTION, _BARE_FUNCTION),
        switches=(ON_OFF, THREE),
    ),
    Declaration(
        name="qwen-3",
        template=("<|im_start|>", "<tool_call>"),
        ends=("<|im_end|>", "<|endoftext|>"),
        calls=(_JSON,),
        switches=(ON_OFF, THREE),
    ),
)

GENERIC = Declaration(
    name="generic", thoughts=(_THINK, ("[THINK]", "[/THINK]"), ("<|START_THINKING|>", "<|END_THINKING|>")),
    calls=(Calls("<tool_call>", "</tool_call>", "any"), _LIST),
    ends=("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<turn|>", "<|return|>", "<|eom_id|>"),
    switches=(ON_OFF, THREE),
)  # fmt: skip
