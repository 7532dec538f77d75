"""Entries of lists: models, folders, deleted models, models of other apps and hubs. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.library.dials import Calibration
from engine.planning.fit import Fit
from engine.translatable import NO_TEXT, Translatable

# ModelCard.state
READY = "ready"
OLD_FORMAT = "old_format"  # made by another version of Underhill
UNUSABLE = "unusable"  # damaged, incomplete or not to be read
UNFINISHED = "unfinished"  # an import or a copy that was cut off, or is under way
MISSING = "missing_disk"  # in a folder that is not there now
MOVING = "moving"  # being copied to another folder just now; it can be used meanwhile
CLASH = "name_clash"  # another model of the same name comes before it

# HubModel.good_at
THINKING = "thinking"  # can think before it answers
VISION = "vision"  # reads images, as it is offered and as Underhill runs it
CODE = "code"  # its makers say so
USES = (THINKING, VISION, CODE)


def in_order(uses: Collection[str]) -> tuple[str, ...]:
    """Those of USES that are among these, in its order."""
    return tuple(use for use in USES if use in uses)


@dataclass(frozen=True)
class Verification:
    """What verifying a model's files found. at: seconds since 1970. damaged: how many parts of them are.

    problem, action: of damage, a sentence about the first part, and what to do.
    """

    at: float
    damaged: int = 0
    problem: Translatable = NO_TEXT
    action: Translatable = NO_TEXT


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """A model as lists show it. bytes on disk. loaded: it is the current one. note: what the user should know.

    state: one of the above; anything but READY and MOVING cannot be opened, and `problem` and `action` say why and what
    to do. Of such a model only name, path, disk_bytes and what else happens to be known is filled in.
    tier_bytes: (tier, bytes of all experts when read at it). source: what it was made from, or is being made from.

    plan: sentences on how it runs here (only when loaded). thinking: the levels of thinking that its
    template can be asked for, from least to most, () where it has no such switch; plain_thinking: the one that is meant
    where only thinking is asked for. calls_tools: it can be told of tools and calls them (only when loaded).
    reads_images: a user's turn may come with pictures (Message.images); of any READY model.
    fit: how it would run here now; None where nobody asked, or where it cannot be opened. measured: tokens a second
    that it answered with on this computer when it last ran that way; 0 where it did not.
    expert_bits: (bits, experts that have them), lowered_kl: the KL divergence from before, and lowered_loss: what
    quality was lost (Lowering.loss); where some were lowered. lowered_dense: how its other weights were held for that,
    '' as ever.
    calibration: what was measured of its precision dials; None until then. verified: what verifying its files found;
    None where they were not verified, or have changed since. doing: what it is busy with while nobody asks, in a
    sentence.
    """

    name: str
    title: Translatable
    family: str
    path: str
    parameters: int
    active_parameters: int
    disk_bytes: int
    expert_bytes: int
    layers: int
    moe_layers: int
    experts: int
    experts_per_token: int
    context_length: int
    tiers: tuple[int, ...]
    backend: str  # 'lean' or 'compatibility'
    note: Translatable = NO_TEXT
    loaded: bool = False
    plan: tuple[Translatable, ...] = ()
    thinking: tuple[str, ...] = ()
    plain_thinking: str = ""
    calls_tools: bool = False
    reads_images: bool = False
    calibration: Calibration | None = None
    doing: Translatable = NO_TEXT
    state: str = READY
    problem: Translatable = NO_TEXT
    action: Translatable = NO_TEXT
    source: str = ""
    tier_bytes: tuple[tuple[int, int], ...] = ()
    fit: Fit | None = None
    measured: float = 0.0
    expert_bits: tuple[tuple[int, int], ...] = ()
    lowered_kl: float | None = None
    lowered_loss: float = 0.0
    lowered_dense: str = ""
    verified: Verification | None = None

    @property
    def usable(self) -> bool:
        """Whether it can be opened."""
        return self.state in (READY, MOVING)


# A card of which no figure is known: dataclasses.replace() says what is.
BLANK_CARD = ModelCard(
    name="", title=NO_TEXT, family="", path="", parameters=0, active_parameters=0, disk_bytes=0, expert_bytes=0,
    layers=0, moe_layers=0, experts=0, experts_per_token=0, context_length=0, tiers=(), backend="",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ModelFolder:
    """A folder that models live in. bytes: free and total of its disk; models: of all stores in it.

    there: False while its disk is not connected; `problem` then says so, and what was in it is not forgotten.
    first: new models go there. own: the one in Underhill's data folder, which cannot be taken away.
    """

    path: str
    there: bool
    first: bool
    own: bool
    writable: bool
    free: int = 0
    total: int = 0
    models: int = 0
    deleted: int = 0  # bytes that emptying its trash would free
    downloads: int = 0  # bytes of downloads, kept or unfinished; they lie beside the own folder
    problem: Translatable = NO_TEXT


@dataclass(frozen=True)
class DeletedModel:
    """A model in the trash. deleted_at: seconds since 1970; expires: when it is removed for good.

    title: as lists show it.
    """

    name: str
    folder: str
    nbytes: int
    deleted_at: float
    expires: float
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class LoweringOffer:
    """What fewer bits for a model's more robust experts would save and cost (edgemoe, section III-B).

    tolerance, loss: of quality, at most and as measured (Lowering.loss); 0.02 is 2 %. before, after: bytes of all
    experts. bits: (bits, experts that would have them). kl: KL divergence from Exact, measured over so many `tokens` of
    text that nothing was chosen by. needed, free: bytes that its copy takes on the disk, and that are free there.
    dense_before, dense_after: bytes of the other weights in memory; dense_bits: that these get, 0 where they stay as
    they are.
    """

    tolerance: float
    loss: float
    before: int
    after: int
    bits: tuple[tuple[int, int], ...]
    kl: float
    tokens: int
    needed: int
    free: int
    dense_before: int
    dense_after: int
    dense_bits: int


@dataclass(frozen=True)
class AdoptedModel:
    """A store of a folder that was imported as it is: where it went, or why it did not."""

    name: str
    path: str = ""
    problem: Translatable = NO_TEXT
    action: Translatable = NO_TEXT


@dataclass(frozen=True, kw_only=True)
class FoundModel:
    """A model that another app keeps on this computer.

    app: 'Hugging Face', 'LM Studio', 'Ollama', …  path: what to import; name: what to call it. format: 'safetensors' or
    'gguf'. template: whether it comes with a chat template.
    quantization: as the files say it; '' where they do not. can_open: whether Underhill can import it; else `why_not`.
    fit: how it would run here once imported; None where that is not known before.
    """

    app: str
    title: str
    name: str
    path: str
    format: str
    nbytes: int
    architecture: str = ""
    quantization: str = ""
    experts: int = 0
    repo: str = ""
    revision: str = ""
    template: bool = False
    can_open: bool = False
    why_not: Translatable = NO_TEXT
    fit: Fit | None = None


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """A model that could be fetched. about: a sentence; '' where nobody wrote one. model_type: its family.

    parameters, active_parameters, download_bytes, context_length: 0 where they are not known; quantized, commit and
    updated (YYYY-MM-DD): '' likewise. gated: it asks for an account that has accepted its licence.
    gguf: of a repository that has GGUF files alone and no config, one of them; model_type is then as llama.cpp has it.
    fit: how it would run here, with as many bits as suit this computer best (Fit.tier); None where that is not known.
    here: the name of a model of the library that was made from it, or ''.
    form: of one that is offered in about four bits, how it holds them ('' else); gguf_name: which of the repository's
    GGUF models that is. original, original_bytes: the repository of the unquantized one, and what that takes to fetch.
    lost: a sentence on what four bits cost, where somebody knows.
    good_at: of USES, in their order; what is not known of it is not in it.
    """

    repo: str
    title: str
    model_type: str
    parameters: int
    download_bytes: int
    licence: str
    about: Translatable = NO_TEXT
    active_parameters: int = 0
    context_length: int = 0
    gated: bool = False
    quantized: str = ""
    downloads: int = 0
    likes: int = 0
    updated: str = ""
    commit: str = ""
    gguf: str = ""
    fit: Fit | None = None
    here: str = ""
    form: str = ""
    gguf_name: str = ""
    original: str = ""
    original_bytes: int = 0
    lost: Translatable = NO_TEXT
    good_at: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ModelDetails:
    """All that is known of a model on a hub before any weight of it is here.

    files: (name, bytes), those that a download takes; none where the hub was not reached. stores: bytes in the library,
    by bits of an expert's weights; fits: how each would run here. page: where a person reads about it. experts: of a
    layer. ggufs: (name, bytes) of the GGUF models in its repository, each of which can be asked for by name, the
    smallest first.
    """

    model: HubModel
    page: str
    files: tuple[tuple[str, int], ...]
    layers: int
    moe_layers: int
    experts: int
    experts_per_token: int
    stores: tuple[tuple[int, int], ...]
    fits: tuple[tuple[int, Fit], ...]
    ggufs: tuple[tuple[str, int], ...] = ()


# Transfer.state
QUEUED = "queued"
RUNNING = "running"
PAUSED = "paused"  # by the user, because Underhill went offline, or because it was closed; `problem` says why, if known
FAILED = "failed"
FINISHED = "finished"
CANCELLED = "cancelled"  # gone from the list with this word


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """A model on its way from a hub into the library. state: one of the above.

    revision: a commit, once it has been looked at. name: in the library. top: bits that are stored. gguf: which of a
    repository's GGUF models, '' takes what suits. text: what goes on,
    in a few words; a sentence where something is in the way for now. done, total: bytes of what goes on (total 0: not
    known yet); rate: bytes a second; left: seconds to go of it, None where nothing moves.
    kind (an errors.Kind), problem, action: what went wrong and what to do, of one that failed or paused by itself.
    """

    id: str
    repo: str
    revision: str
    name: str
    top: int
    endpoint: str
    keep_source: bool = False
    gguf: str = ""
    state: str = QUEUED
    text: Translatable = NO_TEXT
    done: int = 0
    total: int = 0
    rate: float = 0.0
    left: float | None = None
    kind: str = ""
    problem: Translatable = NO_TEXT
    action: Translatable = NO_TEXT


@dataclass(frozen=True)
class SearchPage:
    """Some of what a search found. page: from 0; pages: how many there are; found: models on all of them."""

    models: tuple[HubModel, ...]
    page: int
    pages: int
    found: int


@dataclass(frozen=True)
class TokenState:
    """Of a hub. source: where its token is: 'keyring', 'HF_TOKEN' (which goes before) or '' where there is none.

    note: why none can be kept or looked for, in a sentence.
    """

    endpoint: str
    source: str
    note: Translatable = NO_TEXT
