"""What `arena replay --analyse` prints and draws."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import asdict
from rich.table import Table

from arena.bots.api.options import BadSpec
from arena.bots.engines.perfect import no_table
from arena.bots.evaluators.catalogue import UnknownEvaluator
from arena.bots.evaluators.weights import BadWeights
from arena.bots.review.plot import review_svg
from arena.bots.review.review import ENGINE, ReviewedMove, SolvedMove, losses, review, solved_moves
from arena.bots.search.values import ESTIMATE_LIMIT, is_decided, plies_to_end
from arena.console import Failure, Misuse, err, out, write_json, write_text
from arena.games.core import Player
from arena.games.riskless import Riskless
from arena.match.replay import Replay, summary
from arena.solved.header import BadTable
from arena.solved.judgement import Kind


def judge(played: Replay, engine: str, depth: int, json: Path | None, svg: Path | None) -> None:
    """Judge a match and show it. Raises Misuse or Failure."""
    told = _truths(played)
    if engine == ENGINE:
        _by_table_alone(played, told, json, svg)
        return
    judged: list[ReviewedMove] = []
    try:
        for each in review(played, engine, depth):
            judged.append(each)
            if err.is_terminal:
                err.print(f"\rply {each.ply + 1} of {played.plies}", end="", highlight=False)
    except (BadSpec, UnknownEvaluator) as error:
        raise Misuse(f"--analyse: {error}") from None
    except BadWeights as error:
        raise Failure(f"--analyse: {error}") from None
    if err.is_terminal:
        err.print()
    players = played.record.players
    if svg is not None:
        try:
            names = (players.maxie, players.minnie)
            picture = review_svg(
                judged, summary(played.record), names, engine, armies=played.game.name == Riskless.name
            )
        except ValueError as error:
            raise Failure(str(error)) from None
        write_text(picture, svg)
    if json is not None:
        write_json(judged if told is None else _with_truth(judged, told), json)
    elif svg is None or str(svg) != "-":
        _print(played, judged, engine, depth)
        if told is not None:
            _print_truths(told)


def _truths(played: Replay) -> list[SolvedMove] | None:
    try:
        return solved_moves(played)
    except BadTable as error:
        raise Failure(str(error)) from None


def _with_truth(judged: list[ReviewedMove], told: list[SolvedMove]) -> list[dict[str, object]]:
    """The rows of both, in one for each move."""
    return [{**asdict(each), "truth": truth} for each, truth in zip(judged, told, strict=True)]


def _by_table_alone(
    played: Replay, told: list[SolvedMove] | None, json: Path | None, svg: Path | None
) -> None:
    if told is None:
        raise Misuse(f"--analyse: {no_table(played.game)}")
    if svg is not None:
        raise Misuse(
            "--svg draws the values that a search finds: give --analyse alphabeta, or another that searches"
        )
    if json is not None:
        write_json(told, json)
        return
    out.print(played.told(0), markup=False, highlight=False, soft_wrap=True)
    _print_truths(told)


def _print_truths(told: list[SolvedMove]) -> None:
    table = Table(title="by the table of the map; values for the player", title_justify="left")
    for column in ("ply", "player", "move", "truly", "before", "after", "best"):
        table.add_column(column, justify="right" if column == "ply" else "left")
    for each in told:
        best = each.best if each.best != each.move else ""
        table.add_row(str(each.ply), each.player, each.move, each.kind.value, each.before, each.after, best)
    out.print(table)
    for player in Player:
        mine = [each for each in told if each.player == player.value]
        lost = sum(each.kind is not Kind.KEPT for each in mine)
        out.print(
            f"{player}: gave something away in {lost} of {len(mine)} moves", markup=False, highlight=False
        )


def _print(played: Replay, judged: list[ReviewedMove], engine: str, depth: int) -> None:
    out.print(played.told(0), markup=False, highlight=False, soft_wrap=True)
    unit = ", 100 to an army" if played.game.name == Riskless.name else ""
    table = Table(title=f"{engine} to depth {depth}; values for maxie{unit}", title_justify="left")
    for column in ("ply", "player", "move", "", "value", "lost", "better"):
        table.add_column(column, justify="right" if column in ("ply", "value", "lost") else "left")
    for each in judged:
        better = each.better if each.lost else ""
        table.add_row(
            str(each.ply), each.player, each.move, each.mark, _told(each.after), _lost(each), better
        )
    out.print(table)
    for player, (marked, moves) in losses(judged).items():
        out.print(f"{player}: {marked} of {moves} moves marked", markup=False, highlight=False)


def _told(value: int) -> str:
    """A value as a person reads it: `-250`, or `maxie in 3`, the plies to a certain win."""
    plies = plies_to_end(value)
    return str(value) if plies is None else f"{'maxie' if value > 0 else 'minnie'} in {plies}"


def _lost(each: ReviewedMove) -> str:
    """What the mover gave away: hundredths of an army, plies to a certain end, or what was certain."""
    if not each.lost:
        return ""
    mover = Player(each.player)
    if mover.sign * each.value > ESTIMATE_LIMIT >= mover.sign * each.after:
        return "the win"
    if mover.sign * each.after < -ESTIMATE_LIMIT <= mover.sign * each.value:
        return "the match"
    plies = "ply" if each.lost == 1 else "plies"
    return f"{each.lost} {plies}" if is_decided(each.value) else str(each.lost)
