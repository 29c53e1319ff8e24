from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.core import AnyGame
from ladder.openings import BadOpenings, NoOpenings, Opening, RandomOpenings, random_opening, read_openings
from maps.setup import make_setup

GAMES = {name: make_setup(name) for name in ("tictactoe", "riskless", "hexapawn")}


def after(game: AnyGame, opening: Opening) -> object:
    position = game.start()
    for data in opening:
        position = game.play(position, game.move_from_data(data))
    return position


@settings(deadline=None)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 12), st.text(max_size=5))
def test_an_opening_is_legal_and_ends_nothing(name: str, plies: int, salt: str) -> None:
    game = GAMES[name]
    opening = random_opening(game, plies, salt)
    assert len(opening) <= plies
    assert game.outcome(after(game, opening)) is None
    assert opening == random_opening(game, plies, salt)
    if len(opening) < plies:
        last = after(game, opening)
        assert all(game.outcome(game.successor(last, move)) for move in game.moves(last))


@settings(deadline=None)
@given(st.sampled_from(["tictactoe", "riskless"]), st.integers())
def test_openings_differ_from_round_to_round(name: str, seed: int) -> None:
    openings = RandomOpenings([GAMES[name]], 6, seed)
    drawn = [openings.of(round, 0) for round in range(20)]
    assert len(set(map(repr, drawn))) == 20
    # Asked in another order, as when an event goes on, they are the same.
    assert RandomOpenings([GAMES[name]], 6, seed).of(19, 0) == drawn[19]


def test_when_all_have_been_played_they_come_again() -> None:
    openings = RandomOpenings([GAMES["tictactoe"]], 1, 0)
    drawn = [openings.of(round, 0) for round in range(30)]
    assert {move for (move,) in drawn} == set(range(9))


def test_each_map_has_its_own() -> None:
    openings = RandomOpenings([GAMES["riskless"], GAMES["riskless"]], 3, 0)
    assert [openings.of(r, 0) for r in range(5)] != [openings.of(r, 1) for r in range(5)]
    assert NoOpenings().of(3, 0) == ()


def test_the_same_on_every_machine() -> None:
    assert random_opening(GAMES["tictactoe"], 4, "1/0/0/0") == (6, 4, 2, 3)


def test_a_list_is_played_in_order_and_again(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("# the centre first\nb2, a1\n\n4, 8  # and a corner\n", encoding="utf-8")
    openings = read_openings(file, [GAMES["tictactoe"]])
    assert [openings.of(round, 0) for round in range(3)] == [(4, 0), (4, 8), (4, 0)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a1\na1, a1\n", "openings.txt, line 2: illegal move a1"),
        ("a1, z9", "line 1: "),
        ("a1, a2, b1, b2, c1", r"line 1: the game is over after these moves: maxie wins \(line\)"),
        ("# nothing\n", "there is no opening in it"),
    ],
)
def test_what_is_no_list(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadOpenings, match=why):
        read_openings(file, [GAMES["tictactoe"]])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadOpenings, match=r"none\.txt: No such file"):
        read_openings(tmp_path / "none.txt", [GAMES["tictactoe"]])
