"""Solving of small positions by searching to the end of the game, by the rules alone."""

from __future__ import annotations

from dataclasses import dataclass

from arena.games.core import AnyGame, Player

Bounds = tuple[int, int]
"""Lower and upper bound of a position's value for Maxie: 1 a win, 0 a draw, -1 a loss."""

UNKNOWN: Bounds = (-1, 1)


@dataclass(frozen=True)
class ProvenOutcome:
    """Outcome of a match under best play by both. `winner` is None for a draw."""

    winner: Player | None


def solve(game: AnyGame, position: object, nodes: int) -> ProvenOutcome | None:
    """Return the proven outcome of a position, or None if it is not proven within `nodes` positions.

    The search is minimax over bounds, deepened ply by ply, so near wins are found first. Positions beyond the depth
    count as unknown, so the result is exact. The depth stays below sqrt(2 nodes).
    """
    search = _Search(game, nodes)
    depth, (low, high) = 0, UNKNOWN
    try:
        while low < high:
            depth += 1
            low, high = search.deepen(position, depth)
    except _BudgetSpent:
        return None
    return ProvenOutcome({1: Player.MAXIE, 0: None, -1: Player.MINNIE}[low])


class _BudgetSpent(Exception):
    """Raised when all nodes are used up."""


class _Search:
    def __init__(self, game: AnyGame, nodes: int) -> None:
        self._game = game
        self._node_budget = nodes
        self._exact: dict[object, Bounds] = {}
        self._cache: dict[tuple[object, int], Bounds] = {}

    def deepen(self, position: object, depth: int) -> Bounds:
        self._cache.clear()
        return self._bounds(position, depth)

    def _bounds(self, position: object, depth: int) -> Bounds:
        interval = self._exact.get(position) or self._cache.get((position, depth))
        if interval is not None:
            return interval
        if not self._node_budget:
            raise _BudgetSpent
        self._node_budget -= 1
        outcome = self._game.outcome(position)
        if outcome is not None:
            value = outcome.winner.sign if outcome.winner else 0
            self._exact[position] = value, value
            return value, value
        bounds = self._inner(position, depth - 1) if depth else UNKNOWN
        if bounds[0] == bounds[1]:
            self._exact[position] = bounds
        else:
            self._cache[position, depth] = bounds
        return bounds

    def _inner(self, position: object, depth: int) -> Bounds:
        game = self._game
        sign = game.player(position).sign
        # From the mover's view: the best result that is certain, and the best that is possible.
        sure, possible = -1, -1
        for move in game.moves(position):
            bounds = self._bounds(game.successor(position, move), depth)
            sure = max(sure, min(sign * bounds[0], sign * bounds[1]))
            possible = max(possible, *(sign * bound for bound in bounds))
            if sure == 1:
                break
        return (sure, possible) if sign == 1 else (-possible, -sure)
