"""Records of matches that were played by chance."""

from __future__ import annotations

from random import Random
from typing import Any

from arena.games.core import AnyGame
from arena.protocol.codes import EndReason
from arena.protocol.record import FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Thinking


def random_record(game: AnyGame, seed: int = 0, plies: int | None = None) -> tuple[Record, list[Any]]:
    """Return a match of random moves, to its end or resigned after so many plies, and its positions."""
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
        result = Result(winner, EndReason(outcome.word), "")
    players = Players("one", "two")
    record = Record(FORMAT, "id", "test", game.name, game.setup(), players, "1/move", "now", moves, result)
    return record, positions
