"""Lookup of the engine and the game named on a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from arena.bots.api.engine_spec import BadSpec, IntegerOption, parse_spec
from arena.bots.engines.registry import Engine, make_engine
from arena.console import UsageError, register_game
from arena.games.core import AnyGame, GameError
from arena.games.hexapawn import MAX_SIDE, Hexapawn
from arena.maps.game_on_map import make_game_on_map, require_maps
from arena.maps.loader import MapError

HEXAPAWN_SIZE_OPTIONS: Mapping[str, IntegerOption] = {
    "width": IntegerOption(3, 1, MAX_SIDE),
    "height": IntegerOption(3, 3, MAX_SIDE),
}
"""Options of the game spec `hexapawn:width=4,height=5`: the numbers of columns and rows of the board."""


def load_game(game: str, map: str) -> AnyGame:
    """Return the game named `game` on the map `map`. `hexapawn:width=4,height=5` sets the size.

    Raises UsageError if the game or the map is unknown or invalid.
    """
    try:
        if game.startswith(f"{Hexapawn.name}:"):
            size_spec = parse_spec(game, {Hexapawn.name: HEXAPAWN_SIZE_OPTIONS}, "game")
            return cast("AnyGame", Hexapawn(size_spec.values["width"], size_spec.values["height"]))
        name = register_game(game)
        require_maps(name, map)
        return make_game_on_map(name, map)
    except (GameError, BadSpec) as error:
        raise UsageError(f"--game: {error}") from None
    except MapError as error:
        raise UsageError(f"--map: {error}") from None


def load_engine(spec: str) -> Engine:
    """Return the engine that `spec` names: a built-in engine with options, file.py, or file.py:Class.

    Raises UsageError if `spec` is invalid.
    """
    try:
        return make_engine(spec)
    except BadSpec as error:
        raise UsageError(str(error)) from None
