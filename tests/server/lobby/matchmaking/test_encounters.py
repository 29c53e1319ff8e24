"""server.lobby.matchmaking.encounters: pairs that begin alike, and pauses."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import AnyGame
from arena.games.tictactoe import TicTacToe
from arena.match.openings import random_opening
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.lobby.matchmaking.encounters import MOST_TWOS, Encounters
from arena.server.lobby.matchmaking.matchmaker import Course

GAME: AnyGame = TicTacToe()  # type: ignore[assignment]
OPENINGS = tuple(dict.fromkeys(random_opening(GAME, 2, str(n)) for n in range(50)))
COURSES = [Course(GAME, TimeControl(1000 * n), OPENINGS) for n in (1, 2, 3)]


@given(st.text(max_size=5), st.integers(1, 3), st.integers(1, 60))
def test_each_opening_of_each_course_is_played_from_both_seats_before_one_comes_again(
    salt: str, courses: int, pairs: int
) -> None:
    pairs = min(pairs, courses * len(OPENINGS))
    encounters = Encounters(salt)
    offered = COURSES[:courses]
    played = [encounters.next(*(("a", "b") if n % 2 else ("b", "a")), offered) for n in range(2 * pairs)]
    for first, second in zip(played[::2], played[1::2], strict=True):
        assert (first.course, first.opening) == (second.course, second.opening)
        assert {first.maxie, second.maxie} == {"a", "b"}
    begun = {(each.course.time_control, each.opening) for each in played}
    assert len(begun) == pairs
    if pairs >= courses:
        assert {each.course for each in played} == set(offered)


def test_other_bots_and_another_run_of_the_server_begin_elsewhere() -> None:
    def first(salt: str, two: tuple[str, str]) -> object:
        return Encounters(salt).next(*two, COURSES).opening

    assert len({first(str(salt), ("a", "b")) for salt in range(20)}) > 5
    assert len({first("s", ("a", f"b{n}")) for n in range(20)}) > 5


def test_a_pair_whose_course_is_gone_is_begun_anew() -> None:
    encounters = Encounters("s")
    half = encounters.next("a", "b", COURSES[:1])
    assert half.course == COURSES[0]
    assert encounters.next("a", "b", COURSES[1:2]).course == COURSES[1]


def test_two_rest_after_a_match_whoever_had_which_seat() -> None:
    encounters = Encounters("s")
    assert encounters.rests_until("a", "b", 5.0) is None
    encounters.ended(Players("b", "a"), 100.0)
    assert encounters.rests_until("a", "b", 5.0) == 105.0
    assert encounters.rests_until("a", "c", 5.0) is None


def test_what_is_remembered_is_bounded() -> None:
    encounters = Encounters("s")
    for number in range(MOST_TWOS + 1):
        encounters.ended(Players("a", str(number)), 1.0)
    assert encounters.rests_until("a", "0", 5.0) is None
    assert encounters.rests_until("a", "1", 5.0) == 6.0


def test_a_course_names_what_is_played() -> None:
    assert str(replace(COURSES[0])) == "tictactoe at 1+0"
