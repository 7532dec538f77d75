"""Tool calls of every family: recognised where they come, inside a thought as well, and read into their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.generation.formats import calls
from engine.generation.formats.reader import FRESH, HEADER, THOUGHT, Reader
from engine.generation.messages import ToolCall
from engine.generation.turns import parted
from tests.engine.generation.makers import BY_NAME
from tests.engine.generation.mouths import heard, model

PARIS = {"city": "Paris"}
MM = "]<]minimax[>["
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "Qwen3-30B-A3B": ('<tool_call>\n{"name": "weather", "arguments": {"city": "Paris", "days": 2}}\n</tool_call>',
                      {"city": "Paris", "days": 2}),
    "Qwen3-Coder-30B-A3B": ("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n"
                            "</tool_call>", PARIS),
    "Nemotron-3-Super": ("<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n"
                         "</tool_call>", PARIS),
    "gpt-oss-120b": ('<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>'
                     '{"city": "Paris"}', PARIS),
    "DeepSeek-V3-0324": ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"
                         '{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>', PARIS),
    "DeepSeek-V3.1": ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Paris"}'
                      "<｜tool▁call▁end｜><｜tool▁calls▁end｜>", PARIS),
    "DeepSeek-V3.2": ('\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" '
                      'string="true">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2'
                      "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
                      {"city": "Paris", "days": 2}),
    "DeepSeek-V4-Flash": ('\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" '
                          'string="true">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>', PARIS),
    "GLM-4.5-Air": ("<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>", PARIS),
    "GLM-4.7": ("<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>", PARIS),
    "MiniMax-M2.5": ('\n<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Paris</parameter>\n'
                     "</invoke>\n</minimax:tool_call>", PARIS),
    "MiniMax-M3": (f'{MM}<tool_call>\n{MM}<invoke name="weather">\n{MM}<city>Paris{MM}</city>\n{MM}</invoke>\n'
                   f"{MM}</tool_call>", PARIS),
    "Kimi-K2-Thinking": ("<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
                         '<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
                         PARIS),
    "Kimi-K2-Instruct": ('<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city": "Paris"}'
                         "<|tool_call_end|>", PARIS),
    "Kimi-K3": ('<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|open|>argument key="city" '
                'type="string"<|sep|>Paris<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>2'
                "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>", {"city": "Paris", "days": 2}),
    "gemma-4-26B-A4B": ('<|tool_call>call:weather{city:<|"|>Paris, {x:1}<|"|>,days:2,deep:{a:[1,true]}}<tool_call|>',
                        {"city": "Paris, {x:1}", "days": 2, "deep": {"a": [1, True]}}),
    "Mistral-Small-4": ('[TOOL_CALLS]weather[ARGS]{"city": "Paris"}', PARIS),
    "Mixtral-8x7B-Instruct": ('[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Paris"}, "id": "123456789"}]',
                              PARIS),
    "Hunyuan-A13B": ('<tool_calls>[{"name": "weather", "arguments": {"city": "Paris"}}]</tool_calls>', PARIS),
    "Hy3": ("<tool_calls>\n<tool_call>weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
            "</tool_call>\n</tool_calls>", PARIS),
    "ERNIE-4.5-21B-A3B-Thinking": ('<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>',
                                   PARIS),
    "Granite-3.3-MoE": ('<|tool_call|>[{"name": "weather", "arguments": {"city": "Paris"}}]', PARIS),
    "LFM2-8B-A1B": ("<|tool_call_start|>[weather(city='Paris', days=2)]<|tool_call_end|>",
                    {"city": "Paris", "days": 2}),
    "Solar-Open-100B": ("<|tool_calls|><|tool_call:begin|>abcdefghij<|tool_call:name|>weather<|tool_call:args|>"
                        '{"city": "Paris"}<|tool_call:end|>', PARIS),
    "Solar-Open2-250B": ("<|tool_call:start|>weather\n<|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>\n"
                         "<|tool_call:end|>", PARIS),
    "Ling-3.0-flash": ("<tool_call>weather<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>", PARIS),
    "LongCat-Flash-Thinking": ("<longcat_tool_call>weather<longcat_arg_key>city</longcat_arg_key>\n<longcat_arg_value>"
                               "Paris</longcat_arg_value></longcat_tool_call>", PARIS),
    "Seed-OSS": ("<seed:tool_call>\n<function=weather>\n<parameter=city>Paris</parameter>\n</function>\n"
                 "</seed:tool_call>", PARIS),
    "Command-A-MoE": ('<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Paris"}}]'
                      "<|END_ACTION|>", PARIS),
    "Llama-4-Scout": ('<|python_start|>[weather(city="Paris")]<|python_end|>', PARIS),
    "Jamba-1.6-Mini": ('<tool_calls>[{"name": "weather", "arguments": {"city": "Paris"}}]</tool_calls>', PARIS),
    "OLMoE": ('<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>', PARIS),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_read_and_shown_as_one(name: str, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME[name].template)
    raw, arguments = CALLS[name]
    shown, reader, _ = heard(chat, f"I look.{raw}", FRESH)
    assert [(c.name, c.arguments) for c in reader.calls] == [("weather", arguments)]
    assert shown.startswith("I look.\n\n``````tool_call\n{")
    turn = parted(shown)
    assert (turn.answer, turn.calls) == ("I look.", tuple(reader.calls))


@pytest.mark.parametrize("name", [n for n in CALLS if BY_NAME[n].thinks])
def test_a_call_inside_a_thought_ends_it(name: str, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME[name].template)
    raw, _ = CALLS[name]
    if name == "gpt-oss-120b":
        shown, reader, _ = heard(chat, "<|channel|>analysis<|message|>I need it.<|end|>" + raw, HEADER)
    else:
        shown, reader, _ = heard(chat, f"I need it.{raw}", THOUGHT)
    assert shown.startswith("<think>\nI need it.\n</think>\n\n``````tool_call\n{")
    assert len(reader.calls) == 1
    assert reader.seconds > 0


BARE = "[weather(city='Paris [FR]', days=[1, 2]), clock()]"


@pytest.mark.parametrize("name", ["LFM2.5-8B-A1B", "LFM2.5-Instruct"])
@pytest.mark.parametrize("before", ["", "<think>\nI need it.\n</think>\n\n"], ids=["at once", "after a thought"])
def test_a_call_without_marks_is_one_where_an_answer_begins_with_it(name: str, before: str, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME[name].template)
    shown, reader, _ = heard(chat, before + BARE, FRESH)
    wanted = [("weather", {"city": "Paris [FR]", "days": [1, 2]}), ("clock", {})]
    assert [(c.name, c.arguments) for c in reader.calls] == wanted
    assert parted(shown).calls == tuple(reader.calls)
    assert (parted(shown).answer, parted(shown).thought) == ("", "I need it." if before else "")
    shown, reader, _ = heard(chat, f"{before}{BARE}\nI look.", FRESH)
    assert len(reader.calls) == 2
    assert parted(shown).answer == "I look."


@pytest.mark.parametrize(
    "answer",
    [
        "[a link](https://example.org) and more", "[1, 2, 3]", "[f(1)] is a list", "[", "[f", "[f(x=1",
        "[f(x) for x in y]", "[see f(page 3)] there", "Call [f(x=1)]", "[f(x=1)",
        "- [ ] to do\n- [x] done", "[f(x=1), 2]",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_call_is_the_answer(answer: str, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME["LFM2.5-8B-A1B"].template)
    shown, reader, tokens = heard(chat, answer, FRESH)
    assert (shown, reader.calls) == (answer, [])
    shown, reader, _ = heard(chat, f"<think>\nSo.\n</think>\n\n{answer}", FRESH)
    assert (parted(shown).answer, parted(shown).thought, reader.calls) == (answer, "So.", [])
    assert tokens


def test_an_answer_in_brackets_streams_as_soon_as_it_cannot_be_a_call(tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME["LFM2.5-8B-A1B"].template)
    reader = Reader(chat.tokenizer, chat.speech)
    assert "".join(map(reader.add, chat.encode("[1, 2] and so"))).startswith("[1, 2]")


def test_several_calls_and_text_between_them(tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME["Qwen3-30B-A3B"].template)
    one = '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>'
    shown, reader, _ = heard(chat, f"{one}\n{one}\nand{one.replace('a', 'b', 1)}", FRESH)
    assert [c.name for c in reader.calls][:2] == ["a", "a"]
    assert parted(shown).answer.strip() == "and" or "and" in parted(shown).answer


@pytest.mark.parametrize("raw", ["<tool_call>\n{broken</tool_call>", "<tool_call>\n[1, 2]</tool_call>", "<tool_call>{"])
def test_a_call_that_cannot_be_read_is_shown_as_it_was_written(raw: str, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", BY_NAME["Qwen3-30B-A3B"].template)
    shown, reader, _ = heard(chat, raw, FRESH)
    assert not reader.calls
    assert shown.startswith("``````tool_call\n")
    inside = raw.replace("<tool_call>", "").replace("</tool_call>", "").strip()
    assert inside in shown
    assert parted(shown) == type(parted(shown))("", shown)


def test_deepseeks_older_templates_are_given_arguments_as_text(tmp_path: Path) -> None:
    from engine.generation.messages import Message
    from engine.generation.turns import written

    template = (
        "{% for m in messages %}{% if m.tool_calls %}<｜Assistant｜>"
        "{% for c in m.tool_calls %}{{ c.function.name + c.function.arguments }}{% endfor %}"
        "{% else %}{{ m.role + m.content }}{% endif %}{% endfor %}"
    )
    chat = model(tmp_path / "m", template)
    asked = [Message("user", "Weather?"), Message("assistant", written(ToolCall("weather", {"city": "Paris"}, "a1")))]
    prompt = chat.prompt([*asked, Message("tool", "Rain.", (), "a1")])
    assert '<｜Assistant｜>weather{"city": "Paris"}toolRain.' in chat.tokenizer.decode(list(prompt.ids), False)


def test_a_call_is_fed_back_as_a_call_once_it_was_answered(tmp_path: Path) -> None:
    from engine.generation.turns import written
    from tests.engine.generation.mouths import Chat

    chat = model(tmp_path / "m", BY_NAME["Qwen3-30B-A3B"].template)
    talk = Chat(chat)
    talk.ask("Weather?")
    talk.say('<think>\nhm\n</think>\n\nI look.\n<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>')
    assert "[weather]" in talk.result("", "Rain.")
    talk.say("It rains.")
    talk.messages.append(talk.messages[1].__class__("assistant", "Once more.\n\n" + written(ToolCall("weather"))))
    assert talk.ask("And?").count("[weather]") == 1  # nobody answered the second: it stays a text


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("function", "<function=f>" + "<parameter=a>" * 40_000),
        ("invoke", '<invoke name="f">' + '<parameter name="a">' * 40_000),
        ("keys", "f" + "<arg_key>a</arg_key>" * 40_000),
        ("elements", "<f>" + "<a>" * 100_000),
        ("kimi", "<|tool_call_begin|>" * 40_000),
        ("solar2", "<|tool_arg:start|>" * 40_000),
        ("python", "[f(a=" + "-" * 100_000 + "1)]"),
        ("python", "[f(a=" + "(" * 100_000),
        ("gemma", "call:" * 40_000),
    ],
)
def test_a_call_without_end_is_no_call(grammar: str, text: str) -> None:
    """Looking for the end of each mark to the end of the text would take minutes, in which nothing else ran."""
    assert calls.parse(grammar, text) == ()


def test_a_long_call_is_one() -> None:
    page = "<p>words of a page</p>\n" * 10_000
    (call,) = calls.parse("function", f"<function=write>\n<parameter=text>\n{page}\n</parameter>\n</function>")
    assert page.strip() in call.arguments["text"]
