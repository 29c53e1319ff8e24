"""A finished match judged: by an engine, which value each move gave away, and by the table of a solved map, what each truly was.

An engine searches both the position and the position after the move to the same horizon, so that a move
is never blamed for what only a deeper search sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from arena.bots.review.analysis import analyse
from arena.bots.search.values import ESTIMATE_LIMIT, from_root, outcome_value
from arena.games.core import Game, Player
from arena.match.replay import Replay
from arena.solved.judgement import Kind, judge
from arena.solved.solution import Solution, solution_of

MISTAKE = 100
"""The loss from which on a move is marked, in hundredths of an army."""
ENGINE = "perfect"
"""The engine whose judgement is the table's alone."""


class ReviewedMove(Struct, frozen=True):
    """One move. Values are for Maxie, as the engine gives them."""

    ply: int
    player: str
    move: str
    better: str
    """The engine's move; the same as `move` where it found none better."""
    value: int
    """The value of the position, if the better move is played."""
    after: int
    """The value after the move that was played."""
    lost: int
    """What the mover gave away: 0 or more."""
    told: float | None
    """The value that the bot itself told, in its own unit."""

    @property
    def mark(self) -> str:
        """`??` where a win or a draw was given away, `?` where an army or more was."""
        if self.lost == 0:
            return ""
        if _standing(self.value) != _standing(self.after):
            return "??"
        return "?" if self.lost >= MISTAKE and _standing(self.value) == 0 else ""


def review(played: Replay, engine: str, depth: int) -> Iterator[ReviewedMove]:
    """Judge the moves one after another, `depth` of at least 2 plies. Raises BadSpec, UnknownEvaluator or BadWeights."""
    game, record = played.game, played.record
    for ply, each in enumerate(record.moves):
        position, after = played.positions[ply], played.positions[ply + 1]
        player = game.player(position)
        move = game.move_from_data(each.move)
        best = analyse(game, position, depth, engine).last
        value = best.value
        got = value if move == best.move else _value(game, after, depth - 1, engine)
        lost = player.sign * (value - got)
        if lost <= 0:
            # the move is as good, or better than a search of this depth has seen
            lost, value, better = 0, got, move
        else:
            better = best.move
        yield ReviewedMove(
            ply=ply,
            player=player.value,
            move=game.move_to_text(move),
            better=game.move_to_text(better),
            value=value,
            after=got,
            lost=lost,
            told=None if each.thinking is None else each.thinking.value,
        )


def _value(game: Game[Any, Any], position: Any, depth: int, engine: str) -> int:
    """The value of a position that is one ply from the root."""
    outcome = game.outcome(position)
    if outcome is not None:
        return outcome_value(outcome, 1)
    return from_root(analyse(game, position, depth, engine).last.value, 1)


def _standing(value: int) -> int:
    """1 where Maxie has won for certain, -1 where Minnie has, else 0."""
    return (value > ESTIMATE_LIMIT) - (value < -ESTIMATE_LIMIT)


def losses(judged: list[ReviewedMove]) -> dict[Player, tuple[int, int]]:
    """For each player how many moves were marked, and how many there were in all."""
    return {
        player: (
            sum(bool(each.mark) for each in judged if each.player == player.value),
            sum(each.player == player.value for each in judged),
        )
        for player in Player
    }


class SolvedMove(Struct, frozen=True):
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


def solved_moves(played: Replay) -> list[SolvedMove] | None:
    """All moves of a match by the table of its map; None where there is none. Raises solved.header.BadTable."""
    solution = solution_of(played.game)
    if solution is None:
        return None
    told = []
    for ply, each in enumerate(played.record.moves):
        judged = judge(solution, played.positions[ply], played.game.move_from_data(each.move))
        told.append(
            SolvedMove(
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


class SolvedPosition(Struct, frozen=True):
    """A position by the table. Values are for the player to move."""

    value: str
    plies: int | None
    moves: list[tuple[str, str]]
    """Each move with what it makes the position worth, the best first."""


def solved_position(game: Game[Any, Any], position: Any) -> SolvedPosition | None:
    """A position in play by the table of its map; None where there is none. Raises solved.header.BadTable."""
    solution: Solution | None = solution_of(game)
    if solution is None:
        return None
    moves = sorted(solution.moves(position), key=lambda each: -each[1].score)
    best = moves[0][1]
    return SolvedPosition(
        best.value.value, best.plies, [(game.move_to_text(move), str(truth)) for move, truth in moves]
    )
