"""Small positions played out to their end, by the rules alone."""

from __future__ import annotations

from dataclasses import dataclass

from arena.games.core import AnyGame, Player

Bounds = tuple[int, int]
"""What a position is worth to Maxie, at least and at most: 1 a win, 0 a draw, -1 a loss."""

UNKNOWN: Bounds = (-1, 1)


@dataclass(frozen=True)
class Solution:
    """How a match ends if both play as well as can be. `winner` is None for a draw."""

    winner: Player | None


def solve(game: AnyGame, position: object, nodes: int) -> Solution | None:
    """The solution of a position, or None where `nodes` positions do not suffice to prove one.

    Minimax over bounds, deepened ply by ply: near wins are found first, and what lies behind the depth
    counts as unknown, so what is returned is exact. The depth stays below sqrt(2 nodes).
    """
    search = _Search(game, nodes)
    depth, (low, high) = 0, UNKNOWN
    try:
        while low < high:
            depth += 1
            low, high = search.deepen(position, depth)
    except _Spent:
        return None
    return Solution({1: Player.MAXIE, 0: None, -1: Player.MINNIE}[low])


class _Spent(Exception):
    """All nodes were visited."""


class _Search:
    def __init__(self, game: AnyGame, nodes: int) -> None:
        self._game = game
        self._left = nodes
        self._proven: dict[object, Bounds] = {}
        self._seen: dict[tuple[object, int], Bounds] = {}

    def deepen(self, position: object, depth: int) -> Bounds:
        self._seen.clear()
        return self._bounds(position, depth)

    def _bounds(self, position: object, depth: int) -> Bounds:
        known = self._proven.get(position) or self._seen.get((position, depth))
        if known is not None:
            return known
        if not self._left:
            raise _Spent
        self._left -= 1
        outcome = self._game.outcome(position)
        if outcome is not None:
            value = outcome.winner.sign if outcome.winner else 0
            self._proven[position] = value, value
            return value, value
        bounds = self._inner(position, depth - 1) if depth else UNKNOWN
        if bounds[0] == bounds[1]:
            self._proven[position] = bounds
        else:
            self._seen[position, depth] = bounds
        return bounds

    def _inner(self, position: object, depth: int) -> Bounds:
        game = self._game
        sign = game.player(position).sign
        # As the mover sees it: the most that is sure, and the most that is possible.
        sure, possible = -1, -1
        for move in game.moves(position):
            bounds = self._bounds(game.successor(position, move), depth)
            sure = max(sure, min(sign * bounds[0], sign * bounds[1]))
            possible = max(possible, *(sign * bound for bound in bounds))
            if sure == 1:
                break
        return (sure, possible) if sign == 1 else (-possible, -sure)
