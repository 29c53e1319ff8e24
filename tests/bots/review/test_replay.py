"""bots.review.replay: records whose moves and results are true, and others."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from bots.review.replay import read_records, replayed, summary
from games.core import AnyGame
from maps.setup import make_setup
from protocol.codes import EndReason
from protocol.messages import Players, Thinking
from protocol.record import FORMAT, BadRecord, Record, RecordedMove, Result, to_line

GAMES = {
    "tictactoe": make_setup("tictactoe"),
    "path4": make_setup("riskless", "path4"),
    "m1": make_setup("riskless", "m1"),
}


def recorded(game: AnyGame, seed: int = 0, plies: int | None = None) -> tuple[Record, list[Any]]:
    """A match of random moves, to its end or resigned after so many plies, and its positions."""
    rng, positions = Random(seed), [game.start()]
    moves: list[RecordedMove] = []
    while (outcome := game.outcome(positions[-1])) is None and len(moves) != plies:
        move = rng.choice(game.moves(positions[-1]))
        moves.append(RecordedMove(game.move_to_data(move), 1.5, Thinking(depth=2, value=3.0, nodes=1234)))
        positions.append(game.play(positions[-1], move))
    if outcome is None:
        result = Result("maxie", EndReason.RESIGNATION, "")
    else:
        winner: Any = outcome.winner.value if outcome.winner else None
        result = Result(winner, EndReason.named(outcome.reason.value), "")
    players = Players("one", "two")
    record = Record(FORMAT, "id", "test", game.name, game.setup(), players, "1/move", "now", moves, result)
    return record, positions


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 2**32), st.none() | st.integers(0, 20))
def test_a_true_record_gives_its_positions(name: str, seed: int, plies: int | None) -> None:
    record, positions = recorded(GAMES[name], seed, plies)
    played = replayed(record)
    assert list(played.positions) == positions
    assert played.plies == len(record.moves)


def test_each_ply_is_told_with_its_figures() -> None:
    record, _ = recorded(GAMES["tictactoe"], 1)
    played = replayed(record)
    first = played.game.move_to_text(record.moves[0].move)
    assert played.told(1) == f"ply 0: maxie (one) plays {first}, 1.5 ms, depth 2, value 3, 1,234 nodes"
    assert played.told(0) == f"match id: {summary(record)}"
    assert "one (maxie) - two (minnie), tictactoe, 1/move: " in summary(record)


def changed(**fields: Any) -> Record:
    return structs.replace(recorded(GAMES["tictactoe"], 3)[0], **fields)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (changed(game="chess"), "its setup is wrong: no game is called 'chess'"),
        (changed(setup={"size": 4}), "its setup is wrong: the setup of tictactoe is empty"),
        (changed(moves=[RecordedMove(4, 1), RecordedMove(4, 1)]), "ply 1: illegal move b2: b2 is taken by X"),
        (changed(moves=[RecordedMove("b2", 1)]), "ply 0: a move of tictactoe must be a whole number"),
        (changed(moves=[]), "but after 0 plies nothing is decided"),
        (
            changed(result=Result(None, EndReason.BOARD_FULL)),
            "it says that nobody wins by board_full, but its moves say:",
        ),
        (
            changed(result=Result("maxie", EndReason.TIMEOUT)),
            "it says that maxie wins by timeout, but its moves say:",
        ),
    ],
)
def test_what_is_not_true_is_told(record: Record, told: str) -> None:
    with pytest.raises(BadRecord) as error:
        replayed(record)
    assert told in str(error.value)


@pytest.mark.parametrize("reason", [EndReason.TIMEOUT, EndReason.DISCONNECT, EndReason.SERVER_FAULT])
def test_a_match_may_end_in_mid_game_by_what_no_game_knows(reason: EndReason) -> None:
    record = changed(moves=[RecordedMove(4, 1)], result=Result("minnie", reason))
    assert replayed(record).plies == 1


def test_a_file_is_read_with_its_line_numbers(tmp_path: Path) -> None:
    record, _ = recorded(GAMES["path4"])
    file = tmp_path / "records.jsonl"
    file.write_text(f"{to_line(record)}\n\n{to_line(record)}\n")
    assert list(read_records(file)) == [(1, record), (3, record)]
    file.write_text(f"{to_line(record)}\nnonsense\n")
    with pytest.raises(BadRecord, match=r"records\.jsonl, line 2: "):
        list(read_records(file))
