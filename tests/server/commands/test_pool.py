"""server.commands.pool: the games of the pool, by its settings."""

from pathlib import Path

import pytest

from arena.match.openings import find_position_after
from arena.server.commands.pool import FALLBACK_PLIES, SUFFICIENT_OPENINGS, make_pool_games
from arena.server.settings import PoolSettings
from tests.games.own import EXAMPLES, forget_games


def pool(games: str, maps: str, times: str, openings: str) -> PoolSettings:
    """Return settings of a pool; lists have commas between."""
    return PoolSettings(
        games=tuple(games.split(",")),
        maps=tuple(maps.split(",")),
        time_controls=tuple(times.split(",")),
        openings=openings,
    )


def test_every_game_on_every_map_at_every_time() -> None:
    courses = make_pool_games(pool("riskless,tictactoe", "m1,m2", "10+0.1,0.1/move", "none"))
    assert sorted(map(str, courses)) == [
        "riskless on m1 at 0.1/move",
        "riskless on m1 at 10+0.1",
        "riskless on m2 at 0.1/move",
        "riskless on m2 at 10+0.1",
        "tictactoe at 0.1/move",
        "tictactoe at 10+0.1",
    ]
    assert all(each.openings == ((),) for each in courses)


@pytest.mark.parametrize("openings", ["shipped", "3"])
def test_openings_can_be_played_and_differ(openings: str) -> None:
    (course,) = make_pool_games(pool("riskless", "m2", "1+0", openings))
    assert len(set(map(repr, course.openings))) == len(course.openings) > 10
    for opening in course.openings:
        assert course.game.outcome(find_position_after(course.game, opening)) is None


@pytest.mark.parametrize(
    ("game", "map"),
    [
        ("riskless", "grid:3x3"),
        (str(EXAMPLES / "capitals.py"), "italy"),
        ("tictactoe", ""),
        ("hexapawn", ""),
    ],
)
def test_a_match_without_shipped_openings_begins_with_random_plies(
    monkeypatch: pytest.MonkeyPatch, game: str, map: str
) -> None:
    forget_games(monkeypatch)
    (course,) = make_pool_games(pool(game, map, "1+0", "shipped"))
    assert len(course.openings) >= SUFFICIENT_OPENINGS
    assert {len(opening) for opening in course.openings} <= set(FALLBACK_PLIES)


def test_no_opening_of_a_file_is_how_another_one_begins(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("a1\na1, b2\na1, b2\nb2, a1\na1, c3, b2\n")
    (course,) = make_pool_games(pool("tictactoe", "", "1+0", str(file)))
    assert [len(opening) for opening in course.openings] == [2, 2, 3]
