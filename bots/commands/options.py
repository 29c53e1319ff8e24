"""The engine and the game that a command line names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from arena.bots.api.options import BadSpec, WholeNumber, parse_spec
from arena.bots.engines.registry import Engine, make_engine
from arena.console import Misuse, game_named
from arena.games.core import AnyGame, GameError
from arena.games.hexapawn import MAX_SIDE, Hexapawn
from arena.maps.loader import MapError
from arena.maps.setup import make_setup

SIZE: Mapping[str, WholeNumber] = {
    "width": WholeNumber(3, 1, MAX_SIDE, "columns"),
    "height": WholeNumber(3, 3, MAX_SIDE, "rows"),
}


def load_game(game: str, map: str) -> AnyGame:
    """The game of that name on that map; `hexapawn:width=4,height=5` is one of that size. Raises Misuse."""
    try:
        if game.startswith(f"{Hexapawn.name}:"):
            size = parse_spec(game, {Hexapawn.name: SIZE}, "game")
            return cast("AnyGame", Hexapawn(size.whole("width"), size.whole("height")))
        return make_setup(game_named(game), map)
    except (GameError, BadSpec) as error:
        raise Misuse(f"--game: {error}") from None
    except MapError as error:
        raise Misuse(f"--map: {error}") from None


def load_engine(spec: str) -> Engine:
    """The engine of that spec: a built-in with its options, a file.py, or file.py:Class. Raises Misuse."""
    try:
        return make_engine(spec)
    except BadSpec as error:
        raise Misuse(str(error)) from None
