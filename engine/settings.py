"""Every setting, declared once: the dialog, the CLI and the validation are made from this declaration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.translatable import Translatable, joined, msg, quoted, translated

Value = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True)
class Setting:
    """One setting. kind: 'bool', 'int', 'float', 'choice', 'text' or 'shares'; low and high are inclusive.

    names: of the choices, for people; of 'shares', what each is the share of: numbers of any proportion, kept so that
    they sum to 1. start: what it begins with when somebody takes it out of Underhill's hands.
    live: takes effect at once, mid-answer; otherwise at the next load of the model.
    optional: None is allowed and means "let Underhill choose"; automatic: what that is called.
    needs: (name, value) of another setting without which this one has nothing to do.
    percent: a share of 1 that people see, and may type, as '62%'. example: of a text, in the empty field.
    """

    name: str
    kind: str
    default: Value
    label: str
    help: str
    group: str
    _: KW_ONLY
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    live: bool = True
    optional: bool = False
    automatic: str = "Automatic"
    example: str = ""
    start: Value = None
    needs: tuple[str, str] | None = None
    percent: bool = False
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
        if self.kind == "float":
            return _share(value) if self.percent else float(value)
        return str(value)

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
            else msg("a percentage from {low} to {high}", low=f"{self.low:.0%}", high=f"{self.high:.0%}")
            if self.percent
            else msg("a number from {low} to {high}", low=f"{self.low:g}", high=f"{self.high:g}")
        )
        return UnderhillError(
            Kind.BAD_REQUEST,
            msg("{label} can't be {value}.", label=translated(self.label), value=quoted(value)),
            msg("Use {allowed}.", allowed=allowed),
        )


def _share(value: Any) -> float:
    """A share of 1, which text may give in percent."""
    text = value.strip() if isinstance(value, str) else ""
    return float(text[:-1]) / 100 if text.endswith(("%", "％")) else float(value)


SAMPLING = (
    Setting("temperature", "float", 0.7, "Temperature", "Higher is more varied; 0 always picks the likeliest "
                                                        "token.",
            "sampling", low=0.0, high=5.0),
    Setting("top_p", "float", 0.95, "Top P", "Keep the likeliest tokens that together reach this probability.",
            "sampling", low=0.0, high=1.0),
    Setting("top_k", "int", 0, "Top K", "Keep only this many likeliest tokens; 0 keeps all.",
            "sampling", low=0, high=100_000),
    Setting("min_p", "float", 0.0, "Min P", "Drop tokens less likely than this share of the likeliest.",
            "sampling", low=0.0, high=1.0),
    Setting("repetition_penalty", "float", 1.0, "Repeat penalty",
            "Above 1 makes repeated words less likely.", "sampling", low=0.5, high=3.0),
    Setting("seed", "int", None, "Seed", "The same seed gives the same answer.",
            "sampling", low=0, high=2**31 - 1, optional=True),
    Setting("max_tokens", "int", 1024, "Max answer length (tokens)", "Stop after this many tokens.", "sampling",
            low=1, high=1_000_000),
)  # fmt: skip

ENGINE = (
    Setting("dial", "choice", "balanced", "Quality",
            "Exact: full precision. Balanced: almost no loss. Fast: small loss, fewer disk reads.", "speed",
            choices=("exact", "hobbit", "balanced", "fast"), names=("Exact", "HOBBIT 67/30/3", "Balanced", "Fast")),
    Setting("t1", "float", None, "Threshold T1",
            "Experts that score T1 or lower use full precision.",
            "speed", low=0.0, high=1.0, optional=True, advanced=True),
    Setting("t2", "float", None, "Threshold T2",
            "Experts that score T2 or lower use lower precision; above T2 they are skipped.",
            "speed", low=0.0, high=1.0, optional=True, advanced=True),
    Setting("cache_aware_routing", "choice", "auto", "Cache-aware routing",
            "Let an expert in memory stand in for a missing one with a similar score. Never under Exact. Auto: "
            "where calibration finds the loss small.",
            "speed", choices=("auto", "on", "off"), advanced=True),
    Setting("tier", "choice", "top", "Expert precision",
            "Bits per weight of experts at full precision.", "speed",
            choices=("top", "8", "4", "2"), names=("As stored", "8-bit", "4-bit", "2-bit"), advanced=True),
    Setting("low", "choice", "coarsest", "Lower expert precision",
            "Bits per weight of experts at lower precision. 4-bit loses less and reads slower.", "speed",
            choices=("coarsest", "2", "4"), names=("Lowest stored", "2-bit", "4-bit"), advanced=True),
    Setting("cache_fraction", "float", None, "Experts kept in memory",
            "More in memory means fewer disk reads.", "memory", low=0.0, high=1.0,
            optional=True, percent=True),
    Setting("memory_gb", "float", None, "Memory limit (GB)",
            "The app stays below this.",
            "memory", low=0.25, high=4096.0, optional=True),
    Setting("policy", "choice", "hobbit", "Cache policy",
            "Which expert leaves memory first when space is needed.", "speed",
            choices=("hobbit", "lru", "lru_layer", "lfu", "edgemoe", "activation"),
            names=("HOBBIT", "LRU", "LRU per layer", "LFU", "EdgeMoE", "Activation"), live=False, advanced=True),
    Setting("policy_weights", "shares", None, "Eviction weights",
            "How much each criterion counts when an expert has to leave.", "speed",
            names=("Recency", "Frequency", "Precision", "Distance"), optional=True, automatic="Fitted",
            start=(0.4, 0.0, 0.4, 0.2), needs=("policy", "hobbit"), advanced=True),
    Setting("prefetch", "choice", "auto", "Prefetch experts",
            "Read likely experts before they are needed. Doesn't change answers.", "speed", choices=("auto", "off")),
    Setting("predictor", "choice", "auto", "Predictor",
            "What predicts the experts to prefetch.", "speed",
            choices=("auto", "gates", "taught", "tokens", "pairs", "paths", "eam", "blend"),
            names=("Auto", "Gates", "Trained gates", "Token table", "Layer pairs", "Activation paths",
                   "Activation matrices", "All combined"),
            needs=("prefetch", "auto"), advanced=True),
    Setting("prefetch_depth", "int", 3, "Prefetch depth (layers)",
            "How many layers ahead to prefetch.", "speed",
            low=1, high=3, needs=("prefetch", "auto"), advanced=True),
    Setting("prefetch_width", "int", None, "Prefetch width (experts)",
            "Most experts to prefetch per layer.", "speed", low=1, high=256,
            optional=True, needs=("prefetch", "auto"), advanced=True),
    Setting("speculation", "choice", "auto", "Speculative decoding",
            "Guess the next words and check several at once. Doesn't change answers.", "speed",
            choices=("auto", "off"), advanced=True),
    Setting("remember_routing", "bool", True, "Remember expert use",
            "Saves usage counts for a faster start. No text is saved; off deletes them.", "speed", advanced=True),
    Setting("mode", "choice", "auto", "Compute device",
            "Where the model is computed. Auto uses the fastest that works here.", "speed",
            choices=("auto", "cpu", "cpu-assisted", "gpu"), names=("Auto", "CPU", "CPU + GPU", "GPU"), advanced=True),
    Setting("card", "int", None, "GPU",
            "The GPU to use, by its number, from 0. Automatic: the one with most free memory.", "speed", low=0, high=15,
            optional=True, advanced=True),
    Setting("readers", "int", 4, "Disk threads", "Disk reads at the same time.", "speed", low=1, high=32,
            live=False, advanced=True),
    Setting("direct_io", "choice", "auto", "Direct I/O", "Bypass the system's file cache when reading experts.",
            "speed", choices=("auto", "on", "off"), live=False, advanced=True),
    Setting("threads", "int", None, "CPU threads", "Threads used for computing.", "speed", low=1, high=256,
            optional=True, live=False, advanced=True),
    Setting("context_length", "int", None, "Context length (tokens)",
            "Maximum context. Longer needs more memory.", "memory", low=64, high=4_194_304,
            optional=True, live=False),
    Setting("dense", "choice", "auto", "Shared weights",
            "Precision of all weights that aren't experts.", "memory",
            choices=("auto", "f32", "bf16", "int8", "int4"),
            names=("Auto", "float32", "bf16", "8-bit", "4-bit"), live=False, advanced=True),
    Setting("kv_cache", "choice", "auto", "KV cache",
            "Precision of the context's memory. 8-bit takes about half. Auto uses it where experts need the room.",
            "memory", choices=("auto", "bf16", "int8"), names=("Auto", "bf16", "8-bit"), live=False, advanced=True),
    Setting("activations", "choice", "auto", "Activations",
            "Round activations to 8 bits (faster) or keep them exact.",
            "speed", choices=("auto", "8-bit", "exact"), live=False, advanced=True),
)  # fmt: skip

HUB = (
    Setting("endpoint", "text", "", "Model hub URL",
            "Where to search for and download models, for example a mirror.", "network"),
    Setting("proxy", "text", "", "Proxy URL",
            "Searches and downloads go through it.", "network", example="http://proxy.example:8080"),
    Setting("offline", "bool", False, "Offline mode",
            "No searches, no downloads, no network use.", "network"),
)  # fmt: skip

IMPORT_BATTERY = Setting(
    "import_battery", "int", 30, "Pause imports below battery level (%)",
    "On battery power, imports wait below this level. 0 never waits.", "library", low=0, high=100,
)  # fmt: skip

LIBRARY = (
    Setting("model_folders", "text", "", "Model folders",
            "New models are saved in the first. 'default' is the app's own folder.", "library"),
    IMPORT_BATTERY,
)  # fmt: skip

# Of Underhill as a whole, whichever model is open; kept by the engine (hub/kept.py), for window and terminal alike.
SHARED = (*HUB, *LIBRARY)

SERVER_PORT = Setting(
    "server_port", "int", 11535, "Port",
    "Choose another if an app already uses this one.", "server", low=1024, high=65535,
)  # fmt: skip

SERVER = (
    SERVER_PORT,
    Setting("server_reach", "choice", "computer", "Who can connect",
            "Other computers on the local network need the key. The connection is not encrypted.", "server",
            choices=("computer", "network"), names=("Only this computer", "The local network")),
    Setting("server_start", "bool", False, "Start with the app", "Turn the server on when the app starts.",
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
                    "{label} only works with {label2}: {name_of}.",
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
            raise UnderhillError(Kind.BAD_REQUEST, msg("There is no setting {name}.", name=repr(name)))
    return {s.name: s.check(values[s.name]) if s.name in values else s.default for s in among}
