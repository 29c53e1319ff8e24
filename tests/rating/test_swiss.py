"""Pairings of a Swiss round, compared with an exhaustive oracle and a published implementation."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.swiss import SwissRound, pair_swiss_round
from tests.properties import examples

DATA = Path(__file__).parents[1] / "data" / "swiss_published.json"
"""Pairings by bbpPairings 6.0, which follows the rules of FIDE: single cases, and a tournament of 180 players."""
PUBLISHED = json.loads(DATA.read_text(encoding="utf-8"))


def list_pairings(bots: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Yield every way to pair an even number of bots."""
    if not bots:
        yield []
        return
    first, *others = bots
    for other in others:
        for rest in list_pairings([bot for bot in others if bot != other]):
            yield [(first, other), *rest]


class History:
    """Earlier opponents, points and number of idle rounds of each bot."""

    def __init__(self) -> None:
        self.points: dict[str, float] = defaultdict(float)
        self.opponents: dict[str, list[str]] = defaultdict(list)
        self.idle: dict[str, int] = defaultdict(int)

    def pair(self, bots: Sequence[str]) -> SwissRound:
        return pair_swiss_round(bots, self.points, lambda a, b: self.opponents[a].count(b), self.idle)

    def play(self, paired: SwissRound, dice: Random) -> None:
        for first, second in paired.bot_pairs:
            won = dice.choice((0, 0.5, 1))
            self.points[first] += won
            self.points[second] += 1 - won
            self.opponents[first].append(second)
            self.opponents[second].append(first)
        if paired.bye_bot is not None:
            self.points[paired.bye_bot] += 1
            self.idle[paired.bye_bot] += 1


@examples(60)
@given(st.integers(2, 8), st.integers(0, 6), st.randoms(use_true_random=False))
def test_meetings_are_repeated_and_bots_leave_the_top_group_only_if_necessary(
    n: int, rounds: int, dice: Random
) -> None:
    bots, history = [f"b{i}" for i in range(n)], History()
    for _ in range(rounds):
        history.play(history.pair(bots), dice)
    paired = history.pair(bots)
    playing = [bot for bot in bots if bot != paired.bye_bot]
    assert sorted(bot for meeting in paired.bot_pairs for bot in meeting) == playing
    if n % 2:
        assert paired.bye_bot is not None
        assert history.idle[paired.bye_bot] <= max(history.idle.values(), default=0)

    def count_repeats(meetings: Sequence[tuple[str, str]]) -> int:
        return max(history.opponents[a].count(b) for a, b in meetings)

    fewest = min(map(count_repeats, list_pairings(playing)))
    assert count_repeats(paired.bot_pairs) == fewest
    best = max(history.points[bot] for bot in playing)

    def count_pairs_with_lower_groups(meetings: Sequence[tuple[str, str]]) -> int:
        return sum((history.points[a] == best) != (history.points[b] == best) for a, b in meetings)

    allowed = [each for each in list_pairings(playing) if count_repeats(each) == fewest]
    assert count_pairs_with_lower_groups(paired.bot_pairs) == min(map(count_pairs_with_lower_groups, allowed))


@examples(20)
@given(st.integers(3, 12), st.randoms(use_true_random=False))
def test_no_bot_has_a_second_bye_before_all_others_have_one(n: int, dice: Random) -> None:
    bots, history = [f"b{i}" for i in range(2 * n + 1)], History()
    for _ in range(n):
        history.play(history.pair(bots), dice)
    assert sorted(history.idle[bot] for bot in bots) == [0] * (n + 1) + [1] * n


def test_the_first_half_of_a_group_meets_the_second_and_floaters_meet_the_first_bots() -> None:
    history = History()
    bots = [f"b{i}" for i in range(8)]
    assert history.pair(bots).bot_pairs == [("b0", "b4"), ("b1", "b5"), ("b2", "b6"), ("b3", "b7")]
    history.points.update(dict.fromkeys(("b0", "b1", "b2"), 1.0))
    assert history.pair(bots).bot_pairs == [("b0", "b1"), ("b2", "b3"), ("b4", "b6"), ("b5", "b7")]


Levels = list[tuple[float, ...]]


def list_point_pairs(meetings: Sequence[Sequence[object]], points: Mapping[str, float]) -> Levels:
    return sorted(tuple(sorted(points[str(bot)] for bot in meeting)) for meeting in meetings)


def count_pairs_between_groups(found: Levels) -> int:
    return sum(low != high for low, high in found)


@pytest.mark.parametrize("name", sorted(PUBLISHED["pairings"]))
def test_a_published_case_has_no_repeats_and_as_many_pairs_between_groups(name: str) -> None:
    players, expected, out = PUBLISHED["pairings"][name]
    points = {str(number): score for number, score, _, _ in players}
    met = {str(number): list(map(str, opponents)) for number, _, opponents, _ in players}
    idle = {str(number): count for number, _, _, count in players}
    paired = pair_swiss_round(list(points), points, lambda a, b: met[a].count(b), idle)
    assert not any(b in met[a] for a, b in paired.bot_pairs)
    assert paired.bye_bot == (None if out is None else str(out))
    ours, theirs = list_point_pairs(paired.bot_pairs, points), list_point_pairs(expected, points)
    assert count_pairs_between_groups(ours) == count_pairs_between_groups(theirs)
    if name.startswith("dutch"):
        assert {frozenset(each) for each in paired.bot_pairs} == {
            frozenset(map(str, each)) for each in expected
        }


def test_each_round_of_a_published_tournament_pairs_the_same_groups() -> None:
    tournament: list[list[list[float]]] = PUBLISHED["tournament"]
    history = History()
    bots = [str(number) for number in range(1, len(tournament) + 1)]
    for round in range(len(tournament[0])):
        games = {bot: tournament[int(bot) - 1][round] for bot in bots}
        if round != 1:  # the organiser accelerated this round
            paired = history.pair(bots)
            theirs = {tuple(sorted((bot, str(game[0])))) for bot, game in games.items()}
            assert list_point_pairs(paired.bot_pairs, history.points) == list_point_pairs(
                sorted(theirs), history.points
            ), round
            assert not any(b in history.opponents[a] for a, b in paired.bot_pairs)
        for bot, (opponent, won, *unplayed) in games.items():
            history.points[bot] += won
            if not unplayed:
                history.opponents[bot].append(str(opponent))
