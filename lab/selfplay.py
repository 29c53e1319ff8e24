"""Matches of engines' searchers against each other in one process, to learn weights and to compare settings.

The searchers' transposition tables are emptied before each match, so that the order of matches makes no difference.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.bots.api.engine_spec import BadSpec
from arena.bots.compiled.availability import has_compiled_search, has_custom_kernel
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for, scale_weights
from arena.bots.review.chance import compute_winning_chance
from arena.bots.search.deepening import MAX_SEARCH_DEPTH, DeepeningSearcher, PythonSearcher, SearchReport
from arena.bots.search.play import AlphaBeta
from arena.bots.search.search_values import compute_outcome_value, is_decided
from arena.bots.search.table import Table
from arena.games.core import Game, Player
from arena.games.tictactoe import TicTacToe
from arena.match.repetition import RepetitionCounter
from arena.protocol.adjudication import DEFAULT_ADJUDICATION, REPETITION_DETAIL_PREFIX

MIN_AND_MAX_RANDOM_START_PLIES = (4, 40)
"""Minimum and maximum number of random plies before a match from which weights are learned."""
MIN_AND_MAX_TICTACTOE_RANDOM_START_PLIES = (0, 3)
"""Minimum and maximum number of random plies before a match of tic-tac-toe from which weights are learned."""
LEARNING_TRANSPOSITION_TABLE_MB = 2
"""Size in MiB of each searcher's transposition table, in matches from which weights are learned."""
MAX_RANDOM_START_ATTEMPTS = 20
"""Maximum number of attempts to reach an unfinished position by random plies. If all fail, half as many plies are played."""
CUT_OFF_END_REASON = "cut"
"""End reason of a match that `play_match` stopped as a draw, because it reached `max_plies` plies."""


def make_searcher(game: Game[Any, Any], evaluator: str, settings: Settings) -> DeepeningSearcher:
    """Return a compiled searcher for a game, or an alpha-beta searcher in Python if the game has no compiled search.

    settings  settings of the compiled searcher

    Raises BadSpec if the evaluator cannot be used with the game, and BadWeights if its file is invalid.
    """
    if has_custom_kernel(game) and evaluator != "plain":
        raise BadSpec(
            f"{game.name} is compiled with an estimate of its own: use the evaluator plain, not {evaluator!r:.60}"
        )
    if not has_compiled_search(game):
        evaluate = evaluator_for(game, evaluator)
        return PythonSearcher(game, lambda: AlphaBeta(evaluate, table=Table()))
    return Searcher(game, weights_for(game, evaluator), settings)


def make_searcher_with_weights(game: Game[Any, Any], weights: Mapping[str, int]) -> Searcher[Any, Any]:
    """Return a compiled searcher whose evaluator has `weights`, in units of a weights file. The caller closes the searcher."""
    return Searcher(game, scale_weights(game, weights), Settings(table_mb=LEARNING_TRANSPOSITION_TABLE_MB))


@dataclass(frozen=True)
class PlayedMatch:
    """Finished match: the position before each move, and the last report of the search for each move."""

    winner: Player | None
    """Player who won the match; None for a draw."""
    end_reason: str
    """Reason for the end of the match: the game's own (`Outcome.reason_code`), `repetition`, or `cut` (CUT_OFF_END_REASON)."""
    positions: tuple[Any, ...]
    search_reports: tuple[SearchReport[Any], ...]


def play_random_plies(game: Game[Any, Any], rng: random.Random, ply_count: int) -> Any:
    """Return an unfinished position after `ply_count` random plies from the game's start.

    If MAX_RANDOM_START_ATTEMPTS matches end sooner, try half as many plies, and so on.
    """
    while True:
        for _ in range(MAX_RANDOM_START_ATTEMPTS):
            position = game.start()
            for _ in range(ply_count):
                moves = game.moves(position)
                if not moves:
                    break
                position = game.successor(position, rng.choice(moves))
            if game.outcome(position) is None:
                return position
        ply_count //= 2


def make_random_training_start_position(game: Game[Any, Any], rng: random.Random) -> Any:
    """Return an unfinished position after a random number of random plies from the game's start."""
    ply_count_limits = (
        MIN_AND_MAX_TICTACTOE_RANDOM_START_PLIES
        if isinstance(game, TicTacToe)
        else MIN_AND_MAX_RANDOM_START_PLIES
    )
    return play_random_plies(game, rng, rng.randint(*ply_count_limits))


def play_match(
    game: Game[Any, Any],
    start_position: Any,
    searcher_by_player: Mapping[Player, DeepeningSearcher],
    nodes_per_move: int | Mapping[Player, int],
    max_plies: int = 1 << 30,
) -> PlayedMatch:
    """Play one match from the position `start_position`, and return its positions, the searches' reports and the result.

    searcher_by_player  searcher of each player
    nodes_per_move      number of nodes searched for each move: one number for both players, or one for each
    max_plies           number of plies after which the match is cut off as a draw

    The match is a draw when a position occurs for the third time, as under the server's default rules.
    """
    position = start_position
    repetitions = RepetitionCounter(game)
    nodes_by_player = (
        dict.fromkeys(Player, nodes_per_move) if isinstance(nodes_per_move, int) else nodes_per_move
    )
    positions: list[Any] = []
    reports: list[SearchReport[Any]] = []
    for searcher in searcher_by_player.values():
        searcher.clear()
    while (outcome := game.outcome(position)) is None and len(positions) < max_plies:
        if repetitions.count_occurrence(position) == DEFAULT_ADJUDICATION.repetition:
            return PlayedMatch(None, REPETITION_DETAIL_PREFIX, tuple(positions), tuple(reports))
        player = game.player(position)
        *_, report = searcher_by_player[player].deepen(position, max_nodes=nodes_by_player[player])
        positions.append(position)
        reports.append(report)
        position = game.successor(position, report.move)
    if outcome is None:
        return PlayedMatch(None, CUT_OFF_END_REASON, tuple(positions), tuple(reports))
    return PlayedMatch(outcome.winner, outcome.reason_code, tuple(positions), tuple(reports))


def search_depth_averaged_value(
    searcher: DeepeningSearcher, position: Any, max_nodes: int, max_depth: int = MAX_SEARCH_DEPTH
) -> int:
    """Return the mean of the values that a search finds at its last two depths.

    If the last value is a certain win or loss, return it alone.

    max_nodes  maximum number of nodes of the search
    max_depth  maximum depth, in plies

    The mean smooths the difference between odd and even depths: an estimate favours the player who made the last move.
    """
    reports = searcher.deepen(position, max_depth=max_depth, max_nodes=max_nodes)
    values = [report.value for report in reports if report.is_depth_finished][-2:]
    return values[-1] if is_decided(values[-1]) else round(sum(values) / len(values))


def compute_reply_winning_chances(
    game: Game[Any, Any],
    searcher: DeepeningSearcher,
    position: Any,
    max_nodes: int,
    max_depth: int = MAX_SEARCH_DEPTH,
) -> list[float]:
    """Return the winning chances of the player to move after each move in `position`, in descending order.

    max_nodes  maximum number of nodes of the search for each move
    max_depth  maximum depth, in plies
    """
    player = game.player(position)
    values = []
    for move in game.moves(position):
        position_after = game.successor(position, move)
        outcome = game.outcome(position_after)
        if outcome is None:
            searcher.clear()
            values.append(search_depth_averaged_value(searcher, position_after, max_nodes, max_depth))
        else:
            values.append(compute_outcome_value(outcome, 1))
    chances = (compute_winning_chance(game, value) for value in values)
    return sorted((chance if player is Player.MAXIE else 1 - chance for chance in chances), reverse=True)


def compute_best_to_median_gap(winning_chances: Sequence[float]) -> float:
    """Return the difference between the best and the median of `winning_chances`, which must be in descending order."""
    return winning_chances[0] - winning_chances[len(winning_chances) // 2]


def get_match_points(winner: Player | None, player: Player) -> float:
    """Return the points of `player` in a match that `winner` won: 1 or 0; ½ if `winner` is None, for a draw."""
    return 0.5 if winner is None else float(winner is player)
