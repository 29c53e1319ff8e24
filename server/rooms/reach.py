"""Whether a deadline of a match may be judged, where players are connected to other servers of an arena.

A move may be on its way over the bus when the time of its player has run out here. Nothing that happened at the other
server can be missed once that one says, in order with all else, that it has waited as long. While a player cannot be
reached, or it cannot be known whether it is connected anywhere, nothing is judged, and what was due begins anew after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from arena.games.core import Player
from arena.match.referee import Referee
from arena.server.rooms.member import Member

LOOK_NS = 250_000_000
"""From one look at a deadline that may not be judged yet to the next."""


class Verdict(Enum):
    """What is to be done about a deadline that is due."""

    JUDGE = auto()
    WAIT = auto()
    """Nothing yet: to be looked at again in a while."""
    GO_ON = auto()
    """It was not judged because somebody could not be reached, and now all can: the turn begins anew."""


class Reach:
    """Whether the players of one match can be reached."""

    def __init__(self, players: Mapping[Player, Member], whole: Callable[[], bool]) -> None:
        """`whole` says whether everybody who is connected somewhere can be known."""
        self._players = players
        self._whole = whole
        self._held: int | None = None
        """The ply at which a deadline was not judged because somebody could not be reached."""

    @property
    def held(self) -> bool:
        """Whether the match stands still."""
        return self._held is not None

    def look(self, referee: Referee, deadline: int) -> Verdict:
        """What is to be done about the deadline of this referee, which is due."""
        if self._out_of_reach():
            self._held = referee.ply
            return Verdict.WAIT
        held, self._held = self._held, None
        if held == referee.ply:
            return Verdict.GO_ON
        mover = referee.mover_now
        if mover is not None:
            asked, since = [mover], referee.turn_since
        else:
            asked, since = referee.readiness.missing, referee.readiness.since
        waited = [
            since is None or self._has_waited(referee, each, max(0, deadline - since)) for each in asked
        ]
        return Verdict.JUDGE if all(waited) else Verdict.WAIT

    def _has_waited(self, referee: Referee, player: Player, allowed: int) -> bool:
        distant = self._players[player].distant
        return distant is None or distant.has_waited(referee.terms.match, player, referee.ply, allowed)

    def _out_of_reach(self) -> bool:
        for member in self._players.values():
            distant = member.distant
            if distant is not None and not distant.reachable:
                return True
            if member.connection is None and not self._whole():
                return True
        return False
