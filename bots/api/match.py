"""A match as a bot sees it: what is fixed before the first ply, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from arena.games.core import Game, Player
from arena.protocol.codes import EndReason
from arena.protocol.timecontrol import TimeControl

_A_SECOND_A_MOVE = TimeControl(1000, per_move=True)


@dataclass(frozen=True)
class Match:
    """What a bot knows of its match before it begins.

    Only `game` and `seat` are needed to try a bot without a server.
    """

    game: Game[Any, Any]
    """The rules on this match's setup: `moves`, `play`, `outcome`, `picture` and the conversions."""
    seat: Player
    """Which player the bot is."""
    id: str = "local"
    """The name of the match, unique everywhere; the record and the server's log use it too."""
    maxie: str = "maxie"
    """The name of the bot in Maxie's seat."""
    minnie: str = "minnie"
    """The name of the bot in Minnie's seat."""
    time_control: TimeControl = _A_SECOND_A_MOVE
    """How the clocks run, in ms."""
    margin_ms: int = 0
    """Network grace: a flag falls this many ms later than the clock says."""
    threads: int = 1
    """How many threads the bot may search with."""

    @property
    def opponent(self) -> str:
        """The name of the other bot."""
        return self.minnie if self.seat is Player.MAXIE else self.maxie


Standing = Literal["won", "drawn", "lost", "void"]
"""How a match ended for one seat; a void match counts for nobody."""


@dataclass(frozen=True)
class Ending:
    """How a match ended."""

    winner: Player | None
    """Who won; None for a draw, and for a match that counts for nobody."""
    reason: EndReason | None
    """Why the match ended; None when the server no longer knows the match, so that nobody can say."""
    detail: str
    """One line for people: whose fault, which move, by how many ms."""
    plies: int
    """How many moves were played."""
    position: Any
    """The last position."""

    def standing(self, seat: Player) -> Standing:
        """What this ending is for whoever has `seat`."""
        if self.winner is not None:
            return "won" if self.winner is seat else "lost"
        return "void" if self.reason in (None, EndReason.SERVER_FAULT, EndReason.NO_SHOW) else "drawn"

    def __str__(self) -> str:
        if self.reason is None:
            return self.detail
        words = self.reason.value.replace("_", " ")
        told = self.detail and self.detail != self.reason.meaning
        return f"{words}, {self.plies} plies" + (f": {self.detail}" if told else "")
