"""Lookup of the engine, game, tree or position that a command line names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

import typer

from arena.bots.api.engine_spec import BadSpec, IntegerOption, parse_spec
from arena.bots.engines.registry import Engine, make_engine
from arena.bots.review.trees import TreeLoadError, UnknownTree, load_tree
from arena.console import UsageError
from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame, BadData, Game, GameError, UnknownGame
from arena.games.hexapawn import MAX_BOARD_SIDE, Hexapawn
from arena.games.riskless import Riskless
from arena.maps.game_on_map import DEFAULT_MAP, make_game_on_map
from arena.maps.loader import MapError

PositionOption = Annotated[
    str,
    typer.Option(
        "--position",
        metavar="POSITION",
        help="Position to search, e.g. the value of `position` in the output of `arena analyse --json -`; default: the start position.",
    ),
]
HEXAPAWN_SIZE_OPTIONS: Mapping[str, IntegerOption] = {
    "width": IntegerOption(3, 1, MAX_BOARD_SIDE),
    "height": IntegerOption(3, 3, MAX_BOARD_SIDE),
}
"""Options of the game spec `hexapawn:width=4,height=5`: the numbers of columns and rows of the board."""


def load_game(game_spec: str, map_name: str) -> AnyGame:
    """Return the game `game_spec` on the map `map_name`. A spec such as `hexapawn:width=4,height=5` also sets the board's size.

    Raises UsageError if the game or the map is unknown or invalid.
    """
    try:
        return _make_game_from_spec(game_spec, map_name)
    except (GameError, BadSpec) as error:
        raise UsageError(f"--game: {error}") from None
    except MapError as error:
        raise UsageError(f"--map: {error}") from None


def load_tree_game(tree_name: str) -> Game[Any, Any]:
    """Return the explicit tree called `tree_name`, otherwise Riskless on the map `tree_name`, otherwise the game `tree_name`.

    The nodes of an explicit tree are listed in a file. Other game trees follow from the rules of their game.

    Raises UsageError if `tree_name` is none of these, or the file of the tree or game is invalid.
    """
    try:
        return load_tree(tree_name)
    except UnknownTree as error:
        unknown_tree = f"{error}, or give the name of a Riskless map or of a game"
    except TreeLoadError as error:
        raise UsageError(str(error)) from None
    try:
        return make_game_on_map(Riskless.name, tree_name)
    except MapError as error:
        if tree_name.endswith(".toml"):
            raise UsageError(str(error)) from None
        # otherwise a game may have the name
    try:
        return _make_game_from_spec(tree_name, DEFAULT_MAP)
    except UnknownGame:
        raise UsageError(unknown_tree) from None
    except (GameError, BadSpec) as error:
        raise UsageError(str(error)) from None


def _make_game_from_spec(game_spec: str, map_name: str) -> AnyGame:
    if game_spec.startswith(f"{Hexapawn.name}:"):
        size_spec = parse_spec(game_spec, {Hexapawn.name: HEXAPAWN_SIZE_OPTIONS}, "game")
        return cast("AnyGame", Hexapawn(size_spec.option_values["width"], size_spec.option_values["height"]))
    return make_game_on_map(CATALOGUE.register_game(game_spec), map_name)


def load_engine(spec: str) -> Engine:
    """Return the engine that `spec` names: a built-in engine with options, file.py, or file.py:Class.

    Raises UsageError if `spec` is invalid.
    """
    try:
        return make_engine(spec)
    except BadSpec as error:
        raise UsageError(str(error)) from None


def parse_position(game: Game[Any, Any], position_text: str) -> Any:
    """Return the position of `game` that the option `--position` describes; the start position if the option is empty.

    Raises UsageError if the text is not a position, or the match is over in it.
    """
    try:
        position = game.position_from_text(position_text) if position_text else game.start()
    except BadData as error:
        raise UsageError(f"--position: {error}") from None
    outcome = game.outcome(position)
    if outcome is not None:
        raise UsageError(
            f"--position: the match is over in this position: {outcome}; give an earlier position"
        )
    return position
