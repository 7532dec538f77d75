"""A thread that gives way, beside others that do not."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from engine.hardware.processor import NICE, give_way


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system does not say")
def test_only_the_calling_thread_gives_way() -> None:
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    seen: list[int] = []

    def work() -> None:
        give_way()
        give_way()
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [max(NICE, before)]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
