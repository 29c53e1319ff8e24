"""The three searches that play: minimax, alpha-beta and Jamboree, as iterative deepening drives them.

One contract for all three. A search is called for a position that is not over and a depth of at
least 1, and answers with minimax's value for exactly that depth and with the leftmost best move in
move order, whatever order it was told to search in. Inside, alpha-beta is fail-soft: a node's result
is exact between alpha and beta, an upper bound at or below alpha, a lower bound at or above beta.

After every root move (Jamboree: after each of the first part, and after the whole parallel part) it
calls `progress` with the best so far. A stop raises `Stopped` out of the call; what was told to
`progress` before it stands.

The searches here are negamax: inside, values are for the player to move, and the players alternate.
"""

from __future__ import annotations

from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.jamboree import Jamboree
from arena.bots.search.play.minimax import Minimax
from arena.bots.search.play.root import Progress, Search
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Evaluator
from arena.bots.search.table import Table
from arena.games.core import M, P

__all__ = [
    "AlphaBeta",
    "Jamboree",
    "Minimax",
    "Pool",
    "Progress",
    "Search",
    "Table",
    "alphabeta_search",
    "jamboree_search",
    "minimax_search",
]


def minimax_search(evaluator: Evaluator[P]) -> Minimax[P, M]:
    """Minimax for `deepen`."""
    return Minimax(evaluator)


def alphabeta_search(
    evaluator: Evaluator[P], *, table: Table[P, M] | None = None, static: bool = True
) -> AlphaBeta[P, M]:
    """Alpha-beta for `deepen`; give it a `Table` to remember positions, also from move to move."""
    return AlphaBeta(evaluator, table=table, static=static)


def jamboree_search(
    evaluator: Evaluator[P], pool: Pool, prune: float = 0.5, *, static: bool = True
) -> Jamboree[P, M]:
    """Jamboree for `deepen`, on a pool that the caller closes."""
    return Jamboree(evaluator, pool, prune, static=static)
