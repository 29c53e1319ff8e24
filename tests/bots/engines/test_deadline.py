"""bots.engines.deadline: when to stop, and what a busy machine does to it."""

import time

from arena.bots.engines.searching import Deadline


def test_it_stops_at_its_limit_or_when_nobody_waits() -> None:
    assert Deadline(time.monotonic(), lambda: False).stop()
    assert Deadline(time.monotonic() + 3600, lambda: True).stop()
    assert not Deadline(time.monotonic() + 3600, lambda: False).stop()


def test_it_notes_the_longest_time_in_which_it_could_not_look() -> None:
    deadline = Deadline(time.monotonic() + 3600, lambda: False)
    time.sleep(0.03)
    deadline.look()
    noted = deadline.stall
    assert noted >= 0.03
    deadline.look()
    assert deadline.stall >= noted
