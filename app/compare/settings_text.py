"""In what the settings of two sides differ, in a line for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.i18n.translate import tr, tr_engine
from app.settings.editor import value_text
from app.storage.records import Style
from engine import protocol


def differing_settings(
    first: Style, second: Style, engine: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
) -> tuple[str, str]:
    """What each of two sides says where the other says something else; ("", "") where they come to the same.

    engine: settings of the engine, of both sides the same ones, in the same order.
    """
    sides = [_engine(values) + _described(style) for values, style in zip(engine, (first, second), strict=True)]
    pairs = [pair for pair in zip(*sides, strict=True) if pair[0] != pair[1]]
    left, right = ("  ·  ".join(pair[side] for pair in pairs) for side in (0, 1))
    return left, right


def _engine(values: Mapping[str, Any]) -> list[str]:
    known = protocol.settings.ALL
    return [
        tr("{name}: {value}", name=tr_engine(known[name].label), value=value_text(known[name], value))
        for name, value in values.items()
    ]


def _described(style: Style) -> list[str]:
    """All that a style holds, each with its name, always in the same order."""
    values = {tr("System prompt"): " ".join(style.system.split()) or tr("None")}
    for setting in protocol.settings.SAMPLING:
        value = style.sampling.get(setting.name)
        values[tr_engine(setting.label)] = value_text(setting, setting.default if value is None else value)
    values[tr("Stop sequences")] = ", ".join(text.replace("\n", "\\n") for text in style.stop) or tr("None")
    return [tr("{name}: {value}", name=name, value=value) for name, value in values.items()]
