from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE, make_game
from arena.games.core import Player
from arena.maps.game_on_map import make_game_on_map
from arena.match.replay import (
    compute_mean_cpu_ms_by_bot,
    has_player_moved,
    list_movers,
    summarize_record,
    verify_record,
)
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, RecordedMove, Result
from arena.protocol.values import Seat, Thinking
from tests.games.own import EXAMPLES, forget_games
from tests.match.recorded import random_record
from tests.properties import examples
from tests.server.matches import game_of, record
from tests.server.played import MAXIE_WINS, MINNIE_WINS, NOBODY_WINS


@pytest.mark.parametrize(
    ("moves", "winner", "reason"),
    [
        (MAXIE_WINS, "maxie", EndReason.LINE),
        (MINNIE_WINS, "minnie", EndReason.LINE),
        (NOBODY_WINS, None, EndReason.BOARD_FULL),
        ((4,), "maxie", EndReason.RESIGNATION),
        ((4,), "minnie", EndReason.RESIGNATION),
        ((4,), "maxie", EndReason.TIMEOUT),
        ((4, 0), "minnie", EndReason.ILLEGAL_MOVE),
        ((4, 0), "maxie", EndReason.DISCONNECT),
        ((), "minnie", EndReason.PROTOCOL_ERROR),
        ((), "minnie", EndReason.NO_SHOW),
        ((), None, EndReason.NO_SHOW),
        ((4,), None, EndReason.SERVER_FAULT),
        (MAXIE_WINS, None, EndReason.SERVER_FAULT),
    ],
)
def test_possible_results_are_accepted(
    moves: tuple[int, ...], winner: Seat | None, reason: EndReason
) -> None:
    verify_record(record(moves=moves, winner=winner, reason=reason))


@pytest.mark.parametrize(
    ("moves", "winner", "reason", "why"),
    [
        ((4, 4), "maxie", EndReason.RESIGNATION, "ply 1: illegal move"),
        ((4, "x"), "maxie", EndReason.RESIGNATION, "ply 1: no move of tictactoe"),
        (
            (*MAXIE_WINS, 8),
            "maxie",
            EndReason.LINE,
            "the record has a move at ply 5, but the match was over before this ply",
        ),
        (MAXIE_WINS, "minnie", EndReason.LINE, r"its moves say that maxie wins \(line\)"),
        (MAXIE_WINS, None, EndReason.BOARD_FULL, r"its moves say that maxie wins \(line\)"),
        (MAXIE_WINS, "maxie", EndReason.TIMEOUT, r"its moves say that maxie wins \(line\)"),
        ((4,), "maxie", EndReason.LINE, "the match is not over after 1 plies"),
        ((4,), "maxie", EndReason.ARMIES, "the match is not over after 1 plies"),
        ((4,), None, EndReason.TIMEOUT, "must have a winner"),
        ((4,), None, EndReason.RESIGNATION, "must have a winner"),
        ((4,), "minnie", EndReason.TIMEOUT, "it was minnie's turn"),
        ((4,), "minnie", EndReason.ILLEGAL_MOVE, "it was minnie's turn"),
        ((4,), "minnie", EndReason.NO_SHOW, "moves were played"),
        ((4,), "minnie", EndReason.SERVER_FAULT, "void"),
        ((4,), None, EndReason.ADJUDICATED, r"its adjudication rules \(none\)"),
    ],
)
def test_impossible_results_are_refused(
    moves: tuple[object, ...], winner: Seat | None, reason: EndReason, why: str
) -> None:
    with pytest.raises(BadRecord, match=why):
        verify_record(record(moves=moves, winner=winner, reason=reason))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"game": "chess"}, "no game is called"),
        ({"game": "riskless"}, "setup of the record is wrong"),
        ({"setup": {"size": 4}}, "setup of the record is wrong: the setup of tictactoe must be empty"),
        ({"time_control": "soon"}, "not a time control"),
    ],
)
def test_a_record_of_nothing_that_can_be_played_is_refused(change: dict[str, str], why: str) -> None:
    with pytest.raises(BadRecord, match=why):
        verify_record(replace(record(), **change))


@given(st.data())
def test_a_match_of_legal_moves_is_believed_and_a_longer_shorter_or_stolen_one_is_not(
    data: st.DataObject,
) -> None:
    game = game_of("riskless")
    position, moves = game.start(), list[object]()
    while (outcome := game.outcome(position)) is None:
        move = data.draw(st.sampled_from(game.moves(position)))
        moves.append(game.move_to_data(move))
        position = game.successor(position, move)
    winner: Seat | None = outcome.winner.value if outcome.winner else None
    match_record = record(moves=moves, winner=winner, reason=EndReason(outcome.reason_code), game="riskless")
    verify_record(match_record)
    twice = [*match_record.moves, RecordedMove(moves[-1], 1.0)]
    with pytest.raises(BadRecord, match="was over before this ply"):
        verify_record(replace(match_record, moves=twice))
    with pytest.raises(BadRecord):
        verify_record(replace(match_record, moves=match_record.moves[:-1]))
    other: Seat = "minnie" if winner == "maxie" else "maxie"
    with pytest.raises(BadRecord, match="its moves say that"):
        verify_record(replace(match_record, result=Result(other, match_record.result.reason)))


GAMES = {
    "tictactoe": make_game_on_map("tictactoe"),
    "path4": make_game_on_map("riskless", "path4"),
    "m1": make_game_on_map("riskless", "m1"),
}


@examples(40)
@given(
    st.sampled_from(sorted(GAMES)), st.integers(0, 2**32), st.none() | st.integers(0, 20), st.integers(0, 8)
)
def test_a_true_record_gives_its_positions(name: str, seed: int, plies: int | None, opening: int) -> None:
    record, positions = random_record(GAMES[name], seed, plies)
    opened = min(opening, len(record.moves) - 1)
    moves = [replace(each, opening=ply < opened) for ply, each in enumerate(record.moves)]
    replay = verify_record(replace(record, moves=moves))
    assert list(replay.positions) == positions
    assert replay.ply_count == len(record.moves)


def test_each_ply_is_described_with_its_figures() -> None:
    record, _ = random_record(GAMES["tictactoe"], 1)
    replay = verify_record(record)
    first = replay.game.move_to_text(record.moves[0].move)
    assert (
        replay.describe_move(1) == f"ply 0: maxie (one) plays {first}, 1.5 ms, depth 2, value 3, 1,234 nodes"
    )
    assert replay.describe_move(0) == f"match id: {summarize_record(record)}"
    assert "one (maxie) - two (minnie), tictactoe, 1/move: " in summarize_record(record)


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        ((4, 4), "the opening of the record is wrong: ply 1: illegal move b2: b2 is taken by X"),
        ((4, "x"), "the opening of the record is wrong: ply 1: a move of tictactoe must be"),
        (MAXIE_WINS, r"the opening of the record is wrong: it already ends the game \(line\)"),
    ],
)
def test_an_opening_that_nobody_could_play_from_is_refused(moves: tuple[Any, ...], why: str) -> None:
    opening = [RecordedMove(each, 0.0, opening=True) for each in moves]
    with pytest.raises(BadRecord, match=why):
        verify_record(replace(record(winner="maxie", reason=EndReason.LINE), moves=opening))


def test_a_no_show_has_moves_of_the_opening_only() -> None:
    opening = RecordedMove(4, 0.0, opening=True)
    absent = replace(record(winner="minnie", reason=EndReason.NO_SHOW), moves=[opening])
    assert verify_record(absent).ply_count == 1
    with pytest.raises(BadRecord, match="moves were played"):
        verify_record(replace(absent, moves=[opening, RecordedMove(0, 1.0)]))


@examples(10)
@given(st.integers(0, 1000))
def test_the_moves_of_a_game_whose_player_moves_again_are_those_of_that_player(seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        forget_games(patch)
        game = make_game(CATALOGUE.register_game(str(EXAMPLES / "dots.py")), {"columns": 2, "rows": 2})
        played, positions = random_record(game, seed)
        seats = [game.player(position) for position in positions[:-1]]
        assert list_movers(played) == seats
        assert any(a is b for a, b in pairwise(seats)), (
            "somebody closes a box before the end, and moves again"
        )
        spent = [{Player.MAXIE: 10.0, Player.MINNIE: 30.0}[seat] for seat in seats]
        moves = [
            replace(move, thinking=Thinking(cpu_ms=ms)) for move, ms in zip(played.moves, spent, strict=True)
        ]
        assert compute_mean_cpu_ms_by_bot([replace(played, moves=moves)]) == {"one": 10.0, "two": 30.0}


def test_a_player_who_made_a_move_of_its_own_has_moved() -> None:
    """Moves of the opening do not count, and a player who never had a turn did not fail to move."""
    opening = replace(record(), moves=[RecordedMove(cell, 0.0, opening=True) for cell in (4, 0)])
    late = Result("minnie", EndReason.TIMEOUT)
    assert [has_player_moved(replace(opening, result=late), player) for player in Player] == [False, None]
    moved = replace(
        opening, moves=[*opening.moves, RecordedMove(8, 1.0)], result=Result("maxie", EndReason.TIMEOUT)
    )
    assert [has_player_moved(moved, player) for player in Player] == [True, False]
    nobody = replace(opening, result=Result(None, EndReason.NO_SHOW))
    assert [has_player_moved(nobody, player) for player in Player] == [False, False]
