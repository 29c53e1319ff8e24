"""Compile the kernels of all games now, so that no bot has to: `python -m bots.compiled`.

This belongs to a machine's set-up. It takes about twenty seconds of one core on a machine that has no kernels yet, and
about a second where they are there.
"""

from __future__ import annotations

from typing import Any

from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from games.board import RisklessMap
from games.core import Game
from games.riskless import Riskless
from games.tictactoe import TicTacToe


def smallest(cap: int) -> Riskless:
    """Riskless on two territories; the cap decides which kernel it takes."""
    places = ((0.0, 0.0), (1.0, 0.0))
    return Riskless(RisklessMap("two", ("a", "b"), ((1,), (0,)), cap, 2 * cap, 10, (1, -1), places))


def main() -> None:
    """A first search of every game."""
    games: list[Game[Any, Any]] = [smallest(10), TicTacToe(), smallest(100)]
    for game in games:
        searcher = Searcher(game, weights_for(game, "plain"), Settings(table_mb=1))
        searcher.warm_up()
        searcher.close()


if __name__ == "__main__":
    main()
