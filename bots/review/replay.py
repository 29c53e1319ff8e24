"""A record played again under its own setup, with every claim that it makes checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from games.catalogue import make_game
from games.core import Game, GameError, Player, Reason
from protocol.codes import EndReason
from protocol.record import BadRecord, Record, from_line

BY_THE_RULES = frozenset(reason.value for reason in Reason)
"""Reasons that a game gives: a match that ended otherwise ended in mid-game."""


@dataclass(frozen=True)
class Replay:
    """A match whose moves are legal and whose result is what they lead to."""

    record: Record
    game: Game[Any, Any]
    positions: tuple[Any, ...]
    """One more than there are moves; the first is the start."""

    @property
    def plies(self) -> int:
        """How many moves were played."""
        return len(self.record.moves)

    def told(self, ply: int) -> str:
        """The move that led to `positions[ply]`, in a line; for ply 0, who plays whom and how it ended."""
        record, game = self.record, self.game
        if ply == 0:
            return f"match {record.match}: {summary(record)}"
        before, move = self.positions[ply - 1], record.moves[ply - 1]
        player = game.player(before)
        name = record.players.maxie if player is Player.MAXIE else record.players.minnie
        text = game.move_to_text(game.move_from_data(move.move))
        return f"ply {ply - 1}: {player} ({name}) plays {text}, {', '.join([f'{move.ms:g} ms', *self._thought(ply - 1)])}"

    def _thought(self, ply: int) -> Iterator[str]:
        thinking = self.record.moves[ply].thinking
        if thinking is None:
            return
        if thinking.depth is not None:
            yield f"depth {thinking.depth}"
        if thinking.value is not None:
            yield f"value {thinking.value:g}"
        if thinking.nodes is not None:
            yield f"{thinking.nodes:,} nodes"


def summary(record: Record) -> str:
    """A record in a line: who, what, and how it ended."""
    result = record.result
    winner = f"{result.winner} wins" if result.winner else "no winner"
    setup = f" on {record.setup['map']}" if "map" in record.setup else ""
    who = f"{record.players.maxie} (maxie) - {record.players.minnie} (minnie)"
    reason = result.reason.value.replace("_", " ")
    return (
        f"{who}, {record.game}{setup}, {record.time_control}: {winner}, {reason}, {len(record.moves)} plies"
    )


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """The records of a file with their line numbers, from 1. Raises BadRecord with file and line, or OSError."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield number, from_line(line)
                except BadRecord as error:
                    raise BadRecord(f"{path}, line {number}: {error}") from None


def replayed(record: Record) -> Replay:
    """Play a record again. Raises BadRecord with the ply and why, when a claim of it is not true."""
    try:
        game: Game[Any, Any] = make_game(record.game, record.setup)
    except GameError as error:
        raise BadRecord(f"its setup is wrong: {error}") from None
    positions = [game.start()]
    for ply, each in enumerate(record.moves):
        try:
            positions.append(game.play(positions[-1], game.move_from_data(each.move)))
        except GameError as error:
            raise BadRecord(f"ply {ply}: {error}") from None
    _check_result(record, game, positions[-1])
    return Replay(record, game, tuple(positions))


def _check_result(record: Record, game: Game[Any, Any], last: Any) -> None:
    result = record.result
    outcome = game.outcome(last)
    if outcome is None:
        if result.reason.value in BY_THE_RULES:
            raise BadRecord(
                f"it ends by {result.reason.value}, but after {len(record.moves)} plies nothing is decided"
            )
        return
    if result.reason is EndReason.SERVER_FAULT:
        return
    winner = outcome.winner.value if outcome.winner else None
    if (winner, outcome.reason.value) != (result.winner, result.reason.value):
        said = f"{result.winner or 'nobody'} wins by {result.reason.value}"
        raise BadRecord(f"it says that {said}, but its moves say: {outcome}")
