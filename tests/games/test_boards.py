from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.basics import MAXIE, MINNIE
from arena.games.boards import Grid, Points, format_cell_marks

grids = st.builds(Grid, st.integers(1, 26), st.integers(1, 38), st.booleans(), st.booleans())


@given(grids)
def test_every_cell_has_a_name_of_its_own(grid: Grid) -> None:
    names = [grid.get_cell_name(cell) for cell in range(grid.cell_count)]
    assert len(set(names)) == grid.cell_count == grid.columns * grid.rows
    assert names[0] == "a1"


def test_a_grid_is_drawn_from_the_side_of_its_first_row() -> None:
    marks = format_cell_marks([MAXIE, "", "", MINNIE, "", "*"])
    assert Grid(3, 2).draw_text(marks).splitlines() == ["   a b c", " 1 X . .", " 2 O . *"]
    assert Grid(3, 2, a1_below=True).draw_text(marks).splitlines() == [" 2 O . *", " 1 X . .", "   a b c"]


@pytest.mark.parametrize(
    ("columns", "rows", "fault"),
    [
        (0, 1, "1 to 26 columns, not 0"),
        (27, 1, "1 to 26 columns, not 27"),
        (1, 0, "at least 1 row, not 0"),
        (26, 39, "at most 1000 squares, not 1014"),
    ],
)
def test_a_grid_is_bounded(columns: int, rows: int, fault: str) -> None:
    with pytest.raises(ValueError, match=f"a grid must have {fault}"):
        Grid(columns, rows)


def test_points_have_names_or_numbers() -> None:
    plain = Points(((0, 0), (1, 0), (0.5, 1)), ((0, 1), (1, 2)))
    named = Points(plain.places, plain.lines, ("left", "right", "below"))
    assert [plain.get_cell_name(cell) for cell in range(3)] == ["0", "1", "2"]
    assert [named.get_cell_name(cell) for cell in range(3)] == ["left", "right", "below"]
    assert named.draw_text(["", "X", ""]) == "+-------X\n      /\n    +"


def test_morris_is_drawn_with_its_lines() -> None:
    mill = Points(
        ((0, 0), (3, 0), (6, 0), (1, 1), (3, 1), (5, 1), (0, 3), (1, 3), (5, 3), (6, 3)),
        ((0, 1), (1, 2), (3, 4), (4, 5), (1, 4), (0, 6), (6, 7), (3, 7), (8, 9), (2, 9), (5, 8), (0, 3)),
    )
    assert mill.draw_text(["X", "", "O", *[""] * 7]).splitlines() == [
        "X-------+-------O",
        "| \\     |       |",
        "|   +---+---+   |",
        "|   |       |   |",
        "+---+       +---+",
    ]


def test_a_wide_board_of_points_is_written_as_a_list() -> None:
    wide = Points(tuple((number, 0) for number in range(40)))
    assert wide.draw_text(["", "X", *[""] * 38]) == "1: X"
    assert wide.draw_text([""] * 40) == "all points are empty"


@pytest.mark.parametrize(
    ("places", "lines", "names"),
    [
        ((), (), ()),
        (((0, 0),), ((0, 1),), ()),
        (((0, 0),), (), ("a", "b")),
        (((0, 0), (1, 1)), (), ("a", "a")),
    ],
)
def test_points_that_do_not_fit_together_are_refused(
    places: tuple[tuple[float, float], ...], lines: tuple[tuple[int, int], ...], names: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=r"board of points must|line must|different names"):
        Points(places, lines, names)
