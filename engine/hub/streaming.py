"""From a model on a hub to a source that is imported while it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.convert.expert_plan import find_experts
from engine.convert.journal import ImportPart, expert_extents
from engine.formats.checkpoint import Checkpoint
from engine.formats.gguf_header import GgufHeader
from engine.formats.gguf_source import GgufSource
from engine.formats.opening import unpacked
from engine.formats.source import Read, WeightSource, read_file
from engine.hub import download as bodies
from engine.hub.chunks import NAME, Spool
from engine.hub.client import Hub
from engine.hub.control import Control, DiskSpaceGuard, Meter, RetryPolicy, writing
from engine.hub.download import DownloadContext, Report, bring, has_begun, is_there, settle
from engine.hub.outline import Outline, without_zeros
from engine.hub.stream import ImportStream, held_bytes, plan_chunks
from engine.store.lock import FileLock
from engine.translatable import NO_TEXT, Translatable, msg

MOST = 4 << 30  # bytes of disk beside the store; what would take more is downloaded first


def hindrance(outline: Outline, folder: Path) -> Translatable:
    """Why a model cannot be imported while it arrives, as a sentence; '' where it can.

    folder: where it would be downloaded to.
    """
    if any(has_begun(folder, file) for file in outline.weights):
        return msg("Some of its files are already on disk.")
    if not all(file.sha256 for file in outline.weights):
        return msg("The hub names no checksums of its files.")
    if without_zeros(outline.entries) != outline.entries:
        return msg("Which of its tensors are needed shows only in its weights.")
    held = held_bytes(plan_chunks(outline.weights, parts_to_read(weight_source(outline, folder, read_file))))
    if held > MOST:
        return msg(
            "Its tensors lie in an order for which {held} GB would have to be held at once.", held=f"{held / 1e9:.0f}"
        )
    return NO_TEXT


@contextmanager
def opened(
    hub: Hub,
    outline: Outline,
    folder: Path,
    same_disk: bool,
    control: Control | None = None,
    report: Report | None = None,
    *,
    retry_policy: RetryPolicy | None = None,
) -> Iterator[ImportStream]:
    """The weights of `outline` as they arrive; small files are brought into `folder` first.

    same_disk: whether the store will be on the disk of `folder`. What an earlier call left is continued, also after the
    process was killed. Raises UnderhillError, CANCELLED among them; what has arrived stays.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(folder.name + ".lock"), msg("A download of {repo}", repo=outline.repo)):
        settle(folder, hub.endpoint, outline, passing=True)
        small = [file for file in outline.files if file not in outline.weights]
        missing = [file for file in small if not is_there(folder, file)]
        meter = Meter(outline.download_bytes, len(outline.files))
        meter.had(sum(file.size for file in small if file not in missing))
        context = DownloadContext(
            hub=hub,
            repo=outline.repo,
            commit=outline.commit,
            folder=folder,
            control=control or Control(),
            meter=meter,
            room=DiskSpaceGuard(folder),
            retry_policy=retry_policy or RetryPolicy(),
        )
        bring(context, missing, report)
        spool = Spool(folder / NAME, outline.weights, bodies.CHUNK)
        yield ImportStream(
            context, outline.weights, spool, make=lambda read: weight_source(outline, folder, read), report=report,
            total=outline.download_bytes, same_disk=same_disk, heads=outline.heads,
        )  # fmt: skip


def weight_source(outline: Outline, folder: Path, read: Read) -> WeightSource:
    """Return the checkpoint's tensors, read from the hub by `read`."""
    if outline.gguf:
        headers = [_here(header, folder, read) for header in outline.gguf]
        return GgufSource.of(headers[0].path, headers, weights=False)
    entries = {name: replace(entry, file=folder / entry.file.name) for name, entry in outline.entries.items()}
    return unpacked(Checkpoint(folder, outline.config, entries, read))


def _here(header: GgufHeader, folder: Path, read: Read) -> GgufHeader:
    path = folder / header.path.name
    tensors = {name: replace(tensor, file=path, read=read) for name, tensor in header.tensors.items()}
    return replace(header, path=path, tensors=tensors)


def parts_to_read(source: WeightSource) -> list[ImportPart]:
    """The parts of an import, as far as it matters when their bytes arrive."""
    plan = find_experts(source)
    experts = [expert_extents(source, pieces) for layer in plan.all_layers.values() for pieces in layer]
    return [
        *(ImportPart("", 0, None, 0, "", extents) for extents in experts),
        *(ImportPart("", 0, None, 0, name, source.extents(name)) for name in (*plan.dense, *plan.vision)),
    ]
