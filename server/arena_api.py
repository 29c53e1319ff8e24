"""The seam between whoever organises matches (ladder, match) and whatever plays them (the host).

The runner knows nothing of rooms, sessions and sockets, and the host nothing of schedules and tables:
a runner asks for matches through `MatchHost`, which `server.host` implements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from games.core import AnyGame
from protocol.adjudication import Adjudication
from protocol.messages import Data
from protocol.record import Record
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


class MatchHost(Protocol):
    """Something that bots connect to and that plays matches between those that did."""

    url: str
    """Where bots connect: `ws://HOST:PORT`."""

    def issue_token(self, name: str) -> str:
        """A token with which a bot of this name, and no other, may connect."""
        ...

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False when `seconds` went by."""
        ...

    async def play(self, spec: MatchSpec) -> Record:
        """Play one match to its end. Always returns, within the deadlines of `spec` and of the host.

        A player who is not there loses as `no_show`; a fault of the host ends the match as
        `server_fault`, which is void. A host refuses nothing here: every failure is in the result.
        """
        ...

    async def keep(self, spec: MatchSpec, record: Record) -> None:
        """Put the record of a match that was never begun into the store."""
        ...
