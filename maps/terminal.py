"""Printing of positions on the terminal: as a map if the terminal is large enough, otherwise in the game's own form."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from arena.games.core import Game
from arena.games.riskless import Riskless, RisklessPosition
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import find_built_in_map
from arena.maps.text_map import draw_text_map

TERMINAL_LINES_AROUND_MAP = 6
"""Number of lines of the terminal that the map leaves free for the text around it."""


def print_position(game: Game[Any, Any], position: Any, console: Console) -> None:
    """Print a position on `console`: as a map if the terminal is large enough, otherwise in the game's own form."""
    if isinstance(game, Riskless) and console.is_terminal and _print_map_if_it_fits(game, position, console):
        return
    console.print(game.picture(position))


def _print_map_if_it_fits(game: Riskless, position: RisklessPosition, console: Console) -> bool:
    """Draw the map and return True. If the map with all names does not fit the terminal, draw nothing and return False."""
    use_dots = console.encoding.startswith("utf")
    annotated_map = find_built_in_map(game.map) or AnnotatedMap(game.map)
    picture, has_names = draw_text_map(
        annotated_map, position.armies, console.width, use_braille_dots=use_dots
    )
    if not has_names or picture.plain.count("\n") + 1 + TERMINAL_LINES_AROUND_MAP > console.height:
        return False
    army_counts = [sum(max(0, sign * n) for n in position.armies) for sign in (1, -1)]
    console.print(
        f"ply {position.ply}, {position.player} to move; armies: maxie {army_counts[0]}, minnie {army_counts[1]}, "
        f"{game.map.armies_to_win} win",
        highlight=False,
    )
    console.print(picture, crop=False, soft_wrap=True)
    return True
