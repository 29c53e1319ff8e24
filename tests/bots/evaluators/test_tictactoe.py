from __future__ import annotations

from hypothesis import given

from arena.bots.evaluators import tictactoe
from arena.bots.evaluators.catalogue import evaluator_for
from arena.games.tictactoe import TicTacToe, TicTacToePosition
from tests.bots.search.problems import Case, tictactoe_cases


def test_features_of_tictactoe_by_hand() -> None:
    found = tictactoe.make_feature_function(TicTacToe())(TicTacToePosition("XX..O...."))
    assert dict(zip(tictactoe.FEATURE_NAMES, found, strict=True)) == {
        "open": 4 - 4,  # X: top, bottom, left, right; O: middle row, bottom, right, one diagonal
        "ones": 1 - 2,  # the left column; the middle row and the diagonal
        "twos": 1,
        "center": -1,
    }


@given(case=tictactoe_cases())
def test_tictactoe_is_fair(case: Case) -> None:
    cells = case.position.cells
    mirror = TicTacToePosition(cells.translate(str.maketrans("XO", "OX")))
    for name in ("plain", "features"):
        evaluate = evaluator_for(case.game, name)
        assert evaluate(case.position) == -evaluate(mirror)
