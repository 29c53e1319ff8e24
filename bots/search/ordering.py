"""In which order the moves of a node are searched.

Alpha-beta cuts the more, the sooner it meets a good move. Two sources of order are used here: the
move that was best, or that cut, when the same position was searched one iteration before (003: the
order obtained at one iteration drives the next), and behind it the static values of the successors,
best for the mover first (000: `highfirst` and `lowfirst`). Both sorts are stable: equals stay in move
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from bots.search.problem import Problem
from games.core import M, P


@dataclass(frozen=True, slots=True)
class Choice(Generic[P, M]):
    """A move of a node: its number in move order, and the position after it."""

    index: int
    move: M
    child: P


def in_move_order(problem: Problem[P, M], position: P, moves: Sequence[M]) -> list[Choice[P, M]]:
    """All moves, as the game lists them."""
    successor = problem.game.successor
    return [Choice(index, move, successor(position, move)) for index, move in enumerate(moves)]


def best_first(
    problem: Problem[P, M], position: P, moves: Sequence[M], hint: M | None, *, distance: int, static: bool
) -> list[Choice[P, M]]:
    """The hint first; then, when `static`, by the successors' static values, else in move order."""
    choices = in_move_order(problem, position, moves)
    if static:
        sign = problem.game.player(position).sign
        choices.sort(key=lambda choice: -sign * problem.expand(choice.child, 0, distance + 1).value)
    if hint is not None:
        choices.sort(key=lambda choice: choice.move != hint)
    return choices


def to_front(moves: list[M], move: M) -> None:
    """Put one move first; the others keep their order."""
    moves.remove(move)
    moves.insert(0, move)
