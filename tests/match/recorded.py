"""Records of matches of random moves."""

from __future__ import annotations

from typing import Any

from arena.games.core import AnyGame
from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Thinking
from tests.games.setups import MAX_PLIES, random_match


def random_record(game: AnyGame, seed: int = 0, plies: int | None = None) -> tuple[Record, list[Any]]:
    """Return the record of a match of random moves, which ends by the rules or by a resignation, and its positions."""
    match = random_match(game, seed, MAX_PLIES if plies is None else plies)
    thinking = Thinking(depth=2, value=3.0, nodes=1234)
    moves = [RecordedMove(game.move_to_data(move), 1.5, thinking) for move in match.moves]
    outcome = game.outcome(match.positions[-1])
    if outcome is None:
        result = Result("maxie", EndReason.RESIGNATION, "")
    else:
        winner: Any = outcome.winner.value if outcome.winner else None
        result = Result(winner, EndReason(outcome.reason_code), "")
    players = Players("one", "two")
    record = Record(
        RECORD_FORMAT, "id", "test", game.name, game.setup(), players, "1/move", "now", moves, result
    )
    return record, list(match.positions)
