"""Qualities of the moves of a match, from the solution table of its map."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from arena.match.replay import verify_record
from arena.protocol.record import format_record_line
from arena.server.web.store_data import judge_moves_by_solved_table
from arena.solved.move_quality import MoveQuality
from arena.solved.solution import load_solution
from tests.ladder.reports.test_blunders import count_by_comparison, make_record


def test_each_move_on_a_solved_map_has_its_quality() -> None:
    record = make_record("path4", 30)
    qualities = judge_moves_by_solved_table(format_record_line(record))
    assert qualities is not None
    assert len(qualities) == len(record.moves)
    assert sum(each.quality is not MoveQuality.KEPT for each in qualities) == sum(
        count_by_comparison(record).values()
    )
    replayed = verify_record(record)
    solution = load_solution(replayed.game)
    assert solution is not None
    assert [each.value_after for each in qualities] == [
        str(solution.probe_position(each)) for each in replayed.positions[1:]
    ]


@pytest.mark.parametrize("map", ["world", "m2"])
def test_a_map_without_a_table_has_no_move_qualities(map: str) -> None:
    assert judge_moves_by_solved_table(format_record_line(make_record(map, 4))) is None


def test_an_invalid_record_has_no_move_qualities() -> None:
    record = make_record("path4", 4)
    assert judge_moves_by_solved_table(format_record_line(replace(record, moves=record.moves[1:]))) is None
    assert judge_moves_by_solved_table("no record") is None
