"""Which predictor an open model reads ahead by: the one of the setting, or what can stand in for it, and why."""

from __future__ import annotations

from dataclasses import dataclass

from engine.experts.predictors import Blend, Predictor, StackedGates, stacked
from engine.experts.telemetry import PrefetchStats
from engine.hardware.machine import size
from engine.models.decoder import Decoder
from engine.models.gates import gates_of, has_gates
from engine.session import predictor_store
from engine.session.loaded_model import LoadedModel
from engine.session.predictor_store import ALL, KINDS, TABLES, UNTAUGHT, Learnt, fitting, pairs_bytes, table
from engine.translatable import NO_TEXT, Translatable, msg

WORDS = {
    "gates": msg("gates"),
    "taught": msg("trained gates"),
    "tokens": msg("token table"),
    "pairs": msg("layer pairs"),
    "paths": msg("activation paths"),
    "eam": msg("activation matrices"),
    "blend": msg("all combined"),
}
BESIDE = {
    "gates": msg("gates and token table"),
    "taught": msg("trained gates and token table"),
}  # of auto


@dataclass(frozen=True)
class Chosen:
    """predictor, and what it is in words. note: why it is not the one that was asked for; '' where it is."""

    predictor: Predictor
    words: str
    note: Translatable = NO_TEXT


class PrefetchChoice:
    """For the thread that runs the model; `sentence` may be called from any. Tables keep what they learnt (see
    LearntTables).

    note: what the plan has to say of the predictor, '' for nothing.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._shape = model.tables.shape
        self._words = ""
        self.note = NO_TEXT

    @property
    def wanted(self) -> tuple[object, ...] | None:
        """What it depends on; None where nothing is read ahead: also where all experts fit in memory, and no graphics
        card gains by those that come early."""
        chosen, card = self._model.settings, self._model.runtime.card
        if chosen["prefetch"] == "off" or (self._model.all_in_memory and (card is None or not card.ahead.worth)):
            return None
        return tuple(chosen[name] for name in ("predictor", "prefetch_depth", "prefetch_width", "remember_routing"))

    def begin(self) -> None:
        """Prefetch as the settings say from the next token on."""
        model = self._model
        if self.wanted is None:
            model.runtime.read_ahead(None)
            self._words = self.note = NO_TEXT
            return
        found = self.choose(str(model.settings["predictor"]))
        depth, width = model.settings["prefetch_depth"], model.settings["prefetch_width"]
        model.runtime.read_ahead(found.predictor, self._shape.k, int(depth), None if width is None else int(width))
        self._words, self.note = found.words, found.note

    def choose(self, name: str) -> Chosen:
        """The predictor of that name in the setting, or, with a note, what is taken instead."""
        learnt = self._learnt()
        lacking = self._unmet(name, learnt)
        if not lacking:
            return self._build(name, learnt)
        instead = self._build("auto", learnt)
        return Chosen(
            instead.predictor,
            instead.words,
            msg("{lacking} Using {words}.", lacking=lacking, words=instead.words),
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """The kinds of tables that are asked and learn now."""
        if self.wanted is None:
            return ()
        name = str(self._model.settings["predictor"])
        if name == "blend":
            return tuple(kind for kind in fitting(self._shape) if kind in KINDS)
        return (name,) if name in KINDS else ("tokens",)

    def sentence(self) -> Translatable:
        """By what experts are read ahead now and how well; '' where none are."""
        prefetch, words = self._model.runtime.prefetch, self._words
        if prefetch is None or not words:
            return NO_TEXT
        return accuracy_sentence(prefetch.stats, words, resting=prefetch.backing_off)

    def _learnt(self) -> Learnt | None:
        model = self._model
        if not has_gates(model.decoder):
            return None
        return predictor_store.read(model.store.path / predictor_store.FILE, gates_of(model.decoder))

    def _unmet(self, name: str, learnt: Learnt | None) -> Translatable:
        """What a predictor needs that this model lacks, in a sentence; '' for nothing."""
        if name in ("gates", "taught", "blend") and not has_gates(self._model.decoder):
            if isinstance(self._model.decoder, Decoder):
                return msg("Gates can't predict for this model.")
            return msg("Gates can't predict in compatibility mode.")
        if name == "taught" and learnt is None:
            return msg("Gates aren't trained yet.")
        if name == "blend" and (learnt is None or learnt.all_weights is None):
            return msg("The combined predictor isn't calibrated yet.")
        if name == "pairs" and name not in fitting(self._shape):
            nbytes = pairs_bytes(self._shape)
            return msg("Layer pairs would need {nbytes} of memory.", nbytes=size(nbytes))
        if name == "eam" and not self._model.settings["remember_routing"]:
            return msg("Activation matrices need “Remember expert use”.")
        return NO_TEXT

    def _build(self, name: str, learnt: Learnt | None) -> Chosen:
        if name in TABLES:
            return Chosen(self._table(name), WORDS[name])
        if not has_gates(self._model.decoder):
            return Chosen(self._table("tokens"), WORDS["tokens"])
        gates = gates_of(self._model.decoder)
        depth = int(self._model.settings["prefetch_depth"])
        kind, maps = ("gates", stacked(gates, depth)) if learnt is None or name == "gates" else ("taught", learnt.maps)
        nearest = [one[:depth] for one in maps]  # what is not asked takes no memory
        own = StackedGates(gates, nearest, kernel=self._model.runtime.kernel)
        if name in ("gates", "taught"):
            return Chosen(own, WORDS[kind])
        if name == "blend":
            assert learnt is not None
            assert learnt.all_weights is not None
            kinds = fitting(self._shape)
            parts = [own, *map(self._table, kinds[1:])]
            kept = [ALL.index(one) for one in kinds]
            return Chosen(Blend(parts, learnt.all_weights[:, kept]), WORDS["blend"])
        weights = UNTAUGHT if learnt is None else learnt.weights
        return Chosen(Blend([own, self._table("tokens")], weights), BESIDE[kind])

    def _table(self, kind: str) -> Predictor:
        if kind == "eam":
            return table(kind, self._shape, self._model.history.collection)
        return self._model.tables.of(kind)


def accuracy_sentence(seen: PrefetchStats, words: str, *, resting: bool) -> Translatable:
    """Shares of predicted experts that were chosen, and of bytes read in vain."""
    if not seen.said or not seen.said[0]:
        return msg("Prefetch: measuring ({words})", words=words)
    correct = f"{100 * seen.recall[0]:.0f}"
    if resting:
        return msg("Prefetch: paused, {correct}% correct ({words})", correct=correct, words=words)
    if read := seen.useful + seen.wasted:
        wasted = f"{100 * seen.wasted / read:.0f}"
        return msg(
            "Prefetch: {correct}% correct, {wasted}% wasted ({words})", correct=correct, wasted=wasted, words=words
        )
    return msg("Prefetch: {correct}% correct ({words})", correct=correct, words=words)
