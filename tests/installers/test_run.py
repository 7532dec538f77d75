"""What run.sh opens: the window where it can be, else a chat in the terminal, and why."""

from __future__ import annotations

import sys

import pytest

from tests.installers import fakes
from tests.installers.conftest import Checkout

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an installer for Linux")

LIBRARIES = "\tlibxcb-icccm.so.4 => not found\n\tlibxcb-keysyms.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6\n"


def test_on_a_display_the_window_opens(checkout: Checkout) -> None:
    checkout.tell("display-works")
    done = checkout.run("run.sh", DISPLAY=":5")
    assert done.stdout == f"underhill of {checkout.root}/.venv/bin\n<>\n"


def test_without_a_display_a_chat_opens_in_the_terminal(checkout: Checkout) -> None:
    done = checkout.run("run.sh")
    assert "There is no display, so Underhill opens a chat in this terminal." in done.stderr
    assert done.stdout == f"underhill-cli of {checkout.root}/.venv/bin\n<chat>\n"


def test_a_display_that_does_not_answer_is_named(checkout: Checkout) -> None:
    done = checkout.run("run.sh", DISPLAY=":5")
    assert "cannot be opened on the display :5" in done.stderr
    assert "<chat>" in done.stdout


def test_without_root_missing_libraries_are_named_with_the_command_that_brings_them(checkout: Checkout) -> None:
    checkout.fake("apt-get", fakes.APT_GET)
    checkout.tell("missing-libraries", LIBRARIES)
    done = checkout.run("run.sh", DISPLAY=":5")
    assert "not here: libxcb-icccm.so.4, libxcb-keysyms.so.1\n" in done.stderr
    assert "sudo apt-get install libglib2.0-0" in done.stderr
    assert "<chat>" in done.stdout
    assert not any(call.startswith("apt-get") for call in checkout.calls)


def test_root_has_missing_libraries_installed(checkout: Checkout) -> None:
    checkout.fake("id", fakes.user(0))
    checkout.fake("apt-get", fakes.APT_GET)
    checkout.tell("missing-libraries", LIBRARIES)
    done = checkout.run("run.sh", DISPLAY=":5")
    assert done.stdout.startswith("underhill of ")
    assert any("libxcb-icccm4" in call for call in checkout.calls if call.startswith("apt-get install"))


def test_root_without_a_network_gets_the_chat(checkout: Checkout) -> None:
    checkout.fake("id", fakes.user(0))
    checkout.fake("apt-get", fakes.APT_GET)
    checkout.tell("apt-fails")
    checkout.tell("missing-libraries", LIBRARIES)
    done = checkout.run("run.sh", DISPLAY=":5")
    assert "libxcb-icccm.so.4" in done.stderr
    assert "<chat>" in done.stdout


def test_nothing_for_a_window_is_asked_of_a_computer_without_display(checkout: Checkout) -> None:
    checkout.fake("id", fakes.user(0))
    checkout.fake("apt-get", fakes.APT_GET)
    checkout.tell("missing-libraries", LIBRARIES)
    checkout.run("run.sh")
    assert not any(call.startswith("apt-get") for call in checkout.calls)


def test_other_distributions_get_their_own_names(checkout: Checkout) -> None:
    checkout.fake("dnf", fakes.NOTHING)
    checkout.tell("missing-libraries", LIBRARIES)
    assert "sudo dnf install" in checkout.run("run.sh", DISPLAY=":5").stderr


def test_help_sets_nothing_up(checkout: Checkout) -> None:
    for script in ("run.sh", "test.sh"):
        done = checkout.run(script, "--help")
        assert done.returncode == 0
        assert f"bash installers/{script}" in done.stdout
    assert checkout.calls == []


def test_an_unknown_word_is_refused_before_anything_is_set_up(checkout: Checkout) -> None:
    done = checkout.run("run.sh", "chat")
    assert done.returncode == 1
    assert "does not know 'chat'" in done.stderr
    assert checkout.calls == []
