"""The verifier agrees with the solver, and finds every wrong value in a table."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import MAXIE
from arena.games.riskless import RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.lab.solving.verify import verify_table
from arena.solved.header import encode_header
from arena.solved.solved_table import SolvedTable
from arena.solved.solved_value import SolvedResult, SolvedValue
from arena.solved.zstandard import zstd
from tests.lab.solving.maps import MAPS, Endless, solve_to_table
from tests.solved.conftest import make_path_map


@pytest.mark.parametrize("map", MAPS, ids=lambda each: each.name)
def test_the_verifier_agrees_and_counts_the_same(map: RisklessMap, tmp_path: Path) -> None:
    table = solve_to_table(map, tmp_path)
    replay = verify_table(table, 2, lambda _done, _total: None)
    assert replay.code_mismatch is None
    assert replay.header_errors == []
    assert replay.board_counts == table.header.totals
    totals = table.header.totals
    assert totals.open == totals.won + totals.lost + totals.drawn
    longest = table.numbering.decode_board(table.header.longest_board)
    assert table.probe_board(longest) == SolvedValue(SolvedResult.WIN, table.header.longest)


def test_the_verifier_finds_every_wrong_value(tmp_path: Path) -> None:
    table = solve_to_table(make_path_map(), tmp_path)
    right = table.read_block(0)
    numbers = [
        number
        for number, board in enumerate(map(table.numbering.decode_board, range(table.numbering.board_count)))
        if table.numbering.find_representative_number(board) == number
        and Endless(make_path_map()).outcome(RisklessPosition(board, MAXIE, 0)) is None
        and any(board)
    ]
    assert len(numbers) > 50
    rng = Random(3)
    for number in numbers:
        codes = bytearray(right)
        codes[number] = rng.choice([code for code in (0, *range(4, 12)) if code != codes[number]])
        block = zstd.compress(bytes(codes), 1)
        path = tmp_path / "wrong.solved"
        path.write_bytes(encode_header(table.header, [block]) + block)
        replay = verify_table(SolvedTable(path), 1, lambda _done, _total: None)
        assert replay.code_mismatch is not None, table.numbering.decode_board(number)


def test_the_verifier_finds_a_false_statement_of_the_header(tmp_path: Path) -> None:
    table = solve_to_table(make_path_map(), tmp_path)
    totals = msgspec.structs.replace(table.header.totals, won=0)
    header = msgspec.structs.replace(table.header, totals=totals, longest=1)
    block = zstd.compress(table.read_block(0), 1)
    path = tmp_path / "false.solved"
    path.write_bytes(encode_header(header, [block]) + block)
    replay = verify_table(SolvedTable(path), 1, lambda _done, _total: None)
    assert replay.code_mismatch is None
    assert len(replay.header_errors) == 2


@given(st.integers(2, 5), st.integers(1, 3), st.data())
def test_the_verifier_finds_no_fault_in_solved_random_maps(size: int, cap: int, data: st.DataObject) -> None:
    roads = {(v, data.draw(st.integers(0, v - 1))) for v in range(1, size)}
    roads |= data.draw(st.sets(st.sampled_from([(v, w) for v in range(size) for w in range(v)])))
    near = tuple(tuple(w for w in range(size) if {(v, w), (w, v)} & roads) for v in range(size))
    goal = data.draw(st.integers(2, size * cap))
    start = (1, *[0] * (size - 2), -1)
    map = RisklessMap(
        "drawn", tuple(make_territory_names(size)), near, cap, goal, 9, start, ((0.0, 0.0),) * size
    )
    with tempfile.TemporaryDirectory() as folder:
        replay = verify_table(solve_to_table(map, Path(folder)), 1, lambda _done, _total: None)
    assert replay.code_mismatch is None
    assert replay.header_errors == []


def make_territory_names(size: int) -> list[str]:
    return [chr(ord("a") + v) for v in range(size)]
