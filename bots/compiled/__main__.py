"""Compile the kernels of all games now, so that no bot has to: `python -m arena.bots.compiled`.

This belongs to a machine's set-up. It takes about half a minute of one core on a machine that has no kernels yet, and
about a second where they are there.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.limits import MAX_TERRITORIES
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.board import RisklessMap
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map


def smallest(cap: int) -> Riskless:
    """Riskless on two territories; the cap decides which kernel it takes."""
    places = ((0.0, 0.0), (1.0, 0.0))
    return Riskless(RisklessMap("two", ("a", "b"), ((1,), (0,)), cap, 2 * cap, 10, (1, -1), places))


def main() -> None:
    """A first search of every game, one that looks up leaves, and the first solution of a map."""
    games: list[Game[Any, Any]] = [smallest(10), TicTacToe(), smallest(50), smallest(100)]
    solved = Riskless(load_map("path4"))
    for game, pieces in (*((each, 0) for each in games), (solved, MAX_TERRITORIES)):
        searcher = Searcher(game, weights_for(game, "plain"), Settings(table_mb=1, pieces=pieces))
        searcher.warm_up()
        searcher.close()


if __name__ == "__main__":
    main()
