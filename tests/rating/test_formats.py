from collections import Counter, defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.rating.formats import (
    MAX_TIE_BREAK_PAIRS,
    EventFormat,
    KnockoutFormat,
    RosterChange,
    RoundRobinFormat,
    SwissFormat,
    make_format,
    rank_by_format,
)
from arena.rating.pairing import MatchPair
from arena.rating.standings import StandingsRow, make_standings_from_counts
from tests.rating.pairs import make_round_robin


def make_names(n: int) -> list[str]:
    return [f"b{i}" for i in range(n)]


def play(format: EventFormat, strength: dict[str, float], dice: Random) -> list[MatchPair]:
    """Play all pairs, which end in a random order and are won by the stronger bot. Return them in this order."""
    matches: list[MatchPair] = []
    open_ = format.make_next_pairs(may_begin_round=True)
    while open_:
        pair = open_.pop(dice.randrange(len(open_)))
        first = strength[pair.first_bot] - strength[pair.second_bot]
        won = 2.0 if first > 0 else 0.0 if first < 0 else 1.0
        matches.append(pair)
        format.record_pair_result(pair, won, 2 - won)
        open_ += format.make_next_pairs(may_begin_round=not open_)
    return matches


@settings(deadline=None)
@given(st.integers(2, 7), st.integers(1, 3), st.integers(1, 2))
def test_the_rounds_of_the_format_make_up_a_round_robin(bots: int, rounds: int, starts: int) -> None:
    format = RoundRobinFormat(make_names(bots), rounds, starts, 5)
    ladder = play(format, dict.fromkeys(make_names(bots), 0.0), Random(1))
    assert sorted(ladder, key=lambda pair: pair.number) == make_round_robin(
        make_names(bots), rounds, starts, 5
    )
    assert format.total_matches == 2 * len(ladder)


def test_in_a_gauntlet_the_first_bot_plays_all_others() -> None:
    format = make_format("gauntlet", make_names(4), 2, 2, 0)
    ladder = play(format, dict.fromkeys(make_names(4), 0.0), Random(1))
    assert Counter((pair.first_bot, pair.second_bot) for pair in ladder) == {
        ("b0", f"b{i}"): 4 for i in (1, 2, 3)
    }
    assert sorted(pair.number for pair in ladder) == list(range(12))
    assert format.total_matches == 24


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_in_a_swiss_each_bot_plays_once_a_round(bots: int, rounds: int, dice: Random) -> None:
    format = SwissFormat(make_names(bots), rounds, 1)
    strength = {bot: dice.random() for bot in make_names(bots)}
    ladder = play(format, strength, dice)
    assert format.total_matches == 2 * len(ladder)
    by_round: dict[int, list[str]] = defaultdict(list)
    for pair in ladder:
        by_round[pair.round] += [pair.first_bot, pair.second_bot]
    assert sorted(by_round) == list(range(rounds))
    sat_out: Counter[str] = Counter()
    for met in by_round.values():
        assert len(met) == len(set(met)) == 2 * (bots // 2)
        sat_out.update(set(make_names(bots)) - set(met))
    # In so few rounds, a bot without an earlier bye can have one, and all others have new opponents left (Dirac 1952).
    if bots % 2 and rounds <= bots // 2:
        assert max(sat_out.values()) - min(sat_out[bot] for bot in make_names(bots)) <= 1


def test_a_swiss_of_enough_rounds_finds_the_best_and_pairs_equals() -> None:
    strength = {bot: float(-i) for i, bot in enumerate(make_names(16))}
    format = SwissFormat(make_names(16), 4, 1)
    ladder = play(format, strength, Random(3))
    meetings = Counter(frozenset((pair.first_bot, pair.second_bot)) for pair in ladder)
    assert set(meetings.values()) == {1}
    points: Counter[str] = Counter()
    for pair in sorted(ladder, key=lambda pair: pair.number):
        if pair.round < 3:
            points[max(pair.first_bot, pair.second_bot, key=strength.__getitem__)] += 1
        else:
            assert abs(points[pair.first_bot] - points[pair.second_bot]) <= 1
    last = [pair for pair in ladder if pair.round == 3 and "b0" in (pair.first_bot, pair.second_bot)]
    assert len(last) == 1
    assert points["b0"] == 3


@settings(deadline=None)
@given(st.integers(2, 17), st.integers(1, 2), st.integers(1, 2), st.integers())
def test_a_knockout_is_won_by_the_strongest(bots: int, rounds: int, starts: int, seed: int) -> None:
    format = KnockoutFormat(make_names(bots), rounds, starts)
    dice = Random(seed)
    strength = {bot: dice.random() for bot in make_names(bots)}
    ladder = play(format, strength, dice)
    assert format.winner == max(strength, key=strength.__getitem__)
    assert len({pair.number for pair in ladder}) == len(ladder) == (bots - 1) * rounds * starts
    assert format.total_matches == 2 * len(ladder)
    counts: Counter[str] = Counter()
    for two in {frozenset((pair.first_bot, pair.second_bot)) for pair in ladder}:
        counts[min(two, key=strength.__getitem__)] += 1
    assert set(counts.values()) == {1}


def test_the_best_two_seeds_meet_in_the_final_only() -> None:
    strength = {bot: float(-i) for i, bot in enumerate(make_names(8))}
    ladder = play(KnockoutFormat(make_names(8), 1, 1), strength, Random(0))
    assert {ladder[-1].first_bot, ladder[-1].second_bot} == {"b0", "b1"}


def test_a_drawn_encounter_has_tie_breaks_and_then_the_better_seed_advances() -> None:
    format = KnockoutFormat(["a", "b"], 2, 1)
    ladder = play(format, {"a": 0, "b": 0}, Random(0))
    assert len(ladder) == 2 + MAX_TIE_BREAK_PAIRS
    assert sorted(pair.round for pair in ladder) == list(range(2 + MAX_TIE_BREAK_PAIRS))
    assert format.winner == "a"


def test_a_bot_with_a_bye_advances_without_a_match() -> None:
    format = KnockoutFormat(make_names(3), 1, 1)
    [pair] = format.make_next_pairs(may_begin_round=True)
    assert {pair.first_bot, pair.second_bot} == {"b1", "b2"}
    format.record_pair_result(pair, 0, 2)
    [final] = format.make_next_pairs(may_begin_round=True)
    assert {final.first_bot, final.second_bot} == {"b0", pair.second_bot}


def test_invalid_formats_are_refused() -> None:
    with pytest.raises(ValueError, match="no format is called 'ladder': choose from round-robin"):
        make_format("ladder", ["a", "b"], 1, 1, 0)
    for name in ("gauntlet", "swiss", "knockout"):
        with pytest.raises(ValueError, match="different names"):
            make_format(name, ["a", "a"], 1, 1, 0)


def make_rows(bots: list[str], points: Counter[str]) -> list[StandingsRow]:
    rows = make_standings_from_counts(bots, [])
    return [replace(row, points=points[row.bot]) for row in rows]


@settings(deadline=None)
@given(st.integers(2, 17), st.integers())
def test_the_table_of_a_knockout_is_sorted_by_the_round_reached(bots: int, seed: int) -> None:
    format, dice = KnockoutFormat(make_names(bots), 1, 1), Random(seed)
    strength = {bot: dice.random() for bot in make_names(bots)}
    lost: dict[str, int] = {}
    for number, pair in enumerate(play(format, strength, dice)):
        lost[min(pair.first_bot, pair.second_bot, key=strength.__getitem__)] = number
    rows = rank_by_format(make_rows(make_names(bots), Counter()), format)
    assert rows[0].bot == format.winner
    assert [row.knockout_stage for row in rows[:2]] == ["champion", "final"]
    stages = [row.knockout_stage for row in rows]
    assert [row.rank for row in rows] == [1 + stages.index(stage) for stage in stages]
    assert Counter(row.knockout_stage for row in rows)["semifinal"] == min(2, bots - 2)
    (final,) = format.make_bracket()[-1]
    assert final.winning_bot == rows[0].bot
    assert {final.first_bot, final.second_bot} == {rows[0].bot, rows[1].bot}
    assert sum(each.winning_bot is not None for round in format.make_bracket() for each in round) == bots - 1


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(1, 5), st.integers(1, 2), st.randoms(use_true_random=False))
def test_the_table_of_a_swiss_is_sorted_by_points_and_buchholz(
    bots: int, rounds: int, starts: int, dice: Random
) -> None:
    format = SwissFormat(make_names(bots), rounds, starts)
    ladder = play(format, {bot: dice.random() for bot in make_names(bots)}, dice)
    strength = {bot: format.compute_rank(bot, 0).buchholz for bot in make_names(bots)}
    points: Counter[str] = Counter()
    for pair in ladder:
        points[pair.first_bot] += 0
    rows = rank_by_format(make_rows(make_names(bots), points), format)
    assert rows == sorted(rows, key=lambda row: (-row.points, -(row.buchholz or 0)))
    results = [(row.points, row.buchholz or 0) for row in rows]
    assert [row.rank for row in rows] == [1 + sum(other > each for other in results) for each in results]
    assert sum(row.byes for row in rows) == (2 * starts * rounds if bots % 2 else 0)
    assert {row.bot: row.buchholz for row in rows} == strength


def test_a_bot_absent_twice_in_a_row_is_not_paired_until_it_joins_again() -> None:
    format, paired = SwissFormat(make_names(6), 8, 1), list[set[str]]()
    while pairs := format.make_next_pairs(may_begin_round=True):
        paired.append({bot for pair in pairs for bot in (pair.first_bot, pair.second_bot)})
        for pair in pairs:
            absent = ["b5"] if len(paired) <= 4 and "b5" in (pair.first_bot, pair.second_bot) else []
            format.record_pair_result(
                pair, 2.0 * (pair.second_bot in absent), 2.0 * (pair.first_bot in absent), absent
            )
        if len(paired) == 5:
            format.change_roster(
                RosterChange("b5", format.rounds_started, True),
                RosterChange("b0", format.rounds_started, False),
            )
    assert ["b5" in each for each in paired] == [True, True, False, False, False, True, True, True]
    assert ["b0" in each for each in paired][5:] == [False, False, False]
    assert sum(format.compute_rank(bot, 0).bye_points for bot in make_names(6)) == 2 * 6, (
        "in six rounds there are only five bots"
    )


def test_200_bots_are_paired_without_repeated_meetings() -> None:
    dice = Random(1)
    strength = {bot: dice.random() for bot in make_names(200)}
    format = SwissFormat(make_names(200), 9, 1)
    ladder = play(format, strength, dice)
    meetings = Counter(frozenset((pair.first_bot, pair.second_bot)) for pair in ladder)
    assert set(meetings.values()) == {1}
    assert len(ladder) == 900
