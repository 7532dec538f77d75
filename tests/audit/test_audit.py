"""The audit itself: it finds its examinations, and what crashes, says nothing or lies about its name is no success."""

from __future__ import annotations

import json
import sys
import types

import pytest

from tests.audit import __main__ as main
from tests.audit.finding import Finding


def test_a_finding_is_read_back_among_other_output():
    line = main.MARK + json.dumps({"ok": True, "found": {"misses": 3}})

    assert main.outcome(f"loading\n{line}\n", "a warning", 0) == {"ok": True, "found": {"misses": 3}}


@pytest.mark.parametrize(("output", "code"), [("", 0), (main.MARK + '{"ok": true, "found": {}}', 1)])
def test_a_crash_or_silence_is_not_ok(output, code):
    found = main.outcome(output, "Traceback: it broke", code)

    assert not found["ok"]
    assert "it broke" in found["found"]["error"]


def test_only_known_examinations_are_run():
    with pytest.raises(SystemExit, match="f99"):
        main.examinations(["f99"])


def test_an_examination_prints_what_it_found(monkeypatch, capsys):
    module = types.ModuleType("tests.audit.f00_example")
    module.examine = lambda: Finding(False, {"bits": 4.5})
    monkeypatch.setitem(sys.modules, module.__name__, module)

    main.examine_here("f00_example")

    assert main.outcome(capsys.readouterr().out, "", 0) == {"ok": False, "found": {"bits": 4.5}}
