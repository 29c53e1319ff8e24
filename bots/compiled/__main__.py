"""Ahead-of-time compilation of the kernels (compiled search functions) of all games, so that no bot has to wait for it.

Run `python -m arena.bots.compiled` when you set up a machine. The command takes about 30 s on one CPU core if no kernels are
cached, and about a second otherwise. With `--networks`, it also compiles the searches that evaluate by a neural network,
in another 20 s. Without this option, the first bot that uses a network compiles them.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.kernel import FeatureWeights
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.network import NETWORK_ARRAY_SHAPES, EvaluatorNetwork
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.games.tictactoe import TicTacToe


def make_two_territory_game(cap: int) -> Riskless:
    """Return Riskless on the smallest map, which is enough to compile the functions for all maps with this `cap`.

    cap  maximum number of armies on a territory
    """
    places = ((0.0, 0.0), (1.0, 0.0))
    return Riskless(RisklessMap("two", ("a", "b"), ((1,), (0,)), cap, 2 * cap, 10, (1, -1), places))


def main() -> None:
    """Compile the kernel (compiled functions) of each game, by running a first search in the game."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--networks", action="store_true", help="also compile the searches that evaluate by a neural network"
    )
    with_networks = parser.parse_args().networks
    boards = [make_two_territory_game(cap) for cap in (10, 50, 100)]
    games: list[Game[Any, Any]] = [TicTacToe(), *boards]
    searches: list[tuple[Game[Any, Any], FeatureWeights | EvaluatorNetwork]] = [
        (game, weights_for(game, "plain")) for game in games
    ]
    if with_networks:
        network = EvaluatorNetwork(**{name: np.zeros(shape) for name, shape in NETWORK_ARRAY_SHAPES.items()})
        searches += [(game, network) for game in boards]
    for game, weights in searches:
        searcher = Searcher(game, weights, Settings(table_mb=1))
        searcher.warm_up()
        searcher.close()


if __name__ == "__main__":
    main()
