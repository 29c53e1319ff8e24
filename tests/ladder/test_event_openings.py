from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.core import AnyGame
from arena.games.tictactoe import TicTacToe, TicTacToePosition
from arena.ladder.event_openings import (
    ListedOpenings,
    RandomOpenings,
    load_shipped_openings,
)
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import load_map
from arena.maps.openings_file import BadOpenings, compute_map_fingerprint, read_openings

GAMES = {name: make_game_on_map(name) for name in ("tictactoe", "riskless", "hexapawn")}


@settings(deadline=None)
@given(st.sampled_from(["tictactoe", "riskless"]), st.integers())
def test_openings_differ_from_round_to_round(name: str, seed: int) -> None:
    openings = RandomOpenings([GAMES[name]], 6, seed)
    drawn_openings = [openings.get_opening(round, 0) for round in range(20)]
    assert len(set(map(repr, drawn_openings))) == 20
    # The openings do not depend on the order of the calls, which differs when an event is resumed.
    assert RandomOpenings([GAMES[name]], 6, seed).get_opening(19, 0) == drawn_openings[19]


def test_openings_repeat_after_all_have_been_played() -> None:
    openings = RandomOpenings([GAMES["tictactoe"]], 1, 0)
    drawn_openings = [openings.get_opening(round, 0) for round in range(30)]
    assert {move for (move,) in drawn_openings} == set(range(9))


def test_a_game_that_has_few_is_not_searched_for_others_again_and_again() -> None:
    calls: list[int] = []

    class Counted(TicTacToe):
        def start(self) -> TicTacToePosition:
            calls.append(1)
            return super().start()

    openings = RandomOpenings([cast("AnyGame", Counted())], 1, 0)
    openings.get_opening(100, 0)
    before = len(calls)
    openings.get_opening(200, 0)
    assert len(calls) - before == 100


def test_each_map_has_its_own() -> None:
    openings = RandomOpenings([GAMES["riskless"], GAMES["riskless"]], 3, 0)
    assert [openings.get_opening(r, 0) for r in range(5)] != [openings.get_opening(r, 1) for r in range(5)]
    assert ListedOpenings().get_opening(3, 0) == ()


def test_the_same_on_every_machine() -> None:
    assert RandomOpenings([GAMES["tictactoe"]], 4, 1).get_opening(0, 0) == (6, 4, 2, 3)


def test_a_list_is_played_in_order_and_again(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("# the centre first\nb2, a1\n\n4, 8  # and a corner\n", encoding="utf-8")
    openings = ListedOpenings(read_openings(file, [GAMES["tictactoe"]]))
    assert [openings.get_opening(round, 0) for round in range(3)] == [(4, 0), (4, 8), (4, 0)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a1\na1, a1\n", "openings.txt, line 2: illegal move a1"),
        ("a1, z9", "line 1: "),
        ("a1, a2, b1, b2, c1", r"line 1: the moves end the game \(maxie wins \(line\)\)"),
        ("# nothing\n", "must contain at least one opening"),
    ],
)
def test_an_invalid_list_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadOpenings, match=why):
        read_openings(file, [GAMES["tictactoe"]])


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadOpenings, match=r"none\.txt: No such file"):
        read_openings(tmp_path / "none.txt", [GAMES["tictactoe"]])


def test_built_in_openings_are_played_in_an_order_by_the_seed() -> None:
    maps = ["m2", "path4", "ring:5", "m1"]
    games = [make_game_on_map("riskless", name) for name in maps]
    orders = [load_shipped_openings(maps, games, seed) for seed in (1, 2, 1)]
    assert orders[0].openings_by_start_position == orders[2].openings_by_start_position
    for start, brings in enumerate([True, False, False, True]):
        one, other = (orders[number].openings_by_start_position[start] for number in (0, 1))
        assert (one != other) is brings
        assert sorted(map(repr, one)) == sorted(map(repr, other))
        assert (one == [()]) is not brings
    assert load_shipped_openings(["m2"], [GAMES["tictactoe"]], 1).get_opening(5, 0) == ()


def test_a_file_says_for_which_map_it_was_made(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    m1, m2 = (make_game_on_map("riskless", name) for name in ("m1", "m2"))
    lines = "# mine\nfingerprint: {}\n15 11\n"
    file.write_text(lines.format(compute_map_fingerprint(load_map("m2"))), encoding="utf-8")
    assert ListedOpenings(read_openings(file, [m2])).get_opening(0, 0) == ([15, 11],)
    for games, why in (
        ([m1], "mine.txt: made for another map"),
        ([m2, m1], "made for another map than m1"),
        ([GAMES["tictactoe"]], "mine.txt: these openings are for riskless, not for tictactoe"),
    ):
        with pytest.raises(BadOpenings, match=why):
            read_openings(file, games)
    file.write_text(lines.format("much longer than a fingerprint " * 9), encoding="utf-8")
    with pytest.raises(BadOpenings, match="made for another map"):
        read_openings(file, [m2])
    file.write_text("fingerprint: 12\n# no more\n", encoding="utf-8")
    with pytest.raises(BadOpenings, match="made for another map"):
        read_openings(file, [m2])
