"""`underhill-cli` search, pull, token: models on a hub, and the account there."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from dataclasses import asdict

from engine import settings
from engine.calibration import lowering_search
from engine.cli.output import ProgressBar, experts_by_bits, gb, millions, pill, say, speed, table
from engine.hub import tokens
from engine.hub.client import Hub, accept_token, connect
from engine.hub.control import Control, DownloadProgress, Wait
from engine.hub.listings import judged, listed, of_catalogue, outline_facts
from engine.hub.outline import Outline
from engine.hub.pull import look, look_patiently, pull
from engine.library import catalogue, library, settings_file
from engine.library.catalogue import CatalogueEntry
from engine.library.entries import HubModel
from engine.library.fit_estimates import FitEstimates


def connected(args: argparse.Namespace) -> Hub:
    """Nothing is sent yet. Raises UnderhillError(BAD_REQUEST, BROKEN_FILE)."""
    named = {s.name: value for s in settings.HUB if (value := getattr(args, s.name)) is not None}
    return connect({**settings_file.hub(), **named})


_SEARCH_HEADER = ("MODEL", "HERE", "TOKENS/S", "PARAMETERS", "PER TOKEN", "DOWNLOAD", "ON DISK", "LICENCE", "")


def run_search(args: argparse.Namespace) -> int:
    """List what is found, most downloaded first. Without words nothing is sent: the choice is shipped."""
    if args.words:
        with connected(args) as hub:
            found = judged(hub, listed(hub, " ".join(args.words))[: args.limit], FitEstimates())
    else:
        found = of_catalogue(FitEstimates())
    if args.json:
        print(json.dumps({"models": [asdict(one) for one in found]}))
    elif found:
        print(table(map(_search_row, found), _SEARCH_HEADER))
    else:
        say("No matching model. Try fewer words, such as a family name.")
    return 0


def _search_row(m: HubModel) -> tuple[str, ...]:
    quantized, gated = f"quantized: {m.quantized}" if m.quantized else "", "needs an account" if m.gated else ""
    own = f"in the library as {m.here}" if m.here else ""
    form = f"{m.form} instead of {gb(m.original_bytes)} ({m.original})" if m.form else ""
    chosen = f"--gguf {m.gguf_name}" if m.gguf_name else ""
    return (
        m.repo,
        pill(m.fit),
        speed(m.fit),
        millions(m.parameters),
        millions(m.active_parameters),
        gb(m.download_bytes) if m.download_bytes else "?",
        gb(m.fit.disk) if m.fit is not None else "?",
        m.licence or "?",
        ", ".join(part for part in (own, m.about.rstrip("."), form, chosen, quantized, gated) if part),
    )


class _PullProgress:
    """Shows on `bar` how far a download and its import are, and says once what it waits for."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._told: tuple[str, int] | None = None  # what it waits for, as was said last
        self._downloading = False

    def waiting(self, wait: Wait | None) -> None:
        """It waits for this; None: for nothing any longer."""
        now = (wait.reason, wait.number) if wait else None
        if wait and wait.left and now != self._told:
            say(str(wait))
        self._told = now

    def arriving(self, progress: DownloadProgress) -> None:
        """So much is here."""
        self._downloading = progress.done < progress.total
        self.waiting(progress.waiting)
        self._bar.report("Downloading", progress.done, progress.total)

    def importing(self, phrase: str, done: int, total: int) -> None:
        """So much is imported; not shown while it happens beside the download."""
        if not self._downloading:
            self._bar.report(phrase, done, total)


def run_pull(args: argparse.Namespace) -> int:
    """Download and import; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    progress = _PullProgress(bar)
    entry = catalogue.find(args.repo)
    source = next((s for s in entry.sources if s.repo == args.repo), None) if entry else None
    gguf = args.gguf or (source.gguf if source and args.top in (0, 4) else "")
    with connected(args) as hub:
        outline = look_patiently(
            lambda: look(hub, args.repo, args.revision, gguf, args.top or library.TOP), Control(), progress.waiting
        )
        if entry and entry.repo == args.repo and entry.sources and not args.top:
            _say_in_four_bits(entry, outline)
        top = args.top or outline.automatic
        _say_sizes(outline, top)
        path = pull(
            hub, outline, args.name, top,
            keep_source=args.keep_source, arriving=progress.arriving, importing=progress.importing,
        )  # fmt: skip
    if args.tolerance is not None:
        path = lowering_search.in_place(path.name, args.tolerance / 100, bar.report)
    bar.close()
    card, note = library.card(path), library.source_note(path)
    if args.json:
        print(json.dumps({**asdict(card), "source": {"repo": outline.repo, "commit": outline.commit}, "note": note}))
    else:
        print(f"{card.name}: {card.experts} experts in {card.moe_layers} layers, {gb(card.disk_bytes)} on disk.")
        if card.expert_bits:
            print(experts_by_bits(card))
        if note:
            print(note)
    return 0


def _say_in_four_bits(entry: CatalogueEntry, outline: Outline) -> None:
    other = entry.sources[0]
    chosen = f" --gguf {other.gguf}" if other.gguf else ""
    say(
        f"It can be had in 4 bits ({other.form}), {gb(entry.four_bit_bytes(other))} to download instead of "
        f"{gb(outline.download_bytes)}, nearly as good: underhill-cli pull {other.repo}{chosen}"
    )


def _say_sizes(outline: Outline, top: int) -> None:
    """What the model takes, and how it will run here."""
    say(
        f"{outline.repo}: {millions(outline.parameters)} parameters, "
        f"{millions(outline.active_parameters)} used per token. {gb(outline.download_bytes)} to download, "
        f"{gb(outline.store_bytes(top))} in the library. Licence: {outline.licence or 'not stated'}."
    )
    for fit in FitEstimates().each(lambda top: outline_facts(outline, top), (top,)):
        say(fit.sentence)


def run_token(args: argparse.Namespace) -> int:
    """Ask for a token, try it, keep it; or forget it."""
    with connected(args) as hub:
        if args.forget:
            said = "It is forgotten." if tokens.forget(hub.endpoint) else "There was none."
            print(json.dumps({"endpoint": hub.endpoint, "kept": False}) if args.json else said)
            return 0
        token = getpass.getpass(f"Token for {hub.endpoint}: ") if sys.stdin.isatty() else sys.stdin.readline()
        name = accept_token(hub, token)
    print(json.dumps({"endpoint": hub.endpoint, "kept": True, "account": name}) if args.json else f"Kept for {name}.")
    return 0
