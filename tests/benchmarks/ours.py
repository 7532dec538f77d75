"""Our engine in a process of its own, asked over a pipe; its memory limited by a control group where one is given.

That process, this module with its arguments, answers with the plan and then does what it is asked to until its input
ends.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.experts.precision import ScoreRecorder, from_scores
from engine.generation.formats.reader import Reader
from engine.generation.messages import AnswerOptions, Message
from engine.generation.sampling import Sampler, Sampling
from engine.hardware import probe
from engine.planning.speed import USUAL, dial_of, dial_shares, expected
from engine.record.layout import ExpertSpec
from engine.session import Session
from tests.benchmarks.cgroup import Group
from tests.benchmarks.pipe import Child, serve
from tests.random_models.shapes import Shape
from tests.random_models.tokens import routing

POLL = 5e-5  # seconds
HOT = 2.0  # the highest temperature: tokens of a random model are nearly all as likely
BITS = {"f32": 32.0, "bf16": 16.0, "int8": 8.5, "int4": 4.5}  # per dense weight, with its share of scales


def read_bytes(spec: ExpertSpec, tier: int) -> int:
    """Bytes of an expert that a call really touches: its codes, and the parameters of its tier."""
    layout = spec.layout
    return sum(s.nbytes for index in layout.parts_for(tier) for s in layout.parts[index].sections.values())


@dataclass(frozen=True)
class Turn:
    """Some tokens. seconds: of each. Bytes and experts are of all of them.

    system_bytes: fetched from disks as the system counts them; bytes_read as the engine does, wasted_bytes of them for
    experts that were read ahead in vain; reads: how many. used_bytes: that had to be read from memory. coarse: uses
    of experts below full precision, skipped ones too. busy: seconds with any read under way. worked: seconds that all
    threads but the model's own computed. digests: of the logits
    after each token, to the last bit, where they were asked for.
    """

    seconds: tuple[float, ...]
    hits: int
    misses: int
    bytes_read: int
    wasted_bytes: int
    used_bytes: int
    system_bytes: int
    uses: int
    coarse: int
    reads: int
    busy: float
    worked: float
    digests: tuple[str, ...] = ()

    @property
    def per_token(self) -> float:
        """Seconds."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def moved(self) -> tuple[float, float]:
        """Bytes a token that were missed, and so had to come from disk, and that were used, from memory."""
        return (self.bytes_read - self.wasted_bytes) / len(self.seconds), self.used_bytes / len(self.seconds)


class OursAlone(Child):
    """One model, which stands still between calls; its methods are those of Model.

    chosen: engine settings. shape: None where bytes used are not asked for. overlap: whether a layer's experts that are
    there are computed while the others are read.
    """

    def __init__(
        self,
        model: Path | str,
        shape: Shape | None,
        chosen: Mapping[str, Any],
        group: Group | None = None,
        *,
        overlap: bool = True,
    ) -> None:
        dense, routers = (0, 0) if shape is None else (shape.dense_weights(), shape.router_weights())
        command = [
            sys.executable,
            "-m",
            "tests.benchmarks.ours",
            json.dumps([str(model), dict(chosen), dense, routers, overlap]),
        ]
        super().__init__("Our engine", command if group is None else group.command(*command), stops=True)
        self.about: dict[str, Any] = self.ready

    def turn(self, tokens: Sequence[int], *, digest: bool = False, answering: bool = False) -> Turn:
        """Decode the tokens one by one, going on where the last call ended.

        answering: choose a token behind each and make text of it, without digests.
        """
        before, system = self.counters(), self.bytes_read
        seconds, digests = (self.answer(tokens), []) if answering else self.decode(tokens, digest)
        after, system = self.counters(), self.bytes_read - system
        d = {name: after[name] - before[name] for name in after}
        return Turn(
            tuple(seconds), d["hits"], d["misses"], d["bytes_read"], d["wasted"], d["used_bytes"], system, d["uses"],
            d["coarse"], d["reads"], 1e-9 * d["busy"], 1e-9 * d["worked"], tuple(digests),
        )  # fmt: skip

    def prompt_read(self, tokens: Sequence[int]) -> tuple[float, int]:
        """Seconds until an answer to a prompt begins, which starts a sequence of its own, and the bytes read for it."""
        before = self.counters()["bytes_read"]
        return self.prompt(tokens), self.counters()["bytes_read"] - before


class Model:
    """One session and one sequence. dense_bytes: of all that a token reads beside its experts."""

    def __init__(
        self, model: str, chosen: dict[str, Any], dense_weights: int, routers: int, overlap: bool = True
    ) -> None:
        self._session = open_calibrated(model, settings.validated(chosen, settings.ENGINE))
        if not overlap:
            _wait_for_all(self._session)
        store, plan = self._session.store, self._session.plan
        self._machine = self._session.machine.reading(plan.direct)
        spec = store.spec(store.layers[0])
        self._expert_bytes = {str(tier): read_bytes(spec, tier) for tier in spec.tiers}
        self._dense_bytes = int(dense_weights * BITS[plan.dense] / 8) + 4 * routers
        self._tokens = self._last = 0
        self.about = {
            "plan": self._session.card.plan,
            "mode": plan.mode,
            "tier": plan.tier,
            "dense": plan.dense,
            "all_in_memory": self._session.all_in_memory,
            "expert_bytes": self._expert_bytes[str(plan.tier)],
            "dense_bytes": self._dense_bytes,
            "cache_bytes": plan.cache_bytes,
            "row_bytes": plan.row_bytes,
            "cache_share": plan.cache_bytes / store.expert_bytes(plan.tier),
            "context": self._session.context.limit,
            "chunk": plan.chunk,
            "threads": plan.threads,
            "speed": plan.speed,
            "first_token": plan.first_token,
            "memory_rate": self._machine.memory_rate,
            "disk_rate": self._machine.disk_rate_at(self._session.facts.record_bytes[plan.tier]),
        }

    def calibrate(self, tokens: list[int], dial: str) -> tuple[float, float]:
        """Put T1 and T2 in force that give the dial its shares of uses on these tokens, as a text does elsewhere."""
        recorder = ScoreRecorder()
        with self._session.listening(recorder), self._session.exactly():
            self._session.logits(tokens, one_by_one=False)
        cut = from_scores(recorder.scores, *dial_shares(dial, self._session.card.experts_per_token))
        self._session.update({"t1": cut.t1, "t2": cut.t2})
        return cut.t1, cut.t2

    def update(self, changes: dict[str, Any]) -> None:
        """Change live settings."""
        self._session.update(changes)

    def warm(self) -> float:
        """Read what earlier sessions left behind, as is done before anybody asks; seconds."""
        start = time.perf_counter()
        self._session.warm.read_until(lambda: False)
        return time.perf_counter() - start

    def fill(self, tokens: list[int]) -> None:
        """Bring experts into memory, by prompts until nothing is missed."""
        before = -1
        while (misses := self._session.counters().misses) != before:
            before = misses
            self.prompt(tokens)
        self.clear()

    def routing(self, tokens: list[int]) -> dict[str, float]:
        """How these tokens are routed."""
        return routing(self._session, tokens)

    def decode(self, tokens: list[int], digest: bool) -> tuple[list[float], list[str]]:
        """Seconds of each token, read one by one with logits after each, going on where the last call ended.

        digest: also digests of the logits, to the last bit.
        """
        step, taken, digests = self._session.context.step, [], []
        self._last = len(tokens)
        self._tokens += self._last
        for token in tokens:
            start = time.perf_counter()
            logits = step(token)
            taken.append(time.perf_counter() - start)
            if digest:
                assert logits is not None
                digests.append(hashlib.blake2b(logits.contiguous().numpy().data, digest_size=8).hexdigest())
        return taken, digests

    def steps(self, tokens: list[int], size: int) -> float:
        """Seconds to read the tokens, `size` in a pass, logits after each pass, going on where the last call ended."""
        context, start = self._session.context, time.perf_counter()
        for at in range(0, len(tokens), size):
            context.read([*context.tokens, *tokens[at : at + size]])
        return time.perf_counter() - start

    def answer(self, tokens: list[int]) -> list[float]:
        """Seconds of each token, read as `decode` does, behind which another is chosen by the usual settings and made
        text of, as in an answer; but it is not the one that is read next."""
        step, chat, sampler, taken = self._session.context.step, self._session.chat, Sampler(Sampling()), []
        shown = Reader(chat.tokenizer, chat.speech)
        self._last = len(tokens)
        self._tokens += self._last
        for token in tokens:
            start = time.perf_counter()
            logits = step(token)
            assert logits is not None
            shown.add(sampler.next(logits))
            taken.append(time.perf_counter() - start)
        return taken

    def answers(self, prompts: list[list[int]], length: int, at_once: bool) -> dict[str, Any]:
        """Answers of so many tokens to all prompts, at once or one after another: their tokens, seconds, and the bytes
        read for them. Each begins with nothing read before."""
        session = self._session
        session.context.clear()
        before, start, made = session.counters().bytes_read, time.perf_counter(), []
        for number, tokens in enumerate(prompts):
            asked = (Message("user", session.chat.decode(tokens)),)
            sampling = Sampling(temperature=HOT, top_p=1.0, seed=number, max_tokens=length)
            made.append(
                session.begin(asked, sampling, (), _Nobody(), chat=str(number), options=AnswerOptions(raw=True))
            )
            while session.answers.running and not at_once:
                session.answers.advance()
        while session.answers.running:
            session.answers.advance()
        seconds = time.perf_counter() - start
        read = session.counters().bytes_read - before
        return {"tokens": [one.result().token_ids for one in made], "seconds": seconds, "bytes_read": read}

    def prompt(self, tokens: list[int]) -> float:
        """Seconds to read the tokens as the prompt of a new sequence and to choose the first one of an answer."""
        self._session.context.clear()
        start = time.perf_counter()
        logits = self._session.context.read(tokens)
        assert logits is not None
        Sampler(Sampling()).next(logits)
        return time.perf_counter() - start

    def expected(self, memory: float, disk: float) -> dict[str, Any]:
        """What the plan would expect (see Expectation) were these the rates of memory and disk (bytes a second): half
        way through the tokens that were decoded last, where there are some."""
        session, plan = self._session, self._session.plan
        machine = replace(self._machine, memory_rate=memory, disk_rate=disk, disk_points=())
        dial = dial_of(session.settings)
        how = plan.tier, plan.dense, plan.cache_bytes, dial
        context = len(session.context.tokens) - self._last // 2 or min(plan.context, USUAL)
        return asdict(expected(machine, session.facts, *how, chunk=plan.chunk, context=context))

    def held(self) -> int:
        """Bytes of experts in memory now."""
        return self._session.runtime.cache.nbytes

    def logits(self, tokens: list[int]) -> list[list[float]]:
        """After each token of a sequence of its own."""
        rows: list[list[float]] = self._session.logits(tokens, one_by_one=True).tolist()
        return rows

    def clear(self) -> None:
        """Forget the sequence."""
        self._session.context.clear()

    def counters(self) -> dict[str, int]:
        """Since the model was opened. used_bytes: that the tokens decoded had to read from memory.

        wasted: of bytes_read, those read ahead for nothing. busy: nanoseconds with any read under way. worked:
        nanoseconds of all threads but the model's own.
        """
        now, ahead = self._session.counters(), self._session.runtime.prefetch
        experts = sum(self._expert_bytes[tier] * n for tier, n in now.precision.items() if tier != "skipped")
        return {
            "tokens": self._tokens,
            "hits": now.hits,
            "misses": now.misses,
            "bytes_read": now.bytes_read,
            "reads": now.reads,
            "busy": int(1e9 * self._session.runtime.loader.io_stats().busy),
            "wasted": 0 if ahead is None else ahead.stats.wasted,
            "used_bytes": experts + self._tokens * self._dense_bytes,
            "uses": sum(now.precision.values()),
            "worked": int(1e9 * self._session.runtime.kernel.worked),
            "coarse": sum(n for tier, n in now.precision.items() if tier != str(self.about["tier"])),
        }

    def rss(self) -> int:
        """Resident bytes now."""
        return probe.rss()

    def close(self) -> None:
        """Release everything."""
        self._session.close()


class _Nobody:
    """Listens to an answer and lets it go on."""

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None: ...

    def cancelled(self) -> bool:
        return False


def _wait_for_all(session: Session) -> None:
    """From now on a token's experts are computed only once all that a layer lacks has been read."""
    pending, loader = session.runtime.pending, session.runtime.loader
    demand_all = pending.demand_all

    def demanded(*arguments: int) -> tuple[int, int, int]:
        found = demand_all(*arguments)
        while not loader.idle:
            time.sleep(POLL)
        return found

    pending.demand_all = demanded  # type: ignore[method-assign]


if __name__ == "__main__":
    opened = Model(*json.loads(sys.argv[1]))
    try:
        serve(opened, opened.about)
    finally:
        opened.close()
