from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from server.matchmaker import RATING_STEP, Meetings


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=80))
def test_the_choice_is_among_the_idle_and_meets_the_least_met(rounds: list[set[str]]) -> None:
    meetings, met = Meetings(), Counter[frozenset[str]]()
    for idle in rounds:
        pair = meetings.choose(sorted(idle))
        if len(idle) < 2:
            assert pair is None
            continue
        assert pair is not None
        assert set(pair) <= idle
        least = min(met[frozenset(each)] for each in combinations(idle, 2))
        assert met[frozenset(pair)] == least
        met[frozenset(pair)] += 1
        meetings.note(*pair)
        assert abs(meetings.count[pair] - meetings.count[pair[::-1]]) <= 1


def test_near_ratings_meet_first_but_nobody_meets_the_same_for_ever() -> None:
    ratings = {"a": 1500.0, "b": 1500.0 + 3 * RATING_STEP, "c": 1510.0}
    meetings = Meetings()
    chosen = []
    for _ in range(5):
        pair = meetings.choose(["a", "b", "c"], ratings.__getitem__)
        assert pair is not None
        meetings.note(*pair)
        chosen.append("".join(sorted(pair)))
    assert chosen[:3] == ["ac", "ac", "ac"]
    assert set(chosen[3:]) == {"bc", "ab"}


def test_a_bot_that_left_is_forgotten() -> None:
    meetings = Meetings()
    meetings.note("a", "b")
    meetings.note("c", "b")
    meetings.forget("a")
    assert set(meetings.count) == {("c", "b")}
