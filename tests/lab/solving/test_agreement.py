"""The reference search held against a table: they agree, and where the table is wrong they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.lab.solving.agreement import PART, compare, compare_part
from arena.maps.loader import load_map
from arena.solved.header import encode
from arena.solved.table import Table, packed
from tests.lab.solving.maps import solved
from tests.solved.conftest import path_map

ROOT = Path(__file__).parents[4]
PROGRAM = """
import sys
from arena.lab.solving.agreement import PART, compare
from arena.maps.loader import load_map
from arena.solved.boards import Boards
from arena.solved.folders import open_table
if __name__ == "__main__":
    map, told = load_map("path4"), []
    table, count = open_table(Boards.of(map)), 2 * PART + 20
    found = compare(map, table, boards=count, depth=2, seed=1, processes=int(sys.argv[1]), advance=told.append)
    assert found.differ == () and told[-1] == count
    print(found.boards)
"""


@pytest.mark.parametrize(
    ("map", "boards", "depth"),
    [
        ("path4", PART + 50, 5),
        pytest.param("m1", 2_000, 4, marks=[pytest.mark.soak, pytest.mark.timeout(300)]),
    ],
)
def test_the_reference_search_agrees_as_deep_as_it_reaches(
    map: str, boards: int, depth: int, tmp_path: Path
) -> None:
    table = solved(load_map(map), tmp_path)
    told: list[int] = []
    found = compare(
        load_map(map), table, boards=boards, depth=depth, seed=7, processes=1, advance=told.append
    )
    assert found.differ == ()
    assert found.boards == boards == told[-1]
    assert 0 < found.decided < boards


@pytest.mark.soak
def test_several_processes_ask_of_the_same_boards() -> None:
    """In a program of its own, since the processes leave one behind that ends with their parent."""
    told = [
        subprocess.run(
            [sys.executable, "-P", "-c", PROGRAM, str(processes)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for processes in (1, 2)
    ]
    assert told[0] == told[1] == f"{2 * PART + 20}\n"


def test_the_boards_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    map = path_map()
    table = solved(map, tmp_path)
    one, same, other = (compare_part(map, table.path, 40, 2, seed) for seed in ("1 0", "1 0", "2 0"))
    assert one == same != other


def test_a_wrong_value_is_found_whichever_way_it_is_wrong(tmp_path: Path) -> None:
    """A win told as a draw, a draw as a win, and one with other plies."""
    map = path_map()
    table = solved(map, tmp_path)
    right = table.block(0)
    for wrong in (lambda code: 0 if code else 5, lambda code: code + 4 if code > 3 else code):
        block = packed(bytes(wrong(code) for code in right), 1)
        path = tmp_path / "wrong.solved"
        path.write_bytes(encode(table.header, [block]) + block)
        found = compare_part(map, Table(path).path, 60, 3, "1 0")
        assert found.differ
        assert len(found.differ) <= found.boards == 60
