"""Texts of the library page about models, transfers and folders, and which models to recommend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from urllib.parse import urlsplit

from app.i18n.languages import short_date
from app.i18n.translate import plural, sentences, tr, tr_noop
from app.transcript.notes import rate
from app.widgets.text import FIRST_WIDE, held, percent, size, time_left
from engine import protocol

BETWEEN = "  ·  "
_STAYS = "\u00a0\u00a0·  "  # with what is before it, where a line is broken
UNFINISHED = "unfinished"  # state of a model whose import broke off
MISSING = "missing_disk"  # and of one in a folder that is not there now
# Of what a person is asked for, where it is given: the setting beside which the token is, and the offline switch.
SETTINGS = {str(protocol.Kind.NO_ACCESS): "proxy", str(protocol.Kind.OFFLINE): "offline"}
_SHORT = 30  # letters
_IN_UNIT = re.compile(r"(?<=\d)-(?=bit\b)|(?<=[A-Za-z])/(?=s\b)")  # "8-bit", "MB/s", but no repository's name
_KEPT = {"-": "\u2011", "/": "/\u2060"}  # where no line is broken
FIT_GROUPS = {
    "memory": tr_noop("In memory"),
    "disk": tr_noop("Runs from disk"),
    "slow": tr_noop("Slow"),
    "": tr_noop("Not checked"),
    "too_big": tr_noop("Too large"),
}  # in the order of a list
_BADGES = {"disk": tr_noop("From disk")}  # where a group's name is too long for one
_USES = {
    "thinking": tr_noop("thinking"),
    "vision": tr_noop("reads images"),
    "code": tr_noop("code"),
}  # of HubModel.good_at
STATES = {
    protocol.QUEUED: tr_noop("Queued"),
    protocol.RUNNING: tr_noop("Downloading"),
    protocol.PAUSED: tr_noop("Paused"),
    protocol.FAILED: tr_noop("Failed"),
    protocol.FINISHED: tr_noop("Downloaded"),
}
READING_SPEED = 5.0  # tokens a second, about as fast as people read
QUICKER_FACTOR = 1.5  # times; less of a difference is none to choose by
LINK_BYTES_PER_SECOND = 50e6 / 8  # bytes a second of the connection that times are estimated for


def count(number: int) -> str:
    """Number of parameters: '30.5B', '21M'."""
    if number >= 1_000_000_000:
        return f"{number / 1e9:.1f}B".replace(".0B", "B")
    return f"{number / 1e6:.0f}M"


def parameters(total: int, active: int) -> str:
    """'30.5B parameters, 3.3B of them active'; empty where not known."""
    if not total:
        return ""
    if not active:
        return tr("{total} params", total=count(total))
    return tr("{total} params ({active} active)", total=count(total), active=count(active))


def card_facts(card: protocol.ModelCard) -> str:
    """Facts of an installed model in a line."""
    tiers = tr("{bits}-bit experts", bits=max(card.tiers)) if card.tiers else ""
    if card.expert_bits:
        rest = (
            tr("{bits}-bit shared weights", bits=card.lowered_dense.removeprefix("int")) if card.lowered_dense else ""
        )
        tiers = joined(tr("experts: {shares}", shares=shares(card.expert_bits)), rest, change(card.lowered_kl or 0.0))
    disk = tr("{size} on disk", size=size(card.disk_bytes))
    images = tr("reads images") if card.reads_images else ""
    seen = tr("{rate} tok/s measured here", rate=rate(card.measured)) if card.measured else ""
    return joined(parameters(card.parameters, card.active_parameters), disk, tiers, images, seen)


def verified(found: protocol.Verification | None) -> str:
    """When a model's files were verified, and what was found: 'Verified on 28 Nov 2026: all files OK'; '' for None."""
    if found is None:
        return ""
    on = short_date(date.fromtimestamp(found.at))
    if not found.damaged:
        return tr("Verified on {date}: all files OK", date=on)
    damaged = plural("1 part is damaged", "%n parts are damaged", found.damaged)
    return sentences(tr("Verified on {date}: {damaged}", date=on, damaged=damaged), found.problem, found.action)


def shares(bits: Sequence[tuple[int, int]]) -> str:
    """'80 % 2-bit, 20 % 4-bit'. bits: (bits, experts that have them)."""
    whole = sum(experts for _, experts in bits)
    each = (tr("{share} {bits}-bit", share=percent(experts / whole), bits=bits) for bits, experts in bits)
    return tr(", ").join(each)


def change(kl: float) -> str:
    """Loss of quality by fewer bits."""
    return tr("KL {kl} vs. full precision", kl=f"{kl:.4f}")


def hub_facts(model: protocol.HubModel) -> str:
    """Facts of a model on the hub in a line."""
    download = _fetched(model)
    here = tr("{size} on disk", size=size(model.fit.disk)) if model.fit is not None else ""
    licence = tr("License: {licence}", licence=model.licence) if model.licence else ""
    gated = tr("Sign-in required") if model.gated else ""
    return joined(
        parameters(model.parameters, model.active_parameters), download, here, _good_at(model), licence, gated
    )


def row_facts(model: protocol.HubModel) -> str:
    """The facts of a model on the hub by which people choose, in a short line."""
    download = tr("{size} download", size=size(model.download_bytes)) if model.download_bytes else ""
    gated = tr("Sign-in required") if model.gated else ""
    return joined(parameters(model.parameters, model.active_parameters), download, gated)


def _good_at(model: protocol.HubModel) -> str:
    """'thinking, reads images, code', as far as that is known."""
    return tr(", ").join(tr(_USES[use]) for use in model.good_at)


def _fetched(model: protocol.HubModel) -> str:
    """Size of the download, and of a model in four bits, that of the original."""
    if not model.download_bytes:
        return ""
    if not model.original_bytes:
        return tr("{size} download", size=size(model.download_bytes))
    return tr(
        "{size} download as {form} (original: {whole})",
        size=size(model.download_bytes), form=model.form, whole=size(model.original_bytes),
    )  # fmt: skip


def found_facts(model: protocol.FoundModel) -> str:
    """Facts of a model of another app in a line."""
    kind = joined(model.format, model.quantization, between=" ")
    return joined(tr("From {app}", app=model.app), size(model.nbytes), kind)


def progress(done: int, total: int, unit: str, rate: float, left: float | None) -> str:
    """'1.2 GB of 17 GB  ·  42 MB/s  ·  6 min left'."""
    if unit == "bytes":
        amount = tr("{done} of {total}", done=size(done), total=size(total)) if total else size(done) if done else ""
        pace = tr("{size}/s", size=size(rate)) if rate else ""
    else:
        amount, pace = (tr("{done} of {total}", done=done, total=total) if total else ""), ""
    return joined(amount, pace, time_left(left))


def joined(*parts: str, between: str = BETWEEN) -> str:
    """Join the parts that are not empty."""
    return between.join(part for part in parts if part)


def unbroken(line: str) -> str:
    """Have a line made by `joined` break between its parts, not within a short one."""
    line = _IN_UNIT.sub(lambda sign: _KEPT[sign[0]], line)
    return _STAYS.join(held(part) if _width(part) <= _SHORT else part for part in line.split(BETWEEN))


def _width(part: str) -> int:
    """In Latin letters; a Chinese sign is as wide as two."""
    return len(part) + sum(sign >= FIRST_WIDE for sign in part)


def open_page(page: str) -> str:
    """What a button says that opens a model's page: a mirror or another hub is no Hugging Face."""
    return tr("Open on Hugging Face") if urlsplit(page).hostname == "huggingface.co" else tr("Open web page")


def recommend(models: Sequence[protocol.HubModel]) -> list[tuple[protocol.HubModel, str]]:
    """The one to recommend first, then at most one quicker and one larger; empty where none of them fits.

    Each with a sentence that says why, against the others.
    Models that ask for an account, or whose download is not known, are left to the library page.
    """
    fits = [m for m in models if speed(m) and m.download_bytes and not m.gated]
    fits.sort(key=lambda m: -m.parameters)  # of equals, as the catalogue has them
    if not fits:
        return []
    best = next((m for m in fits if speed(m) >= READING_SPEED), None)
    if best is None:
        best = max(fits, key=speed)
        found = [(best, tr("Recommended: fastest"))]
    else:
        found = [(best, tr("Recommended: best answers at reading speed"))]
    quicker = [m for m in fits if m.parameters < best.parameters and speed(m) >= QUICKER_FACTOR * speed(best)]
    if quicker:
        found.append((quicker[0], tr("Smaller and faster")))
    larger = [m for m in fits if m.parameters > best.parameters]
    if larger:
        found.append((larger[-1], tr("Larger and slower")))
    return found


def why_offline(offline: bool) -> str:
    """Why nothing can be downloaded; '' where it can."""
    return tr("Offline mode is on.") if offline else ""


def fit_summary(models: Sequence[protocol.HubModel]) -> str:
    """How many of the catalogue run well here, in a sentence."""
    fit = sum(m.fit is not None and m.fit.pill == "fits" for m in models)
    known = sum(m.fit is not None for m in models)
    if not known:
        return ""
    if not fit:
        return tr("None of the {known} recommended models runs well here. The built-in one does.", known=known)
    return tr("{fit} of {known} recommended models run well here", fit=fit, known=known)


def fit_group(fit: protocol.Fit | None) -> str:
    """The key in FIT_GROUPS: where a model's experts would be, or why it does not run well."""
    if fit is None:
        return ""
    if fit.pill != "fits":
        return fit.pill
    return "memory" if fit.share >= 1 else "disk"


def fit_badge(fit: protocol.Fit) -> str:
    """The group in a word or two."""
    return _badge(fit_group(fit))


def fit_badges() -> list[str]:
    """All that `fit_badge` may say."""
    return [_badge(group) for group in FIT_GROUPS if group]


def _badge(group: str) -> str:
    return tr(_BADGES.get(group, FIT_GROUPS[group]))


def fit_level(fit: protocol.Fit) -> str:
    """The badge's level in the style sheet: 'fits', 'disk' (slower than people read), 'slow' or 'too_big'."""
    slower = fit.speed is not None and fit.speed[0] < READING_SPEED
    return "disk" if fit_group(fit) == "disk" and slower else fit.pill


def time_to_fetch(nbytes: int) -> str:
    """On a usual connection: 'about 40 min at 50 Mbit/s'."""
    minutes = nbytes / LINK_BYTES_PER_SECOND / 60
    if minutes < 90:
        return tr("about {minutes} min at 50 Mbit/s", minutes=max(1, round(minutes)))
    return tr("about {hours:.1f} h at 50 Mbit/s", hours=minutes / 60)


def speed(model: protocol.HubModel) -> float:
    """Tokens a second, at worst; 0 where it does not run well."""
    fit = model.fit
    return fit.speed[0] if fit is not None and fit.pill == "fits" and fit.speed is not None else 0.0
