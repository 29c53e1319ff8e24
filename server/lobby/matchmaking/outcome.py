"""What arranging and suspending need to know of a match that is over, on whichever server of an arena it was. Pure."""

from __future__ import annotations

from typing import NamedTuple

from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.protocol.values import Players, Seat
from arena.rating.standings import answered


class Outcome(NamedTuple):
    """How a match ended."""

    match: str
    players: Players
    winner: Seat | None
    reason: EndReason
    plies: int
    answered: tuple[bool | None, bool | None]
    """Whether Maxie and Minnie made a move of their own; None where they had no chance to."""

    @classmethod
    def of(cls, record: Record) -> Outcome:
        """That of a record."""
        players, result = record.players, record.result
        both = (
            answered(record, Player.MAXIE, players.maxie),
            answered(record, Player.MINNIE, players.minnie),
        )
        return cls(record.match, players, result.winner, result.reason, len(record.moves), both)
