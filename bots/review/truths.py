"""What each move of a match truly was, where its map is solved."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from arena.games.core import Game
from arena.match.replay import Replay
from arena.solved.judgement import Kind, judge
from arena.solved.solution import Solution, solution_of

ENGINE = "perfect"
"""The engine whose judgement is the table's alone."""


class Truly(Struct, frozen=True):
    """One move by the table. Values are for its player, as in `win in 5 plies`."""

    ply: int
    player: str
    move: str
    kind: Kind
    before: str
    """What the position was worth."""
    after: str
    """What it was worth after the move."""
    best: str
    """The move, where no other is better; else the best one."""


def truths(played: Replay) -> list[Truly] | None:
    """All moves of a match by the table of its map; None where there is none. Raises solved.header.BadTable."""
    solution = solution_of(played.game)
    if solution is None:
        return None
    told = []
    for ply, each in enumerate(played.record.moves):
        judged = judge(solution, played.positions[ply], played.game.move_from_data(each.move))
        told.append(
            Truly(
                ply=ply,
                player=judged.player.value,
                move=played.game.move_to_text(judged.move),
                kind=judged.kind,
                before=str(judged.before),
                after=str(judged.after),
                best=played.game.move_to_text(judged.best),
            )
        )
    return told


class Known(Struct, frozen=True):
    """A position by the table. Values are for the player to move."""

    value: str
    plies: int | None
    moves: list[tuple[str, str]]
    """Each move with what it makes the position worth, the best first."""


def known(game: Game[Any, Any], position: Any) -> Known | None:
    """A position in play by the table of its map; None where there is none. Raises solved.header.BadTable."""
    solution: Solution | None = solution_of(game)
    if solution is None:
        return None
    moves = sorted(solution.moves(position), key=lambda each: -each[1].score)
    best = moves[0][1]
    return Known(
        best.value.value, best.plies, [(game.move_to_text(move), str(truth)) for move, truth in moves]
    )
