"""The commands of `bots`. Only this file knows where maps come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import typer

from bots.api.options import BadSpec, WholeNumber, parse_spec
from bots.commands import bot as cli_bot
from bots.commands import new as cli_new
from bots.commands import play as cli_play
from bots.commands import replay as cli_replay
from bots.commands import search as cli_search
from bots.commands import tune as cli_tune
from console import Misuse, out
from games.core import AnyGame, Game, UnknownGame
from games.hexapawn import MAX_SIDE, Hexapawn
from maps.board import print_position
from maps.loader import MapError
from maps.setup import make_setup

SIZE: Mapping[str, WholeNumber] = {
    "width": WholeNumber(3, 1, MAX_SIDE, "columns"),
    "height": WholeNumber(3, 3, MAX_SIDE, "rows"),
}


def register(app: typer.Typer) -> None:
    """Add the commands of this package to the `arena` command."""
    cli_new.register(app)
    cli_bot.register(app)
    cli_play.register(app, load_game, show)
    cli_replay.register(app, show)
    cli_search.register(app, load_game)
    cli_tune.register(app, load_game)


def load_game(game: str, map: str) -> AnyGame:
    """The game that `--game` and `--map` name; `hexapawn:width=4,height=5` is one of that size. Raises Misuse."""
    try:
        if game.startswith(f"{Hexapawn.name}:"):
            size = parse_spec(game, {Hexapawn.name: SIZE}, "game")
            return cast("AnyGame", Hexapawn(size.whole("width"), size.whole("height")))
        return make_setup(game, map)
    except (UnknownGame, BadSpec) as error:
        raise Misuse(f"--game: {error}") from None
    except MapError as error:
        raise Misuse(f"--map: {error}") from None


def show(game: Game[Any, Any], position: Any) -> None:
    """Draw a position for a person."""
    print_position(game, position, out)
