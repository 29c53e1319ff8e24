from __future__ import annotations

import pytest

from arena.bots.commands.lookup import load_engine, load_tree_game
from arena.console import UsageError
from arena.games.riskless import Riskless
from tests.bots.command_line import arena


def test_an_engine_keeps_the_spec_that_named_it() -> None:
    assert load_engine("random:seed=3").spec == "random:seed=3"


@pytest.mark.parametrize("spec", ["nobody", "random:seed=x", "nowhere.py"])
def test_an_invalid_spec_is_reported_in_one_line_with_exit_code_2(spec: str) -> None:
    with pytest.raises(UsageError) as raised:
        load_engine(spec)
    assert "\n" not in str(raised.value)


def test_a_map_and_a_game_are_trees_where_no_tree_has_their_name() -> None:
    game = load_tree_game("path4")
    assert isinstance(game, Riskless)
    assert game.map.name == "path4"
    assert load_tree_game("intro").name == "explicit"
    assert load_tree_game("tictactoe").name == "tictactoe"
    with pytest.raises(
        UsageError, match=r"no tree is called 'x': .*, or give the name of a Riskless map or of a game"
    ):
        load_tree_game("x")


def test_hexapawn_of_any_size() -> None:
    words = ("stack-memo", "--depth", "20", "--summary")
    assert "Minnie wins in 6" in arena("trace", "hexapawn", *words).stdout
    assert "Maxie wins in" in arena("trace", "hexapawn:width=4,height=4", *words).stdout
