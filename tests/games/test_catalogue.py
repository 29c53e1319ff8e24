from __future__ import annotations

import pytest

from games.catalogue import GAMES, make_game
from games.core import BadData, Game, UnknownGame
from maps.loader import load_map


def test_every_game_is_under_its_own_name() -> None:
    assert {"riskless", "tictactoe"} <= set(GAMES)
    for name, game in GAMES.items():
        assert game.name == name
        assert issubclass(game, Game)


def test_a_game_is_made_from_its_setup() -> None:
    setup = load_map("m1").to_data()
    game = make_game("riskless", setup)
    assert (game.name, game.setup()) == ("riskless", setup)
    assert make_game("tictactoe", {}).name == "tictactoe"


@pytest.mark.parametrize("name", ["chess", "", "Riskless", "x" * 1000])
def test_an_unknown_game_lists_the_games(name: str) -> None:
    with pytest.raises(UnknownGame, match="riskless, tictactoe") as unknown:
        make_game(name, {})
    assert len(str(unknown.value)) < 200


def test_a_setup_of_another_game_is_bad_data() -> None:
    with pytest.raises(BadData, match="territories: must be a list"):
        make_game("riskless", {})
    with pytest.raises(BadData, match="the setup of tictactoe is empty"):
        make_game("tictactoe", load_map("m1").to_data())
