"""Boards as numbers: there and back, and one that stands for all that look alike."""

from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import MAXIE, MINNIE
from arena.games.riskless import Armies, Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from arena.solved.boards import Boards, boards_of, seen_by_mover

RING = Boards.of(load_map("m1"))
boards = st.tuples(*[st.integers(-9, 9)] * 6)


def test_there_are_as_many_as_arithmetic_says() -> None:
    assert RING.count == 19**6
    assert Boards.of(load_map("path4")).count == 21**4


@given(boards)
def test_a_number_is_one_board(board: tuple[int, ...]) -> None:
    number = RING.number(board)
    assert 0 <= number < RING.count
    assert RING.board(number) == board


@given(boards, st.integers(0, 11))
def test_all_that_look_alike_have_one_representative(board: tuple[int, ...], which: int) -> None:
    symmetry = RING.symmetries[which]
    turned = tuple(board[symmetry[v]] for v in range(6))
    stands = RING.representative(board)
    assert RING.representative(turned) == stands <= RING.number(board)
    images = {tuple(board[each[v]] for v in range(6)) for each in RING.symmetries}
    assert RING.board(stands) in images


def test_the_opponent_sees_the_signs_turned() -> None:
    assert seen_by_mover(Armies((2, 0, -3), MAXIE, 0)) == (2, 0, -3)
    assert seen_by_mover(Armies((2, 0, -3), MINNIE, 1)) == (-2, 0, 3)


def test_the_order_of_roads_is_all_the_same() -> None:
    near = tuple(tuple(reversed(each)) for each in load_map("m1").neighbours)
    assert Boards(tuple(tuple(sorted(each)) for each in near), 9, 40) == RING


def test_only_riskless_has_boards() -> None:
    assert boards_of(Riskless(load_map("m1"))) == RING
    assert boards_of(TicTacToe()) is None
