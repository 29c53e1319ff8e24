"""Searches of engines that play matches: minimax, alpha-beta and Jamboree, each for use by iterative deepening.

All three have the same contract. A search is called with an unfinished position and a depth of at
least 1. It returns minimax's value for exactly that depth and the leftmost best move in
move order, independent of the search order. Inside, alpha-beta is fail-soft: a node's result
is exact between alpha and beta, an upper bound at or below alpha, a lower bound at or above beta.

After every root move (Jamboree: after each move of the first part, and after the whole parallel part) the search
calls `progress` with the best result so far. A search that is stopped raises `Stopped`; the results that it has passed to
`progress` remain valid.

The searches are negamax: inside, values are for the player to move. They also work in games where a player may move
twice in a row.
"""

from __future__ import annotations

from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.jamboree import Jamboree
from arena.bots.search.play.minimax import Minimax
from arena.bots.search.play.root import Search

__all__ = ["AlphaBeta", "Jamboree", "Minimax", "Search"]
