import io

import pytest
from rich.console import Console

from arena.maps.game_on_map import make_game_on_map
from arena.maps.terminal import print_position


def printed(game: str, map: str, height: int, *, terminal: bool = True) -> str:
    out = Console(file=io.StringIO(), force_terminal=terminal, width=120, height=height, color_system=None)
    rules = make_game_on_map(game, map)
    print_position(rules, rules.start(), out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def picture(game: str, map: str) -> str:
    rules = make_game_on_map(game, map)
    return rules.picture(rules.start()) + "\n"


def test_a_terminal_with_room_shows_the_map() -> None:
    told = printed("riskless", "m2", 60)
    assert told.startswith("ply 0, maxie to move; armies: maxie 1, minnie 2, 80 win\n")
    assert "a1 -2" in told
    assert "d4 +1" in told
    assert len(told.splitlines()) <= 54


@pytest.mark.parametrize(
    ("game", "map", "height", "terminal"),
    [("riskless", "m2", 20, True), ("riskless", "m2", 60, False), ("tictactoe", "m2", 60, True)],
)
def test_else_the_games_own_picture_is_shown(game: str, map: str, height: int, terminal: bool) -> None:
    assert printed(game, map, height, terminal=terminal) == picture(game, map)
