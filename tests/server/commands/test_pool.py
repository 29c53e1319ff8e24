"""Games and openings of the pool, made from its settings."""

from pathlib import Path

import pytest

from arena.match.openings import find_position_after
from arena.server.commands.pool import (
    RANDOM_OPENING_LENGTHS_IN_PLIES,
    SUFFICIENT_RANDOM_OPENING_COUNT,
    make_matchmaking_pool,
)
from arena.server.core.settings import GameAtTimeControl
from arena.server.settings import PoolSettings
from tests.games.own import EXAMPLES, forget_games


def make_games(games: str, maps: str, times: str, openings: str) -> tuple[GameAtTimeControl, ...]:
    """Return the games of a pool. The settings `games`, `maps` and `times` are lists, separated by commas."""
    settings = PoolSettings(
        games=tuple(games.split(",")),
        maps=tuple(maps.split(",")),
        time_controls=tuple(times.split(",")),
        openings=openings,
    )
    return make_matchmaking_pool(settings).games


def test_the_pool_has_every_game_on_every_map_with_every_time_control() -> None:
    games = make_games("riskless,tictactoe", "m1,m2", "10+0.1,0.1/move", "none")
    assert sorted(map(str, games)) == [
        "riskless on m1 at 0.1/move",
        "riskless on m1 at 10+0.1",
        "riskless on m2 at 0.1/move",
        "riskless on m2 at 10+0.1",
        "tictactoe at 0.1/move",
        "tictactoe at 10+0.1",
    ]
    assert all(each.openings == ((),) for each in games)


@pytest.mark.parametrize("openings", ["shipped", "3"])
def test_openings_are_legal_and_different(openings: str) -> None:
    (made,) = make_games("riskless", "m2", "1+0", openings)
    assert len(set(map(repr, made.openings))) == len(made.openings) > 10
    for opening in made.openings:
        assert made.game.outcome(find_position_after(made.game, opening)) is None


@pytest.mark.parametrize(
    ("game", "map"),
    [
        ("riskless", "grid:3x3"),
        (str(EXAMPLES / "capitals.py"), "italy"),
        ("tictactoe", ""),
        ("hexapawn", ""),
    ],
)
def test_a_game_without_built_in_openings_gets_random_ones(
    monkeypatch: pytest.MonkeyPatch, game: str, map: str
) -> None:
    forget_games(monkeypatch)
    (made,) = make_games(game, map, "1+0", "shipped")
    assert len(made.openings) >= SUFFICIENT_RANDOM_OPENING_COUNT
    assert {len(opening) for opening in made.openings} <= set(RANDOM_OPENING_LENGTHS_IN_PLIES)


def test_openings_that_are_prefixes_of_others_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("a1\na1, b2\na1, b2\nb2, a1\na1, c3, b2\n")
    (made,) = make_games("tictactoe", "", "1+0", str(file))
    assert [len(opening) for opening in made.openings] == [2, 2, 3]
