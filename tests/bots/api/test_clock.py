"""bots.api.clock: the arithmetic of a clock that stands still."""

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.clock import Clock

seconds = st.floats(0, 1e5, allow_nan=False)


def test_time_runs_from_the_arrival() -> None:
    clock = Clock(mine=3.0, arrived=100.0)
    assert clock.elapsed(101.5) == 1.5
    assert clock.left(101.5) == 1.5


@given(mine=seconds, arrived=seconds, now=seconds)
def test_nothing_is_ever_negative(mine: float, arrived: float, now: float) -> None:
    clock = Clock(mine=mine, arrived=arrived)
    assert clock.elapsed(now) >= 0
    assert 0 <= clock.left(now) <= mine


@given(mine=seconds, margin=seconds)
def test_the_margin_is_no_time_to_think(mine: float, margin: float) -> None:
    assert Clock(mine=mine, margin=margin).left(0.0) == Clock(mine=mine).left(0.0)
