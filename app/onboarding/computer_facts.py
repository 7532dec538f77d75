"""What was measured of this computer, in words for anybody: what there is, and what that means for models."""

from __future__ import annotations

from app.i18n.translate import plural, sentences, tr
from app.widgets.text import size
from engine import protocol

_FAST, _FAIR = 2.0e9, 0.5e9  # bytes a second of a disk


def computer_facts(computer: protocol.Computer) -> list[str]:
    """A sentence or two each of processor, memory, graphics cards and disk."""
    p, m = computer.processor, computer.machine
    cores = plural("{name} with 1 core.", "{name} with %n cores.", p.physical, name=p.name)
    battery = tr("It runs on its battery, where it may be slower.") if m.on_battery else ""
    memory = tr("{limit} of memory, of which {free} are free now.", limit=size(m.memory.limit),
                 free=size(m.memory.available))  # fmt: skip
    lines = [
        sentences(cores, battery),
        sentences(memory, tr("What fits into that runs fastest.")),
        *(
            tr("Graphics card: {name} with {size}. This version of Underhill does not compute on it.",
                name=card.name, size=size(card.total))
            for card in m.gpus
        ),
    ]  # fmt: skip
    room = tr("{free} are free on the disk.", free=size(m.disk_free))
    measured = computer.rates
    speed = _disk(m.disk_rate) if measured is not None and measured.disk_points else ""
    return [*lines, sentences(room, speed), *([computer.why] if measured is not None and computer.why else [])]


def _disk(rate: float) -> str:
    speed = tr("{amount} a second", amount=size(rate))
    if rate >= _FAST:
        return tr("It is fast ({speed}): models much bigger than the memory can run from it.", speed=speed)
    if rate >= _FAIR:
        return tr("It is quick enough ({speed}) for models that are somewhat bigger than the memory.", speed=speed)
    return tr("It is slow ({speed}): choose models that fit into memory.", speed=speed)
