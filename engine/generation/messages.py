"""A turn of a chat, what answering it took, and a model at work. Nothing heavy: the window uses these too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.translatable import NO_TEXT, Translatable


@dataclass(frozen=True)
class ToolCall:
    """A tool that a model asks for. ident: what its result refers to; '' where the model gave none."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    ident: str = ""


@dataclass(frozen=True)
class Message:
    """One turn of a chat. role: 'system', 'user', 'assistant', or 'tool' for what a tool answered.

    content: of an assistant, as Stats.text. token_ids: of an assistant turn, the tokens as generated, so that they need
    not be encoded again. answers: of a tool's turn, the `ident` of the call. images: of a user's turn, pictures that
    come before the text, each as the bytes of a PNG, JPEG or WebP file; only for models that read them (ModelCard).
    """

    role: str
    content: str
    token_ids: tuple[int, ...] = ()
    answers: str = ""
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Tool:
    """A tool that a model may call. parameters: JSON schema of its arguments, an object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """What an answer is to be like, beside how its tokens are drawn.

    tools: that may be called. tool_choice: 'auto', 'none', 'required', or the name of the one that must be called.
    lenient: a model that takes no tools is asked without them, and one whose calls no grammar holds to their schemas is
    not held; otherwise either is refused.
    json: a JSON schema that the answer, its thought aside, has to follow; {} for any JSON object, None for any text.
    logprobs: of how many tokens beside the chosen one the log probabilities are told; None: of none at all.
    raw: the messages' text is the prompt as it stands, without the chat template, and the answer is not interpreted.
    whole: a chat that is too long for the context is refused; otherwise its oldest turns are left out.
    """

    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    json: dict[str, Any] | None = None
    logprobs: int | None = None
    raw: bool = False
    whole: bool = False
    lenient: bool = False


FREE = AnswerOptions()  # nothing in particular


@dataclass(frozen=True)
class TokenLogprob:
    """A token that was chosen, with the natural logarithm of its probability before sampling settings apply.

    top: the likeliest tokens at its place, the first being the likeliest: (text, log probability).
    """

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """One step of a team over one message. state: 'waiting', 'working', 'done', 'skipped', 'failed' or 'stopped'.

    model: '' for the one that is open. text: what it said, of a choice what was chosen. note: it is for the team alone.
    seconds: for prompt and answer together.
    """

    name: str
    model: str
    state: str
    text: str = ""
    note: bool = False
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What an answer took. Times in seconds, bytes in bytes.

    precision: expert uses by what they ran at: keys '32', '16', '8', '4', '2', 'skipped'.
    text: where the model thought first, "<think>", the thought, "</think>" and then the answer, in it what it calls, as
    generation.turns writes them; calls: those. thinking_seconds: how long it thought. why: one sentence on what limited
    the speed.
    finish: 'stop' (the model ended), 'length' (max_tokens), 'context' (no room left), 'stop_text', 'cancelled'.
    steps: of a team; the other figures are those of the step whose words are the answer.
    endpoint: host of the server that was asked instead of a model here, of a team all of them; answer_tokens: of its
    answer, as it counts them, 0 where it does not say. token_ids are empty then.
    drafted, accepted: tokens that were guessed (generation/drafts.py), and those of them that the answer has.
    substituted: expert uses for which an expert in memory stood in.
    """

    text: str
    token_ids: tuple[int, ...]
    finish: str
    prompt_tokens: int
    reused_tokens: int
    dropped_turns: int
    prompt_seconds: float
    decode_seconds: float
    hits: int
    misses: int
    bytes_read: int
    precision: dict[str, int]
    peak_rss: int
    thinking_seconds: float = 0.0
    why: Translatable = NO_TEXT
    calls: tuple[ToolCall, ...] = ()
    steps: tuple[StepReport, ...] = ()
    endpoint: str = ""
    answer_tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    substituted: int = 0

    @property
    def decode_tokens_per_second(self) -> float:
        """Decode speed; the first token belongs to the prompt, and a stop token counts though it is not kept."""
        n = (self.answer_tokens or len(self.token_ids)) - 1 + (self.finish == "stop" and not self.answer_tokens)
        return n / self.decode_seconds if n > 0 and self.decode_seconds > 0 else 0.0

    @property
    def prompt_tokens_per_second(self) -> float:
        """Prompt speed over the tokens really computed."""
        n = self.prompt_tokens - self.reused_tokens
        return n / self.prompt_seconds if n > 0 and self.prompt_seconds > 0 else 0.0


@dataclass(frozen=True)
class Look:
    """What somebody looks at, so that nothing else is gathered. maps: the matrices of a Snapshot.

    expert: (layer, expert), the layer by the model's own index; of whom to say all.

    pause, pulse: seconds from one word of the engine's process to the next that may wait, and from one Snapshot to the
    next. Whoever looks says how often it is worth the time that both then lose.
    """

    maps: bool = False
    expert: tuple[int, int] | None = None
    pause: float = 0.1
    pulse: float = 0.2


@dataclass(frozen=True, kw_only=True)
class ExpertFacts:
    """One expert. uses: since load, of which coarse and skipped. answer: uses in this answer.

    gate, mean_gate: its last gate weight, and the mean of this answer; 0: there was none. tier: held, 0: on disk.
    place: 0 disk, 1 memory, 2 graphics memory. coming: the tier it is being read at now. nbytes: held; stored: whole.
    """

    layer: int
    expert: int
    uses: int
    answer: int
    gate: float
    mean_gate: float
    coarse: int
    skipped: int
    tier: int
    place: int
    coming: int
    nbytes: int
    stored: int


@dataclass(frozen=True, kw_only=True)
class MemoryUse:
    """What the memory of the program is taken for at one moment, and what is left below the ceiling.

    program, dense, context, buffers and cached add up to `taken`, its resident bytes; with room, aside and spare to the
    ceiling, unless more is taken than that. program: Underhill itself, before it opened a model. dense: the weights
    beside the experts. context: rows and states of the chat. buffers: for computing, with what it keeps about experts.
    cached: experts. room: for more of them. aside: what context and computing may still take. spare: of no use.
    device, device_cached: in graphics.
    """

    ceiling: int
    taken: int
    program: int
    dense: int
    context: int
    buffers: int
    cached: int
    room: int
    aside: int
    spare: int
    device: int = 0
    device_cached: int = 0


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A loaded model at one moment, for the live panels. Counters are since it was loaded.

    activations: [moe_layers][experts] uses in the current answer. residency: the same shape, tier held in memory
    (0 none, 2, 4, 8, 16, 32). layer_names: the model's own layer indices of the rows. precision: as in Stats.
    tokens_per_second: over the last second or so; 0 while idle. why: one sentence on what limits the speed now.

    Matrices are () where nobody looks at them (Look). uses: since load. gates: mean gate weights of this answer.
    places: as ExpertFacts.place. foreseen: hits that were read ahead; foreseen_late: misses that were on their way.
    prompt_tokens_per_second: of the prompt that is being read, or was last. answer_tokens_per_second: of the whole last
    answer, 0 while one is made. waiting: share of the last second or so in
    which computing stood still for the disk. ahead: one sentence on what predicts experts that are read ahead, and how
    well; '' where none are.
    card: share of the experts of the last second or so that a graphics card computed, 0 where there is none;
    link_bytes_per_second: of experts that crossed to it.
    """

    activations: tuple[tuple[int, ...], ...]
    residency: tuple[tuple[int, ...], ...]
    layer_names: tuple[int, ...]
    hits: int
    misses: int
    bytes_read: int
    precision: dict[str, int]
    tokens: int
    tokens_per_second: float
    disk_bytes_per_second: float
    cache_bytes: int
    cache_capacity: int
    rss: int
    generating: bool
    why: Translatable
    uses: tuple[tuple[int, ...], ...] = ()
    gates: tuple[tuple[float, ...], ...] = ()
    places: tuple[tuple[int, ...], ...] = ()
    expert: ExpertFacts | None = None
    foreseen: int = 0
    foreseen_late: int = 0
    prompt_tokens_per_second: float = 0.0
    answer_tokens_per_second: float = 0.0
    waiting: float = 0.0
    memory: MemoryUse | None = None
    ahead: Translatable = NO_TEXT
    card: float = 0.0
    link_bytes_per_second: float = 0.0
