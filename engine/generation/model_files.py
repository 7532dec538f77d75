"""A model's tokenizer and chat template, read and run in a process that may take only so long and so much memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.generation.formats.speech import TemplateNames
from engine.generation.sandboxed_tokenizer import SandboxedTokenizer
from engine.import_lock import ALONE
from engine.sandbox import SandboxedFunction, SandboxFailure, SandboxMemory, SandboxStopped, SandboxTimeout
from engine.translatable import msg

MEMORY = 1_000_000_000  # bytes; one of 262,000 tokens and 282,000 merges took 390 MB to load
LOAD_SECONDS = 60.0  # the same take two seconds; a slow disk in use takes longer
WRITE_SECONDS = 10.0  # of a template, for one chat; a long one takes a tenth of a second
USE_SECONDS, RATE = 20.0, 100_000.0  # of a tokenizer, and what it does in one more: characters; usual is a million

PROCESS = SandboxedFunction("engine.generation.model_process:serve", MEMORY, nice=0)  # prompts wait for it
_numbers = itertools.count(1)  # next() is atomic in CPython: several threads name processes
_AGAIN = msg("Download the model again or choose another.")
_KEPT = msg("Choose another model, or download this one from its makers.")


@dataclass(frozen=True)
class Wanted:
    """A chat for the template to write. turns: as templates want them. generation_prompt: with what begins an answer.
    values: variables of the template.
    """

    turns: list[dict[str, Any]]
    generation_prompt: bool
    values: dict[str, Any]


class ModelFiles:
    """tokenizer: a tokenizers.Tokenizer, or one that runs apart, since something in it is not known to end soon (`odd`
    says what). template: '' for none. end: the token that ends an answer, if one is told.
    """

    def __init__(self, folder: Path) -> None:
        """Raises UnderhillError: BROKEN_FILE where the files do not load, UNSUPPORTED_MODEL."""
        self._about = str(next(_numbers)), str(folder)
        try:
            state, *told = PROCESS.call("load", *self._about, seconds=LOAD_SECONDS)
        except SandboxFailure as e:
            raise _not_loaded(e) from e
        if state == "unreadable":
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("Can't read the model's tokenizer."),
                msg("Download or import the model again. Its tokenizer may be missing or need code that isn't run."),
            ) from ValueError(*told)
        if state == "slow":
            raise UnderhillError(
                Kind.UNSUPPORTED_MODEL,
                msg("The model has no tokenizer.json."),
                msg("Look for a version of the model that includes tokenizer.json."),
            )
        facts = told[0]
        if facts["ambiguous"]:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("The model's tokenizer gives two of its tokens the same number."),
                msg("Download the model again or choose another."),
            )
        self.template = str(facts["template"])
        self.reads = TemplateNames(frozenset(facts["variables"]), frozenset(facts["fields"]))
        self.end: int | None = facts["end"]
        self.odd = str(facts["odd"])
        self.tokenizer: Any = SandboxedTokenizer(self.ask, facts) if self.odd else _inside(facts["tokenizer"])

    def encode(self, text: str) -> list[int]:
        """Text to ids as it stands, in that process, however the tokenizer runs otherwise. Raises UnderhillError."""
        return list(self.ask("encode", text, False, characters=len(text)))

    def ask(self, what: str, *arguments: Any, characters: int = 0) -> Any:
        """Have the tokenizer do something in that process. characters: of a text. Raises UnderhillError."""
        try:
            return PROCESS.call("use", *self._about, what, *arguments, seconds=USE_SECONDS + characters / RATE)
        except SandboxStopped as e:
            raise _stopped() from e
        except SandboxTimeout as e:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The model's tokenizer took too long for this text."), _KEPT
            ) from e
        except SandboxMemory as e:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The model's tokenizer needs too much memory for this text."), _KEPT
            ) from e
        except SandboxFailure as e:
            raise UnderhillError(Kind.BROKEN_FILE, msg("The model's tokenizer failed on this text."), _KEPT) from e

    def tried(self, wanted: Sequence[Wanted]) -> list[str | None]:
        """Each as text, None where the template does not write it. Raises UnderhillError where it cannot be run."""
        return [text if state == "written" else None for state, text in self._rendered(wanted)]

    def written(self, wanted: Sequence[Wanted]) -> list[str]:
        """Each as text. Raises UnderhillError."""
        found = []
        for state, text in self._rendered(wanted):
            if state == "syntax":
                raise UnderhillError(
                    Kind.BROKEN_FILE,
                    msg("The model's chat template is broken: {text}", text=text),
                    msg("Download the model again."),
                )
            if state == "long":
                raise _too_much()
            if state == "refused":
                raise UnderhillError(
                    Kind.BAD_REQUEST,
                    msg("This model's chat template refuses the chat: {text}", text=text),
                    msg("Try without the system prompt."),
                )
            found.append(text)
        return found

    def _rendered(self, wanted: Sequence[Wanted]) -> list[tuple[str, str]]:
        asked: list[list[Any]] = []
        first: dict[int, int] = {}  # where turns that are wanted in several ways are sent
        for number, each in enumerate(wanted):
            at = first.setdefault(id(each.turns), number)
            asked.append([each.turns if at == number else at, each.generation_prompt, each.values])
        try:
            found = PROCESS.stream("render", *self._about, asked, seconds=WRITE_SECONDS)
            return [(state, *text, "")[:2] for state, *text in found]
        except SandboxStopped as e:
            raise _stopped() from e
        except SandboxTimeout as e:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The model's chat template took too long for this chat."), _KEPT
            ) from e
        except SandboxMemory as e:
            raise _too_much() from e
        except SandboxFailure as e:
            raise UnderhillError(Kind.BROKEN_FILE, msg("The model's chat template can't be run."), _KEPT) from e


def _inside(tokenizer: str) -> Any:
    with ALONE:
        from tokenizers import Tokenizer
    return Tokenizer.from_str(tokenizer)


def _stopped() -> UnderhillError:
    return UnderhillError(Kind.CANCELLED, msg("Stopped."))


def _too_much() -> UnderhillError:
    return UnderhillError(Kind.BROKEN_FILE, msg("The model's chat template makes this chat too long."), _KEPT)


def _not_loaded(cause: SandboxFailure) -> UnderhillError:
    if isinstance(cause, SandboxStopped):
        return _stopped()
    if isinstance(cause, SandboxTimeout):
        return UnderhillError(Kind.BROKEN_FILE, msg("Reading the model's tokenizer took too long."), _AGAIN)
    if isinstance(cause, SandboxMemory):
        return UnderhillError(Kind.BROKEN_FILE, msg("Reading the model's tokenizer needs too much memory."), _AGAIN)
    return UnderhillError(Kind.BROKEN_FILE, msg("Reading the model's tokenizer failed."), _AGAIN)
