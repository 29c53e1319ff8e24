"""The collector of cycles and the turns of threads: set for a block, and as they were after it."""

from __future__ import annotations

import gc
import sys

import pytest

from server.net.interpreter import MIDDLE, OLD, SWITCH_SECONDS, YOUNG, settled


def test_it_is_set_for_the_block_and_put_back_whatever_happens() -> None:
    usual, frozen, interval = gc.get_threshold(), gc.get_freeze_count(), sys.getswitchinterval()
    with pytest.raises(RuntimeError), settled():
        assert gc.get_threshold() == (YOUNG, MIDDLE, OLD)
        assert gc.get_freeze_count() > frozen
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
        raise RuntimeError
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen
    assert sys.getswitchinterval() == interval


def test_what_becomes_a_cycle_meanwhile_is_still_collected() -> None:
    with settled():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() > 0
