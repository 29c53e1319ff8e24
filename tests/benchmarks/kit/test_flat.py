from __future__ import annotations

from benchmarks.kit.flat import MOST_RATIO, SIZES


def test_there_is_a_goal_for_each_number_of_bots_that_is_measured() -> None:
    assert set(MOST_RATIO) == set(SIZES)
