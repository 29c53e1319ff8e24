"""Games for the suites of properties: every registered game, on every built-in map and some generated ones."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from arena.games.catalogue import BUILT_IN_GAMES, make_game
from arena.games.core import AnyGame, Game
from arena.maps.loader import list_built_in_map_names, load_map

MAPS = (*list_built_in_map_names(), "ring:3", "ring:8", "grid:1x2", "grid:3x2", "grid:5x5")

# A game that is not named here is tested on its empty setup, so the suites include each new game.
SETUPS: dict[str, dict[str, dict[str, Any]]] = {
    "hexapawn": {"": {}, "1x3": {"width": 1, "height": 3}, "5x4": {"width": 5, "height": 4}},
    "riskless": {name: dict(load_map(name).to_data()) for name in MAPS},
}

EVERY_GAME: dict[str, AnyGame] = {
    f"{name} {label}".strip(): make_game(name, setup)
    for name in sorted(BUILT_IN_GAMES)
    for label, setup in SETUPS.get(name, {"": {}}).items()
}
"""Each game on each of its setups, by a name for the output of the tests."""

MAX_PLIES = 20_000
"""Number of plies at which a random match fails as endless. No match of the games is this long."""


@dataclass(frozen=True)
class Played:
    """A match: n moves, and the n + 1 positions before and after them."""

    positions: tuple[Any, ...]
    moves: tuple[Any, ...]


def random_match(game: Game[Any, Any], seed: int, limit: int = MAX_PLIES) -> Played:
    """Return a match of random moves from the start to its end, or to `limit` plies."""
    random = Random(seed)
    positions: list[Any] = [game.start()]
    moves: list[Any] = []
    while len(moves) < limit:
        legal = game.moves(positions[-1])
        if not legal:
            break
        moves.append(random.choice(legal))
        positions.append(game.successor(positions[-1], moves[-1]))
    return Played(tuple(positions), tuple(moves))
