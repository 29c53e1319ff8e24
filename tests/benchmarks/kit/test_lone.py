from __future__ import annotations

from benchmarks.kit.lone import disk_milliseconds


def test_the_disk_is_asked_as_often_as_is_wanted() -> None:
    taken = disk_milliseconds(3)
    assert len(taken) == 3
    assert all(each > 0 for each in taken)
