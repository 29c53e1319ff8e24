"""Ahead-of-time compilation of the kernels of all games, so that no bot has to wait for it.

Run `python -m arena.bots.compiled` when you set up a machine. It takes about 20 s on one core if no kernels are
cached, and about a second otherwise. Searches with a network are not included: the first bot that uses a network compiles them.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.games.tictactoe import TicTacToe


def make_two_territory_game(cap: int) -> Riskless:
    """Return Riskless on a map of two territories. `cap`, the maximum armies on each, determines which kernel it uses."""
    places = ((0.0, 0.0), (1.0, 0.0))
    return Riskless(RisklessMap("two", ("a", "b"), ((1,), (0,)), cap, 2 * cap, 10, (1, -1), places))


def main() -> None:
    """Compile the kernels of all games by a first search of each."""
    games: list[Game[Any, Any]] = [TicTacToe(), *map(make_two_territory_game, (10, 50, 100))]
    for game in games:
        searcher = Searcher(game, weights_for(game, "plain"), Settings(table_mb=1))
        searcher.warm_up()
        searcher.close()


if __name__ == "__main__":
    main()
