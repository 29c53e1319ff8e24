"""Time that a bot of the load generator takes for a move."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.kit.flat import WARM_SECONDS
from benchmarks.kit.load import JOINING_SECONDS, Load


def test_bots_without_a_pause_do_not_wait_once_all_are_connected() -> None:
    load = Load(joining=True)
    assert load.draw_pause(0) > 0
    load.joining = False
    assert load.draw_pause(0) == 0


@given(st.floats(0.001, 10), st.booleans())
def test_it_takes_about_as_long_as_is_asked_and_no_less_while_others_come_in(
    seconds: float, joining: bool
) -> None:
    mean = max(seconds, JOINING_SECONDS) if joining else seconds
    assert 0.2 * mean <= Load(joining=joining).draw_pause(seconds) <= 1.8 * mean


def test_nobody_is_still_at_a_move_of_before_all_were_in_when_a_measurement_begins() -> None:
    assert 1.8 * JOINING_SECONDS < WARM_SECONDS
