from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.pairing import check_entrants
from tests.rating.pairs import make_round_robin

NAMES = st.lists(st.text("abcdef-2", min_size=1, max_size=4), min_size=2, max_size=9, unique=True)


@given(NAMES, st.integers(1, 4), st.integers(1, 3), st.integers())
def test_every_two_bots_meet_once_per_round_and_start_position(
    bots: list[str], rounds: int, starts: int, seed: int
) -> None:
    pairs = make_round_robin(bots, rounds, starts, seed)
    meetings = Counter(
        (pair.round, pair.start_position_index, frozenset((pair.first_bot, pair.second_bot)))
        for pair in pairs
    )
    assert meetings == {
        (round, start, frozenset(two)): 1
        for round in range(rounds)
        for start in range(starts)
        for two in combinations(bots, 2)
    }
    assert [pair.number for pair in pairs] == list(range(len(pairs)))


@given(NAMES, st.integers())
def test_the_matches_of_a_pair_have_swapped_seats(bots: list[str], seed: int) -> None:
    for pair in make_round_robin(bots, 1, 2, seed):
        one, two = pair.make_pairings()
        assert (one.maxie, one.minnie) == (two.minnie, two.maxie) == (pair.first_bot, pair.second_bot)
        assert one.pair is two.pair is pair
        assert (one.leg, two.leg) == (0, 1)


@given(NAMES, st.integers(1, 3), st.integers())
def test_the_order_does_not_depend_on_the_order_of_the_bots(bots: list[str], rounds: int, seed: int) -> None:
    assert make_round_robin(bots, rounds, 2, seed) == make_round_robin(list(reversed(bots)), rounds, 2, seed)


def test_the_order_differs_by_seed_and_round() -> None:
    bots = list("abcdef")
    assert len({tuple(make_round_robin(bots, 1, 1, seed)) for seed in range(20)}) > 10
    rounds = make_round_robin(bots, 2, 1, 0)
    half = len(rounds) // 2
    assert [(p.first_bot, p.second_bot) for p in rounds[:half]] != [
        (p.first_bot, p.second_bot) for p in rounds[half:]
    ]


def test_the_order_is_the_same_on_every_machine() -> None:
    # Never change these pairs: events of earlier versions are resumed by their numbers.
    pairs = [(pair.first_bot, pair.second_bot) for pair in make_round_robin(["a", "b", "c", "d"], 1, 1, 7)]
    assert pairs == [("a", "b"), ("c", "d"), ("d", "a"), ("c", "b"), ("a", "c"), ("d", "b")]


@given(st.integers(2, 12), st.integers())
def test_all_bots_play_in_each_turn_of_the_circle(n: int, seed: int) -> None:
    # With an odd number of bots, all but one play in each turn.
    pairs = make_round_robin([f"b{i}" for i in range(n)], 1, 1, seed)
    for at in range(0, len(pairs), n // 2):
        turn = pairs[at : at + n // 2]
        assert len({bot for pair in turn for bot in (pair.first_bot, pair.second_bot)}) == 2 * (n // 2)


@pytest.mark.parametrize(("bots", "starts"), [([], 1), (["a"], 1), (["a", "a"], 1), (["a", "b"], 0)])
def test_invalid_entrants_are_refused(bots: list[str], starts: int) -> None:
    with pytest.raises(ValueError, match="an event needs"):
        check_entrants(bots, starts)
