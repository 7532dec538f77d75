"""Small templates of our own for the families: the marks, switches and histories of theirs, not their texts.

What an original template writes beside those (system texts, tools, dates) is left out. The originals themselves are
held against the same declarations by `python -m tests.audit.templates FOLDER`.
"""

# ruff: noqa: E501 (a template is as wide as it is)

from __future__ import annotations

from dataclasses import dataclass

AFTER_USER = "loop.index0 > last.user"  # the rule of most: thoughts live until the next question
ALWAYS = "true"
NEVER = "false"
LAST_ANSWER = "loop.index0 == last.answer"
AFTER_ANSWER = "loop.index0 > last.plain"  # behind the last answer that calls nothing


@dataclass(frozen=True)
class Maker:
    """One model's template, and what has to be found in it. opens: levels ('' for none) at which a prompt leaves the
    model inside a thought. keeps: whether the thought of an earlier turn is in the next prompt; in_loop: that of the
    running one, once a tool has answered."""

    name: str
    family: str
    template: str
    levels: tuple[str, ...] = ()
    usual: str = ""
    opens: tuple[str, ...] = ()
    keeps: bool = False
    in_loop: bool = False
    stops: tuple[str, ...] = ()
    thinks: bool = True


def made(
    user: str, bot: str, end: str, generation: str, *, system: str = "", think: str = "", rule: str = AFTER_USER,
    field: str = "reasoning_content", bare: str = "", before: str = "", content: str = "m.content",
    result: str = "", calls: bool = True,
) -> str:  # fmt: skip
    """A template. user, bot, system: what begins a turn; end: what ends one. think: how a thought r is written, where
    `rule` holds; bare: what stands there instead. generation: Jinja behind the last turn. result: before a tool's words.
    """
    call = "{% for c in m.tool_calls or [] %}[{{ c.function.name }}]{% endfor %}" if calls else ""
    return (
        "{% set last = namespace(user=-1, answer=-1, plain=-1) %}{% for m in messages %}"
        "{% if m.role == 'user' %}{% set last.user = loop.index0 %}{% elif m.role == 'assistant' %}"
        "{% set last.answer = loop.index0 %}{% if not m.tool_calls %}{% set last.plain = loop.index0 %}{% endif %}"
        "{% endif %}{% endfor %}" + before + "{% for m in messages %}"
        "{% if m.role == 'system' %}" + (system or user) + "{{ m.content }}" + end + "{% elif m.role == 'user' %}"
        + user + "{{ m.content }}" + end + "{% elif m.role == 'tool' %}" + (result or user) + "{{ m.content }}" + end
        + "{% else %}" + bot
        + ("{% set r = m." + field + " or '' %}{% if (" + rule + ") and r %}" + think + "{% else %}" + bare + "{% endif %}"
           if think else bare)
        + "{{ " + content + " }}" + call + end + "{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}" + generation + "{% endif %}"
    )  # fmt: skip


def chatml(generation: str, **more: str) -> str:
    """As Qwen and many others."""
    return made("<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_end|>\n", "<|im_start|>assistant\n" + generation,
                system="<|im_start|>system\n", **more)  # fmt: skip


_PAIR = "<think>\n{{ r }}\n</think>\n\n"
_TIGHT = "<think>{{ r }}</think>"
_OFF = "{% if enable_thinking is defined and not enable_thinking %}"
_HERMES = "{# <tool_call> #}"
_FUNCTIONS = "{# <tool_call> <function= #}"
_NEWLINES = {"think": _PAIR}


def _glm(opens: str, off: str, before: str = "") -> str:
    return made("<|user|>", "<|assistant|>", "", f"<|assistant|>{_OFF}{off}{{% else %}}{opens}{{% endif %}}",
                before="[gMASK]<sop>" + before, think=_TIGHT, bare="</think>" if off == "</think>" else "<think></think>",
                result="<|observation|>")  # fmt: skip


def _deepseek(generation: str, mark: str = "", **more: str) -> str:
    return made("<｜User｜>", "<｜Assistant｜>", "{% if m.role == 'assistant' %}<｜end▁of▁sentence｜>{% endif %}",
                "<｜Assistant｜>" + generation, before="<｜begin▁of▁sentence｜>" + mark, **more)  # fmt: skip


def _kimi(generation: str, **more: str) -> str:
    return made("<|im_user|>user<|im_middle|>", "<|im_assistant|>assistant<|im_middle|>", "<|im_end|>",
                "<|im_assistant|>assistant<|im_middle|>" + generation, result="<|im_system|>tool<|im_middle|>",
                **more)  # fmt: skip


def _nemotron(extra: str) -> str:
    return chatml(f"{_OFF}<think></think>{{% else %}}<think>\n{{% endif %}}", think="<think>\n{{ r }}\n</think>\n",
                  bare="<think></think>", before=_FUNCTIONS + "{% if truncate_history_thinking %}{% endif %}" + extra,
                  )  # fmt: skip


def _mistral(before: str = "", content: str = "m.content", **more: str) -> str:
    return made("[INST]", "", "{% if m.role == 'user' %}[/INST]{% elif m.role == 'assistant' %}</s>{% endif %}", "",
                before="<s>" + before, content=content, result="[TOOL_RESULTS]", **more)  # fmt: skip


_PARTS = (
    "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'thinking' %}"
    "[THINK]{{ p['thinking'] }}[/THINK]{% else %}{{ p.text }}{% endif %}{% endfor %}{% endif %}"
)
_V4 = (
    "{% set on = thinking | default(enable_thinking | default(false)) %}{% set drop = drop_thinking | default(true) %}"
    "{% if on and reasoning_effort == 'max' %}Think as far as you can.{% endif %}"
)
_TOOLS = "messages | selectattr('role', 'equalto', 'tool') | list"
_GEMMA_OFF = "{% if not enable_thinking | default(false) %}"
_SOLAR_THINK = "<|begin|>assistant<|think|>{{ r }}<|end|>"
_HY = "{% set effort = reasoning_effort | default('no_think') %}<｜reasoning_mode｜>reasoning_effort:{{ effort }}{# hy_Assistant #}"

MAKERS = (
    Maker("Qwen3-30B-A3B", "qwen-3", chatml(_OFF + "<think>\n\n</think>\n\n{% endif %}", before=_HERMES, **_NEWLINES),
          ("off", "on"), "on", in_loop=True, stops=("<|im_end|>",)),
    Maker("Qwen3-30B-A3B-Thinking-2507", "qwen-3", chatml("<think>\n", before=_HERMES, **_NEWLINES),
          opens=("",), in_loop=True),
    Maker("Qwen3-Next-80B-A3B-Instruct", "qwen-3", chatml("", before=_HERMES), thinks=False),
    Maker("Qwen3-Coder-30B-A3B", "functions", chatml("", before=_FUNCTIONS), thinks=False),
    Maker("Qwen3.5-122B-A10B", "functions",
          chatml(_OFF + "<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}", before=_FUNCTIONS, **_NEWLINES),
          ("off", "on"), "on", ("", "on"), in_loop=True),
    Maker("Qwen3.8", "qwen-3.8",
          chatml(_OFF + "<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}", rule=ALWAYS, before=_FUNCTIONS
                 + "{% if enable_thinking is not defined or enable_thinking %}{% set resolved_reasoning_effort = "
                 "reasoning_effort | default('xhigh') %}Effort {{ resolved_reasoning_effort }}.{% endif %}", **_NEWLINES),
          ("off", "low", "medium", "xhigh"), "xhigh", ("", "low", "medium", "xhigh"), keeps=True, in_loop=True),
    Maker("gpt-oss-120b", "gpt-oss",
          made("<|start|>user<|message|>", "", "<|end|>", "<|start|>assistant", field="thinking", calls=False,
               before="<|start|>system<|message|>Reasoning: {{ reasoning_effort | default('medium') }}<|end|>",
               think="<|start|>assistant<|channel|>analysis<|message|>{{ r }}<|end|>", bare="", rule=AFTER_ANSWER,
               content="'<|start|>assistant<|channel|>final<|message|>' + m.content"),
          ("low", "medium", "high"), "medium", in_loop=True, stops=("<|return|>", "<|call|>")),
    Maker("DeepSeek-R1", "deepseek", _deepseek("<think>\n", content="m.content.split('</think>')[-1]"), opens=("",)),
    Maker("DeepSeek-V3-0324", "deepseek", _deepseek(""), thinks=False, stops=("<｜end▁of▁sentence｜>",)),
    Maker("DeepSeek-V3.1", "deepseek",
          _deepseek("{% if thinking is defined and thinking %}<think>{% else %}</think>{% endif %}", bare="</think>"),
          ("off", "on"), "off", ("on",)),
    Maker("DeepSeek-V3.2", "deepseek-v3.2",
          _deepseek("{% if thinking is defined and thinking %}<think>{% else %}</think>{% endif %}",
                    "{# <｜DSML｜function_calls> #}", think=_TIGHT, bare="</think>"),
          ("off", "on"), "off", ("on",), in_loop=True),
    Maker("DeepSeek-V4-Flash", "deepseek-v4",
          _deepseek("{% if on %}<think>{% else %}</think>{% endif %}", "{# <｜DSML｜tool_calls> #}" + _V4, bare="</think>",
                    think=_TIGHT, rule=f"not drop or {_TOOLS} or {AFTER_USER}"),
          ("off", "high", "max"), "off", ("high", "max"), in_loop=True),
    Maker("GLM-4.5-Air", "glm", _glm("", "\n<think></think>"), ("off", "on"), "on", in_loop=True,
          stops=("<|user|>", "<|observation|>")),
    Maker("GLM-4.7", "glm", _glm("<think>", "</think>"), ("off", "on"), "on", ("", "on"), in_loop=True),
    Maker("GLM-5", "glm-5",
          _glm("<think>", "<think></think>", "{% if enable_thinking is not defined or enable_thinking %}<|system|>"
               "Reasoning Effort: {{ 'High' if reasoning_effort == 'high' else 'Max' }}{% endif %}"),
          ("off", "high", "max"), "max", ("", "high", "max"), in_loop=True),
    Maker("MiniMax-M2.5", "minimax-m2",
          made("]~b]user\n", "]~b]ai\n", "[e~[\n", "]~b]ai\n<think>\n", think=_PAIR, before="]~!b[", result="]~b]tool\n"),
          opens=("",), in_loop=True, stops=("[e~[",)),
    Maker("MiniMax-M3", "minimax-m3",
          made("]~b]user\n", "]~b]ai\n", "[e~[\n", "]~b]ai\n{% if thinking_mode == 'enabled' %}<mm:think>"
               "{% elif thinking_mode == 'disabled' %}</mm:think>{% endif %}", rule=ALWAYS, bare="</mm:think>",
               think="<mm:think>{{ r }}</mm:think>"),
          ("off", "auto", "on"), "auto", ("on",), keeps=True, in_loop=True, stops=("[e~[",)),
    Maker("Kimi-K2-Instruct", "kimi-k2", _kimi(""), thinks=False, stops=("<|im_end|>", "[EOT]")),
    Maker("Kimi-K2-Thinking", "kimi-k2", _kimi("", think=_TIGHT, bare="<think></think>", rule=AFTER_ANSWER),
          in_loop=True),
    Maker("Kimi-K2.5", "kimi-k2",
          _kimi("{% if thinking is defined and not thinking %}<think></think>{% else %}<think>{% endif %}", think=_TIGHT,
                bare="<think></think>", rule=AFTER_ANSWER),
          ("off", "on"), "on", ("", "on"), in_loop=True),
    Maker("Kimi-K3", "kimi-k3",
          made('<|open|>message role="user"<|sep|>', '<|open|>message role="assistant"<|sep|>',
               "<|close|>message<|sep|><|end_of_msg|>", '<|open|>message role="assistant"<|sep|>'
               "{% if thinking is defined and not thinking %}<|open|>response<|sep|>{% else %}<|open|>think<|sep|>{% endif %}",
               think="<|open|>think<|sep|>{{ r }}<|close|>think<|sep|>", rule=AFTER_ANSWER,
               content="'<|open|>response<|sep|>' ~ m.content ~ '<|close|>response<|sep|>'"),
          ("off", "on"), "on", ("", "on"), in_loop=True, stops=("<|end_of_msg|>", "[EOT]")),
    Maker("gemma-4-26B-A4B", "gemma-4",
          made("<|turn>user\n", "<|turn>model\n", "<turn|>\n", f"<|turn>model\n{_GEMMA_OFF}<|channel>thought\n<channel|>"
               "{% endif %}", before="{% if enable_thinking | default(false) %}<|turn>system\n<|think|>\n<turn|>\n"
               "{% endif %}", think="<|channel>thought\n{{ r }}\n<channel|>", rule=AFTER_USER),
          ("off", "on"), "off", in_loop=True, stops=("<turn|>", "<|tool_response>")),
    Maker("Mixtral-8x7B-Instruct", "mistral", _mistral(), thinks=False),
    Maker("Mistral-Small-4", "mistral-reasoning",
          _mistral("{# [THINK] #}[MODEL_SETTINGS]{{ reasoning_effort | default('none') }}[/MODEL_SETTINGS]",
                   "''", bare=_PARTS),
          ("off", "high"), "off", keeps=True, in_loop=True),
    Maker("Mistral-Large-3-Reasoning", "mistral-reasoning", _mistral("{# [THINK] #}", "''", bare=_PARTS), keeps=True,
          in_loop=True),
    Maker("Hunyuan-A13B", "hunyuan",
          made("<|startoftext|>", "", "{% if m.role == 'assistant' %}<|eos|>{% else %}<|extra_0|>{% endif %}",
               _OFF + "<think>\n\n</think>\n{% endif %}"),
          ("off", "on"), "on", stops=("<|eos|>",)),
    Maker("Hy3", "hy3",
          made("<｜hy_User｜>", "<｜hy_Assistant｜>", "{% if m.role == 'assistant' %}<｜hy_eos｜>{% endif %}",
               "<｜hy_Assistant｜>{% if effort == 'no_think' %}<think></think>{% else %}<think>{% endif %}", before=_HY,
               think=_TIGHT, bare="<think></think>"),
          ("off", "low", "high"), "off", ("low", "high"), in_loop=True, stops=("<｜hy_eos｜>",)),
    Maker("ERNIE-4.5-21B-A3B-Thinking", "ernie-thinking",
          made("<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_end|>\n\n", "<|im_start|>assistant\n<think>\n",
               before="{# <global_setting> <tool_call> #}"),
          opens=("",), stops=("<|im_end|>",)),
    Maker("Granite-3.3-MoE", "granite",
          made("<|start_of_role|>user<|end_of_role|>", "<|start_of_role|>assistant<|end_of_role|>", "<|end_of_text|>\n",
               "<|start_of_role|>assistant<|end_of_role|>", before="{% if thinking %}Think, then <response>.{% endif %}"),
          ("off", "on"), "off", stops=("<|end_of_text|>",)),
    Maker("Granite-4.0-H-Small", "granite",
          made("<|start_of_role|>user<|end_of_role|>", "<|start_of_role|>assistant<|end_of_role|>", "<|end_of_text|>\n",
               "<|start_of_role|>assistant<|end_of_role|>"), thinks=False),
    Maker("LFM2-8B-A1B", "lfm2", chatml("", before="{# <|tool_list_start|> #}"), thinks=False),
    Maker("LFM2.5-8B-A1B", "lfm2.5-moe",
          chatml("", think=_TIGHT, field="thinking", rule=f"preserve_thinking or {AFTER_USER}", before="{# message.thinking #}"),
          in_loop=True),
    Maker("LFM2.5-Instruct", "lfm2.5",
          chatml("", content=f"m.content if keep_past_thinking or {LAST_ANSWER} else m.content.split('</think>')[-1]"),
          keeps=True, in_loop=True),
    Maker("Nemotron-3-Nano-30B-A3B", "nemotron-3", _nemotron(""), ("off", "on"), "on", ("", "on"), in_loop=True),
    Maker("Nemotron-3-Super", "nemotron-3", _nemotron("{% if low_effort %}Be brief.{% endif %}"),
          ("off", "low", "on"), "on", ("", "low", "on"), in_loop=True),
    Maker("Solar-Open-100B", "solar-open",
          made("<|begin|>user<|content|>", "", "<|end|>", "{% if reasoning_effort in ['low', 'minimal'] %}"
               "<|begin|>assistant<|think|><|end|>{% endif %}<|begin|>assistant", field="reasoning", think=_SOLAR_THINK,
               content="'<|begin|>assistant<|content|>' + m.content"),
          ("low", "high"), "high", in_loop=True, stops=("<|flush|>", "<|calls|>")),
    Maker("Solar-Open2-250B", "solar-open2",
          chatml("<|think:start|>{% if reasoning_effort | default('high') not in ['medium', 'high', 'xhigh'] %}"
                 "<|think:end|>{% endif %}", think="<|think:start|>{{ r }}<|think:end|>",
                 before="Effort {{ reasoning_effort | default('high') }}."),
          ("off", "medium", "high", "xhigh"), "high", ("", "medium", "high", "xhigh"), in_loop=True),
    Maker("Trinity-Large-Thinking", "qwen-3", chatml("<think>", before=_HERMES, think=_TIGHT, bare="<think></think>",
          rule=ALWAYS), opens=("",), keeps=True, in_loop=True),
    Maker("Ring-flash-2.0", "ling",
          made("<role>HUMAN</role>", "<role>ASSISTANT</role>", "<|role_end|>", "<role>ASSISTANT</role><think>\n"),
          opens=("",), stops=("<|role_end|>",)),
    Maker("Ling-3.0-flash", "ling-3",
          made("<role>HUMAN</role>", "<role>ASSISTANT</role>\n", "<|role_end|>", "<role>ASSISTANT</role>\n"
               "{% if thinking_option == 'off' or enable_thinking is defined and not enable_thinking %}<think></think>"
               "{% else %}<think>{% endif %}", think=_TIGHT, rule=ALWAYS),
          ("off", "on"), "on", ("", "on"), keeps=True, in_loop=True, stops=("<|role_end|>",)),
    Maker("Step-3.5-Flash", "functions", chatml("<think>\n", before=_FUNCTIONS, **_NEWLINES), opens=("",), in_loop=True),
    Maker("LongCat-Flash-Thinking", "longcat",
          made("<longcat_user>", "<longcat_assistant>", "{% if m.role == 'assistant' %}</longcat_s>{% endif %}",
               "<longcat_assistant>{% if enable_thinking | default(false) %}<longcat_think>\n{% endif %}",
               think="<longcat_think>\n{{ r }}\n</longcat_think>\n"),
          ("off", "on"), "off", ("on",), in_loop=True, stops=("</longcat_s>",)),
    Maker("MiMo-V2-Flash", "functions",
          chatml(_OFF + "<think></think>{% endif %}", think=_TIGHT, bare="<think></think>", before=_FUNCTIONS,
                 rule=f"keep_all_reasoning or {AFTER_USER}"),
          ("off", "on"), "on", in_loop=True),
    Maker("K-EXAONE-236B-A23B", "exaone",
          made("<|user|>\n", "<|assistant|>\n", "<|endofturn|>\n", "<|assistant|>\n" + _OFF + "<think>\n\n</think>\n\n"
               "{% else %}<think>\n{% endif %}", before=_HERMES, think=_PAIR),
          ("off", "on"), "on", ("", "on"), in_loop=True, stops=("<|endofturn|>",)),
    Maker("Seed-OSS", "seed-oss",
          made("<seed:bos>user\n", "<seed:bos>assistant\n", "<seed:eos>", "<seed:bos>assistant\n"
               "{% if thinking_budget == 0 %}<seed:think></seed:think>{% endif %}", rule=ALWAYS,
               before="{% if thinking_budget is defined and thinking_budget > 0 %}Budget {{ thinking_budget }}.{% endif %}",
               think="<seed:think>{{ r }}</seed:think>"),
          ("off", "low", "medium", "on"), "on", keeps=True, in_loop=True, stops=("<seed:eos>",)),
    Maker("Command-A-MoE", "command-a",
          made("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
               "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>"
               "{% if reasoning is defined and not reasoning %}<|END_THINKING|>{% endif %}",
               think="<|START_THINKING|>{{ r }}<|END_THINKING|>"),
          ("off", "on"), "on", ("", "on"), in_loop=True, stops=("<|END_OF_TURN_TOKEN|>",)),
    Maker("Llama-4-Scout", "llama-4",
          made("<|header_start|>user<|header_end|>\n\n", "<|header_start|>assistant<|header_end|>\n\n", "<|eot|>",
               "<|header_start|>assistant<|header_end|>\n\n"), thinks=False, stops=("<|eot|>", "<|eom|>")),
    Maker("Jamba-1.6-Mini", "jamba",
          made("<|bom|><|user|> ", "<|bom|><|assistant|> ", "<|eom|>", "<|bom|><|assistant|>"), thinks=False,
          stops=("<|eom|>",)),
    Maker("dots1", "dots",
          made("<|userprompt|>", "<|response|>", "<|endofresponse|>", "<|response|>"), thinks=False,
          stops=("<|endofresponse|>",)),
    Maker("Phi-3.5-MoE", "generic",
          made("<|user|>\n", "<|assistant|>\n", "<|end|>\n", "<|assistant|>\n"), thinks=False, stops=("<|end|>",)),
    Maker("OLMoE", "generic", made("<|user|>\n", "<|assistant|>\n", "\n", "<|assistant|>\n"), thinks=False),
)  # fmt: skip
BY_NAME = {maker.name: maker for maker in MAKERS}
