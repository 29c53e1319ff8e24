"""Measurements of maps: figures that are known beforehand, and equal figures for equal seeds."""

from __future__ import annotations

import math
from typing import Any

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import SearchReport
from arena.games.core import Player
from arena.games.loading import load_game_class_from_file
from arena.games.riskless import Riskless
from arena.lab.measure import (
    RANDOM_OPENING_PLY_COUNTS,
    MatchStatistics,
    MeasuredMap,
    MeasuredMatch,
    _MeasurementTask,
    _play_task_matches,
    choose_default_strengths,
    compute_match_statistics,
    compute_pairs_needed,
    count_matches_to_play,
    estimate_mean_outcome,
    measure_maps,
    summarize_equal_matches,
)
from arena.lab.selfplay import PlayedMatch, compute_best_to_median_gap, compute_reply_winning_chances
from arena.maps.loader import load_map
from arena.match.openings import make_random_opening
from arena.protocol.values import Opening
from arena.rating.pentanomial import count_pair_scores
from tests.games.own import EXAMPLES


def measure_m1(matches: int, seed: int, counts: list[int]) -> MeasuredMap:
    [found] = measure_maps(
        [load_map("m1")],
        "plain",
        match_count=matches,
        seed=seed,
        process_count=1,
        strengths_nodes_per_move=(50, 200),
        on_progress=counts.append,
    )
    return found


def test_all_matches_are_counted_and_a_seed_gives_the_same_figures_again() -> None:
    counts: list[int] = []
    found = measure_m1(6, 3, counts)
    assert sum(counts) == count_matches_to_play(1, 6, strength_count=2)
    assert [equals.nodes_per_move for equals in found.equal_strength_matches] == [50, 200]
    for equals in found.equal_strength_matches:
        assert equals.match_count == sum(equals.endings.values()) == 6
    assert (found.map, found.unequal_strength_pairs.pair_count) == ("m1", 3)
    assert measure_m1(6, 3, []) == found


def test_the_results_of_two_maps_are_kept_apart() -> None:
    maps = [load_map(name) for name in ("m1", "path4", "m1")]
    found = list(
        measure_maps(maps, "plain", match_count=2, seed=3, process_count=1, strengths_nodes_per_move=(20,))
    )
    assert [each.map for each in found] == ["m1", "path4", "m1"]
    assert found[0] == found[2] != found[1]
    assert all(
        each.equal_strength_matches[0].match_count == 2 and each.unequal_strength_pairs.pair_count == 1
        for each in found
    )


def list_opening_lengths(openings: int, starts: list[Opening] | None) -> list[int]:
    task = _MeasurementTask("riskless", M1.map, 0, "plain", 50, 50, 3, range(openings), starts)
    return [
        match.ply_count - match.statistics.move_count
        for match in _play_task_matches(task)
        if match.statistics
    ]


def test_both_players_have_the_first_move_after_the_random_plies_equally_often() -> None:
    assert list_opening_lengths(6, None) == list(RANDOM_OPENING_PLY_COUNTS)


def test_matches_begin_after_the_given_openings() -> None:
    starts = [make_random_opening(M1, plies, "salt") for plies in (3, 5, 4, 6)]
    assert list_opening_lengths(4, starts) == [3, 5, 4, 6]


def test_a_subclass_of_riskless_is_measured_by_its_own_rules() -> None:
    game = str(EXAMPLES / "capitals.py")
    [found] = measure_maps(
        [load_map("grid:3x2")],
        "features",
        game_spec=game,
        match_count=4,
        seed=3,
        process_count=1,
        strengths_nodes_per_move=(20,),
    )
    [equals] = found.equal_strength_matches
    assert equals.match_count == 4
    assert set(equals.endings) <= {"armies", "capital", "repetition", "ply_limit"}
    assert equals.endings["capital"]


@pytest.mark.parametrize(
    ("file", "strengths"), [("capitals.py", [500, 4_000]), ("capitals_kernel.py", [500, 4_000, 32_000])]
)
def test_a_game_with_a_kernel_is_measured_at_all_strengths(file: str, strengths: list[int]) -> None:
    game: Any = load_game_class_from_file(EXAMPLES / file, "")
    assert list(choose_default_strengths([M1, game(M1.map)])) == strengths


def test_shares_are_counted_from_maxies_side() -> None:
    results = zip([Player.MAXIE, Player.MAXIE, None, Player.MINNIE], [10, 20, 30, 40], strict=True)
    equals = summarize_equal_matches(
        500, [MeasuredMatch(winner, "armies", plies, None) for winner, plies in results]
    )
    assert (equals.drawn_share.value, equals.maxie_points_share.value, equals.mean_plies.value) == (
        0.25,
        0.625,
        25,
    )
    assert (equals.endings, equals.comeback_share) == ({"armies": 4}, None)
    assert equals.drawn_share.error > 0
    assert equals.maxie_points_share.error > 0


@pytest.mark.parametrize("of", [1, 10, 1000])
def test_a_share_of_zero_has_an_error(of: int) -> None:
    none, every = estimate_mean_outcome(0, of), estimate_mean_outcome(of, of)
    assert (none.value, every.value) == (0, 1)
    assert none.error == pytest.approx(every.error)
    assert 0 < none.error < estimate_mean_outcome(of / 2, of).error + 1e-9


def test_the_interval_of_the_needed_pairs_just_excludes_one_half() -> None:
    pairs = [2.0, 1.0, 2.0, 1.5, 0.0, 1.0, 2.0, 1.5]
    scores = [points / 2 for points in pairs]
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    error = 1.959964 * math.sqrt(variance / compute_pairs_needed(count_pair_scores(pairs)))
    assert mean - error == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("points", [[1.0, 1.0], [0.0, 2.0], [0.5, 1.0]])
def test_an_engine_that_is_not_ahead_is_never_distinguished(points: list[float]) -> None:
    assert compute_pairs_needed(count_pair_scores(points)) == math.inf


M1 = Riskless(load_map("m1"))


def measure_values(values: list[int], winner: Player | None) -> MatchStatistics:
    """Return the statistics of a match with these reported values, in which each move was the first one in move order."""
    position, positions, reports = M1.start(), [], []
    for value in values:
        played = M1.moves(position)[0]
        positions.append(position)
        reports.append(SearchReport(1, value, played, (played,), 1, is_depth_finished=True))
        position = M1.successor(position, played)
    searcher = Searcher(M1, weights_for(M1, "plain"), Settings(table_mb=1))
    try:
        return compute_match_statistics(
            M1, PlayedMatch(winner, "armies", tuple(positions), tuple(reports)), searcher, 100
        )
    finally:
        searcher.close()


@pytest.mark.parametrize(
    ("values", "winner", "changes", "comeback"),
    [
        ([500] * 8, Player.MAXIE, 0, False),
        ([500] * 8, Player.MINNIE, 0, True),
        ([500] * 8, None, 0, None),
        ([-500] * 8, Player.MAXIE, 0, True),
        ([500, 500, -500, -500, 500, 500], Player.MAXIE, 2, True),
        ([500, -500] * 4, Player.MAXIE, 0, None),  # each report favours the player who moves, so nobody leads
        ([20, 20, -20, -20, 20, 20], Player.MAXIE, 0, True),  # too little for a lead
        ([], None, 0, None),
    ],
)
def test_lead_changes_and_comebacks_of_a_match(
    values: list[int], winner: Player | None, changes: int, comeback: bool | None
) -> None:
    found = measure_values(values, winner)
    assert (found.move_count, found.lead_change_count, found.is_comeback) == (len(values), changes, comeback)
    assert (found.best_to_median_chance_gap is None) == (not values)


def test_the_gap_is_the_difference_between_the_best_and_the_median_move() -> None:
    searcher = Searcher(M1, weights_for(M1, "plain"), Settings(table_mb=1, exact=True))
    chances = compute_reply_winning_chances(M1, searcher, M1.start(), 10_000)
    searcher.close()
    assert len(chances) == len(M1.moves(M1.start()))
    assert chances == sorted(chances, reverse=True)
    assert compute_best_to_median_gap(chances) == chances[0] - chances[len(chances) // 2] >= 0
    assert compute_best_to_median_gap([0.7]) == 0


def test_a_territory_that_is_taken_back_and_forth_counts_from_the_third_time_on() -> None:
    """Both players take the same territory in turn, each from another neighbour."""
    found = load_map("path4")
    game = Riskless(found)
    position = game.position_from_text("-9 +1 +9 . minnie 0")
    moves, positions, reports = [(0, 1), (2, 1), (0, 1), (2, 1)], [], []
    for move in moves:
        assert position.armies[move[0]] * position.armies[move[1]] < 0, "an attack"
        positions.append(position)
        reports.append(SearchReport(1, 0, move, (move,), 1, is_depth_finished=True))
        position = game.successor(position, move)
    searcher = Searcher(game, weights_for(game, "plain"), Settings(table_mb=1))
    played = PlayedMatch(None, "cut", tuple(positions), tuple(reports))
    assert compute_match_statistics(game, played, searcher, 100).recapture_count == 2
    searcher.close()
