"""What is told of a lone move."""

from __future__ import annotations

import pytest

from benchmarks.kit.lone import ABOUT, Lone, disk_milliseconds, report

SLOW = Lone(
    disk=[0.4, 0.5, 0.9],
    relay=[0.3, 0.4, 0.5],
    answer=[1.4, 1.5, 1.9],
    moves=[1.0, 1.2],
    commits=[0.8, 0.6],
)


def test_the_stages_are_what_the_server_says_between_the_disk_and_the_answer() -> None:
    stages = SLOW.stages()
    assert stages == pytest.approx({"disk": 0.6, "hand-over": 0.1, "server": 0.4, "way": 0.5})
    assert list(stages) == list(ABOUT)
    assert sum(stages.values()) == pytest.approx(1.6)


def test_a_disk_that_was_slower_alone_is_no_time_that_the_hand_over_gives_back() -> None:
    assert Lone([2.0], [0.4], [2.5], [1.5], [1.0]).stages() == pytest.approx(
        {"disk": 2.0, "hand-over": 0.0, "server": 0.5, "way": 1.0}
    )


def test_what_is_not_reached_is_told_with_where_it_goes() -> None:
    assert report(SLOW)[-1].endswith(
        "*Found:* 1.50 ms, where the disk takes 0.50 ms, and a relay that keeps nothing answers in 0.40 ms; "
        "the most of its mean goes into disk (38%), way (31%), server (25%)."
    )


def test_what_is_reached_is_told_without_a_cause() -> None:
    lone = Lone([0.5, 0.5], [0.2, 0.2], [0.9, 0.9], [0.6], [0.55])
    assert report(lone)[-1].endswith(
        "*Found:* 0.90 ms, where the disk takes 0.50 ms, and a relay that keeps nothing answers in 0.20 ms."
    )


def test_the_disk_is_asked_as_often_as_is_wanted() -> None:
    assert all(each > 0 for each in disk_milliseconds(3))
