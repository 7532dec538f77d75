"""`underhill-cli pull`: a model from a hub into the library."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.hub import connected
from engine.cli.output import ProgressBar, experts_by_bits, gb, millions, say
from engine.hub.control import Control, Wait
from engine.hub.meter import DownloadProgress
from engine.library import catalogue, library
from engine.session import lowered
from engine.session.offers import outline_facts
from engine.session.pills import Pills
from engine.session.pull import look, look_patiently, pull


def run(args: argparse.Namespace) -> int:
    """Download and import; run again after an interruption, it goes on where it stopped."""
    bar = ProgressBar(sys.stderr.isatty())
    told: tuple[str, int] | None = None
    coming = False

    def waiting(wait: Wait | None) -> None:
        """Said once, not every second."""
        nonlocal told
        now = (wait.reason, wait.number) if wait else None
        if wait and wait.left and now != told:
            say(str(wait))
        told = now

    def arriving(progress: DownloadProgress) -> None:
        nonlocal coming
        coming = progress.done < progress.total
        waiting(progress.waiting)
        bar.report("Downloading", progress.done, progress.total)

    def importing(phrase: str, done: int, total: int) -> None:
        if not coming:  # else it goes on at the same time
            bar.report(phrase, done, total)

    entry = catalogue.find(args.repo)
    source = next((s for s in entry.sources if s.repo == args.repo), None) if entry else None
    gguf = args.gguf or (source.gguf if source and args.top in (0, 4) else "")
    with connected(args) as hub:
        outline = look_patiently(
            lambda: look(hub, args.repo, args.revision, gguf, args.top or library.TOP), Control(), waiting
        )
        top = args.top or outline.automatic
        if entry and entry.repo == args.repo and entry.sources and not args.top:
            other = entry.sources[0]
            chosen = f" --gguf {other.gguf}" if other.gguf else ""
            say(
                f"It can be had in 4 bits ({other.form}), {gb(entry.four_bit_bytes(other))} to download instead of "
                f"{gb(outline.download_bytes)}, nearly as good: underhill-cli pull {other.repo}{chosen}"
            )
        say(
            f"{outline.repo}: {millions(outline.parameters)} parameters, "
            f"{millions(outline.active_parameters)} used per token. {gb(outline.download_bytes)} to download, "
            f"{gb(outline.store_bytes(top))} in the library. Licence: {outline.licence or 'not stated'}."
        )
        pills = Pills()
        for fit in pills.each(lambda top: outline_facts(outline, top, pills.native), (top,)):
            say(fit.sentence)
        path = pull(
            hub, outline, args.name, top,
            keep_source=args.keep_source, arriving=arriving, importing=importing,
        )  # fmt: skip
    if args.tolerance is not None:
        path = lowered.in_place(path.name, args.tolerance / 100, bar.report)
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
