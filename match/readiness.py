"""Readiness of the players before a match: who is ready, and until when the others must be. Pure: time is an argument."""

from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import MS
from arena.match.terms import Terms

EVERYBODY = frozenset(Player)
NOBODY: frozenset[Player] = frozenset()


class Readiness:
    """State of both players before a match: ready or not, and reconnected or not after a restart of the server.

    A player who has not reconnected cannot be asked to get ready. Such a player has the grace period to reconnect, and
    then the full time to get ready.
    """

    __slots__ = ("_away_ns", "_missing", "_ready_ns", "awaited", "since")

    def __init__(self, terms: Terms) -> None:
        self._ready_ns = terms.ready_ms * MS
        self._away_ns = max(self._ready_ns, terms.grace_ms * MS)
        self.since: int | None = None
        """Time at which the players were asked to get ready, in ns; None if they were not."""
        # Shared constants save memory, since a server keeps this object for each match in progress.
        self._missing, self.awaited = EVERYBODY, NOBODY
        """`_missing`: players who are not ready. `awaited`: players who have not reconnected since the server's restart."""

    @property
    def was_requested(self) -> bool:
        """True if the players were asked to get ready."""
        return self.since is not None

    @property
    def missing(self) -> list[Player]:
        """Players who are not ready."""
        return [player for player in Player if player in self._missing]

    @property
    def deadline(self) -> int | None:
        """Time until which the players must be ready, in ns; None if they were not asked."""
        if self.since is None:
            return None
        return self.since + (self._ready_ns if self._missing.isdisjoint(self.awaited) else self._away_ns)

    def record_request(self, now: int) -> None:
        """Record that the players are asked to get ready at `now`."""
        self.since = now

    def mark_ready(self, player: Player) -> bool:
        """Mark a player as ready. Return False if it was ready already, or if the players were not asked yet."""
        if self.since is None or player not in self._missing:
            return False
        self._missing -= {player}
        return True

    def mark_unready(self, player: Player) -> None:
        """Mark a player as not ready, because its new process does not know the match."""
        self._missing |= {player}

    def await_reconnections(self, now: int) -> None:
        """Wait for both players to reconnect after a restart of the server, and restart the time to get ready."""
        self.awaited = EVERYBODY
        self._restart_ready_time(now)

    def record_reconnection(self, player: Player, now: int) -> None:
        """Record that a player has reconnected. If the player was awaited, restart the time to get ready."""
        if player in self.awaited:
            self.awaited -= {player}
            self._restart_ready_time(now)

    def _restart_ready_time(self, now: int) -> None:
        if self.since is not None:
            self.since = now
