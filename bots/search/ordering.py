"""In which order the moves of a node are searched.

Alpha-beta cuts the more, the sooner it meets a good move. Two sources of order are used here: the
move that was best, or that cut, when the same position was searched one iteration before (003: the
order obtained at one iteration drives the next), and behind it the static values of the successors,
best for the mover first (000: `highfirst` and `lowfirst`). Both sorts are stable: equals stay in move
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple

from arena.bots.search.problem import Problem
from arena.games.core import M, P


class Choice(NamedTuple, Generic[P, M]):
    """A move of a node: its number in move order, and the position after it."""

    number: int
    move: M
    child: P


def in_move_order(problem: Problem[P, M], position: P, moves: Sequence[M]) -> Iterator[Choice[P, M]]:
    """All moves, as the game lists them. A position is made as its move is asked for: a cut saves those behind it."""
    successor = problem.game.successor
    for number, move in enumerate(moves):
        yield Choice(number, move, successor(position, move))


def best_first(
    problem: Problem[P, M], position: P, moves: Sequence[M], hint: M | None, *, distance: int, static: bool
) -> Iterable[Choice[P, M]]:
    """The hint first; then, when `static`, by the successors' static values, else in move order."""
    if not static:
        if hint is not None:
            return hint_first(problem, position, moves, hint)
        return in_move_order(problem, position, moves)
    sign = problem.game.player(position).sign
    ordered = sorted(
        in_move_order(problem, position, moves),
        key=lambda choice: -sign * problem.expand(choice.child, 0, distance + 1).value,
    )
    if hint is not None:
        ordered.sort(key=lambda choice: choice.move != hint)
    return ordered


def hint_first(problem: Problem[P, M], position: P, moves: Sequence[M], hint: M) -> Iterator[Choice[P, M]]:
    """The hint, then the others in move order, each made as it is asked for."""
    successor = problem.game.successor
    for number in sorted(range(len(moves)), key=lambda number: moves[number] != hint):
        yield Choice(number, moves[number], successor(position, moves[number]))


def to_front(moves: list[M], move: M) -> None:
    """Put one move first; the others keep their order."""
    moves.remove(move)
    moves.insert(0, move)
