"""`arena replay --analyse`: review the moves of a match with an engine, and print, write or draw the reviews."""

from __future__ import annotations

from pathlib import Path

from msgspec import to_builtins

from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators.linear import BadWeights
from arena.bots.review.analysis import Analyst, SearchLimits, parse_analysing_engine
from arena.bots.review.review import (
    TABLEBASE_ENGINE_NAME,
    ReviewedMove,
    SolvedMove,
    review_by_tablebase,
    review_moves,
    summarize_reviews_by_player,
)
from arena.bots.review.values_chart import render_values_chart
from arena.bots.search.search_values import ESTIMATE_LIMIT, count_plies_to_end, is_decided
from arena.console import CommandError, Justify, UsageError, err, out, print_table, write_json, write_text
from arena.games.core import Player
from arena.games.riskless import Riskless
from arena.match.replay import Replay, summarize_record
from arena.solved.header import BadTable
from arena.solved.move_quality import MoveQuality
from arena.solved.solution import explain_missing_solution


def print_review(
    replay: Replay, engine_spec: str, limits: SearchLimits, json_file: Path | None, svg_file: Path | None
) -> None:
    """Review the moves of a match with an engine. Print the reviews, or write them to files.

    engine_spec  engine, such as `alphabeta:depth=4`, or `perfect` to use only the map's tablebase
    limits       limits of the search of each move
    json_file    file for the reviews as JSON; None to print them as tables
    svg_file     file for the chart of the engine's values; None for no chart

    Raises UsageError if the engine cannot analyse the match, and CommandError if a file cannot be read or written.
    """
    solved = _look_up_moves_in_tablebase(replay)
    if engine_spec == TABLEBASE_ENGINE_NAME:
        _print_tablebase_review(replay, solved, json_file, svg_file)
        return
    reviews: list[ReviewedMove] = []
    try:
        with Analyst(replay.game, parse_analysing_engine(engine_spec), limits) as analyst:
            for review in review_moves(replay, analyst):
                reviews.append(review)
                if err.is_terminal:
                    err.print(f"\rply {review.ply + 1} of {replay.ply_count}", end="")
    except BadSpec as error:
        raise UsageError(f"--analyse: {error}") from None
    except BadWeights as error:
        raise CommandError(f"--analyse: {error}") from None
    if err.is_terminal:
        err.print()
    players = replay.record.players
    if svg_file is not None:
        try:
            names = (players.maxie, players.minnie)
            picture = render_values_chart(
                reviews,
                summarize_record(replay.record),
                names,
                engine_spec,
                are_values_in_armies=replay.game.name == Riskless.name,
            )
        except ValueError as error:
            raise CommandError(str(error)) from None
        write_text(picture, svg_file)
    if json_file is not None:
        moves = reviews if solved is None else _make_json_rows(reviews, solved)
        write_json(
            {"engine": engine_spec, "players": summarize_reviews_by_player(reviews), "moves": moves},
            json_file,
        )
    elif svg_file is None or str(svg_file) != "-":
        _print_reviews(replay, reviews, engine_spec)
        if solved is not None:
            _print_solved_moves(solved)


def _look_up_moves_in_tablebase(replay: Replay) -> list[SolvedMove] | None:
    try:
        return review_by_tablebase(replay)
    except BadTable as error:
        raise CommandError(str(error)) from None


def _make_json_rows(reviews: list[ReviewedMove], solved: list[SolvedMove]) -> list[dict[str, object]]:
    """Return one JSON row per move: the engine's review, and under `truth` the tablebase's review."""
    return [{**to_builtins(review), "truth": truth} for review, truth in zip(reviews, solved, strict=True)]


def _print_tablebase_review(
    replay: Replay, solved: list[SolvedMove] | None, json_file: Path | None, svg_file: Path | None
) -> None:
    if solved is None:
        raise UsageError(
            f"--analyse perfect cannot review this match: {explain_missing_solution(replay.game)}"
        )
    if svg_file is not None:
        raise UsageError(
            "--svg draws search values: give --analyse alphabeta, or another engine that searches"
        )
    if json_file is not None:
        write_json(solved, json_file)
        return
    out.print(replay.describe_move(0))
    _print_solved_moves(solved)


def _print_solved_moves(solved: list[SolvedMove]) -> None:
    out.print("by the solved table; values for the player of the move")
    columns = ("player", "move", "truly", "before", "after", "best")
    print_table(
        {"ply": "right", **dict.fromkeys(columns, "left")},
        [
            [
                str(move.ply),
                move.player,
                move.move,
                move.quality.value,
                move.value_before,
                move.value_after,
                move.best_move if move.best_move != move.move else "",
            ]
            for move in solved
        ],
    )
    for player in Player:
        player_moves = [move for move in solved if move.player == player.value]
        mistakes = sum(move.quality is not MoveQuality.KEPT for move in player_moves)
        out.print(f"{player}: lost a win or a draw with {mistakes} of {len(player_moves)} moves")


def _print_reviews(replay: Replay, reviews: list[ReviewedMove], engine: str) -> None:
    out.print(replay.describe_move(0))
    unit_text = ", 100 to an army" if replay.game.name == Riskless.name else ""
    out.print(f"{engine}; values and chances for maxie{unit_text}")
    columns: dict[str, Justify] = dict.fromkeys(
        ("ply", "player", "move", "", "value", "chance", "lost", "better"), "left"
    )
    print_table(
        columns | dict.fromkeys(("ply", "value", "chance", "lost"), "right"),
        [
            [
                str(review.ply),
                review.player,
                review.move,
                review.mark,
                _format_search_value(review.played_value),
                f"{100 * review.winning_chance:.0f} %",
                _format_lost_chance(review),
                review.preferred_move if review.value_lost else "",
            ]
            for review in reviews
        ],
    )
    for player, player_review in summarize_reviews_by_player(reviews).items():
        line = (
            f"{player}: {player_review.marked_move_count} of {player_review.move_count} moves marked, "
            f"{100 * player_review.mean_chance_lost:.1f} % of winning chance lost per move, "
            f"accuracy {player_review.accuracy_percent:.0f} %"
        )
        out.print(line)


def _format_search_value(value: int) -> str:
    """Return a search value as text. A high value is good for Maxie.

    The text is `-250` for an estimate (in Riskless, hundredths of an army), or `maxie in 3` if Maxie wins in 3 plies.
    """
    plies = count_plies_to_end(value)
    return str(value) if plies is None else f"{'maxie' if value > 0 else 'minnie'} in {plies}"


def _format_lost_chance(review: ReviewedMove) -> str:
    """Return as text how much a move lost in comparison with the engine's move; an empty text if it lost nothing.

    the win    the engine's move wins for certain, but the played move does not
    the match  the played move loses for certain, but the engine's move does not
    2 plies    both win or both lose for certain, but the played move wins 2 plies later, or loses 2 plies sooner
    12 %       decrease of the chance of winning
    """
    if not review.value_lost:
        return ""
    mover = Player(review.player)
    if (
        review.mark
        and mover.sign * review.preferred_value > ESTIMATE_LIMIT >= mover.sign * review.played_value
    ):
        return "the win"
    if (
        review.mark
        and mover.sign * review.played_value < -ESTIMATE_LIMIT <= mover.sign * review.preferred_value
    ):
        return "the match"
    plies = "ply" if review.value_lost == 1 else "plies"
    if is_decided(review.preferred_value) and is_decided(review.played_value):
        return f"{review.value_lost} {plies}"
    return f"{100 * review.chance_lost:.0f} %"
