"""The seam between whoever organises matches (ladder, match) and whatever plays them (the host).

The runner knows nothing of rooms, sessions and sockets, and the host nothing of schedules and tables:
a runner asks for matches through `MatchHost`, which `server.host` implements.
"""

from __future__ import annotations

from typing import Protocol

from match.terms import Terms
from protocol.record import Record


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

    async def play(self, terms: Terms) -> Record:
        """Play one match to its end. Always returns, within the deadlines of `terms` and of the host.

        A player who is not there loses as `no_show`; a fault of the host ends the match as
        `server_fault`, which is void. A host refuses nothing here: every failure is in the result.
        """
        ...

    async def keep(self, terms: Terms, record: Record) -> None:
        """Put the record of a match that was never begun into the store."""
        ...
