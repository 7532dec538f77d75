"""Texts around an answer: notices above and below it, its speed, its details."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple

from app.i18n.translate import plural, tr, tr_engine, tr_noop
from app.storage.records import StoredMessage
from app.widgets.text import size
from engine.translatable import from_json

_ENDS = {
    "length": tr_noop("Length limit reached"),
    "context": tr_noop("Context full. Start a new chat or raise the context length."),
    "cancelled": tr_noop("Stopped"),
    "rounds": tr_noop("Many tool calls in a row. Continue to allow more."),
    "held": tr_noop("Stopped. The engine didn't respond and was restarted."),
    "failed": tr_noop("Generation failed"),
}


REQUESTS = tr_noop("One layer asking for one expert. A stretch of the prompt counts once.")
DRAFTS = tr_noop("Tokens guessed ahead, checked several at once, and those that the answer has.")
REPLACED = tr_noop("Uses for which an expert in memory stood in for one that was missing (cache-aware routing).")
USES = tr_noop("One token going through one expert. Prompt tokens share requests.")
_CSV = {"hits": "expert_requests_from_memory", "misses": "expert_requests_from_disk", "precision": "expert_uses"}


class Figure(NamedTuple):
    """A figure with its unit, and what it means where that is not plain."""

    name: str
    value: str
    meaning: str = ""


class PlainNote(str):
    """A notice that is no warning."""

    __slots__ = ()


def before(message: StoredMessage) -> list[str]:
    """Notices above a message: from where the model reads, what was left out, what is attached."""
    found: list[str] = []
    if not message.stats and not message.attachments:
        return found
    if (hosts := message.stats.get("endpoint")) and message.role == "assistant":
        found.append(PlainNote(tr("Sent to {host}", host=hosts)))
    if message.stats.get("read_from_here"):
        found.append(tr("Messages above are outside the context"))
    dropped = int(message.stats.get("dropped_turns", 0))
    if dropped:
        found.append(
            plural(
                "Context full: 1 older message not included",
                "Context full: {count:,} older messages not included",
                dropped,
                count=dropped,
            )
        )
    if left_out := int(message.stats.get("images_left_out", 0)):
        found.append(
            plural(
                "1 image not included: this model can't read images",
                "{count:,} images not included: this model can't read images",
                left_out,
                count=left_out,
            )
        )
    if files := [a.name for a in message.attachments if not a.image]:
        names = tr(", ", about="between the names of a list").join(files)
        found.append(PlainNote(tr("Attached: {names}", names=names)))
    return found


def answered_by(model: str) -> PlainNote:
    """Notice above an answer of another model or team than the one that answered before."""
    return PlainNote(tr("Answered by {model}", model=model))


def after(message: StoredMessage) -> list[str]:
    """Notices below an answer."""
    if message.state == "cut":
        return [tr("Interrupted when the app closed")]
    if message.finish == "edited":
        return [PlainNote(tr("Edited"))]
    end = _ENDS.get(message.finish)
    return [tr(end)] if end else []


def summary(message: StoredMessage) -> str:
    """Line under an answer: '12.3 tok/s · 240 tokens · 96 % of experts were in memory'."""
    stats = message.stats
    if not stats:
        return ""
    parts = []
    count = _tokens(message)
    seconds = float(stats.get("decode_seconds", 0.0))
    if count > 1 and seconds > 0:
        parts.append(tr("{rate} tok/s", rate=rate((count - 1) / seconds)))
    if count or not stats.get("endpoint"):  # not every server counts them
        parts.append(plural("1 token", "{count:,} tokens", count, count=count))
    wait = float(stats.get("prompt_seconds", 0.0))
    if wait > 0 and _has_begun(message):  # stopped before there was a token, it was only waited for
        parts.append(tr("{time} to first token", time=duration(wait)))
    uses = int(stats.get("hits", 0)) + int(stats.get("misses", 0))
    if uses:
        parts.append(tr("{percent}% cache hits", percent=f"{100 * int(stats.get('hits', 0)) / uses:.0f}"))
    mix = precision_mix(stats.get("precision", {}))
    if mix:
        parts.append(mix)
    return "  ·  ".join(parts)


def details(message: StoredMessage) -> list[Figure]:
    """All figures of how an answer was made."""
    stats = message.stats
    if not stats:
        return []
    count, seconds = _tokens(message), float(stats.get("decode_seconds", 0.0))
    sent = str(stats.get("endpoint") or "")
    prompt, reused = int(stats.get("prompt_tokens", 0)), int(stats.get("reused_tokens", 0))
    wait = float(stats.get("prompt_seconds", 0.0))
    hits, misses = int(stats.get("hits", 0)), int(stats.get("misses", 0))
    rows = [
        Figure(tr("Model"), message.model),
        Figure(tr("Sent to"), sent),
        Figure(tr("Tokens"), f"{count:,}" if count or not sent else ""),
        Figure(tr("Time"), duration(seconds)),
    ]
    if count > 1 and seconds > 0:
        rows.append(Figure(tr("Speed"), tr("{rate} tok/s", rate=rate((count - 1) / seconds))))
    if drafted := int(stats.get("drafted", 0)):
        accepted = int(stats.get("accepted", 0))
        share = f"{100 * accepted / drafted:.0f}"
        value = tr("{accepted:,} of {drafted:,} tokens ({percent}%)", accepted=accepted, drafted=drafted, percent=share)
        rows.append(Figure(tr("Accepted drafts"), value, tr(DRAFTS)))
    if stats.get("thinking_seconds"):
        rows.append(Figure(tr("Thought for"), duration(float(stats["thinking_seconds"]))))
    rows += [
        Figure(
            tr("Prompt"),
            tr("{count:,} tokens ({reused:,} cached)", count=prompt, reused=reused) if prompt or not sent else "",
        ),
        Figure(tr("Time to first token"), duration(wait) if _has_begun(message) else ""),
    ]
    if wait > 0 and prompt > reused and count:  # otherwise it may have been stopped before all was read
        rows.append(Figure(tr("Prompt speed"), tr("{rate} tok/s", rate=rate((prompt - reused) / wait))))
    if hits + misses:
        share = f"{100 * hits / (hits + misses):.1f}"
        found = tr("{hits:,} of {uses:,} ({percent}%)", hits=hits, uses=hits + misses, percent=share)
        rows.append(Figure(tr("Cache hits"), found, tr(REQUESTS)))
    if not sent or hits + misses:  # a team asks models here, too
        rows.append(Figure(tr("Disk reads"), size(int(stats.get("bytes_read", 0)))))
    precision = {k: v for k, v in stats.get("precision", {}).items() if v}
    total = sum(precision.values())
    for key, uses in precision.items():
        name = tr("Skipped experts") if key == "skipped" else tr("{bits}-bit experts", bits=key)
        share = f"{100 * uses / total:.1f}"
        rows.append(Figure(name, tr("{uses:,} ({percent}%)", uses=uses, percent=share), tr(USES)))
    if replaced := int(stats.get("substituted", 0)):
        share = f"{100 * replaced / total:.1f}" if total else "0"
        rows.append(
            Figure(tr("Replaced experts"), tr("{uses:,} ({percent}%)", uses=replaced, percent=share), tr(REPLACED))
        )
    peak = int(stats.get("peak_rss", 0))
    rows.append(Figure(tr("Peak memory"), size(peak) if peak or not sent else ""))
    return [figure for figure in rows if figure.value]


def why(message: StoredMessage) -> str:
    """Sentence on what limited the speed; empty where it is not known."""
    return tr_engine(from_json(message.stats.get("why", "")))


def as_csv(message: StoredMessage) -> str:
    """CSV of the figures as they are, without units: a header and a line for each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("name", "value"))
    writer.writerow(("model", message.model))
    writer.writerow(("tokens", _tokens(message)))
    for name, value in message.stats.items():
        if name == "steps":
            writer.writerows((f"step_{n}_seconds", step.get("seconds", 0.0)) for n, step in enumerate(value, 1))
        elif name == "why":
            writer.writerow((name, from_json(value)))
        elif isinstance(value, dict):
            writer.writerows((f"{_CSV.get(name, name)}_{_kind(key)}", amount) for key, amount in value.items())
        else:
            writer.writerow((_CSV.get(name, name), value))
    return out.getvalue()


def _tokens(message: StoredMessage) -> int:
    """Tokens of an answer: its own, or as an endpoint counted them; 0 where nobody did."""
    return len(message.token_ids) or int(message.stats.get("answer_tokens", 0))


def _has_begun(message: StoredMessage) -> bool:
    """Whether there was a first token, which not every endpoint counts."""
    return bool(_tokens(message) or (message.stats.get("endpoint") and message.content))


def _kind(key: str) -> str:
    return f"{key}_bits" if key.isdigit() else key


def precision_mix(precision: dict[str, Any]) -> str:
    """'91% at 8-bit': the share of expert uses at the finest precision; nothing where all ran alike."""
    used = [k for k, v in precision.items() if v]
    if len(used) < 2:
        return ""
    finest = max((k for k in used if k != "skipped"), key=int)
    share = f"{100 * precision[finest] / sum(precision.values()):.0f}"
    return tr("{percent}% at {bits}-bit", percent=share, bits=finest)


def rate(value: float) -> str:
    """Format a speed with as many digits as matter."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def duration(seconds: float) -> str:
    """Format a time: '< 0.1 s', '0.4 s', '12 s', '2 min 05 s'."""
    if seconds < 0.1:
        return tr("< 0.1 s")
    if seconds < 10:
        return tr("{seconds} s", seconds=f"{seconds:.1f}")
    if seconds < 60:
        return tr("{seconds} s", seconds=f"{seconds:.0f}")
    return tr("{minutes} min {seconds} s", minutes=int(seconds) // 60, seconds=f"{int(seconds) % 60:02d}")


def whole(seconds: float) -> str:
    """Format a time without a fraction: '1 s' at least."""
    return duration(seconds) if seconds >= 10 else tr("{seconds} s", seconds=max(1, round(seconds)))
