"""Measurements of maps by self-play: share of decided matches, lead changes, and other properties of the matches.

Searchers with equal numbers of nodes per move play each other, and strong searchers play weak ones, which have fewer nodes. No
clock is read, so a map, an evaluator and a seed give the same figures on every machine. A match begins after a few random
plies, or with an opening from a file. Equal searchers play one match from each opening; searchers of different strength play
two, with swapped seats.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import cast

from msgspec import Struct, field

from arena.bots.compiled.availability import has_compiled_search
from arena.bots.compiled.searcher import Settings
from arena.bots.review.chance import compute_winning_chance
from arena.bots.search.deepening import DeepeningSearcher
from arena.games.catalogue import CATALOGUE
from arena.games.core import Player, RuleEndReason
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.lab.processes import map_in_processes
from arena.lab.selfplay import (
    PlayedMatch,
    compute_best_to_median_gap,
    compute_reply_winning_chances,
    get_match_points,
    make_searcher,
    play_match,
    play_random_plies,
)
from arena.match.openings import find_position_after
from arena.protocol.values import Opening
from arena.rating.elo import Z_SCORE_95_PERCENT
from arena.rating.pentanomial import (
    compute_score_statistics,
    count_pair_scores,
    estimate_elo_difference,
)

DEFAULT_STRENGTHS_NODES_PER_MOVE = (500, 4_000, 32_000)
"""Strengths of the matches between equal searchers, in nodes per move. All matches are played at each strength."""
STRONG_NODES_PER_MOVE, WEAK_NODES_PER_MOVE = 4_000, 500
"""Nodes per move of the strong searcher and of the weak searcher in the pairs of unequal matches."""
RANDOM_OPENING_PLY_COUNTS = range(4, 10)
"""Numbers of random plies with which the matches begin. Successive openings use one number after the other, in a cycle.

The player who moves first after the random plies is ahead: at 500 nodes on italy, Maxie won 67 % of the matches with the
first move and 32 % of the others. So both players must have the first move equally often.
"""
MEASUREMENT_TRANSPOSITION_TABLE_MB = 4
"""Size of each searcher's transposition table in the measured matches, in MiB."""
OPENINGS_PER_MEASUREMENT_TASK = 10
"""Number of openings in one task of a process.

Creating the searchers takes under 10 % of the time of such a task.
"""


MIN_LEADER_WINNING_CHANCE = 0.55
"""Minimum winning chance, from 0 to 1, with which a player counts as the leader."""


@dataclass(frozen=True)
class MatchStatistics:
    """Measured properties of one match.

    move_count                 number of moves after the opening
    lead_change_count          number of changes of the leader; a player leads with a winning chance of at least
                               MIN_LEADER_WINNING_CHANCE
    is_comeback                True if the player who was behind after half of the moves won, and False if the other
                               player won. None if nobody won, or nobody was behind.
    recapture_count            number of moves that capture a territory that the previous move and the move before it
                               captured, too
    best_to_median_chance_gap  difference in winning chance between the best and the median move halfway through the match;
                               None in a match without moves
    """

    move_count: int
    lead_change_count: int
    is_comeback: bool | None
    recapture_count: int
    best_to_median_chance_gap: float | None


def compute_match_statistics(
    game: Riskless, match: PlayedMatch, searcher: DeepeningSearcher, max_nodes: int
) -> MatchStatistics:
    """Return the measured properties of a match.

    searcher   searcher that compares the moves in the position halfway through the match
    max_nodes  maximum number of nodes of the search for each of these moves
    """
    # An estimate favours the player who made the last move; the mean of two successive reports has no such bias.
    chances = [
        compute_winning_chance(game, round((report.value + next_report.value) / 2))
        for report, next_report in pairwise(match.search_reports)
    ]
    leaders = [
        Player.MAXIE if chance > 0.5 else Player.MINNIE
        for chance in chances
        if abs(chance - 0.5) >= MIN_LEADER_WINNING_CHANCE - 0.5
    ]
    middle_index = len(chances) // 2
    is_comeback = None
    if chances and match.winner is not None and chances[middle_index] != 0.5:
        is_comeback = (chances[middle_index] > 0.5) != (match.winner is Player.MAXIE)
    best_to_median_chance_gap = None
    if match.positions:
        best_to_median_chance_gap = compute_best_to_median_gap(
            compute_reply_winning_chances(
                game, searcher, match.positions[len(match.positions) // 2], max_nodes
            )
        )
    return MatchStatistics(
        move_count=len(match.search_reports),
        lead_change_count=sum(leader is not next_leader for leader, next_leader in pairwise(leaders)),
        is_comeback=is_comeback,
        recapture_count=_count_recaptures(match),
        best_to_median_chance_gap=best_to_median_chance_gap,
    )


def _count_recaptures(match: PlayedMatch) -> int:
    """Return the number of moves that capture a territory that the previous move and the move before it captured, too."""
    captures = [  # for each ply, the captured territory or None
        report.move[1] if position.armies[report.move[0]] * position.armies[report.move[1]] < 0 else None
        for position, report in zip(match.positions, match.search_reports, strict=True)
    ]
    return sum(
        captured is not None and captured == next_captured == third_captured
        for captured, next_captured, third_captured in zip(captures, captures[1:], captures[2:], strict=False)
    )


class EstimatedMean(Struct, frozen=True):
    """Mean of measured values (`value`). Its 95 % confidence interval is from `value` - `error` to `value` + `error`."""

    value: float
    error: float


class EqualStrengthMatches(Struct, frozen=True):
    """Results of matches in which both searchers have the same number of nodes per move (`nodes_per_move`)."""

    nodes_per_move: int = field(name="nodes")
    match_count: int = field(name="matches")
    drawn_share: EstimatedMean = field(name="drawn")
    """Share of drawn matches."""
    mean_plies: EstimatedMean = field(name="plies")
    """Mean length of a match in plies, including the opening."""
    median_plies: int
    maxie_points_share: EstimatedMean = field(name="maxie")
    """Share of the points that Maxie scored, from 0 to 1; a draw is half a point for each player."""
    endings: dict[str, int]
    """Number of matches by the reason of their end, such as `elimination`."""
    elimination_share: EstimatedMean = field(name="eliminated")
    """Share of matches that end because a player has no territory."""
    comeback_share: EstimatedMean | None = field(name="comebacks")
    """Share of decided matches that were won by the player who was behind after half of the moves.

    Matches in which nobody was behind do not count. None if no match counts.
    """
    mean_lead_changes: float = field(name="lead_changes")
    """Mean number of times per match that the lead passed from one player to the other."""
    recapture_share: float = field(name="back_and_forth")
    """Share of moves that capture a territory that the previous move and the move before it captured, too."""
    best_to_median_chance_gap: float = field(name="gap")
    """Mean difference in winning chance between the best and the median move halfway through a match.

    0 if no move was played in any match.
    """


class UnequalStrengthPairs(Struct, frozen=True):
    """Results of pairs of matches (seats swapped) between a strong searcher and a weak one."""

    nodes_per_move: tuple[int, int] = field(name="nodes")
    """Nodes per move of the strong searcher, and of the weak one."""
    pair_count: int = field(name="pairs")
    points_share: EstimatedMean = field(name="score")
    """Share of the points that the strong searcher scored, from 0 to 1."""
    elo_difference: float = field(name="elo")
    """Difference in Elo points by which the strong searcher is stronger than the weak one."""
    elo_error: float
    """Half the width of the 95 % interval of `elo_difference`."""
    drawn_share: EstimatedMean = field(name="drawn")
    """Share of drawn matches."""
    pairs_needed: float | None
    """Number of pairs that show with 95 % confidence that the strong searcher is stronger; None if it is 10,000 or more."""


class MeasuredMap(Struct, frozen=True):
    """Results of the matches on a map. Its fields are those of `arena maps measure --json`.

    equal_strength_matches  results of the matches between equal searchers, one element for each number of nodes per move
    unequal_strength_pairs  results of the pairs of matches between a strong searcher and a weak one
    """

    map: str
    territory_cap: int
    armies_to_win: int
    ply_limit: int
    evaluator: str
    """Name of the searchers' evaluator, such as `features`, or path of its file of weights."""
    equal_strength_matches: Sequence[EqualStrengthMatches] = field(name="equals")
    unequal_strength_pairs: UnequalStrengthPairs = field(name="signal")


@dataclass(frozen=True)
class MeasuredMatch:
    """Result of a match, and its measured properties (`statistics`); these are None if the searchers differ in strength."""

    winner: Player | None
    end_reason: str
    ply_count: int
    """Length of the match in plies, including the opening."""
    statistics: MatchStatistics | None


def estimate_mean_outcome(
    outcome_sum: float, outcome_count: int, variance: float | None = None
) -> EstimatedMean:
    """Return the mean of outcomes from 0 to 1, `outcome_sum` / `outcome_count`, with its error.

    outcome_sum    sum of the outcomes
    outcome_count  number of outcomes
    variance       variance of an outcome; None if every outcome is 0 or 1, so that the variance follows from the mean

    The error is computed as if there were four more outcomes: 0, 0, 1 and 1 (Agresti and Coull 1998). Without them, the
    error would be 0 if all outcomes are equal.
    """
    adjusted_share = (outcome_sum + 2) / (outcome_count + 4)
    outcome_variance = adjusted_share * (1 - adjusted_share) if variance is None else variance
    return EstimatedMean(
        outcome_sum / outcome_count, Z_SCORE_95_PERCENT * math.sqrt(outcome_variance / (outcome_count + 4))
    )


def summarize_equal_matches(nodes_per_move: int, matches: Sequence[MeasuredMatch]) -> EqualStrengthMatches:
    """Return the results of matches between equal searchers, which search `nodes_per_move` nodes for each move.

    There must be at least one match.
    """
    endings = Counter(match.end_reason for match in matches)
    plies = [match.ply_count for match in matches]
    statistics = [match.statistics for match in matches if match.statistics is not None]
    comebacks = [match.is_comeback for match in statistics if match.is_comeback is not None]
    gaps = [
        match.best_to_median_chance_gap for match in statistics if match.best_to_median_chance_gap is not None
    ]
    return EqualStrengthMatches(
        nodes_per_move=nodes_per_move,
        match_count=len(matches),
        drawn_share=estimate_mean_outcome(sum(match.winner is None for match in matches), len(matches)),
        mean_plies=_estimate_mean(plies),
        median_plies=sorted(plies)[len(plies) // 2],
        maxie_points_share=_estimate_maxie_score(matches),
        endings=dict(sorted(endings.items())),
        elimination_share=estimate_mean_outcome(endings[RuleEndReason.ELIMINATION], len(matches)),
        comeback_share=estimate_mean_outcome(sum(comebacks), len(comebacks)) if comebacks else None,
        mean_lead_changes=sum(match.lead_change_count for match in statistics) / len(matches),
        recapture_share=sum(match.recapture_count for match in statistics)
        / max(1, sum(match.move_count for match in statistics)),
        best_to_median_chance_gap=sum(gaps) / len(gaps) if gaps else 0.0,
    )


def _estimate_mean(values: Sequence[float]) -> EstimatedMean:
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    return EstimatedMean(mean, Z_SCORE_95_PERCENT * math.sqrt(variance / len(values)))


def _estimate_maxie_score(matches: Sequence[MeasuredMatch]) -> EstimatedMean:
    points = [get_match_points(match.winner, Player.MAXIE) for match in matches]
    mean = sum(points) / len(matches)
    mean_square = sum(point * point for point in points) / len(matches)
    return estimate_mean_outcome(sum(points), len(matches), max(mean_square - mean * mean, 1 / len(matches)))


def summarize_unequal_pairs(
    strong_nodes_per_move: int, weak_nodes_per_move: int, matches: Sequence[MeasuredMatch]
) -> UnequalStrengthPairs:
    """Return the combined results of pairs of matches between a strong searcher and a weak one.

    matches  the two matches of each pair, one after the other; the strong searcher is Maxie in the first

    Raises ValueError if there is no pair.
    """
    counts = count_pair_scores(
        get_match_points(first.winner, Player.MAXIE) + get_match_points(second.winner, Player.MINNIE)
        for first, second in zip(matches[0::2], matches[1::2], strict=True)
    )
    elo = estimate_elo_difference(counts)
    if elo is None:
        raise ValueError("cannot estimate an Elo difference without a pair of matches: play at least one")
    pairs = len(matches) // 2
    _, mean, variance = compute_score_statistics(counts)
    pairs_needed = compute_pairs_needed(counts)
    return UnequalStrengthPairs(
        nodes_per_move=(strong_nodes_per_move, weak_nodes_per_move),
        pair_count=pairs,
        points_share=estimate_mean_outcome(mean * pairs, pairs, max(variance, 1 / pairs)),
        elo_difference=elo.elo,
        elo_error=elo.elo_error,
        drawn_share=estimate_mean_outcome(sum(match.winner is None for match in matches), len(matches)),
        pairs_needed=pairs_needed if pairs_needed < 10_000 else None,
    )


def compute_pairs_needed(pair_score_counts: Sequence[float]) -> float:
    """Return the number of pairs of matches that would show, at a confidence of 95 %, that the strong searcher is stronger.

    pair_score_counts  number of pairs in which the strong searcher scored 0, ½, 1, 1½ and 2 points, in this order

    With this many pairs, the lower end of the 95 % confidence interval of the mean score is one half. The number is
    infinity if the strong searcher is not ahead.
    """
    if sum(1 for n in pair_score_counts if n) == 1:
        pair_score_counts = [
            n + (i in {0, len(pair_score_counts) - 1}) for i, n in enumerate(pair_score_counts)
        ]
    _, mean, variance = compute_score_statistics(pair_score_counts)
    return (Z_SCORE_95_PERCENT / (mean - 0.5)) ** 2 * variance if mean > 0.5 else math.inf


@dataclass(frozen=True)
class _MeasurementTask:
    """Task for one process: matches between two searchers, with `nodes_per_move_a` and `nodes_per_move_b` nodes per move.

    opening_numbers  numbers of the openings from which the task's matches begin
    file_openings    all openings of a file, by number; None to make openings of 4 to 9 random plies from `seed` and the number
    """

    game_spec: str
    """Spec of the game (Riskless or a subclass of it), with which another process can load the game."""
    map: RisklessMap
    map_number: int
    """Index of the map among the measured maps."""
    evaluator: str
    nodes_per_move_a: int
    nodes_per_move_b: int
    seed: int
    opening_numbers: range
    file_openings: Sequence[Opening] | None


def measure_maps(
    maps: Sequence[RisklessMap],
    evaluator: str,
    *,
    game_spec: str = Riskless.name,
    match_count: int,
    seed: int,
    process_count: int,
    strengths_nodes_per_move: Sequence[int] = DEFAULT_STRENGTHS_NODES_PER_MOVE,
    openings: Sequence[Opening] | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Generator[MeasuredMap, None, None]:
    """Play matches of engines on each map, and yield the measurements. Close the generator to end the matches in progress.

    game_spec                 Riskless or a subclass of it, as its name or `FILE.py:Class`
    match_count               number of matches between equal searchers of each strength. The strong and the weak searcher
                              play as many matches, in pairs.
    process_count             number of processes that play
    strengths_nodes_per_move  nodes per move of the equal searchers
    openings                  openings for a single map, at least one for each match; None for random plies
    on_progress               called with the number of matches played since the last call

    Raises BadSpec if the evaluator cannot be used with the game, BadWeights if its file is invalid, and ValueError for a
    Riskless map that is too large for the compiled engines.
    """
    # The longest tasks come first, so that no process waits for one of them at the end.
    strengths_and_counts = [(nodes, nodes, match_count) for nodes in reversed(strengths_nodes_per_move)] + [
        (STRONG_NODES_PER_MOVE, WEAK_NODES_PER_MOVE, max(1, match_count // 2))
    ]
    tasks = [
        (
            _MeasurementTask(
                game_spec,
                map,
                map_number,
                evaluator,
                nodes_a,
                nodes_b,
                seed,
                range(first, min(first + OPENINGS_PER_MEASUREMENT_TASK, count)),
                openings,
            ),
        )
        for map_number, map in enumerate(maps)
        for nodes_a, nodes_b, count in strengths_and_counts
        for first in range(0, count, OPENINGS_PER_MEASUREMENT_TASK)
    ]
    with closing(map_in_processes(_play_task_matches, tasks, process_count)) as results:
        for map_number, map_results in groupby(results, key=lambda result: result[0][0].map_number):
            matches_by_nodes: dict[tuple[int, int], list[MeasuredMatch]] = defaultdict(list)
            for (task,), task_matches in map_results:
                matches_by_nodes[task.nodes_per_move_a, task.nodes_per_move_b] += task_matches
                on_progress(len(task_matches))
            equals = [
                summarize_equal_matches(nodes, matches_by_nodes[nodes, nodes])
                for nodes in strengths_nodes_per_move
            ]
            signal = summarize_unequal_pairs(
                STRONG_NODES_PER_MOVE,
                WEAK_NODES_PER_MOVE,
                matches_by_nodes[STRONG_NODES_PER_MOVE, WEAK_NODES_PER_MOVE],
            )
            map = _make_game(game_spec, maps[map_number]).map
            yield MeasuredMap(
                map.name, map.territory_cap, map.armies_to_win, map.ply_limit, evaluator, equals, signal
            )


def choose_default_strengths(games: Sequence[Riskless]) -> Sequence[int]:
    """Return the strengths (nodes per move) at which equal searchers play `games`: those in DEFAULT_STRENGTHS_NODES_PER_MOVE.

    If one of the games has no compiled search, the largest number is left out, because a search in Python is slow.
    """
    return (
        DEFAULT_STRENGTHS_NODES_PER_MOVE
        if all(map(has_compiled_search, games))
        else DEFAULT_STRENGTHS_NODES_PER_MOVE[:-1]
    )


def count_matches_to_play(map_count: int, match_count: int, strength_count: int) -> int:
    """Return the number of matches that `measure_maps` plays on all maps together.

    map_count       number of maps
    match_count     number of matches between equal searchers on each map at each strength. About as many are also played
                    on each map between a strong searcher and a weak one.
    strength_count  number of strengths; a strength is a number of nodes per move
    """
    return map_count * (strength_count * match_count + 2 * max(1, match_count // 2))


def _make_game(game_spec: str, map: RisklessMap) -> Riskless:
    return cast("type[Riskless]", CATALOGUE.load_game_class(game_spec))(map)


def _play_task_matches(task: _MeasurementTask) -> list[MeasuredMatch]:
    game = _make_game(task.game_spec, task.map)
    settings = Settings(table_mb=MEASUREMENT_TRANSPOSITION_TABLE_MB)
    with (
        closing(make_searcher(game, task.evaluator, settings)) as searcher_a,
        closing(make_searcher(game, task.evaluator, settings)) as searcher_b,
    ):
        return _play_matches(task, game, searcher_a, searcher_b)


def _play_matches(
    task: _MeasurementTask, game: Riskless, searcher_a: DeepeningSearcher, searcher_b: DeepeningSearcher
) -> list[MeasuredMatch]:
    nodes = {id(searcher_a): task.nodes_per_move_a, id(searcher_b): task.nodes_per_move_b}
    is_equal = task.nodes_per_move_a == task.nodes_per_move_b
    summaries = []
    for number in task.opening_numbers:
        if task.file_openings is None:
            start = play_random_plies(
                game,
                random.Random(f"{task.seed}/{number}"),
                RANDOM_OPENING_PLY_COUNTS[number % len(RANDOM_OPENING_PLY_COUNTS)],
            )
        else:
            start = find_position_after(game, task.file_openings[number])
        seatings = [{Player.MAXIE: searcher_a, Player.MINNIE: searcher_b}]
        if not is_equal:
            seatings.append({Player.MAXIE: searcher_b, Player.MINNIE: searcher_a})
        for seats in seatings:
            match = play_match(game, start, seats, {seat: nodes[id(bot)] for seat, bot in seats.items()})
            statistics = (
                compute_match_statistics(game, match, searcher_a, task.nodes_per_move_a) if is_equal else None
            )
            summaries.append(
                MeasuredMatch(match.winner, match.end_reason, start.ply + len(match.positions), statistics)
            )
    return summaries
