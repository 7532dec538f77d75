"""From a chat to prompt tokens: the model's own template, its own answers' tokens, and what fits the context."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.generation.constraint import Constraint, GrammarVocabulary, check_options, chosen_tools, constraint_for
from engine.generation.dropping import answer_reserve, first_kept, turn_starts
from engine.generation.formats.reader import FRESH, THOUGHT, read, state_after
from engine.generation.formats.speech import speech
from engine.generation.messages import FREE, AnswerOptions, Message, Tool
from engine.generation.model_files import ModelFiles
from engine.generation.rendering import Rendering
from engine.generation.turns import Turn, parted
from engine.models.vision.pictures import NoPictures, Pictures
from engine.models.vision.tokens import PLACE
from engine.regular_file import read_json
from engine.translatable import msg

LONG = (
    50_000  # characters: for what is longer Python's lock would be held for more than 0.05 s, and nothing could stop it
)
_SPELLED = re.compile("\x02c(\\d+)\x03")  # stands for a control token that a content spells, see _disarmed


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Tokens to feed, pictures among them (models/vision/tokens.py). history: how many of them come before the
    generation prompt. dropped: turns left out.

    state: in which a reader of the answer begins (formats.reader). raw: it is not interpreted. begun, said: of an
    answer that goes on, its tokens, which `ids` ends with, and the text that they were shown as.
    """

    ids: tuple[int, ...]
    history: int
    dropped: int = 0
    state: str = FRESH
    begun: tuple[int, ...] = ()
    said: str = ""
    raw: bool = False

    @property
    def words(self) -> tuple[int, ...]:
        """The tokens without what stands for pictures."""
        return tuple(one for one in self.ids if one >= 0)


class ChatFormat:
    """Tokenizer and chat template of one model, as its own files define them. No remote code is run.

    pictures: those of its chats; to be set where the model reads any.
    """

    def __init__(self, directory: Path) -> None:
        """directory: holds tokenizer.json and friends. Raises as ModelFiles."""
        self.files = ModelFiles(directory)
        self.tokenizer = self.files.tokenizer
        self._encoding = threading.Lock()  # the window has its drafts counted while a prompt is encoded
        stated: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            stated.update(_stated_ends(directory / name))
        if self.files.end is not None:
            stated.add(self.files.end)
        self.template = self.files.template
        self._control = tuple(t.content for t in self.tokenizer.get_added_tokens_decoder().values() if t.special)
        self.speech = speech(self.tokenizer, self.template, self.files.reads, stated)
        self.stop_ids = self.speech.ends
        self.rendering = Rendering(self.files, self.speech)
        self.levels, self.plain_thinking = self.rendering.levels, self.rendering.on
        self.usual = self.rendering.usual
        self._grammar_vocabulary: GrammarVocabulary | None = None
        self.pictures: Pictures | NoPictures = NoPictures()

    def level(self, thinking: bool | str | None) -> str:
        """The level of its switch that comes nearest to what is wanted; '' where that is left to the template."""
        return self.rendering.level(thinking)

    def encode(self, text: str) -> list[int]:
        """Text to ids, as it stands: no special tokens added. May be called from any thread. Raises UnderhillError."""
        if len(text) > LONG:
            return self.files.encode(text)
        with self._encoding:
            return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Ids to the text a person sees."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def spelled(self, token: int) -> str:
        """The text of one token, special ones included; U+FFFD for half a character."""
        return str(self.tokenizer.decode([token], skip_special_tokens=False))

    def constraint(self, options: AnswerOptions) -> Constraint | None:
        """What holds an answer to these options; None where they leave it free. Raises UnderhillError(BAD_REQUEST)."""
        check_options(options)
        tools = self.tools(options)
        if options.json is None and not tools:
            return None
        if self.files.odd:
            if options.json is None and options.tool_choice == "auto":
                return None
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("This model's tokenizer runs in a process of its own, so its answers cannot be held to a schema."),
                msg("Ask without the schema, or choose another model."),
            )
        if self._grammar_vocabulary is None:
            self._grammar_vocabulary = GrammarVocabulary(self.tokenizer, sorted(self.stop_ids))
        try:
            return constraint_for(self._grammar_vocabulary, self.speech, options)
        except UnderhillError:
            if options.lenient and options.json is None:  # a schema that no grammar is made of
                return None
            raise

    def tools(self, options: AnswerOptions) -> tuple[Tool, ...]:
        """Those that the model is told of. Raises UnderhillError(BAD_REQUEST)."""
        return () if options.lenient and not self.rendering.calls_tools else chosen_tools(options)

    def raw_prompt(self, messages: Sequence[Message]) -> Prompt:
        """The messages' text as it stands, behind the token that begins every text of this model, if there is one.

        Raises UnderhillError(BAD_REQUEST) for images, which have no place in it.
        """
        if any(message.images for message in messages):
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("A raw prompt can't have images."), msg("Send it as a chat, or without images.")
            )
        with self._encoding:
            plain, opened = (self.tokenizer.encode("a", add_special_tokens=each).ids for each in (False, True))
        begin = list(opened[: len(opened) - len(plain)]) if list(opened[-len(plain) :]) == list(plain) else []
        ids = (*begin, *self.encode("".join(self._whole(m.content) for m in messages)))
        return Prompt(ids=ids, history=len(ids), raw=True)

    def prompt(
        self,
        messages: Sequence[Message],
        *,
        continue_last: bool = False,
        thinking: bool | str | None = None,
        tools: Sequence[Tool] = (),
    ) -> Prompt:
        """Render the chat with the model's template and encode it. thinking: as in `fit`. tools: that it is told of.

        An assistant turn that carries its token ids keeps them (encoding its text again may split it differently,
        and then nothing after it could be reused), wherever the template writes what they spell.
        """
        if continue_last:
            return self._going_on(messages, thinking, tools)
        # First, since a model that reads no images has a template that may refuse such a chat in words of its own.
        images = [self.pictures.ids(image) for message in messages for image in message.images]
        messages = [self._disarmed(m) for m in self.rendering.told_of(messages, tools)]
        level = self.rendering.level(thinking)
        marks = _marks(messages)
        with_prompt, bare, *skeleton = self.rendering.texts(self.wanted(messages), level, tools)
        ids = _with_pictures(self._encode_pieces(messages, with_prompt, marks, *skeleton), images)
        tail = with_prompt[len(bare) :] if with_prompt.startswith(bare) else ""
        history = len(ids) - len(self.encode(tail)) if tail else len(ids)
        last = messages[-1].content.strip() if messages else ""
        end = tail or (with_prompt.rpartition(last)[2] if last else with_prompt)
        return Prompt(ids=tuple(ids), history=history, state=state_after(self.speech, end))

    def _going_on(self, messages: Sequence[Message], thinking: bool | str | None, tools: Sequence[Tool]) -> Prompt:
        """The prompt that the last message, an answer, was given to, and what of that answer there is.

        So its tokens stand where they stood. Where it was edited, they are made of the text, in the family's marks.
        """
        last = messages[-1]
        turn = parted(last.content)
        if turn.thought and thinking is False:  # it thought, and that is what goes on
            thinking = True
        elif not turn.thought and last.content and "off" in self.levels:
            thinking = False
        before = self.prompt(
            messages[:-1] or [Message("user", "")], thinking=thinking, tools=tools
        )  # no template takes none
        begun = self._as_made(last, before.state) or self._remade(turn, before.state)
        ids = before.ids + tuple(begun)
        return Prompt(ids=ids, history=len(ids), state=before.state, begun=tuple(begun), said=last.content)

    def _as_made(self, message: Message, state: str) -> list[int]:
        """The tokens of an answer, where its text is still what they are read as."""
        if not message.token_ids:
            return []
        text, _ = read(self.tokenizer, self.speech, message.token_ids, state)
        return list(message.token_ids) if text.strip() == message.content.strip() else []

    def _remade(self, turn: Turn, state: str) -> list[int]:
        """Tokens for an answer of which there is only the text; control tokens that it spells are only text."""
        thought, answer = self._spelled_out(turn.thought), self._spelled_out(turn.answer)
        return self._encode_rendered(
            self.speech.declaration.written(thought, answer, turn.ended, opened=state == THOUGHT)
        )

    def _disarmed(self, message: Message) -> Message:
        """The message, the control tokens that its text spells replaced by marks; they must not act as tokens.

        An assistant's own are left to its token ids, but for one that would be the place of a picture. Half a surrogate
        pair, which no tokenizer takes, becomes U+FFFD.
        """
        content = self._whole(message.content)
        if message.role != "assistant":
            content = self._spelled_out(content)
        elif self.pictures.place is not None:
            content = self._spelled_out(content, self.spelled(self.pictures.place))
        return dataclasses.replace(message, content=content)

    @staticmethod
    def _whole(text: str) -> str:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _spelled_out(self, text: str, only: str = "") -> str:
        """Text with marks in place of the control tokens that it spells, or of only one of them."""
        for number, token in enumerate(self._control):
            if only and token != only:
                continue
            text = text.replace(token, f"\x02c{number}\x03")
        return text

    def _encode_rendered(self, text: str) -> list[int]:
        """Text out of the template to ids; what a mark stands for is encoded as the characters it is spelled with."""
        ids: list[int] = []
        for at, part in enumerate(_SPELLED.split(text)):
            if at % 2 == 0:
                ids += [PLACE if one == self.pictures.place else one for one in self.encode(part)]
            elif int(part) < len(self._control):
                ids += self._spelled(self._control[int(part)])
        return ids

    def _spelled(self, token: str) -> list[int]:
        with self._encoding:
            self.tokenizer.encode_special_tokens = True
            try:
                return list(self.tokenizer.encode(token, add_special_tokens=False).ids)
            finally:
                self.tokenizer.encode_special_tokens = False

    def wanted(self, messages: Sequence[Message]) -> list[tuple[Sequence[Message], bool]]:
        """What the template has to write for a prompt: with what begins an answer, without, and, where there are
        answers whose tokens are known, once more with marks in their places.
        """
        marks = _marks(messages)
        marked = [self._marked(m, marks[i][1], marks[i][0]) if i in marks else m for i, m in enumerate(messages)]
        return [(messages, True), (messages, False), *([(marked, True)] if marks else [])]

    def _encode_pieces(
        self, messages: Sequence[Message], text: str, marks: dict[int, tuple[str, str]], skeleton: str = ""
    ) -> list[int]:
        """Encode rendered `text`, putting in the answers whose tokens are already decided.

        skeleton: rendered with marks in place of those answers, to know where they stand. Where filling the marks does
        not give `text` back, the template has changed a content on its way, and the text is encoded as it stands.
        """
        if not marks or any(skeleton.count(mark) != 1 for mark, _ in marks.values()):
            return self._encode_rendered(text)
        ids: list[int] = []
        done = at = 0  # characters of `text` that are encoded; where the skeleton's rest stands in it
        for i, (mark, answer) in marks.items():
            before, _, skeleton = skeleton.partition(mark)
            start = at + len(before)
            at = start + len(answer)
            if text[start - len(before) : at] != before + answer:
                return self._encode_rendered(text)
            found = self._own_tokens(messages[i].token_ids, text, done, start, at)
            if found is not None:
                ids += self._encode_rendered(text[done : found[0]]) + list(messages[i].token_ids)
                done = found[1]
        if text[at:] != skeleton:
            return self._encode_rendered(text)
        return ids + self._encode_rendered(text[done:])

    @staticmethod
    def _marked(message: Message, answer: str, mark: str) -> Message:
        head = message.content[: message.content.rindex(answer)] if answer in message.content else ""
        return Message(message.role, head + mark, (), message.answers)

    def _own_tokens(self, tokens: Sequence[int], text: str, done: int, start: int, end: int) -> tuple[int, int] | None:
        """Where in `text`, behind `done`, stands what the tokens spell, the answer text[start:end] in it; or None."""
        shown = self.decode(tokens)
        if shown.lstrip() == text[start:end].lstrip():
            return start, end
        spelled = str(self.tokenizer.decode(list(tokens), skip_special_tokens=False))
        at = text.rfind(spelled, done, end + len(spelled)) if spelled else -1
        return (at, at + len(spelled)) if done <= at <= start and at + len(spelled) >= end else None


def _marks(messages: Sequence[Message]) -> dict[int, tuple[str, str]]:
    """By message: a mark for an answer whose tokens are known, and that answer."""
    pieces = {i: parted(m.content).answer for i, m in enumerate(messages) if m.role == "assistant" and m.token_ids}
    return {i: (f"\x02{i}\x03", answer) for i, answer in pieces.items() if answer}


def _with_pictures(ids: list[int], images: Sequence[Sequence[int]]) -> list[int]:
    """The ids, those of pictures put where the template has places for them. Raises UnderhillError(BAD_REQUEST)."""
    if ids.count(PLACE) != len(images):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("This model's chat template has no place for these images."),
            msg("Send the message without images."),
        )
    following = iter(images)
    return [one for token in ids for one in (next(following) if token == PLACE else (token,))]


def _stated_ends(path: Path) -> set[int]:
    """eos_token_id of a model's JSON file, one or several; empty where there is no such file or it names none.

    Raises UnderhillError(BROKEN_FILE).
    """
    try:
        found = read_json(path)
        ends = found.get("eos_token_id") or (found.get("text_config") or {}).get("eos_token_id")
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, AttributeError) as e:
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("Can't read the model's {name}.", name=path.name), msg("Import it again.")
        ) from e
    return {end for end in (ends if isinstance(ends, list) else [ends]) if isinstance(end, int)}


def fit(
    chat: ChatFormat,
    messages: Sequence[Message],
    context: int,
    reserve: int,
    *,
    continue_last: bool = False,
    thinking: bool | str | None = None,
    options: AnswerOptions = FREE,
) -> Prompt:
    """The prompt, with the oldest turns dropped until `reserve` tokens of `context` are left for the answer.

    thinking: a level, or on or off: the nearest level that the template has; None leaves it to the template.
    System prompt and last message always stay. Once something must go, turns go until another quarter of the context
    is free, and the next turns extend the same prompt until that is used up. Raises UnderhillError: CONTEXT_FULL,
    BAD_REQUEST where not one token comes of it.
    """
    reserve = answer_reserve(reserve, context)
    tools = chat.tools(options)

    def written(turns: Sequence[Message]) -> Prompt:
        if options.raw:
            return chat.raw_prompt(turns)
        return chat.prompt(turns, continue_last=continue_last, thinking=thinking, tools=tools)

    prompt = written(messages)
    if not prompt.ids:  # an empty text for a model without a template
        raise UnderhillError(Kind.BAD_REQUEST, msg("Nothing to answer."), msg("Write a message first."))
    if len(prompt.ids) + reserve <= context:
        return prompt
    if options.raw or options.whole:
        return _if_it_fits(prompt, context)
    system = [m for m in messages[:1] if m.role == "system"]
    turns = messages[len(system) :]
    last = max(0, len(turns) - (2 if continue_last else 1))  # of a system prompt alone nothing can go
    roles = [m.role for m in turns]
    starts = turn_starts(roles, last)
    sizes = _sizes(chat, messages, len(prompt.ids))
    room = context - reserve - sum(sizes[: len(system)])
    dropped = first_kept(roles, sizes[len(system) :], starts, room, room - context // 4)
    for dropped in [i for i in starts if i >= dropped] or [last]:  # sizes are estimates: at most a few rounds
        prompt = written([*system, *turns[dropped:]])
        if len(prompt.ids) + reserve <= context:
            break
    return dataclasses.replace(_if_it_fits(prompt, context), dropped=dropped)


def _if_it_fits(prompt: Prompt, context: int) -> Prompt:
    if len(prompt.ids) + 1 > context:
        raise UnderhillError(
            Kind.CONTEXT_FULL,
            msg(
                "Message too long: {ids} tokens, the limit is {context}.",
                ids=f"{len(prompt.ids):,}",
                context=f"{context:,}",
            ),
            msg("Shorten it, or raise the context length in Settings."),
        )
    return prompt


def _sizes(chat: ChatFormat, messages: Sequence[Message], total: int) -> list[int]:
    """About how many tokens each message takes in a prompt of `total`, with an even share of what the template adds."""
    own = [
        sum(len(chat.pictures.ids(image)) for image in m.images) + (len(m.token_ids) or len(chat.encode(m.content)))
        for m in messages
    ]
    return [n + round((total - sum(own)) / len(own)) for n in own]
