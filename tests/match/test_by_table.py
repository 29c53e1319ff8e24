"""Matches that the adjudication rule `table` ends, and their records."""

from __future__ import annotations

from itertools import product
from typing import cast

import pytest
from msgspec.structs import replace

from arena.games.core import MINNIE, AnyGame, Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from arena.match.adjudication import Adjudicator, explain_missing_tablebase
from arena.match.replay import verify_record
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record
from arena.solved.solution import load_solution
from arena.solved.solved_value import SolvedResult
from tests.server.matches import record

PATH = Riskless(load_map("path4"))
ANY, OTHER, WORLD = (cast("AnyGame", game) for game in (PATH, TicTacToe(), Riskless(load_map("world"))))
RULES = Adjudication(table=True, repetition=3)


def test_a_forced_win_ends_the_match() -> None:
    judge = Adjudicator(RULES, ANY)
    verdict = judge.adjudicate_position(PATH.start(), [])
    assert verdict is not None
    assert verdict.winner is MINNIE
    assert verdict.detail == "table: minnie forces a win in 16 plies"


def test_the_winner_follows_from_the_exact_value_for_the_player_to_move() -> None:
    solution = load_solution(PATH)
    assert solution is not None
    boards = map(solution.table.numbering.decode_board, range(solution.table.numbering.board_count))
    winners: set[Player | None] = set()
    for board, player in product(filter(any, boards), Player):
        position = RisklessPosition(board, player, 0)
        if PATH.outcome(position) is None:
            verdict = Adjudicator(RULES, ANY).adjudicate_position(position, [])
            expected = {
                SolvedResult.WIN: player,
                SolvedResult.DRAW: None,
                SolvedResult.LOSS: player.opponent,
            }
            winner = verdict.winner if verdict else None
            assert winner is expected[solution.probe_position(position).result]
            winners.add(winner)
    assert winners == {Player.MAXIE, Player.MINNIE, None}


@pytest.mark.parametrize("rules", [Adjudication(), Adjudication(repetition=3, limit=9, win=500)])
def test_without_the_rule_a_forced_win_ends_nothing(rules: Adjudication) -> None:
    assert Adjudicator(rules, ANY).adjudicate_position(PATH.start(), []) is None


def test_a_win_that_the_ply_limit_cuts_off_is_no_win() -> None:
    late = PATH.start()._replace(ply=PATH.map.ply_limit - 15)
    assert Adjudicator(RULES, ANY).adjudicate_position(late, []) is None
    in_time = PATH.start()._replace(ply=PATH.map.ply_limit - 16)
    assert Adjudicator(RULES, ANY).adjudicate_position(in_time, []) is not None


def ended_by_table() -> Record:
    ended = record(moves=[[0, 1]], winner="minnie", reason=EndReason.ADJUDICATED, game="riskless")
    detail = "table: minnie forces a win in 15 plies"
    return replace(ended, setup=PATH.setup(), adjudication=RULES, result=replace(ended.result, detail=detail))


def test_a_record_that_ends_by_the_table_is_checked() -> None:
    ended = ended_by_table()
    verify_record(ended)
    with pytest.raises(BadRecord, match="its moves say that"):
        verify_record(replace(ended, result=replace(ended.result, winner="maxie")))
    with pytest.raises(BadRecord, match="do not end it"):
        verify_record(replace(ended, adjudication=Adjudication(repetition=3)))


def test_a_record_without_its_table_names_the_missing_table() -> None:
    ended = ended_by_table()
    setup = {**ended.setup, "armies_to_win": 23}
    with pytest.raises(BadRecord, match="create it with `arena solve path4`"):
        verify_record(replace(ended, setup=setup))


def test_an_unusable_table_rule_is_reported() -> None:
    assert explain_missing_tablebase(RULES, ANY) is None
    assert explain_missing_tablebase(Adjudication(limit=9), OTHER) is None
    assert explain_missing_tablebase(None, OTHER) is None
    assert "arena solve world" in str(explain_missing_tablebase(RULES, WORLD))
    assert "tictactoe" in str(explain_missing_tablebase(RULES, OTHER))
