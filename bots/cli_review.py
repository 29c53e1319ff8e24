"""What `arena replay --analyse` prints and draws."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from bots.evaluators.catalogue import UnknownEvaluator
from bots.evaluators.weights import BadWeights
from bots.options import BadSpec
from bots.picture_file import write_picture
from bots.replay import Replay, summary
from bots.review import Judged, losses, review
from bots.review_plot import review_svg
from console import Failure, Misuse, err, out, write_json


def judge(played: Replay, engine: str, depth: int, json: Path | None, svg: Path | None) -> None:
    """Judge a match and show it. Raises Misuse or Failure."""
    judged: list[Judged] = []
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
            picture = review_svg(judged, summary(played.record), (players.maxie, players.minnie), engine)
        except ValueError as error:
            raise Failure(str(error)) from None
        write_picture(picture, svg)
    if json is not None:
        write_json(judged, json)
    elif svg is None or str(svg) != "-":
        _print(played, judged, engine, depth)


def _print(played: Replay, judged: list[Judged], engine: str, depth: int) -> None:
    out.print(played.told(0), markup=False, highlight=False, soft_wrap=True)
    table = Table(title=f"{engine} to depth {depth}; values for maxie", title_justify="left")
    for column in ("ply", "player", "move", "", "value", "lost", "better"):
        table.add_column(column, justify="right" if column in ("ply", "value", "lost") else "left")
    for each in judged:
        better = each.better if each.lost else ""
        table.add_row(
            str(each.ply), each.player, each.move, each.mark, f"{each.after}", str(each.lost or ""), better
        )
    out.print(table)
    for player, (marked, moves) in losses(judged).items():
        out.print(f"{player}: {marked} of {moves} moves marked", markup=False, highlight=False)
