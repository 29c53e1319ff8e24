"""Features of tic-tac-toe positions: open lines, by their number of marks, and the middle cell.

The features are from source 003 in docs/search.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.bots.evaluators.linear import FeatureFunction
from arena.games.tictactoe import EMPTY_CELL, WINNING_LINES, TicTacToe, TicTacToePosition

FEATURE_NAMES = ("open", "ones", "twos", "center")
"""Names of the features. Each is computed for both players, and its value is Maxie's minus Minnie's:

open    lines without a mark of the opponent
ones    open lines with exactly one own mark
twos    open lines with exactly two own marks: one move from winning
center  marks in the middle cell, which lies on four lines
"""


def make_feature_function(_: TicTacToe) -> FeatureFunction[TicTacToePosition]:
    """Return the function that computes the features of a position of tic-tac-toe.

    The argument, the game, is ignored: it exists because the same function of `evaluators.riskless` needs the game's map.
    """

    def compute_features(position: TicTacToePosition) -> Sequence[int]:
        cells = position.cells
        counts = [0, 0, 0]
        for a, b, c in WINNING_LINES:
            line = cells[a] + cells[b] + cells[c]
            x, o = line.count("X"), line.count("O")
            if not o:
                counts[0] += 1
                if x in (1, 2):
                    counts[x] += 1
            if not x:
                counts[0] -= 1
                if o in (1, 2):
                    counts[o] -= 1
        centre = cells[4]
        return (*counts, 0 if centre == EMPTY_CELL else 1 if centre == "X" else -1)

    return compute_features
