from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.lobby.matchmaking.matchmaker import MOST_COMPARED, RATING_STEP, Meetings


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=80))
def test_the_choice_is_among_the_idle_and_meets_the_least_met(rounds: list[set[str]]) -> None:
    meetings, met = Meetings(), Counter[frozenset[str]]()
    for idle in rounds:
        chosen = meetings.choose(sorted(idle))
        if len(idle) < 2:
            assert not chosen
            continue
        (pair,) = chosen
        assert set(pair) <= idle
        least = min(met[frozenset(each)] for each in combinations(idle, 2))
        assert met[frozenset(pair)] == least
        met[frozenset(pair)] += 1
        meetings.note(*pair)
        assert abs(meetings.times(*pair) - meetings.times(*pair[::-1])) <= 1


@given(
    st.lists(st.integers(1000, 2000), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60),
    st.integers(0, 8),
)
def test_many_chosen_at_once_are_those_chosen_one_after_another(
    rated: list[int], met: list[tuple[int, int]], most: int
) -> None:
    names = [f"bot {number}" for number in range(len(rated))]
    ratings = dict(zip(names, map(float, rated), strict=True))
    meetings = Meetings()
    for a, b in met:
        if a != b:
            meetings.note(f"bot {a}", f"bot {b}")
    chosen = meetings.choose(names, ratings.__getitem__, most)
    for pair in chosen:
        assert meetings.choose(names, ratings.__getitem__) == [pair]
        meetings.note(*pair)
        names = [name for name in names if name not in pair]
    assert len(chosen) == min(most, len(ratings) // 2)


@given(st.integers(0, 3 * MOST_COMPARED))
def test_of_a_crowd_all_get_a_match_the_longest_waiting_first(size: int) -> None:
    meetings, left, opponents = Meetings(), [f"bot {number:03}" for number in range(size)], []
    while chosen := meetings.choose(left, most=size):
        opponents += [name for pair in chosen for name in pair]
        left = [name for name in left if name not in opponents]
    assert len(left) == size % 2
    assert opponents == sorted(opponents)


def play(meetings: Meetings, addresses: dict[str, str], slots: int, rounds: int) -> Counter[str]:
    """How many matches each bot was given where so many are in progress at once and all last as long."""
    given: Counter[str] = Counter()
    waiting = list(addresses)
    for _ in range(rounds):
        chosen = meetings.choose(waiting, most=slots, address=addresses.__getitem__)
        for pair in chosen:
            meetings.note(*pair)
            meetings.served(*(addresses[name] for name in pair))
            given.update(pair)
        playing = [name for pair in chosen for name in pair]
        waiting = [name for name in waiting if name not in playing] + playing
    return given


@given(st.integers(2, 80), st.integers(1, 3), st.integers(1, 3))
def test_an_address_with_many_bots_does_not_hold_up_one_with_a_few(
    many: int, others: int, slots: int
) -> None:
    addresses = {f"many {number}": "192.0.2.1" for number in range(many)}
    addresses |= {f"other {number}": f"192.0.2.{number + 2}" for number in range(others)}
    rounds = 12
    given = play(Meetings(), addresses, slots, rounds)
    # The turns are shared by the addresses: each of them has at least every so many-th pair, as far as it has bots.
    for number in range(others):
        assert given[f"other {number}"] >= rounds * min(slots, 1) // (others + 1)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 3))
def test_no_address_waits_longer_than_each_other_has_had_a_turn(sizes: list[int], slots: int) -> None:
    addresses = {
        f"{whose} {number}": str(whose) for whose, size in enumerate(sizes) for number in range(size)
    }
    meetings, waited = Meetings(), Counter[str]()
    waiting = list(addresses)
    for _ in range(30):
        chosen = meetings.choose(waiting, most=slots, address=addresses.__getitem__)
        served = [addresses[name] for pair in chosen for name in pair]
        for pair in chosen:
            meetings.note(*pair)
            meetings.served(*(addresses[name] for name in pair))
        for whose in set(addresses.values()):
            waited[whose] = 0 if whose in served else waited[whose] + 1
            assert waited[whose] < len(sizes)


def test_near_ratings_meet_first_but_nobody_meets_the_same_for_ever() -> None:
    ratings = {"a": 1500.0, "b": 1500.0 + 3 * RATING_STEP, "c": 1510.0}
    meetings = Meetings()
    chosen = []
    for _ in range(5):
        (pair,) = meetings.choose(["a", "b", "c"], ratings.__getitem__)
        meetings.note(*pair)
        chosen.append("".join(sorted(pair)))
    assert chosen[:3] == ["ac", "ac", "ac"]
    assert set(chosen[3:]) == {"bc", "ab"}


@given(st.lists(st.permutations("abcd").map(lambda names: names[:2]) | st.sampled_from("abcd"), max_size=60))
def test_a_bot_that_left_is_forgotten(happenings: list[list[str] | str]) -> None:
    meetings, known = Meetings(), Counter[tuple[str, str]]()
    for who in happenings:
        if isinstance(who, str):
            meetings.forget(who)
            known = Counter({pair: times for pair, times in known.items() if who not in pair})
        else:
            maxie, minnie = who
            meetings.note(maxie, minnie)
            known[maxie, minnie] += 1
        assert all(meetings.times(*pair) == known[pair] for pair in permutations("abcd", 2))
    for name in "abcd":
        meetings.forget(name)
    assert vars(meetings) == vars(Meetings())
