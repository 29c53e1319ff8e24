"""Readiness of the players before a match: the players who are ready, and the deadline of the others.

Pure: time is an argument.
"""

from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import MS
from arena.match.terms import Terms

EVERYBODY = frozenset(Player)
NOBODY: frozenset[Player] = frozenset()


class Readiness:
    """Players who are ready, and players who returned after a restart of the server. Only the referee uses it.

    A player who has not returned cannot be asked to get ready. It has its grace period to return, and then the full time
    to get ready.
    """

    __slots__ = ("_away_ns", "_missing", "_ready_ns", "awaited", "since")

    def __init__(self, terms: Terms) -> None:
        self._ready_ns = terms.ready_ms * MS
        self._away_ns = max(self._ready_ns, terms.grace_ms * MS)
        self.since: int | None = None
        """Time at which the players were requested to get ready, in ns; None before that."""
        # Shared constants save memory, since a server keeps this object for each match in progress.
        self._missing, self.awaited = EVERYBODY, NOBODY
        """`_missing`: players who are not ready. `awaited`: players who have not returned since the server was down."""

    @property
    def started(self) -> bool:
        """True after the players were requested to get ready."""
        return self.since is not None

    @property
    def missing(self) -> list[Player]:
        """Return the players who are not ready."""
        return [player for player in Player if player in self._missing]

    @property
    def deadline(self) -> int | None:
        """Time until which the players must be ready, in ns; None before the request."""
        if self.since is None:
            return None
        return self.since + (self._ready_ns if self._missing.isdisjoint(self.awaited) else self._away_ns)

    def ask(self, now: int) -> None:
        """Start the time to get ready at `now`."""
        self.since = now

    def mark_ready(self, player: Player) -> bool:
        """Mark a player as ready. Return False if it was ready already, or if no player was requested to get ready."""
        if self.since is None or player not in self._missing:
            return False
        self._missing -= {player}
        return True

    def forget(self, player: Player) -> None:
        """Mark a player as not ready, after it lost its state of the match."""
        self._missing |= {player}

    def resume(self, now: int) -> None:
        """Wait for all players to return after the server was down."""
        self.awaited = EVERYBODY
        self._begin_anew(now)

    def reconnect(self, player: Player, now: int) -> None:
        """Note that a player has returned."""
        if player in self.awaited:
            self.awaited -= {player}
            self._begin_anew(now)

    def _begin_anew(self, now: int) -> None:
        if self.since is not None:
            self.since = now
