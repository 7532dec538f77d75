"""Composes whole chats from single exchanges, follow-ups and dialogues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from training.generator import arithmetic, knowledge, language, memory, reading, taste, writing
from training.generator.arithmetic import Turn
from training.generator.phrasing import casual
from training.generator.tables import TABLES, TALK

Message = dict[str, str]
Maker = Callable[[Random], Turn]

# Makers of single exchanges and how often each is drawn.
_PLAIN: dict[Maker, float] = {
    knowledge.talk: 28,
    knowledge.greeting: 3,
    knowledge.fact: 26,
    knowledge.definition: 8,
    knowledge.capital: 9,
    knowledge.animal: 4,
    knowledge.color: 3,
    knowledge.calendar: 4,
    knowledge.unknown: 18,
    taste.taste: 6,
    language.opposite: 2,
    language.synonym: 1,
    language.grammar: 2,
    language.rhyme: 1,
    language.translation: 3,
    language.listing: 6,
    arithmetic.operation: 32,
    arithmetic.word_problem: 6,
    arithmetic.comparison: 4,
    arithmetic.counting: 3,
    writing.story: 8,
    writing.poem: 3,
}
# In these the question's letters and names matter, so they are never misspelled.
_EXACT: dict[Maker, float] = {language.spelling: 3, language.order: 2, language.copying: 4, reading.passage: 8}
_MAKERS = [*_PLAIN, *_EXACT]
_WEIGHTS = [*_PLAIN.values(), *_EXACT.values()]
_SYSTEM = (
    "You are a helpful assistant.",
    "You are a friendly assistant.",
    "You are a small demo model.",
    "Answer the question.",
    "Be short and helpful.",
    "You are a helpful, honest assistant. Answer briefly.",
)
_HELLO = ("Hello, ", "Hi, ", "Hey, ", "Hi! ", "Hello! ", "Hi there, ", "Good morning! ")
_MORE = (
    "Another one",
    "Another one please",
    "One more",
    "one more please",
    "Tell me another one.",
    "More",
    "Again",
    "Do you have another one?",
    "Next",
    "haha, another one",
)
_SERIES = ("Tell me a joke", "Tell me a fun fact", "Tell me a riddle", "Give me some advice")
_AGAIN = ("Say that again.", "Can you repeat that?", "Please repeat your answer.", "What did you say?")


def single(rng: Random) -> Turn:
    """One question and its answer."""
    maker = rng.choices(_MAKERS, _WEIGHTS)[0]
    question, answer = maker(rng)
    if maker is not knowledge.greeting and rng.random() < (0.1 if maker is knowledge.talk else 0.03):
        first = question[0] if question.startswith(("I ", "I'")) else question[0].lower()
        hello = rng.choice(_HELLO)
        question = hello + (question if hello.endswith("! ") else first + question[1:])
        answer = answer if answer.startswith(("Hello", "Hi")) else f"Hello! {answer}"
    return casual(question, rng, slips=maker in _PLAIN), answer


def _capitals(rng: Random) -> list[Turn]:
    """Questions that lean on the one before: `And Spain?`"""
    pairs = rng.sample(list(TABLES["capitals"].items()), rng.randint(2, 4))
    turns = [(f"What is the capital of {pairs[0][0]}?", f"The capital of {pairs[0][0]} is {pairs[0][1]}.")]
    forms = ("And {}?", "And of {}?", "What about {}?", "And the capital of {}?")
    return turns + [
        (casual(rng.choice(forms).format(country), rng), f"The capital of {country} is {city}.")
        for country, city in pairs[1:]
    ]


def _running_sum(rng: Random) -> list[Turn]:
    a, b = rng.randint(1, 30), rng.randint(1, 20)
    turns = [(f"What is {a} + {b}?", f"{a} + {b} = {a + b}.")]
    total = a + b
    for _ in range(rng.randint(1, 3)):
        n = rng.randint(1, 12)
        if n <= total and rng.random() < 0.4:
            question, op = rng.choice((f"And minus {n}?", f"Now subtract {n}.")), "-"
        else:
            question, op = rng.choice((f"And plus {n}?", f"Now add {n}.", f"Plus {n}?")), "+"
        result = arithmetic.calculate(total, op, n)
        turns.append((casual(question, rng), f"{total} {op} {n} = {result}."))
        total = result
    return turns


def _repeated(rng: Random) -> list[Turn]:
    question, answer = single(rng)
    if rng.random() < 0.5 and len(answer) < 120:
        return [(question, answer), (casual(rng.choice(_AGAIN), rng), answer)]
    return [(question, answer), (rng.choice(("What did I ask?", "What was my question?")), f"You asked: {question}")]


def _series(rng: Random) -> list[Turn]:
    """Jokes, facts or riddles, one after another."""
    asked = rng.choice(_SERIES)
    exchange = next(e for e in TALK if asked in e.questions)
    answers = rng.sample(exchange.answers, rng.randint(2, 4))
    questions = [rng.choice(exchange.questions[:5]), *(rng.choice(_MORE) for _ in answers[1:])]
    return [(casual(q, rng), a) for q, a in zip(questions, answers, strict=True)]


def _about_story(rng: Random) -> list[Turn]:
    """A story and questions about it."""
    request, text, name = writing.named_story(rng)
    turns = [(casual(request, rng), text)]
    if name in text and rng.random() < 0.7:
        question = rng.choice(
            (
                "What was the name in the story?",
                "Who is the story about?",
                "What was its name?",
                "Who was the hero?",
                "What was the name of the hero?",
            )
        )
        turns.append(
            (casual(question, rng), rng.choice((f"The story is about {name}.", f"The hero is called {name}.")))
        )
    if rng.random() < 0.4:
        praise = rng.choice(
            ("What a nice story!", "I like that story.", "Nice story", "That was a good story. Thank you!")
        )
        turns.append(
            (casual(praise, rng), rng.choice(("I am glad that you like it!", "Thank you! Shall I tell another one?")))
        )
    if rng.random() < 0.4:
        again = rng.choice(("Another story please", "Tell me another story.", "Another one", "One more story"))
        turns.append((casual(again, rng), writing.story(rng)[1]))
    return turns


def _memory(rng: Random) -> list[Turn]:
    """Told first, asked later, with other talk in between."""
    told = reading.introduction(rng)
    turns = [(casual(q, rng, slips=False), a) for (q, a), _ in told]
    turns += [single(rng) for _ in range(rng.choice((0, 0, 1, 2)))]
    asked = [later for _, later in told if later]
    for question, answer in rng.sample(asked, rng.randint(1, len(asked))):
        turns.append((casual(question, rng, slips=False), answer))
    return turns


def _short(rng: Random) -> Turn:
    """An exchange that takes little room between what is told and what is asked."""
    while len((turn := single(rng))[0] + turn[1]) > 160:
        pass
    return turn


def _sums(rng: Random) -> list[Turn]:
    """One sum of two numbers after another, mostly of two digits each."""
    turns = []
    for _ in range(rng.choice((1, 2, 4, 8, 12))):
        question, answer = arithmetic.addition(rng)
        turns.append((casual(question, rng, slips=False), answer))
    return turns


def _scripted(rng: Random) -> list[Turn]:
    return [(casual(q, rng, slips=False), a) for q, a in writing.dialogue(rng)]


def _several(rng: Random) -> list[Turn]:
    """A chat about one thing after another."""
    count = rng.choice((2, 2, 3, 3, 4, 5, 6, 10, 16))
    first = [knowledge.greeting(rng)] if rng.random() < 0.4 else []
    return first + [single(rng) for _ in range(count)]


_KINDS: dict[Callable[[Random], list[Turn]], float] = {
    lambda rng: [single(rng)]: 40,
    _several: 12,
    _scripted: 7,
    _memory: 4,
    lambda rng: memory.told_and_asked(rng, _short): 70,
    _sums: 95,
    _capitals: 3,
    _running_sum: 2,
    _repeated: 2,
    _series: 4,
    _about_story: 3,
    lambda rng: [*_scripted(rng), *_several(rng)]: 2,
}


def chat(rng: Random) -> list[Message]:
    """One chat as messages; one in ten has a system message."""
    turns = rng.choices(list(_KINDS), list(_KINDS.values()))[0](rng)
    messages = [{"role": "system", "content": rng.choice(_SYSTEM)}] if rng.random() < 0.1 else []
    for question, answer in turns:
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return messages


def chats(seed: int) -> Iterator[list[Message]]:
    """An endless, reproducible stream; no chat has a sum that is held out."""
    rng = Random(seed)
    while True:
        messages = chat(rng)
        if not any(arithmetic.held_sums(m["content"]) for m in messages):
            yield messages
