"""What a match is played under, fixed before it begins. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from games.core import AnyGame
from protocol.adjudication import Adjudication
from protocol.messages import Data
from protocol.timecontrol import TimeControl


@dataclass(frozen=True)
class MatchSpec:
    """A match to be played: who against whom, of what, under which clock."""

    match: str
    """A uuid as 32 hexadecimal digits: unique everywhere, also in the record and the journal."""
    event: str
    """The event that the match belongs to, as the record tells it."""
    game: AnyGame
    maxie: str
    """The name of the bot in Maxie's seat."""
    minnie: str
    time_control: TimeControl
    margin_ms: int
    """Network grace on the clock."""
    ready_ms: int
    """How long a player may take to get ready, before any clock starts."""
    threads: int
    """How many threads a bot may use, as the match start tells it."""
    opening: tuple[Data, ...] = ()
    """The first moves, which are played already when the players begin."""
    adjudication: Adjudication | None = None
    """When the match is ended before its game ends; None: never."""
