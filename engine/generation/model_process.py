"""Tokenizers and chat templates as models bring them. Imported by a process of its own alone, see `model_files`.

What parses and runs them is code of others: a template may count for ever, a tokenizer may take all memory, or end the
process that reads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

sys.modules.setdefault("torch", None)  # type: ignore[arg-type]  # transformers takes it for not installed: 190 MB less
os.environ |= {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error"}

import jinja2.ext  # noqa: E402
from jinja2 import TemplateSyntaxError, meta, nodes  # noqa: E402
from jinja2.parser import Parser  # noqa: E402
from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402
from transformers.utils.chat_template_utils import render_jinja_template  # noqa: E402

from engine.generation.detokenize import Detokenizer  # noqa: E402
from engine.generation.formats.speech import TemplateNames, own_template  # noqa: E402
from engine.generation.vetting import why_not  # noqa: E402

LONGEST = 16 << 20  # characters of a chat as a template writes it; a million tokens are about four million
READ, UNREADABLE, SLOW_ONLY = "read", "unreadable", "slow"
WRITTEN, NO_TEMPLATE, REFUSED, LONG = "written", "syntax", "refused", "long"
KEPT, ANSWERS = 4, 8  # models; answers of each that are turned into text


class _Model:
    """One folder's tokenizer and template."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        hf: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        self.fast = bool(getattr(hf, "is_fast", False))
        self._end: int | None = None if hf.eos_token_id is None else int(hf.eos_token_id)
        self._names = dict(hf.special_tokens_map)
        self.template = _usual(getattr(hf, "chat_template", None))
        self._tokenizer: Tokenizer | None = None
        self._answers: dict[int, Detokenizer] = {}
        if self.fast:
            self._take(hf)
            self.template = self.template or own_template(self.tokenizer)

    def _take(self, hf: Any) -> None:
        self._tokenizer = hf.backend_tokenizer
        self.tokenizer.no_padding()  # files keep what training wanted of it
        self.tokenizer.no_truncation()

    @property
    def tokenizer(self) -> Tokenizer:
        """Read again where it was let go of."""
        if self._tokenizer is None:
            self._take(AutoTokenizer.from_pretrained(self._folder, trust_remote_code=False, local_files_only=True))
        assert self._tokenizer is not None
        return self._tokenizer

    def facts(self) -> dict[str, Any]:
        """What the engine has to know of it. tokenizer: all of it, where it may run in the engine; odd: why not."""
        reads = _names_in(self.template)
        written = self.tokenizer.to_str()
        odd = why_not(written)
        added = [[i, t.content, t.special] for i, t in self.tokenizer.get_added_tokens_decoder().items()]
        size = self.tokenizer.get_vocab_size()
        numbers = self.tokenizer.get_vocab(with_added_tokens=False).values()
        if not odd:
            self._tokenizer = None  # the engine has it; a text too long for it is rare
        return {
            "template": self.template,
            "variables": sorted(reads.variables),
            "fields": sorted(reads.fields),
            "end": self._end,
            "odd": odd,
            "tokenizer": "" if odd else written,
            "added": added if odd else [],
            "size": size,
            "ambiguous": len(set(numbers)) < len(numbers),
        }

    def begin(self, answer: int, prefix: list[int]) -> None:
        """An answer whose tokens are to become text."""
        while len(self._answers) >= ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._answers[answer] = Detokenizer(self.tokenizer, prefix)

    def answer(self, answer: int) -> Detokenizer:
        """One that was begun; in another process than this, maybe, which something else has ended."""
        if answer not in self._answers:
            self.begin(answer, [])
        return self._answers[answer]

    def encode(self, text: str, spelled: bool) -> list[int]:
        """Ids; spelled: what looks like a special token is only text."""
        self.tokenizer.encode_special_tokens = spelled
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int], skip: bool) -> str:
        """Ids as text."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=skip))

    def number(self, token: str) -> int | None:
        """Of a token, if there is such a one."""
        return self.tokenizer.token_to_id(token)

    def written(self, turns: list[dict[str, Any]], generation_prompt: bool, values: dict[str, Any]) -> str:
        """The chat as text. Raises what templates raise: almost anything."""
        found, _ = render_jinja_template(
            conversations=[turns],
            chat_template=self.template,
            add_generation_prompt=generation_prompt,
            **{**self._names, **values},
        )
        return str(found[0])


def _usual(template: Any) -> str:
    """A model may have several templates for several ends, by name."""
    if isinstance(template, dict):
        template = template.get("default") or next(iter(template.values()), None)
    return str(template or "")


class _Generation(jinja2.ext.Extension):
    """The tag {% generation %}, with which templates tell trainers what the assistant said."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


def _names_in(template: str) -> TemplateNames:
    """What a chat template reads, by its syntax tree; nothing for a template that is none (said where it is used)."""
    around = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    try:
        tree = around.parse(template)
    except (TemplateSyntaxError, RecursionError):
        return TemplateNames()
    fields = {node.attr for node in tree.find_all(nodes.Getattr)}
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.arg, nodes.Const):
            fields.add(str(item.arg.value))
    for call in tree.find_all(nodes.Call):  # message.get("reasoning")
        if isinstance(call.node, nodes.Getattr) and call.node.attr == "get" and call.args:
            fields.update(str(a.value) for a in call.args[:1] if isinstance(a, nodes.Const))
    return TemplateNames(frozenset(meta.find_undeclared_variables(tree)), frozenset(fields))


_models: dict[str, _Model] = {}


def _model(key: str, folder: str) -> _Model:
    if key not in _models:
        while len(_models) >= KEPT:
            del _models[next(iter(_models))]
        _models[key] = _Model(folder)
    return _models[key]


def load(key: str, folder: str) -> Iterator[list[Any]]:
    """[READ, its facts], [SLOW_ONLY], or [UNREADABLE, why]."""
    try:
        model = _model(key, folder)
        yield [READ, model.facts()] if model.fast else [SLOW_ONLY]
    except MemoryError:
        raise
    except Exception as e:  # the library raises almost anything on bad files
        yield [UNREADABLE, f"{type(e).__name__}: {e}"[:1000]]


def render(key: str, folder: str, wanted: list[list[Any]]) -> Iterator[list[str]]:
    """For each [turns, whether the answer is to follow, values for the template]: [WRITTEN, the text], or why not:
    [NO_TEMPLATE, why], [REFUSED, why] or [LONG]. turns: a list, or the number of an earlier one that has the same.
    """
    model = _model(key, folder)
    for turns, generation_prompt, values in wanted:
        turns = wanted[turns][0] if isinstance(turns, int) else turns
        try:
            text = model.written(turns, generation_prompt, values)
            yield [WRITTEN, text] if len(text) <= LONGEST else [LONG]
        except MemoryError:
            raise
        except TemplateSyntaxError as e:
            yield [NO_TEMPLATE, str(e)[:1000]]
        except Exception as e:  # templates raise their own complaints (roles, order) through jinja
            yield [REFUSED, str(e)[:1000]]


def use(key: str, folder: str, what: str, *arguments: Any) -> Iterator[Any]:
    """What a tokenizer is asked that does not run in the engine: ids of a text, the text of ids, the id of a token."""
    model = _model(key, folder)
    asked: dict[str, Callable[..., Any]] = {
        "encode": model.encode, "decode": model.decode, "number": model.number, "begin": model.begin,
        "add": lambda answer, token: model.answer(answer).add(token),
        "flush": lambda answer: model.answer(answer).flush(),
    }  # fmt: skip
    yield asked[what](*arguments)


def serve(what: str, *arguments: Any) -> Iterator[Any]:
    """What is to be done, by name: 'load', 'render' or 'use'."""
    known: dict[str, Callable[..., Iterator[Any]]] = {"load": load, "render": render, "use": use}
    yield from known[what](*arguments)
