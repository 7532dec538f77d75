"""Memory that what many tokens give is written to, layer after layer."""

from __future__ import annotations

import threading

import torch

from engine.kernels.scratch_pool import FLOAT, ScratchPool
from engine.native.memory import OWN_MAPPING

LARGE = OWN_MAPPING // FLOAT  # numbers, as few as have a room


def test_a_room_is_used_again_once_nobody_has_a_view_of_it() -> None:
    rooms = ScratchPool()
    first = rooms.floats(4, LARGE)
    address, row = first.data_ptr(), first[1]
    row.fill_(7)
    del first
    other = rooms.floats(4, LARGE)
    assert other.data_ptr() != address
    other.fill_(1)
    assert row.eq(7).all()
    del row
    assert rooms.floats(4, LARGE).data_ptr() == address


def test_a_smaller_need_takes_the_smallest_room_that_is_large_enough() -> None:
    rooms = ScratchPool()
    small, large = rooms.floats(2 * LARGE), rooms.floats(5 * LARGE)
    at = small.data_ptr()
    del small, large
    assert rooms.floats(LARGE).data_ptr() == at
    assert rooms.free == 7 * LARGE * FLOAT


def test_rooms_made_for_fewer_tokens_are_not_kept_beside_larger_ones() -> None:
    rooms = ScratchPool()
    rooms.floats(2 * LARGE)
    made = rooms.floats(3 * LARGE)
    assert rooms.free == 0
    del made
    assert rooms.free == 3 * LARGE * FLOAT


def test_small_results_are_torchs_own() -> None:
    rooms = ScratchPool()
    found = rooms.floats(3, 5)
    assert (found.shape, found.dtype, found.is_contiguous()) == ((3, 5), torch.float32, True)
    del found
    assert rooms.free == 0


def test_other_types_are_torchs_own() -> None:
    rooms = ScratchPool()
    found = rooms.like(torch.zeros(1, dtype=torch.bfloat16), 2, LARGE)
    assert (found.shape, found.dtype) == ((2, LARGE), torch.bfloat16)
    del found
    assert rooms.free == 0


def test_clearing_lets_go_of_what_is_free_now_and_of_what_is_in_use_later() -> None:
    rooms = ScratchPool()
    rooms.floats(LARGE)
    used = rooms.floats(2 * LARGE)
    used.fill_(3)
    rooms.clear()
    assert rooms.free == 0
    assert used.eq(3).all()
    del used
    assert rooms.free == 0


def test_they_can_be_written_to_outside_of_inference_though_taken_within() -> None:
    rooms = ScratchPool()
    with torch.inference_mode():
        address = rooms.floats(LARGE).data_ptr()
    again = rooms.floats(LARGE)
    assert again.data_ptr() == address
    assert again.fill_(2).sum() == 2 * LARGE


def test_threads_never_have_the_same_room() -> None:
    rooms = ScratchPool()
    wrong = []

    def use(mine: int) -> None:
        for _ in range(200):
            found = rooms.floats(LARGE).fill_(mine)
            if not found.eq(mine).all():
                wrong.append(mine)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
