"""One model, loaded under a plan: chats in, answers out, and what it took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from engine import kernels, settings
from engine.errors import Kind, UnderhillError
from engine.experts.runtime import ExpertRuntime
from engine.experts.telemetry import Counters
from engine.generation.answer import Answer, Listener, answer
from engine.generation.chat import ChatFormat, fit
from engine.generation.context import Context, Model
from engine.generation.messages import Message, Stats
from engine.generation.sampling import Sampling
from engine.hardware import plan as planning
from engine.hardware import probe
from engine.hub import library
from engine.models.decoder import Decoder
from engine.session.calibration import thresholds_of
from engine.session.facts import family_spec, model_card, model_facts
from engine.session.snapshot import Rate, Snapshot
from engine.store.reader import Store

Report = Callable[[str, int, int], None]


def _quiet(phrase: str, done: int, total: int) -> None:
    pass


class Session:
    """An open model. Not thread-safe, but for `snapshot` and the live settings of `update`."""

    def __init__(
        self, name: str, store: Store, chosen: Mapping[str, Any], plan: planning.Plan, report: Report = _quiet
    ) -> None:
        """Use `open`. Takes over the store."""
        self.name = name
        self.store = store
        self.settings = dict(chosen)
        self.plan = plan
        self._closed = False
        self._generating = False
        self._tokens = 0
        self._token_rate, self._byte_rate, self._wait_rate, self._miss_rate = Rate(), Rate(), Rate(), Rate()
        torch.set_num_threads(plan.threads)
        spec = family_spec(store.config)
        self.card = model_card(name, store, spec, plan.sentences)
        self.chat = ChatFormat(store.path)
        self.runtime = ExpertRuntime.open(store, capacity=plan.cache_bytes, settings=self.settings, tier=plan.tier)
        self.model: Model = self._decoder(spec)
        self.context = Context(self.model, plan.context)
        self._apply_dial()

    @classmethod
    def open(cls, model: str, chosen: Mapping[str, Any] | None = None, report: Report = _quiet) -> Session:
        """Open 'builtin', a name of the library, a store or a checkpoint (which is imported first).

        chosen: settings.ENGINE, validated. Raises UnderhillError.
        """
        chosen = settings.validated(chosen or {}, settings.ENGINE)
        path = library.prepare(model, report)
        store = Store.open(path, str(chosen["direct_io"]))
        try:
            plan = make_plan(store, path.name, chosen)
            return cls(path.name, store, chosen, plan, report)
        except BaseException:
            store.close()
            raise

    def _decoder(self, spec: Any) -> Model:
        dense = self.plan.dense
        if spec is None:
            from engine.models.compat import open_compat

            return open_compat(self.store.config, self.store.dense, self.runtime)
        kv = torch.float32 if dense == "f32" else torch.bfloat16
        return Decoder(spec, self.store.dense, self.runtime, dense, kv)  # type: ignore[arg-type]

    # ---- answering --------------------------------------------------------------------------------------------

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        stop_texts: Sequence[str],
        listener: Listener,
        *,
        continue_last: bool = False,
    ) -> Stats:
        """Answer a chat. What it has in common with the last one is not read again.

        Raises UnderhillError(CONTEXT_FULL) when the last message alone is too long; a failed read leaves the session
        usable.
        """
        if not messages:
            raise UnderhillError(Kind.BAD_REQUEST, "There is nothing to answer.", "Write a message first.")
        prompt = fit(self.chat, messages, self.context.limit, sampling.max_tokens, continue_last=continue_last)
        listener.turns_dropped(prompt.dropped)
        before = self.counters()
        self.runtime.new_answer()
        self._generating = True
        try:
            result = answer(self.context, self.chat, prompt, sampling, stop_texts, listener, self._count)
        finally:
            self._generating = False
        return self._stats(result, len(prompt.ids), prompt.dropped, before)

    def _count(self) -> None:
        self._tokens += 1

    def _stats(self, result: Answer, prompt_tokens: int, dropped: int, before: Counters) -> Stats:
        after = self.counters()
        return Stats(
            text=result.text,
            token_ids=tuple(result.token_ids),
            finish=result.finish,
            prompt_tokens=prompt_tokens,
            reused_tokens=result.reused,
            dropped_turns=dropped,
            prompt_seconds=result.prompt_seconds,
            decode_seconds=result.decode_seconds,
            hits=after.hits - before.hits,
            misses=after.misses - before.misses,
            bytes_read=after.bytes_read - before.bytes_read,
            precision={key: n - before.precision.get(key, 0) for key, n in after.precision.items()},
            peak_rss=probe.peak_rss(),
        )

    def logits(self, ids: Sequence[int], *, one_by_one: bool) -> Tensor:
        """Logits [T, V] after each token of a sequence of its own."""
        return self.context.score(ids, one_by_one=one_by_one)

    # ---- settings ---------------------------------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """Whether every expert runs at full precision, whatever is in memory."""
        return self.thresholds == (1.0, 1.0)

    @property
    def thresholds(self) -> tuple[float, float]:
        """T1 and T2 in force."""
        return self.runtime.thresholds

    def update(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change live settings; returns all in force. Raises UnderhillError(BAD_REQUEST), then nothing is changed."""
        checked = {}
        for name, value in changes.items():
            setting = settings.ALL.get(name)
            if setting is None or setting not in settings.ENGINE:
                raise UnderhillError(Kind.BAD_REQUEST, f"There is no setting called {name!r}.")
            if not setting.live:
                raise UnderhillError(
                    Kind.BAD_REQUEST, f"{setting.label} takes effect when the model is loaded.", "Load it again."
                )
            checked[name] = setting.check(value)
        wanted = {**self.settings, **checked}
        plan = make_plan(self.store, self.name, wanted, held=self.runtime.capacity)
        self.settings, self.plan = wanted, plan
        self.runtime.set_tier(plan.tier)
        self.runtime.set_capacity(plan.cache_bytes)
        self._apply_dial()
        return dict(self.settings)

    def _apply_dial(self) -> None:
        t1, t2 = thresholds_of(self.store.path, str(self.settings["dial"]))
        if self.settings["t1"] is not None:
            t1 = float(self.settings["t1"])
        if self.settings["t2"] is not None:
            t2 = float(self.settings["t2"])
        self.runtime.set_thresholds(t1, max(t1, t2))

    # ---- watching ---------------------------------------------------------------------------------------------

    def counters(self) -> Counters:
        """Hits, misses, bytes and precision since the model was loaded."""
        return self.runtime.counters()

    def snapshot(self) -> Snapshot | None:
        """For the live panels, from any thread; None while nothing has changed since the last one."""

    def close(self) -> None:
        """Release everything. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self.runtime.close()
            self.store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def make_plan(store: Store, name: str, chosen: Mapping[str, Any], held: int = 0) -> planning.Plan:
    """The plan for a store on this machine now. held: expert cache bytes this session holds and could give back."""
    spec = family_spec(store.config)
    biggest = max((store.path / layer.file for layer in store.manifest.layers), key=lambda p: p.stat().st_size)
    machine = probe.probe(biggest, isa=kernels.available().isa)
    return planning.make_plan(machine, model_facts(name, store, spec), chosen, max(0, probe.rss() - held))
