"""`underhill-cli pull`: a model from a hub into the library."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.hub import connected
from engine.cli.output import ProgressBar, gb, millions, say
from engine.hub import library
from engine.hub.remote.control import Control
from engine.hub.remote.meter import Progress
from engine.hub.remote.retry import Wait
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

    def arriving(progress: Progress) -> None:
        nonlocal coming
        coming = progress.done < progress.total
        waiting(progress.waiting)
        bar.report("Downloading", progress.done, progress.total)

    def importing(phrase: str, done: int, total: int) -> None:
        if not coming:  # else it goes on at the same time
            bar.report(phrase, done, total)

    with connected(args) as hub:
        outline = look_patiently(lambda: look(hub, args.repo, args.revision, args.gguf, args.top), Control(), waiting)
        say(
            f"{outline.repo}: {millions(outline.parameters)} parameters, "
            f"{millions(outline.active_parameters)} used per token. {gb(outline.download_bytes)} to download, "
            f"{gb(outline.store_bytes(args.top))} in the library. Licence: {outline.licence or 'not stated'}."
        )
        pills = Pills()
        for fit in pills.each(lambda top: outline_facts(outline, top, pills.native), (args.top,)):
            say(fit.sentence)
        path = pull(
            hub, outline, args.name, args.top,
            keep_source=args.keep_source, arriving=arriving, importing=importing,
        )  # fmt: skip
    bar.close()
    card, note = library.card(path), library.source_note(path)
    if args.json:
        print(json.dumps({**asdict(card), "source": {"repo": outline.repo, "commit": outline.commit}, "note": note}))
    else:
        print(f"{card.name}: {card.experts} experts in {card.moe_layers} layers, {gb(card.disk_bytes)} on disk.")
        if note:
            print(note)
    return 0
