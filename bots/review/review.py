"""Review of a finished match: what each move lost, according to an engine and, on a solved map, to the tablebase.

The played move and the engine's move are searched in the same way, each from the position after it, and compared at
the same depth. A move is marked by its loss in the player's chance of winning, with the thresholds and signs
(`?!`, `?`, `??`) of the chess server lichess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp
from statistics import fmean, harmonic_mean, pstdev
from typing import Any

from msgspec import Struct, field

from arena.bots.review.analysis import Analyst
from arena.bots.review.chance import compute_winning_chance
from arena.bots.search.deepening import SearchReport
from arena.bots.search.search_values import compute_outcome_value, is_decided
from arena.games.core import AnyGame, Game, Player
from arena.match.replay import Replay
from arena.solved.move_quality import MoveQuality, classify_move
from arena.solved.solution import load_solution

MOVE_MARKS_BY_MIN_CHANCE_LOST = ((0.15, "??"), (0.10, "?"), (0.05, "?!"))
"""Marks of a blunder, a mistake and an inaccuracy, each as (minimum loss in the chance of winning from 0 to 1, mark)."""
TABLEBASE_ENGINE_NAME = "perfect"
"""Name of the engine that reviews moves by the tablebase alone."""


class ReviewedMove(Struct, frozen=True):
    """Review of one move.

    Values are in hundredths of an army. Unless a field says otherwise, values and chances are from the point of view of
    Maxie, the player who moves first.
    """

    ply: int
    player: str
    move: str
    preferred_move: str = field(name="better")
    """Move that the engine prefers; the same as `move`, the played move, if the engine found no better one."""
    preferred_value: int = field(name="value")
    """Value for Maxie after the move `preferred_move`, in hundredths of an army."""
    played_value: int = field(name="after")
    """Value for Maxie after the played move, in hundredths of an army."""
    value_lost: int = field(name="lost")
    """Value that the player lost by the move, compared with the move `preferred_move`, in hundredths of an army; 0 or more."""
    reported_value: float | None
    """Value that the bot itself reported, in its own unit; None if it reported none."""
    winning_chance: float = field(name="chance")
    """Maxie's chance of winning after the played move, from 0 to 1."""
    chance_lost: float
    """Decrease of the player's own chance of winning by the move, from 0 to 1."""
    mark: str
    """Mark of a bad move: `??` (blunder), `?` (mistake) or `?!` (inaccuracy); empty if the move lost little."""
    main_line: list[str] = field(name="line")
    """The engine's main line, which begins with the move `preferred_move`; empty if the engine found no better move."""


def review_moves(replay: Replay, analyst: Analyst) -> Iterator[ReviewedMove]:
    """Yield the review of each move, in order. Raises BadSpec or BadWeights if the analyst's engine cannot be used."""
    game, record = replay.game, replay.record
    for ply, recorded_move in enumerate(record.moves):
        position, position_after = replay.positions[ply : ply + 2]
        player = game.player(position)
        move = game.move_from_data(recorded_move.move)
        report = analyst.analyse_by_depth(position)[-1]
        best_move = report.move
        best_reports = analyst.analyse_move(position, best_move)
        played_reports = best_reports if move == best_move else analyst.analyse_move(position, move)
        depth = min(
            (
                reports[-1].depth
                for reports in (best_reports, played_reports)
                if reports and not is_decided(reports[-1].value)
            ),
            default=0,
        )
        value = _compute_value_after_move(game, game.successor(position, best_move), best_reports, depth)
        played_value = _compute_value_after_move(game, position_after, played_reports, depth)
        loss = player.sign * (value - played_value)
        if loss <= 0:
            # The move is as good as the engine's, or better than the engine foresaw.
            loss, value = 0, played_value
        chance_lost = player.sign * (
            compute_winning_chance(game, value) - compute_winning_chance(game, played_value)
        )
        yield ReviewedMove(
            ply=ply,
            player=player.value,
            move=game.move_to_text(move),
            preferred_move=game.move_to_text(best_move if loss else move),
            preferred_value=value,
            played_value=played_value,
            value_lost=loss,
            reported_value=None if recorded_move.thinking is None else recorded_move.thinking.value,
            winning_chance=compute_winning_chance(game, played_value),
            chance_lost=chance_lost,
            mark=next(
                (mark for min_loss, mark in MOVE_MARKS_BY_MIN_CHANCE_LOST if chance_lost >= min_loss), ""
            ),
            main_line=[game.move_to_text(line_move) for line_move in report.line] if loss else [],
        )


def _compute_value_after_move(
    game: AnyGame, position: Any, reports: Sequence[SearchReport[Any]], depth: int
) -> int:
    """Return the value of the position after a move: the mean of its values in the reports of `depth` and of one ply less.

    The player who has the last move of a search gains by it, so estimates alternate between even and odd depths. The mean
    evens out the difference. If the value is a certain win or loss, or there is only one report, it is returned unchanged.

    position  position after the move
    reports   reports of a search of `position`, the deepest last; not used if the match is over
    """
    outcome = game.outcome(position)
    if outcome is not None:
        return compute_outcome_value(outcome, 1)
    if is_decided(reports[-1].value):
        return reports[-1].value
    last_values = [report.value for report in reports if report.depth <= depth and report.is_depth_finished][
        -2:
    ] or [reports[-1].value]
    return round(sum(last_values) / len(last_values))


class PlayerReview(Struct, frozen=True):
    """Summary of the reviews of one player's moves in a match."""

    move_count: int = field(name="moves")
    """Number of moves that the player made."""
    marked_move_count: int = field(name="marked")
    """Number of the player's bad moves, which are marked `?!`, `?` or `??`."""
    mean_chance_lost: float = field(name="chance_lost")
    """Mean loss of the player's chance of winning per move, from 0 to 1."""
    accuracy_percent: float = field(name="accuracy")
    """Player's accuracy in percent, computed from the winning chances around each move by the formula of lichess."""


def summarize_reviews_by_player(all_moves: Sequence[ReviewedMove]) -> dict[str, PlayerReview]:
    """Return the summary for each player who has moved, by the player's name, `maxie` or `minnie`.

    A player's accuracy is computed as on lichess (lichess.org/page/accuracy). It is the average of two means of the
    moves' accuracies: the harmonic mean, and a mean weighted by how much the winning chances change around each move.
    """
    if not all_moves:
        return {}
    first_move = all_moves[0]
    initial_chance = first_move.winning_chance + Player(first_move.player).sign * first_move.chance_lost
    chances = [100 * chance for chance in (initial_chance, *(move.winning_chance for move in all_moves))]
    window_size = min(max(len(all_moves) // 10, 2), 8)
    window_starts = [max(0, ply + 2 - window_size) for ply in range(len(all_moves))]
    weights = [min(max(pstdev(chances[start : start + window_size]), 0.5), 12.0) for start in window_starts]
    reviews = {}
    for player in Player:
        moves = [
            (move, move_weight)
            for move, move_weight in zip(all_moves, weights, strict=True)
            if move.player == player.value
        ]
        if not moves:
            continue
        accuracies = [_compute_accuracy_percent(move.chance_lost) for move, _ in moves]
        weighted_mean = fmean(accuracies, [weight for _, weight in moves])
        reviews[player.value] = PlayerReview(
            move_count=len(moves),
            marked_move_count=sum(bool(move.mark) for move, _ in moves),
            mean_chance_lost=fmean(move.chance_lost for move, _ in moves),
            accuracy_percent=(weighted_mean + harmonic_mean([max(1.0, accuracy) for accuracy in accuracies]))
            / 2,
        )
    return reviews


def _compute_accuracy_percent(chance_lost: float) -> float:
    """Return the accuracy, in percent, of a move that lowered the chance of winning by `chance_lost`, from 0 to 1."""
    return min(100.0, max(0.0, 103.1668 * exp(-4.354 * chance_lost) - 3.1669))


class SolvedMove(Struct, frozen=True):
    """Review of one move by the tablebase. Results are for the player who makes the move, such as `win in 5 plies`."""

    ply: int
    player: str
    move: str
    quality: MoveQuality = field(name="kind")
    value_before: str = field(name="before")
    """Result with best play from the position before the move, such as `win in 5 plies`."""
    value_after: str = field(name="after")
    """Result with best play from the position after the move, such as `win in 4 plies`."""
    best_move: str = field(name="best")
    """Best move according to the tablebase; the played move if no other is better."""


def review_by_tablebase(replay: Replay) -> list[SolvedMove] | None:
    """Return the review of all moves of a match by the tablebase of its map, or None if the map is not solved.

    Raises BadTable if the file of the tablebase is damaged.
    """
    solution = load_solution(replay.game)
    if solution is None:
        return None
    moves, game = [], replay.game
    for ply, recorded_move in enumerate(replay.record.moves):
        position, move = replay.positions[ply], game.move_from_data(recorded_move.move)
        verdict = classify_move(solution, position, move)
        moves.append(
            SolvedMove(
                ply=ply,
                player=game.player(position).value,
                move=game.move_to_text(move),
                quality=verdict.quality,
                value_before=str(verdict.value_before),
                value_after=str(verdict.value_after),
                best_move=game.move_to_text(verdict.best_move),
            )
        )
    return moves


class SolvedPosition(Struct, frozen=True):
    """Results with best play, for the player to move, of a solved position and of each legal move in the position."""

    result: str = field(name="value")
    """Result of the position with best play, for the player to move: `win`, `draw` or `loss`."""
    plies_to_end: int | None = field(name="plies")
    """Number of plies to the end with best play; None for a draw."""
    moves_with_results: list[tuple[str, str]] = field(name="moves")
    """Each legal move, the best first, with the result for the player who makes the move, such as `win in 4 plies`."""


def probe_tablebase(game: Game[Any, Any], position: Any) -> SolvedPosition | None:
    """Return the solved values of an unfinished position, or None if its map is not solved.

    Raises BadTable if the file of the tablebase is damaged.
    """
    solution = load_solution(game)
    if solution is None:
        return None
    moves = sorted(solution.list_move_values(position), key=lambda item: -item[1].sort_key)
    best_value = moves[0][1]
    return SolvedPosition(
        best_value.result.value,
        best_value.plies,
        [(game.move_to_text(move), str(truth)) for move, truth in moves],
    )
