"""Estimated memory and time for solving a map."""

from dataclasses import replace
from pathlib import Path

from arena.lab.solving.cost import (
    estimate_solving_cost,
    find_largest_territory_cap,
    measure_available_memory_bytes,
)
from arena.maps.loader import load_map
from arena.solved.board_numbers import BoardNumbering
from tests.lab.solving.maps import solve_to_table
from tests.solved.conftest import make_path_map


def test_the_cost_is_shown_before_solving(tmp_path: Path) -> None:
    boards = BoardNumbering.from_map(load_map("m1"))
    cost = estimate_solving_cost(boards)
    assert cost.peak_memory_bytes > 2 * boards.board_count
    assert cost.estimate_seconds(1) > cost.estimate_seconds(2) > 2
    stand = {
        boards.find_representative_number(boards.decode_board(number))
        for number in range(0, boards.board_count, 4999)
    }
    assert len(stand) <= cost.representative_count < boards.board_count // 11
    small_boards = BoardNumbering.from_map(make_path_map())
    every = {
        small_boards.find_representative_number(small_boards.decode_board(n))
        for n in range(small_boards.board_count)
    }
    assert estimate_solving_cost(small_boards).representative_count == len(every)
    assert solve_to_table(make_path_map(), tmp_path).header.totals.open < small_boards.board_count


def test_the_largest_cap_that_fits() -> None:
    boards = BoardNumbering.from_map(load_map("m2"))
    assert find_largest_territory_cap(boards, 10**9) == 1
    assert find_largest_territory_cap(boards, 10**6) is None
    eight = BoardNumbering.from_map(load_map("ring:8"))
    largest = find_largest_territory_cap(eight, 4 * 10**9)
    assert largest is not None
    assert (
        estimate_solving_cost(replace(eight, territory_cap=largest)).peak_memory_bytes
        <= 4 * 10**9
        < estimate_solving_cost(replace(eight, territory_cap=largest + 1)).peak_memory_bytes
    )


def test_the_control_group_limits_the_available_memory(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  900 kB\nMemAvailable:     500 kB\n")
    assert measure_available_memory_bytes(meminfo, tmp_path) == 500 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert measure_available_memory_bytes(meminfo, tmp_path) == 500 * 1024
    (tmp_path / "memory.max").write_text("101000\n")
    assert measure_available_memory_bytes(meminfo, tmp_path) == 100_000
    (tmp_path / "memory.max").write_text("900\n")
    assert measure_available_memory_bytes(meminfo, tmp_path) == 0


def test_half_of_the_memory_is_assumed_if_the_system_reports_none(tmp_path: Path) -> None:
    assert measure_available_memory_bytes(tmp_path / "none", tmp_path) > 1 << 26
    assert measure_available_memory_bytes() > 1 << 20
