"""Pictures in chats of an open model: what is reused, what is not, what is refused, and transformers' own answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.formats import families
from engine.generation.messages import AnswerOptions, Message, Stats
from engine.generation.sampling import Sampling
from engine.library import library
from engine.library.facts import model_facts, spec_of
from engine.models.vision import pictures
from engine.models.vision.encoders import Gemma4Encoder, QwenEncoder
from engine.models.vision.kimi import KimiEncoder
from engine.models.vision.pixels import Pixels
from engine.session import Session
from engine.store.reader import Store
from tests.engine.models.vision import seeing_gemma as gemma
from tests.engine.models.vision.test_parity import FAMILIES
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

EXACT = {"dial": "exact", "threads": 2, "activations": "exact", "context_length": 512}
GREEDY = Sampling(temperature=0, max_tokens=16)
ONE, OTHER = gemma.picture(1), gemma.picture(2, 40, 90, "JPEG")
ASKED = Message("user", "w10 w11 w12", images=(ONE,))


Seeing = Any  # one of the modules seeing_*


@pytest.fixture(scope="module", params=FAMILIES.values(), ids=FAMILIES.keys())
def family(request: pytest.FixtureRequest) -> Seeing:
    return request.param


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, family: Seeing) -> tuple[object, Path]:
    folder = tmp_path_factory.mktemp("seeing")
    model = family.model()
    family.checkpoint(model, folder / "checkpoint")
    import_checkpoint(folder / "checkpoint", folder / "store", top=32)
    return model, folder


@pytest.fixture(scope="module")
def opened(made: tuple[object, Path]) -> Iterator[Session]:
    with Session.open(str(made[1] / "store"), EXACT) as session:
        yield session


@pytest.fixture
def session(opened: Session) -> Session:
    opened.context.clear()
    return opened


def ask(session: Session, *messages: Message, sampling: Sampling = GREEDY, **more: object) -> Stats:
    return session.generate(messages, sampling, (), Listener(), **more)  # type: ignore[arg-type]


def fresh(session: Session, *messages: Message) -> Stats:
    session.context.clear()
    return ask(session, *messages)


def session_size(session: Session) -> Callable[[bytes], int]:
    """Tokens of a picture in a prompt, with the one before and the one behind it."""
    return lambda image: 2 + sum(one < 0 for one in session.chat.pictures.ids(image))


def answered(stats: Stats) -> Message:
    return Message("assistant", stats.text, stats.token_ids)


def test_the_answer_is_the_one_of_transformers(session: Session, made: tuple[object, Path], family: Seeing) -> None:
    asked = Message("user", "w10 w11", images=(ONE, OTHER))
    stats = ask(session, asked)
    prompt = session.chat.prompt([asked]).ids
    assert stats.prompt_tokens == len(prompt) == 1 + sum(map(session_size(session), (ONE, OTHER))) + 2 + 2
    ids = [*prompt, *stats.token_ids]
    wanted = family.oracle(made[0], ids, [ONE, OTHER])
    assert wanted[len(prompt) - 1 : -1].argmax(-1).tolist() == list(stats.token_ids)
    assert (session.logits(ids, one_by_one=False) - wanted).abs().max() < 1e-4
    assert session.card.reads_images


def test_a_picture_in_a_second_turn_reads_nothing_of_the_first_again(session: Session) -> None:
    first = ask(session, ASKED)
    chat = (ASKED, answered(first), Message("user", "w20", images=(OTHER,)))
    second = ask(session, *chat)
    assert second.reused_tokens == first.prompt_tokens - 1  # all but what began the answer
    assert second.token_ids == fresh(session, *chat).token_ids


def test_a_changed_picture_is_read_though_the_text_is_the_same(session: Session) -> None:
    begin = Message("system", "w30 w31")
    ask(session, begin, ASKED)
    other = Message("user", ASKED.content, images=(gemma.picture(7),))
    before = len(session.chat.prompt([begin]).ids)
    changed = ask(session, begin, other)
    assert changed.reused_tokens <= before + 3
    assert changed.token_ids == fresh(session, begin, other).token_ids
    assert session.chat.prompt([other]).ids != session.chat.prompt([ASKED]).ids


def test_back_to_before_the_picture_and_on_without_it(session: Session) -> None:
    first = ask(session, Message("user", "w40 w41"))
    begun = (Message("user", "w40 w41"), answered(first))
    ask(session, *begun, ASKED)
    plain = (*begun, Message("user", ASKED.content))
    again = ask(session, *plain)
    assert again.reused_tokens >= first.prompt_tokens - 1
    assert again.token_ids == fresh(session, *plain).token_ids


def test_a_picture_is_looked_at_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(looking: Callable[[Any, Pixels], torch.Tensor]) -> Callable[[Any, Pixels], torch.Tensor]:
        def encode(seeing: Any, picture: Pixels) -> torch.Tensor:
            looked.append(picture.width)
            return looking(seeing, picture)

        return encode

    for kind in (Gemma4Encoder, KimiEncoder, QwenEncoder):
        monkeypatch.setattr(kind, "encode", counted(kind.encode))
    asked = Message("user", "w10", images=(gemma.picture(11), gemma.picture(11)))
    fresh(session, asked)
    fresh(session, asked)
    assert len(looked) == 1


def test_while_a_picture_is_looked_at_experts_give_back_what_it_takes(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.facts.image_tokens in (40, 70)
    assert session.facts.image_bytes > 64 << 20
    assert any("An image takes up to" in sentence for sentence in session.card.plan)
    share = session.cache_budget.share
    lent = (share.planned - share.smallest) // 2
    monkeypatch.setattr(session.cache_budget, "share", replace(share, lent=0, lent_to_image=lent))
    capacities: list[int] = []
    rows = session.chat.pictures.rows  # type: ignore[union-attr]

    def looked_at(ids: torch.Tensor) -> torch.Tensor:
        capacities.append(session.runtime.cache.capacity)
        return rows(ids)

    monkeypatch.setattr(session.chat.pictures, "rows", looked_at)
    before = session.runtime.cache.capacity
    fresh(session, Message("user", "w10", images=(gemma.picture(31),)))
    assert capacities == [before - lent]
    assert session.runtime.cache.capacity == before


def test_several_answers_at_once_are_those_of_each_alone(session: Session) -> None:
    chats = [(Message("user", f"w{n}", images=(gemma.picture(n),) if n % 2 else ()),) for n in (21, 22, 23)]
    wanted = [fresh(session, *chat).token_ids for chat in chats]
    session.context.clear()
    made = [session.begin(chat, GREEDY, (), Listener(), chat=str(n)) for n, chat in enumerate(chats)]
    while session.answers.running:
        session.answers.advance()
    assert [one.result().token_ids for one in made] == wanted


@pytest.mark.parametrize("chunk", [16, 80])
def test_no_chunk_cuts_a_picture(session: Session, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Message("user", "w10 w11", images=(ONE, OTHER))
    wanted = fresh(session, asked).token_ids
    monkeypatch.setattr(session.context, "chunk", chunk)
    assert fresh(session, asked).token_ids == wanted


def test_turns_with_pictures_are_dropped_when_the_context_is_full(session: Session) -> None:
    chat: list[Message] = []
    for n in range(14):
        chat += [Message("user", f"w{n + 10}", images=(gemma.picture(n),)), Message("assistant", "w50")]
    listener = Listener()
    chat.append(ASKED)
    stats = session.generate(chat, GREEDY, (), listener)
    assert listener.dropped
    assert stats.token_ids == fresh(session, *chat[listener.dropped :]).token_ids


def test_a_stop_is_heard_while_a_picture_is_looked_at(session: Session) -> None:
    class Stopped(Listener):
        def cancelled(self) -> bool:
            return bool(session.context.needed)

    asked = Message("user", "w10", images=(gemma.picture(12),))
    assert session.generate((asked,), GREEDY, (), Stopped()).finish == "cancelled"
    assert session.context.tokens == []
    assert ask(session, asked).finish == "length"


def test_what_text_spells_is_no_picture(session: Session) -> None:
    for role in ("user", "assistant", "system"):
        ids = session.chat.prompt([Message(role, "w94 w10"), ASKED]).ids
        assert sum(one < 0 for one in ids) == session_size(session)(ONE) - 2
    assert min(session.chat.prompt([Message("user", "w94 w10")]).ids) >= 0


def test_no_picture_in_a_raw_prompt(session: Session) -> None:
    with pytest.raises(UnderhillError, match="raw prompt"):
        ask(session, ASKED, options=AnswerOptions(raw=True))


def test_a_template_without_a_place_for_it_is_said(session: Session) -> None:
    with pytest.raises(UnderhillError, match="no place") as refused:
        ask(session, Message("user", "w1"), Message("tool", "w10", images=(ONE,)))
    assert refused.value.kind is Kind.BAD_REQUEST


def imported_before(folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store as it was made before there were towers in them."""
    with monkeypatch.context() as before:
        before.setattr(families, "_VISION", {})
        return import_checkpoint(folder / "checkpoint", store, top=32)


def test_a_store_of_before_says_to_import_it_again(
    made: tuple[object, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = imported_before(made[1], tmp_path / "before", monkeypatch)
    assert not library.card(store).reads_images
    assert library.card(made[1] / "store").reads_images
    with Session.open(str(store), EXACT) as session:
        assert ask(session, Message("user", "w1")).finish in ("length", "stop")
        with pytest.raises(UnderhillError, match="Import the model again"):
            ask(session, ASKED)


def test_a_model_without_eyes_says_so(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.chat, "pictures", pictures.NoPictures())
    with pytest.raises(UnderhillError, match="This model can't read images") as refused:
        ask(session, ASKED)
    assert refused.value.kind is Kind.BAD_REQUEST


def test_what_it_sees_with_counts_on_the_disk_and_not_in_memory(
    made: tuple[object, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = library.card(import_checkpoint(made[1] / "checkpoint", tmp_path / "now", top=32))
    before = library.card(imported_before(made[1], tmp_path / "before", monkeypatch))
    assert now.disk_bytes - before.disk_bytes >= 4 * (now.parameters - before.parameters) > 0
    assert now.active_parameters == before.active_parameters
    with Store.open(Path(now.path)) as one, Store.open(Path(before.path)) as other:
        assert model_facts(one, now, spec_of(one)).dense_bytes == model_facts(other, before, spec_of(other)).dense_bytes
