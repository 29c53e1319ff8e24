"""The collector of cycles: set for a block, and as it was after it."""

from __future__ import annotations

import gc

import pytest

from server.garbage import MIDDLE, OLD, YOUNG, settled


def test_it_is_set_for_the_block_and_put_back_whatever_happens() -> None:
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(RuntimeError), settled():
        assert gc.get_threshold() == (YOUNG, MIDDLE, OLD)
        assert gc.get_freeze_count() > frozen
        raise RuntimeError
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen


def test_what_becomes_a_cycle_meanwhile_is_still_collected() -> None:
    with settled():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() > 0
