from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.evaluators.linear import BadWeights
from arena.bots.evaluators.outcomes import (
    CERTAIN_WIN_ESTIMATE,
    compute_expected_outcome,
    format_outcomes_file,
    load_outcome_counts,
    make_category_function,
)
from arena.games.core import Player
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe, TicTacToePosition
from arena.maps.loader import load_map


def test_the_example_of_the_lecture() -> None:
    assert compute_expected_outcome((5, 4, 1)) == pytest.approx(0.4)


def test_the_value_of_a_position_is_the_mean_result_of_its_category(tmp_path: Path) -> None:
    file = tmp_path / "mine-outcomes.toml"
    game = TicTacToe()
    board = TicTacToePosition("XX..O....")  # it is O's turn; X has more open lines with two marks
    category_of = make_category_function(game)
    file.write_text(format_outcomes_file(["made by hand"], {category_of(board): (1, 4, 5)}), encoding="utf-8")
    evaluate = evaluator_for(game, str(file))
    assert evaluate(board) == round(0.4 * CERTAIN_WIN_ESTIMATE), "good for Maxie, who is not to move"
    assert evaluate(game.start()) == 0, "nothing is known of it"


def test_positions_equal_for_both_players_share_a_category() -> None:
    game = Riskless(load_map("m1"))
    category_of = make_category_function(game)
    armies = (3, 0, -2, 5, 0, -1)
    mirror = RisklessPosition(tuple(-n for n in armies), Player.MINNIE, 4)
    assert category_of(RisklessPosition(armies, Player.MAXIE, 4)) == category_of(mirror)
    evaluate = evaluator_for(game, "outcomes")
    assert evaluate(RisklessPosition(armies, Player.MAXIE, 4)) == -evaluate(mirror)


@pytest.mark.parametrize("game", [Riskless(load_map("m1")), TicTacToe()], ids=lambda game: game.name)
def test_the_projects_outcomes_prefer_the_player_ahead(game: Any) -> None:
    evaluate = evaluator_for(game, "outcomes")
    if isinstance(game, Riskless):
        ahead: object = RisklessPosition((9, 9, 9, 0, 0, -1), Player.MINNIE, 4)
    else:
        ahead = TicTacToePosition("X...X.O..")
    assert evaluate(ahead) > 0


def test_a_game_without_categories() -> None:
    with pytest.raises(BadSpec, match="supports only riskless and tictactoe, not hexapawn"):
        evaluator_for(Hexapawn(), "outcomes")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("x", "not valid TOML"),
        ("x = 1", "outcomes.toml:1: x: unknown key"),
        ("[outcomes]\nx = [1, 2, 3]", "outcomes.toml:2: outcomes.x: the key must be whole numbers"),
        (
            '[outcomes]\n"1 2" = [1, 2]',
            "outcomes.toml:2: outcomes.1 2: must be the numbers of wins, draws and losses",
        ),
        ('[outcomes]\n"1 2" = [0, 0, 0]', "the numbers of wins, draws and losses"),
        ('[outcomes]\n"1 2" = [1, true, 0]', "the numbers of wins, draws and losses"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "outcomes.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match=why):
        load_outcome_counts(file)
    with pytest.raises(BadWeights, match=r"nowhere\.toml: No such file"):
        load_outcome_counts(tmp_path / "nowhere.toml")
