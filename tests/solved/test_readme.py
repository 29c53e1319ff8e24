"""maps/README.md agrees with the tables of the solved maps."""

from __future__ import annotations

from testkit.tools import skip_without

skip_without("numba")

from arena.solved.board_numbers import BoardNumbering  # noqa: E402
from arena.solved.folders import SHIPPED_TABLES_FOLDER  # noqa: E402
from arena.solved.solved_table import SolvedTable  # noqa: E402
from tests.solved.readme_table import BEGIN, CASES, END, README, make_row, replace_rows  # noqa: E402


def test_the_row_of_each_shipped_table_is_correct() -> None:
    text = README.read_text(encoding="utf-8")
    tables = {
        table.numbering: table for table in map(SolvedTable, sorted(SHIPPED_TABLES_FOLDER.glob("*.solved")))
    }
    shipped = [case for case in CASES if BoardNumbering.from_map(case.load()) in tables]
    assert len(shipped) == len(tables) > 2
    for case in shipped:
        loaded = case.load()
        assert f"{make_row(case.name, loaded, tables[BoardNumbering.from_map(loaded)])}\n" in text


def test_every_map_has_a_row_and_keeps_it_unless_it_is_solved_again() -> None:
    text = README.read_text(encoding="utf-8")
    assert replace_rows(text, {}) == text
    table = text[text.index(BEGIN) : text.index(END)]
    for case in CASES:
        assert table.count(f"\n| {case.name} | ") == 1
    mine = replace_rows(text, {"path4": "| path4 | 1 | nothing |"})
    assert mine.count("\n") == text.count("\n")
    assert "| path4 | 1 | nothing |" in mine
