"""Everything that the folders of the library hold: what can be opened, and what cannot, with the reason why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.formats.families import FAMILIES, of_mtp, text_config, vision_prefixes
from engine.kept_by_mark import KeptByMark
from engine.library import (
    dials,
    display_name,
    folders,
    offline_index,
    partial_imports,
    store_copy,
    trash,
    verification,
)
from engine.library.entries import (
    BLANK_CARD,
    CLASH,
    MISSING,
    MOVING,
    OLD_FORMAT,
    UNFINISHED,
    UNUSABLE,
    ModelCard,
    ModelFolder,
)
from engine.library.home import BUILTIN, COPY, RESERVED, home
from engine.limits import MANIFEST_BYTES, POSITIONS
from engine.record.layout import ExpertSpec
from engine.regular_file import read_json
from engine.store import manifest as manifests
from engine.store import problems
from engine.store.journal import PARTIAL
from engine.store.manifest import Manifest
from engine.store.reader import load_manifest
from engine.store.writer import is_busy
from engine.translatable import NO_TEXT, Translatable, joined, msg, translated

TOY = 100_000_000  # parameters; below this a model is no use but to try things, and its card says so
_TOP_K = ("num_experts_per_tok", "moe_topk", "num_experts_per_token", "top_k_experts", "moe_top_k", "moe_k", "top_k")


@dataclass(frozen=True)
class StoreOutline:
    """What a manifest says of its store. card: without what changes beside it. files: its data files."""

    card: ModelCard
    files: tuple[str, ...]


_outlines = KeptByMark[StoreOutline]()


def describe(path: Path, outline: StoreOutline) -> ModelCard:
    """The card of the store at `path`, with what may change while its manifest stays as it is. Raises OSError."""
    nbytes = sum(f.stat().st_size for f in path.iterdir() if f.is_file())
    return replace(
        outline.card, title=shown_title(path), disk_bytes=nbytes, calibration=dials.read(path),
        verified=verification.read(path),
    )  # fmt: skip


def outlined(path: Path, manifest: Manifest) -> StoreOutline:
    """What is known of the store at `path` by its manifest."""
    config = text_config(manifest.config)
    top_k = experts_per_token(config)
    specs = {x.index: max((manifest.specs[r.spec] for r in x.records), key=lambda s: s.top) for x in manifest.layers}
    seeing = vision_prefixes(manifest.config)
    sees = sum(math.prod(t.shape) for t in manifest.dense if t.name.startswith(seeing))
    mtp = [x.index for x in manifest.mtp]  # what it is drafted with counts as no part of a model
    dense = sum(math.prod(t.shape) for t in manifest.dense if not of_mtp(t.name, mtp)) - sees
    parameters = sees + dense + sum(len(x.records) * specs[x.index].parameters for x in manifest.layers)
    used = Counter(manifest.specs[r.spec] for x in manifest.layers for r in x.records)
    tiers = next(iter(specs.values())).tiers
    lean = manifest.architecture in FAMILIES
    card = ModelCard(
        name=path.name,
        title=title_of(path.name),
        family=manifest.architecture,
        path=str(path),
        parameters=parameters,
        active_parameters=dense + sum(top_k * spec.parameters for spec in specs.values()),
        disk_bytes=0,
        expert_bytes=sum(n * spec.layout.nbytes for spec, n in used.items()),
        layers=_number(config, "num_hidden_layers") or len(manifest.layers),
        moe_layers=len(manifest.layers),
        experts=max(len(x.records) for x in manifest.layers),
        experts_per_token=top_k,
        context_length=_number(config, "max_position_embeddings"),
        tiers=tiers,
        backend="lean" if lean else "compatibility",
        note=note_of(path.name, parameters, lean),
        reads_images=sees > 0,
        source=manifest.source.repo or manifest.source.path,
        expert_bits=() if manifest.lowering is None else _counted(used),
        lowered_dense="" if manifest.lowering is None else manifest.lowering.dense,
        lowered_kl=None if manifest.lowering is None else manifest.lowering.kl,
        lowered_loss=0.0 if manifest.lowering is None else manifest.lowering.loss,
        tier_bytes=tuple((tier, _bytes_at(tier, used)) for tier in tiers),
    )
    return StoreOutline(card, (*(layer.file for layer in manifest.all_layers), manifest.dense_file))


def _outline(path: Path) -> StoreOutline:
    """Of the store at `path`; its manifest, which may take a tenth of a second, is read where it is not as it was.

    Raises UnderhillError as load_manifest.
    """
    return _outlines.of(path / manifests.NAME, lambda: outlined(path, load_manifest(path)))


def experts_per_token(config: Mapping[str, Any]) -> int:
    """How many experts of a layer a token uses, by a config; 1 where it does not say."""
    return _number(text_config(config), *_TOP_K) or 1


def _counted(used: Counter[ExpertSpec]) -> tuple[tuple[int, int], ...]:
    """(bits, experts that have them)."""
    counts = Counter[int]()
    for spec, n in used.items():
        counts[spec.top] += n
    return tuple(sorted(counts.items()))


def _bytes_at(tier: int, used: Counter[ExpertSpec]) -> int:
    """Of all experts when read at a tier; those that have no such tier at their best."""
    return sum(n * s.layout.bytes_for(tier if tier in s.tiers else s.top) for s, n in used.items())


def _number(config: Mapping[str, Any], *names: str) -> int:
    """The first of these that the config has; the largest where it is a list per layer; 0 where none makes sense."""
    found = next((config[name] for name in names if config.get(name)), 0)
    values = found if isinstance(found, list) else [found]
    return max((v for v in values if type(v) is int and 0 < v <= POSITIONS), default=0)


def title_of(name: str) -> Translatable:
    """What people are shown of the name of a model."""
    return msg("Underhill demo model") if name == BUILTIN else translated(name)


def shown_title(path: Path) -> Translatable:
    """What people are shown of the model at `path`: the name that it was given, or its own."""
    given = display_name.read(path)
    return translated(given) if given else title_of(path.name)


def note_of(name: str, parameters: int, lean: bool) -> Translatable:
    """A note for people who choose a model of this name; '' for none."""
    notes = []
    if name == BUILTIN:
        notes.append(
            msg("A tiny built-in model for trying the app. It is often wrong; download a bigger one for real use.")
        )
    elif parameters < TOY:
        notes.append(msg("A very small model: answers are simple and often wrong."))
    if not lean:
        notes.append(msg("Runs in compatibility mode, more slowly."))
    return joined(" ", notes)


def listing() -> tuple[ModelCard, ...]:
    """All models, usable or not, by name; the built-in one first. What lies in unplugged folders is remembered."""
    found: dict[str, ModelCard] = {}
    rest: list[ModelCard] = []
    copies = _copies()
    for folder in folders.paths():
        if not folders.is_there(folder):
            rest += (_missing(card, folder) for card in offline_index.cards(folder))
            continue
        here = [_moving(card, copies) for card in _in(folder)]
        if folder != folders.own():
            offline_index.note_cards(folder, [card for card in here if card.state != UNFINISHED])
        for card in here:
            if card.name not in found:
                found[card.name] = card
            elif not _leftover(card, found):
                rest.append(_clash(card, found[card.name]))
    rest = [card for card in rest if card.state != MISSING or card.name not in found]
    return tuple(sorted((*found.values(), *rest), key=lambda c: (c.name != BUILTIN, c.name.lower(), c.path)))


def card(path: Path) -> ModelCard:
    """The card of one store.

    Raises UnderhillError when its manifest is damaged, or a data file is missing or cannot be reached.
    """
    outline = _outline(path)
    try:
        for file in outline.files:
            if not (path / file).is_file():
                raise UnderhillError(
                    Kind.MISSING_FILE,
                    msg("{file} is missing from {name}.", file=file, name=shown_title(path)),
                    msg("Import the model again."),
                )
        return describe(path, outline)
    except OSError as cause:
        raise problems.unreadable(path, cause) from cause


def model_folders() -> tuple[ModelFolder, ...]:
    """The folders of the library with their room, the first one first."""
    first, *_ = folders.paths()
    return tuple(_folder(path, path == first) for path in folders.paths())


def _folder(path: Path, first: bool) -> ModelFolder:
    own = path == folders.own()
    if not folders.is_there(path):
        return ModelFolder(
            path=str(path), there=False, first=first, own=own, writable=False, problem=folders.not_there(path).sentence
        )
    disk = folders.disk_space(path)
    models = sum(trash.size(p) for p in _directories(path) if _is_ours(p))
    fetched = trash.size(home() / "downloads") if own else 0
    deleted = trash.nbytes(path)
    return ModelFolder(
        path=str(path),
        there=True,
        first=first,
        own=own,
        writable=disk.writable,
        free=disk.free,
        total=disk.total,
        models=models,
        deleted=deleted,
        downloads=fetched,
    )


def _directories(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if not p.name.startswith(".") and p.is_dir())
    except OSError:  # not made yet, or unplugged just now
        return []


def _is_ours(path: Path) -> bool:
    """Whether a directory is a store, whole or not; anything else may stand beside stores, and be of any size."""
    return path.name.endswith((PARTIAL, COPY)) or (path / manifests.NAME).is_file()


def _in(folder: Path) -> Iterator[ModelCard]:
    there = _directories(folder)
    whole = {p.name for p in there}
    for path in there:
        if path.name.endswith((PARTIAL, COPY)):
            name = path.name.removesuffix(PARTIAL).removesuffix(COPY)
            if name not in whole and name != BUILTIN:
                yield from _unfinished(path, folder / name)
        elif not path.name.endswith(RESERVED):
            try:
                yield card(path)
            except UnderhillError as error:
                if error.kind is not Kind.NOT_A_MODEL:
                    yield _unusable(path, error)


def _unusable(path: Path, error: UnderhillError) -> ModelCard:
    source, action = _source(path), error.action
    if error.kind is Kind.UNSUPPORTED_MODEL and source:
        action = joined(" ", (action, msg("(Made from {source}.)", source=source)))
    state = OLD_FORMAT if error.kind is Kind.UNSUPPORTED_MODEL else UNUSABLE
    return _blank(path, state, error.sentence, action, source)


def _unfinished(partial: Path, destination: Path) -> Iterator[ModelCard]:
    begun = None
    if partial.name.endswith(COPY):
        note = store_copy.read(partial)
        if note is not None and note.move and Path(note.source).is_dir():
            return  # shown where it still is
        source, how, why = ("" if note is None else note.source), msg("The copy of this model"), ""
    else:
        begun = partial_imports.read(destination)
        source = "" if begun is None else begun.source
        how, why = msg("The import of this model"), "" if begun is None else begun.problem
    verb = msg("Download") if begun is not None and begun.arriving else msg("Import")
    action = msg(
        "{verb} {source} again to resume, or delete it.",
        verb=verb,
        source=source or msg("it"),
    )
    problem = joined(" ", (msg("{how} wasn't finished.", how=how), msg("It failed: {why}", why=why) if why else ""))
    if is_busy(destination):
        problem, action = msg("{how} is in progress.", how=how), NO_TEXT
    yield replace(
        _blank(partial, UNFINISHED, problem, action, source), name=destination.name, title=translated(destination.name)
    )


def _copies() -> dict[str, tuple[Path, bool]]:
    """By the store that is being moved: where to, and whether just now."""
    found = {}
    for folder in folders.present():
        for path in _directories(folder):
            if path.name.endswith(COPY) and (note := store_copy.read(path)) is not None and note.move:
                destination = path.with_name(path.name.removesuffix(COPY))
                found[note.source] = (destination, is_busy(destination))
    return found


def _moving(found: ModelCard, copies: dict[str, tuple[Path, bool]]) -> ModelCard:
    if not copies or not found.usable or (goal := copies.get(str(Path(found.path).resolve()))) is None:
        return found
    destination, now = goal
    if now:
        return replace(found, state=MOVING, problem=msg("Moving to {parent}.", parent=destination.parent))
    return replace(
        found,
        problem=msg("Moving it to {parent} was interrupted.", parent=destination.parent),
        action=msg("Move it there again to resume, or move it to its current folder to cancel."),
    )


def _leftover(second: ModelCard, found: dict[str, ModelCard]) -> bool:
    """Whether this is what a move that was cut off at its very end has left, or the other one is: shown once."""
    first = found[second.name]
    for one, other in ((first, second), (second, first)):
        note = store_copy.read(Path(one.path))
        if note is not None and note.move and Path(note.source) == Path(other.path).resolve():
            found[second.name] = one
            return True
    return False


def _missing(was: ModelCard, folder: Path) -> ModelCard:
    error = folders.not_there(folder)
    return replace(was, state=MISSING, problem=error.sentence, action=msg("Connect its disk."))


def _clash(second: ModelCard, first: ModelCard) -> ModelCard:
    return replace(
        second,
        state=CLASH,
        problem=msg("Another {name} exists in {parent}.", name=first.name, parent=Path(first.path).parent),
        action=msg("Rename {path} to use it.", path=second.path),
    )


def _blank(path: Path, state: str, problem: Translatable, action: Translatable, source: str) -> ModelCard:
    shown = translated(display_name.read(path) or path.name)
    return replace(
        BLANK_CARD, name=path.name, title=shown, path=str(path), disk_bytes=trash.size(path),
        state=state, problem=problem, action=action, source=source,
    )  # fmt: skip


def _source(path: Path) -> str:
    """What a store says it was made from, whatever its version; for show only."""
    file = path / manifests.NAME
    try:
        source = read_json(file, MANIFEST_BYTES)["source"]
        return str(source["repo"] or source["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
