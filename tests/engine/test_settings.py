"""Settings from a window, a command line or a file: taken as their type, or refused with what would be allowed."""

from __future__ import annotations

import pytest

from engine.errors import Kind, UnderhillError
from engine.settings import ALL, ENGINE, HUB, SAMPLING, validated


@pytest.mark.parametrize("setting", [*SAMPLING, *ENGINE], ids=lambda s: s.name)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400, [], {}, object(), ""])
def test_what_makes_no_sense_is_refused_with_what_would(setting: object, value: object) -> None:
    with pytest.raises(UnderhillError, match="It takes") as error:
        setting.check(value)  # type: ignore[attr-defined]
    assert error.value.kind is Kind.BAD_REQUEST


def test_defaults_are_values_that_are_allowed() -> None:
    for setting in (*SAMPLING, *ENGINE, *HUB):
        assert setting.check(setting.default) == setting.default


def test_text_from_a_command_line_becomes_the_type() -> None:
    assert validated({"seed": "7", "temperature": "0.5"}, SAMPLING)["seed"] == 7
    assert ALL["temperature"].check("0.5") == 0.5
    for text in ("7.5", "seven", "-1"):
        with pytest.raises(UnderhillError):
            ALL["seed"].check(text)
