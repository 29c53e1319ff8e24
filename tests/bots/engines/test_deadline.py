import time
from types import SimpleNamespace

import pytest

from arena.bots.engines import searching
from arena.bots.engines.searching import Deadline


def test_it_stops_at_its_limit_or_when_nobody_waits() -> None:
    assert Deadline(time.monotonic(), lambda: False).is_over()
    assert Deadline(time.monotonic() + 3600, lambda: True).is_over()
    assert not Deadline(time.monotonic() + 3600, lambda: False).is_over()


def test_it_notes_the_longest_time_in_which_it_could_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((10.0, 10.5, 12.0, 12.25))
    monkeypatch.setattr(searching, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    deadline = Deadline(3600.0, lambda: False)
    stalls = []
    for _ in range(3):
        deadline.read_clock()
        stalls.append(deadline.stall)
    assert stalls == [0.5, 1.5, 1.5]
