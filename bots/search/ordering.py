"""Order in which a node's moves are searched, and their division into those searched in sequence and in parallel.

Alpha-beta cuts more if it searches a good move sooner. So the first move is the hint: the move that was best, or that
caused a cut, when the previous iteration searched the same position. The other moves are sorted by the static values of
the positions after them, the best for the player to move first. Moves with equal values stay in move order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import floor
from typing import Generic, NamedTuple, TypeVar

from arena.bots.search.problem import Problem
from arena.games.core import M, P


class OrderedMove(NamedTuple, Generic[P, M]):
    """Move from a node, with its index in move order (`move_index`) and the resulting position (`child`)."""

    move_index: int
    move: M
    child: P


def order_best_first(
    problem: Problem[P, M],
    position: P,
    moves: Sequence[M],
    hint: M | None,
    *,
    plies_from_root: int,
    sort_statically: bool,
) -> Iterable[OrderedMove[P, M]]:
    """Return the moves of a node in the order in which to search them.

    hint             move to search first; None to put no move first
    sort_statically  True to sort the other moves by the static values of the positions after them, the best for the player
                     to move first; False to leave them in move order
    plies_from_root  number of plies from the root to the node
    """
    hint_first = order_hint_first(problem, position, moves, hint)
    if not sort_statically:
        return hint_first
    sign = problem.game.player(position).sign

    def get_sort_key(ordered_move: OrderedMove[P, M]) -> tuple[bool, int]:
        static_value = problem.expand(ordered_move.child, 0, plies_from_root + 1).value
        return ordered_move.move != hint, -sign * static_value

    return sorted(hint_first, key=get_sort_key)


def order_hint_first(
    problem: Problem[P, M], position: P, moves: Sequence[M], hint: M | None
) -> Iterator[OrderedMove[P, M]]:
    """Yield the move `hint` first, unless it is None, and then the other moves in move order.

    The position after a move is computed when the move is yielded, so a cut saves the computation of the rest.
    """
    successor = problem.game.successor
    for number in sorted(range(len(moves)), key=lambda number: moves[number] != hint):
        yield OrderedMove(number, moves[number], successor(position, moves[number]))


def move_to_front(moves: list[M], move: M) -> None:
    """Put `move` at the front of the list `moves`, in place; the other moves keep their order."""
    moves.remove(move)
    moves.insert(0, move)


T = TypeVar("T")


def split_by_prune_fraction(moves: Sequence[T], prune_fraction: float) -> tuple[Sequence[T], Sequence[T]]:
    """Return a node's moves in two parts: the moves that Jamboree searches in sequence, and the moves searched in parallel.

    The first floor(prune_fraction × n) of n moves are searched in sequence. `prune_fraction` is a number from 0 to
    1. Source 001 in docs/search.md calls it prune_percentage.
    """
    sequential_count = floor(prune_fraction * len(moves))
    return moves[:sequential_count], moves[sequential_count:]
