"""The GGUF files of a repository: which models there are in it, and which of them is taken where nobody chose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.formats.gguf_files import model_name, part_names
from engine.hardware.machine import size
from engine.hub.revision import RemoteFile, Revision
from engine.translatable import msg

# What is fetched for a store of 8 bits or more, and for one of 4: the first that there is. No finer than what is kept.
_FINE = ("Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q4_K_M", "BF16", "F16")
_COARSE = ("Q4_K_M", "Q5_K_M", "Q5_K_S", "Q6_K", "Q4_K_S", "Q4_0", "Q8_0")
LISTED = 30  # names of an error


@dataclass(frozen=True)
class Quantization:
    """One model as GGUF. name: without what numbers a part; files: its parts in order."""

    name: str
    files: tuple[RemoteFile, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all parts."""
        return sum(file.size for file in self.files)


def quantizations(found: Revision) -> tuple[Quantization, ...]:
    """All that are complete, smallest first."""
    models: dict[tuple[str, str], Quantization] = {}
    for file in found.ggufs.values():
        names = part_names(file.name)
        parts = [found.ggufs.get(f"{file.folder}/{name}" if file.folder else name) for name in names]
        whole = tuple(part for part in parts if part is not None)
        if len(whole) == len(names):
            name = model_name(Path(file.name))
            models[file.folder, name] = Quantization(name, whole)
    return tuple(sorted(models.values(), key=lambda q: (q.nbytes, q.name)))


def choose(found: Revision, wanted: str, top: int) -> Quantization:
    """The one whose name has `wanted` in it; with '', what suits a store of `top` bits.

    Raises UnderhillError: BAD_REQUEST where none or several are meant, with their names and sizes; MISSING_FILE.
    """
    models = quantizations(found)
    if not models:
        raise UnderhillError(
            Kind.MISSING_FILE,
            msg("{repo} lacks parts of its GGUF files.", repo=found.repo),
            msg("Choose another copy of it."),
        )
    if wanted:
        exact = [q for q in models if _has(q, wanted)]
        meant = exact or [q for q in models if wanted.lower() in q.name.lower()]
    else:
        order = _COARSE if top == 4 else _FINE
        meant = next((m for kind in order if (m := [q for q in models if _has(q, kind)])), list(models))
    if len(meant) == 1 or (meant and not wanted):
        return meant[0]
    listed = ", ".join(f"{q.name} ({size(q.nbytes)})" for q in (meant or models)[:LISTED])
    several = msg("{repo} has {meant} GGUF models called {wanted}.", repo=found.repo, meant=len(meant), wanted=wanted)
    none = msg("{repo} has no GGUF model called {wanted}.", repo=found.repo, wanted=wanted)
    raise UnderhillError(Kind.BAD_REQUEST, several if meant else none, msg("There are: {listed}.", listed=listed))


def _has(model: Quantization, kind: str) -> bool:
    """Whether this is the kind that its name ends in: of Q4_K and Q4_K_M one must not be taken for the other."""
    return model.name.lower().endswith(kind.lower()) and not model.name[: -len(kind)][-1:].isalnum()
