"""server.commands.courses: what the pool plays, by the options of `arena serve`."""

from pathlib import Path

import pytest

from arena.games.core import GameError
from arena.maps.loader import MapError
from arena.maps.openings import BadOpenings
from arena.match.openings import after
from arena.protocol.timecontrol import BadTimeControl
from arena.server.commands.courses import ENOUGH, INSTEAD, BadCourses, courses_of


def test_every_game_on_every_map_at_every_time() -> None:
    courses = courses_of("riskless,tictactoe", "m1,m2", "10+0.1,0.1/move", "none")
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
    (course,) = courses_of("riskless", "m2", "1+0", openings)
    assert len(set(map(repr, course.openings))) == len(course.openings) > 10
    for opening in course.openings:
        assert course.game.outcome(after(course.game, opening)) is None


@pytest.mark.parametrize(("game", "map"), [("riskless", "grid:3x3"), ("tictactoe", ""), ("hexapawn", "")])
def test_what_ships_no_openings_begins_with_random_plies(game: str, map: str) -> None:
    (course,) = courses_of(game, map, "1+0", "shipped")
    assert len(course.openings) >= ENOUGH
    assert {len(opening) for opening in course.openings} <= set(INSTEAD)


def test_no_opening_of_a_file_is_how_another_one_begins(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("a1\na1, b2\na1, b2\nb2, a1\na1, c3, b2\n")
    (course,) = courses_of("tictactoe", "", "1+0", str(file))
    assert [len(opening) for opening in course.openings] == [2, 2, 3]


def test_a_file_of_openings(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("a1, b2\n")
    (course,) = courses_of("tictactoe", "", "1+0", str(file))
    assert len(course.openings) == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("riskless,", "m2", "1+0", "none"), BadCourses),
        (("riskless", "m2,m2", "1+0", "none"), BadCourses),
        (("chess", "m2", "1+0", "none"), GameError),
        (("riskless", "moon", "1+0", "none"), MapError),
        (("riskless", "m2", "soon", "none"), BadTimeControl),
        (("riskless", "m2", "1+0", "0"), BadCourses),
        (("riskless", "m2", "1+0", "no-such-file"), BadOpenings),
    ],
)
def test_what_cannot_be_is_refused(options: tuple[str, str, str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        courses_of(*options)
