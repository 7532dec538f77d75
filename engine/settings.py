"""Every setting, declared once: the dialog, the CLI and the validation are made from this declaration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.translatable import Translatable, joined, msg, translated

Value = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True)
class Setting:
    """One setting. kind: 'bool', 'int', 'float', 'choice', 'text' or 'shares'; low and high are inclusive.

    names: of the choices, for people; of 'shares', what each is the share of: numbers of any proportion, kept so that
    they sum to 1. start: what it begins with when somebody takes it out of Underhill's hands.
    live: takes effect at once, mid-answer; otherwise at the next load of the model.
    optional: None is allowed and means "let Underhill choose"; automatic: what that is called.
    needs: (name, value) of another setting without which this one has nothing to do.
    """

    name: str
    kind: str
    default: Value
    label: str
    help: str
    group: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    live: bool = True
    optional: bool = False
    automatic: str = "Automatic"
    start: Value = None
    needs: tuple[str, str] | None = None
    advanced: bool = False

    def check(self, value: Any) -> Value:
        """The value as this setting's type, or UnderhillError(BAD_REQUEST) saying what would be allowed."""
        if value is None and self.optional:
            return None
        try:
            result = self._convert(value)
        except (TypeError, ValueError, OverflowError):
            raise self._refuse(value) from None
        if self.kind in ("int", "float"):
            number = float(result)  # type: ignore[arg-type]
            too_low = self.low is not None and number < self.low
            too_high = self.high is not None and number > self.high
            if number != number or too_low or too_high:
                raise self._refuse(value)
        if self.kind == "choice" and result not in self.choices:
            raise self._refuse(value)
        return result

    def name_of(self, choice: str) -> Translatable:
        """A choice, for people."""
        if self.names:
            return translated(self.names[self.choices.index(choice)])
        return translated(choice[:1].upper() + choice[1:].replace("_", " "))

    def _convert(self, value: Any) -> Value:
        if self.kind == "bool":
            if isinstance(value, bool):
                return value
            text = str(value).strip().lower()
            if text not in ("true", "false", "on", "off", "yes", "no", "1", "0"):
                raise ValueError(text)
            return text in ("true", "on", "yes", "1")
        if isinstance(value, bool):
            raise TypeError("a boolean is not a number")
        if self.kind == "shares":
            return self._shares(value)
        if self.kind == "int":
            number = int(value)
            if number != float(value):
                raise ValueError(value)
            return number
        return float(value) if self.kind == "float" else str(value)

    def _shares(self, value: Any) -> tuple[float, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)) or any(isinstance(part, bool) for part in parts):
            raise TypeError("not several numbers")
        numbers = tuple(float(part) for part in parts)
        whole = math.fsum(numbers)
        if len(numbers) != len(self.names) or not all(n >= 0 for n in numbers) or not 0 < whole < math.inf:
            raise ValueError(value)
        return numbers if abs(whole - 1) < 1e-9 else tuple(n / whole for n in numbers)

    def _refuse(self, value: Any) -> UnderhillError:
        allowed = {
            "bool": msg("on or off"),
            "choice": msg("one of {choices}", choices=", ".join(self.choices)),
            "text": msg("text"),
            "shares": msg(
                "{names} numbers from 0 up, not all 0: {lower}",
                names=len(self.names),
                lower=joined(", ", map(translated, self.names)),
            ),
        }.get(self.kind) or (
            msg("a whole number from {low} to {high}", low=f"{self.low:,.0f}", high=f"{self.high:,.0f}")
            if self.kind == "int"
            else msg("a number from {low} to {high}", low=f"{self.low:g}", high=f"{self.high:g}")
        )
        return UnderhillError(
            Kind.BAD_REQUEST,
            msg("{label} cannot be {value}.", label=translated(self.label), value=repr(value)),
            msg("It takes {allowed}.", allowed=allowed),
        )


SAMPLING = (
    Setting("temperature", "float", 0.7, "Temperature", "0 always takes the likeliest token; higher is more varied.",
            "sampling", 0.0, 5.0),
    Setting("top_p", "float", 0.95, "Top-p", "Keep the likeliest tokens that together reach this probability.",
            "sampling", 0.0, 1.0),
    Setting("top_k", "int", 0, "Top-k", "Keep only this many likeliest tokens; 0 keeps all.", "sampling", 0, 100_000),
    Setting("min_p", "float", 0.0, "Min-p", "Drop tokens less likely than this share of the likeliest.",
            "sampling", 0.0, 1.0),
    Setting("repetition_penalty", "float", 1.0, "Repetition penalty",
            "Above 1 makes tokens already in the chat less likely.", "sampling", 0.5, 3.0),
    Setting("seed", "int", None, "Seed", "The same seed gives the same answer; empty takes a new one each time.",
            "sampling", 0, 2**31 - 1, optional=True),
    Setting("max_tokens", "int", 1024, "Longest answer", "Stop after this many tokens.", "sampling", 1, 1_000_000),
)  # fmt: skip

ENGINE = (
    Setting("dial", "choice", "balanced", "Precision dial",
            "Exact runs every expert at full precision. The others run less important experts coarser, or skip them, "
            "when they would have to be fetched from disk: HOBBIT 67/30/3 as its paper does, 67 % of expert uses at "
            "full precision, 30 % coarse and 3 % skipped; Balanced more, Fast most.", "speed",
            choices=("exact", "hobbit", "balanced", "fast"), names=("Exact", "HOBBIT 67/30/3", "Balanced", "Fast")),
    Setting("t1", "float", None, "Threshold T1",
            "Experts with an unimportance score up to T1 run at full precision (under Exact, all do).",
            "speed", 0.0, 1.0, optional=True, advanced=True),
    Setting("t2", "float", None, "Threshold T2",
            "Experts above T1 and up to T2 run coarse; above T2 they are skipped.", "speed", 0.0, 1.0,
            optional=True, advanced=True),
    Setting("tier", "choice", "top", "Full precision",
            "Bits of an expert that runs at full precision.", "speed",
            choices=("top", "8", "4", "2"), names=("All that is stored", "8 bits", "4 bits", "2 bits"), advanced=True),
    Setting("low", "choice", "coarsest", "Coarse precision",
            "Bits of an expert that runs coarse, where the model stores several below full precision: 4 lose less than "
            "2, and take twice as long to read. What the dials cost is measured again.", "speed",
            choices=("coarsest", "2", "4"), names=("The coarsest stored", "2 bits", "4 bits"), advanced=True),
    Setting("cache_fraction", "float", None, "Expert cache",
            "Share of the model's experts kept in memory, from 0 to 1: 0.5 is half of them. Empty lets Underhill "
            "choose.", "memory", 0.0, 1.0,
            optional=True),
    Setting("memory_gb", "float", None, "Memory ceiling (GB)",
            "Most memory the whole program takes: itself, the model, the chat and the experts it keeps at hand. Empty "
            "takes what is free, less a margin. A lower ceiling is kept at once; what is too low is refused.",
            "memory", 0.25, 4096.0, optional=True),
    Setting("policy", "choice", "hobbit", "Cache policy",
            "Which expert leaves memory when room is needed. HOBBIT weighs how recently and how often each was used in "
            "this chat, at which precision, and how soon its layer's turn comes. LRU: the one unused for longest; "
            "LRU per layer: the same for each layer alone; LFU: the one used least; EdgeMoE: use and turn; Activation: "
            "the one that chats like this one use least.", "speed",
            choices=("hobbit", "lru", "lru_layer", "lfu", "edgemoe", "activation"),
            names=("HOBBIT", "LRU", "LRU per layer", "LFU", "EdgeMoE", "Activation"), live=False, advanced=True),
    Setting("policy_weights", "shares", None, "Weights of HOBBIT",
            "What counts for an expert that may have to leave: how recently and how often it was used, how often at "
            "full precision, and how soon its layer's turn comes. Fitted takes what was found best for this model's "
            "routing, or for others where that was not done.", "speed",
            names=("Recency", "Frequency", "Full precision", "Distance"), optional=True, automatic="Fitted",
            start=(0.4, 0.0, 0.4, 0.2), needs=("policy", "hobbit"), advanced=True),
    Setting("prefetch", "choice", "auto", "Read ahead",
            "Fetch experts that are likely to be needed before the model asks for them. Auto rests where it does not "
            "pay; the answers are the same either way.", "speed", choices=("auto", "off")),
    Setting("predictor", "choice", "auto", "Predictor",
            "Who says which experts will be needed. Auto weighs gates and token table as calibration found best, and "
            "takes plain gates until then. Gates: the routers of coming layers, asked in advance; taught: corrected "
            "for what lies between. The tables learn while the model answers. Matrices go by past answers; all "
            "together weighs the lot.", "speed",
            choices=("auto", "gates", "taught", "tokens", "pairs", "paths", "eam", "blend"),
            names=("Auto", "Gates", "Taught gates", "Token table", "Pairs of layers", "Paths",
                   "Activation matrices", "All together"),
            needs=("prefetch", "auto"), advanced=True),
    Setting("prefetch_depth", "int", 3, "Layers read ahead",
            "How many layers ahead is looked for a missing expert. Activation matrices look at all of them.", "speed",
            1, 3, needs=("prefetch", "auto"), advanced=True),
    Setting("prefetch_width", "int", None, "Experts read ahead",
            "Most experts expected of a layer; empty takes as many as a token chooses.", "speed", 1, 256,
            optional=True, needs=("prefetch", "auto"), advanced=True),
    Setting("remember_routing", "bool", True, "Remember which experts are used",
            "Keeps with the model which experts lay in memory, how often chats used which, and which tokens (pieces of "
            "words) were seen with which, so that it starts warm the next time: counts, no text, no order. Off removes "
            "what is kept.", "speed", advanced=True),
    Setting("mode", "choice", "auto", "Processor and graphics card",
            "What computes. CPU-only: the processor. CPU-assisted: the card, and the processor for experts that "
            "the card lacks. GPU-centric: the card alone. Auto takes the fastest of those that this computer and this "
            "version of Underhill can run.", "speed", choices=("auto", "cpu", "cpu-assisted", "gpu"),
            names=("Auto", "CPU-only", "CPU-assisted", "GPU-centric"), live=False, advanced=True),
    Setting("card", "int", None, "Graphics card",
            "Which card computes, by its number in the list of this computer, from 0 on; empty takes the one with most "
            "free memory.", "speed", 0, 15, optional=True, live=False, advanced=True),
    Setting("readers", "int", 4, "Reader threads", "Reads from disk under way at once.", "speed", 1, 32,
            live=False, advanced=True),
    Setting("direct_io", "choice", "auto", "Direct I/O", "Read experts past the system's file cache.", "speed",
            choices=("auto", "on", "off"), live=False, advanced=True),
    Setting("threads", "int", None, "Compute threads", "Empty takes the physical cores.", "speed", 1, 256,
            optional=True, live=False, advanced=True),
    Setting("context_length", "int", None, "Context length",
            "Most tokens of chat the model sees. Empty takes what the model allows and experts leave: as many as push "
            "none out of memory, or 32,768 where some are read from disk in any case.", "memory", 64, 4_194_304,
            optional=True, live=False),
    Setting("dense", "choice", "auto", "Other weights",
            "How attention and the other weights are held in memory. Auto takes 8 bits, which lose no more than bf16, "
            "and float32 for small models; 4 bits are half as large and less precise.", "memory",
            choices=("auto", "f32", "bf16", "int8", "int4"),
            names=("Auto", "float32", "bf16", "8 bits", "4 bits"), live=False, advanced=True),
    Setting("activations", "choice", "auto", "Activations",
            "Numbers on their way through the model meet weights of 2, 4 and 8 bits rounded to 8 bits, or exact and "
            "slower. Auto rounds, under every dial, Exact included: it loses about what bf16 does.",
            "speed", choices=("auto", "8-bit", "exact"), live=False, advanced=True),
)  # fmt: skip

HUB = (
    Setting("endpoint", "text", "", "Model hub",
            "Address that models are searched at and fetched from, such as that of a mirror. Empty takes HF_ENDPOINT "
            "where it is set, and Hugging Face otherwise.", "network"),
    Setting("proxy", "text", "", "Proxy",
            "Such as http://proxy.example:8080. Empty takes HTTPS_PROXY, HTTP_PROXY and NO_PROXY.", "network"),
    Setting("offline", "bool", False, "Stay offline",
            "No search and no download: nothing of Underhill uses the network.", "network"),
)  # fmt: skip

IMPORT_BATTERY = Setting(
    "import_battery", "int", 30, "Pause imports on battery (%)",
    "On battery, an import waits as soon as less than this percentage is left, and goes on when the computer is "
    "plugged in. 0 never waits.", "library", 0, 100,
)  # fmt: skip

LIBRARY = (
    Setting("model_folders", "text", "", "Model folders",
            "Folders that models live in, one a line, on as many disks as you like; new models go into the first. "
            "'default' is the one in Underhill's own data.", "library"),
    IMPORT_BATTERY,
)  # fmt: skip

# Of Underhill as a whole, whichever model is open; kept by the engine (hub/kept.py), for window and terminal alike.
SHARED = (*HUB, *LIBRARY)

SERVER_PORT = Setting(
    "server_port", "int", 11535, "Port",
    "Programs ask at this port. Choose another where a program has it already.", "server", 1024, 65535,
)  # fmt: skip

SERVER = (
    SERVER_PORT,
    Setting("server_reach", "choice", "computer", "Who can connect",
            "Programs on this computer only, or those on other computers in your network, too: these have to show the "
            "key. What is sent is not encrypted.", "server",
            choices=("computer", "network"), names=("Only this computer", "The local network")),
    Setting("server_start", "bool", False, "Start with Underhill", "Turns the server on whenever Underhill starts.",
            "server"),
)  # fmt: skip

ALL = {s.name: s for s in (*SAMPLING, *ENGINE)}  # of a model and its answers: what the settings dialog shows


def idle(values: Mapping[str, Any], among: tuple[Setting, ...]) -> list[Translatable]:
    """A sentence for everything that was chosen and has nothing to do, for want of another setting's value."""
    known = {s.name: s for s in among}
    said = []
    for s in among:
        if s.needs is not None and values[s.name] != s.default and values[s.needs[0]] != s.needs[1]:
            other = known[s.needs[0]]
            said.append(
                msg(
                    "{label} does nothing unless {label2} is {name_of}.",
                    label=translated(s.label),
                    label2=translated(other.label),
                    name_of=other.name_of(s.needs[1]),
                )
            )
    return said


def validated(values: Mapping[str, Any], among: tuple[Setting, ...]) -> dict[str, Value]:
    """Every setting of `among`, checked, defaults filled in. Unknown names raise UnderhillError(BAD_REQUEST)."""
    known = {s.name: s for s in among}
    for name in values:
        if name not in known:
            raise UnderhillError(Kind.BAD_REQUEST, msg("There is no setting called {name}.", name=repr(name)))
    return {s.name: s.check(values[s.name]) if s.name in values else s.default for s in among}
