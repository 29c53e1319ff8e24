"""Numbers of boards, automorphisms of a map, and representatives of symmetric boards."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import MAXIE, MINNIE
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from arena.maps.generators import make_grid_map, make_ring_map
from arena.maps.loader import load_map
from arena.solved.board_numbers import (
    MAX_BOARD_SYMMETRIES,
    BoardNumbering,
    find_automorphisms,
    find_board_numbering,
    make_board_for_mover,
)

RING = BoardNumbering.from_map(load_map("m1"))
boards = st.tuples(*[st.integers(-9, 9)] * 6)


def compute_number(board: tuple[int, ...]) -> int:
    """Return the number of a board of RING: its digits are the numbers of armies plus 9, in base 19."""
    number = 0
    for armies in board:
        number = 19 * number + armies + 9
    return number


def test_the_number_of_boards_is_a_power_of_the_base() -> None:
    assert RING.board_count == 19**6
    assert BoardNumbering.from_map(load_map("path4")).board_count == 21**4


@given(boards)
def test_a_number_is_one_board(board: tuple[int, ...]) -> None:
    number = compute_number(board)
    assert 0 <= number < RING.board_count
    assert RING.decode_board(number) == board


@given(boards, st.integers(0, 11))
def test_symmetric_boards_have_the_same_representative(board: tuple[int, ...], which: int) -> None:
    symmetry = RING.symmetries[which]
    turned = tuple(board[symmetry[v]] for v in range(6))
    stands = RING.find_representative_number(board)
    assert RING.find_representative_number(turned) == stands <= compute_number(board)
    images = {tuple(board[each[v]] for v in range(6)) for each in RING.symmetries}
    assert RING.decode_board(stands) in images


def test_the_opponents_board_has_opposite_signs() -> None:
    assert make_board_for_mover(RisklessPosition((2, 0, -3), MAXIE, 0)) == (2, 0, -3)
    assert make_board_for_mover(RisklessPosition((2, 0, -3), MINNIE, 1)) == (-2, 0, 3)


def test_the_order_of_roads_does_not_matter() -> None:
    near = tuple(tuple(reversed(each)) for each in load_map("m1").neighbours)
    assert BoardNumbering(tuple(tuple(sorted(each)) for each in near), 9, 40) == RING


def test_only_riskless_has_boards() -> None:
    assert find_board_numbering(Riskless(load_map("m1"))) == RING
    assert find_board_numbering(TicTacToe()) is None


@pytest.mark.parametrize(
    ("map", "group"),
    [("path4", 2), ("m1", 12), ("ring:7", 14), ("ring:8", 16), ("grid:2x4", 4), ("grid:3x3", 8)],
)
def test_the_groups_of_known_graphs(map: str, group: int) -> None:
    assert len(find_automorphisms(load_map(map).neighbours)) == group


@st.composite
def graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    size = draw(st.integers(2, 6))
    pairs = [(v, w) for v in range(size) for w in range(v)]
    chosen = draw(st.sets(st.sampled_from(pairs)))
    return tuple(tuple(w for w in range(size) if (v, w) in chosen or (w, v) in chosen) for v in range(size))


@given(graphs())
def test_automorphisms_are_all_permutations_that_keep_the_roads(graph: tuple[tuple[int, ...], ...]) -> None:
    roads = {(v, w) for v, near in enumerate(graph) for w in near}
    every = [
        each for each in permutations(range(len(graph))) if {(each[v], each[w]) for v, w in roads} == roads
    ]
    assert list(find_automorphisms(graph)) == every


def test_a_group_that_is_too_large_is_replaced_by_a_subgroup() -> None:
    size = 9
    complete = tuple(tuple(w for w in range(size) if w != v) for v in range(size))
    found = set(find_automorphisms(complete))
    assert len(found) == factorial(7) <= MAX_BOARD_SYMMETRIES < factorial(8)
    some = sorted(found)[:: len(found) // 40]
    assert all(tuple(one[v] for v in two) in found for one in some for two in some)


def test_the_automorphisms_of_a_long_ring_are_found_fast() -> None:
    assert len(find_automorphisms(make_ring_map(200).neighbours)) == 400
    assert len(find_automorphisms(make_grid_map(20, 10).neighbours)) == 4
