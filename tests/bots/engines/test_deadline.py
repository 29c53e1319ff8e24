import time
from types import SimpleNamespace

import pytest

from arena.bots.engines import searching
from arena.bots.engines.searching import SearchDeadline


def test_it_stops_at_its_limit_or_when_the_move_is_not_needed() -> None:
    assert SearchDeadline(time.monotonic(), lambda: False).has_passed()
    assert SearchDeadline(time.monotonic() + 3600, lambda: True).has_passed()
    assert not SearchDeadline(time.monotonic() + 3600, lambda: False).has_passed()


def test_it_measures_the_longest_time_between_two_readings_of_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter((10.0, 10.5, 12.0, 12.25))
    monkeypatch.setattr(searching, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    deadline = SearchDeadline(3600.0, lambda: False)
    stalls = []
    for _ in range(3):
        deadline.read_clock()
        stalls.append(deadline.longest_stall)
    assert stalls == [0.5, 1.5, 1.5]
