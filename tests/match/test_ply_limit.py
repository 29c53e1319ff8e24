"""The ply limit of games whose rules do not end every match."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.bots.learning.matches import play_match
from arena.match.replay import verify_record
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Result
from tests.games.own import nim


def test_a_match_is_a_draw_at_the_limit_of_its_game_and_its_record_is_held_to_that(tmp_path: Path) -> None:
    file = nim(tmp_path, ('name = "nim"', 'name = "short-nim"\n    ply_limit = 2'))
    record = play_match("random", "random", f"{file}:Nim")
    assert (record.result.winner, record.result.reason) == (None, EndReason.PLY_LIMIT)
    assert len(record.moves) == 2
    verify_record(record)
    with pytest.raises(BadRecord, match="ply_limit"):
        verify_record(replace(record, result=Result("maxie", EndReason.LINE)))
    shorter = replace(record, moves=record.moves[:1])
    with pytest.raises(BadRecord, match="the match is not over after 1 plies"):
        verify_record(shorter)
