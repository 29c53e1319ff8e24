"""Searches of engines that play matches: minimax, alpha-beta and Jamboree, each for use by iterative deepening.

All three searches keep the same promise. A search is called with an unfinished position and a depth of at least 1. It returns
minimax's value for exactly that depth, and the first of the best moves in the game's move order, whatever the search
order is. Inside, alpha-beta is fail-soft: a node's result is exact between alpha and beta, an upper bound at or below
alpha, and a lower bound at or above beta.

After every root move, the search calls its argument `on_progress` with the best result so far. Jamboree calls it after each
root move that it searches in sequence, and once after all that it searches in parallel. A search that is stopped raises
`SearchStopped`; the results that it has passed to `on_progress` remain valid.

The searches are negamax: inside, values are for the player to move. They also work in games where a player may move
twice in a row.
"""

from __future__ import annotations

from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.jamboree import Jamboree
from arena.bots.search.play.minimax import Minimax
from arena.bots.search.play.root import Search

__all__ = ["AlphaBeta", "Jamboree", "Minimax", "Search"]
