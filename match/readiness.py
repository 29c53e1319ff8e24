"""Readiness of the players before a match: who is ready, and the deadline for the others. Pure: callers pass the time."""

from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import NS_PER_MS
from arena.match.terms import MatchTerms

ALL_PLAYERS = frozenset(Player)
NO_PLAYERS: frozenset[Player] = frozenset()


class PlayerReadiness:
    """State of both players before a match: whether they are ready, and reconnected after a restart of the server.

    Only a connected player can be asked to get ready. So a player first has the grace period to reconnect, and then the
    full time to get ready.
    """

    __slots__ = (
        "_ready_request_time_ns",
        "_ready_time_limit_ns",
        "_reconnect_time_limit_ns",
        "_unready_players",
        "players_to_reconnect",
    )

    def __init__(self, terms: MatchTerms) -> None:
        self._ready_time_limit_ns = terms.ready_ms * NS_PER_MS
        self._reconnect_time_limit_ns = max(self._ready_time_limit_ns, terms.grace_ms * NS_PER_MS)
        """Time to get ready, in ns, while an unready player has not reconnected since a restart of the server."""
        self._ready_request_time_ns: int | None = None
        """Time (monotonic ns) at which the players were asked to get ready; None if they were not."""
        # Shared constants save memory, since a server keeps this object for each match in progress.
        self._unready_players = ALL_PLAYERS
        self.players_to_reconnect = NO_PLAYERS
        """Players who have not reconnected since a restart of the server."""

    @property
    def is_ready_requested(self) -> bool:
        """Return True if the players were asked to get ready."""
        return self._ready_request_time_ns is not None

    @property
    def unready_players(self) -> list[Player]:
        return [player for player in Player if player in self._unready_players]

    @property
    def ready_deadline_ns(self) -> int | None:
        """Return the time (monotonic ns) by which the players must be ready; None if they were not asked to get ready."""
        if self._ready_request_time_ns is None:
            return None
        return self._ready_request_time_ns + (
            self._ready_time_limit_ns
            if self._unready_players.isdisjoint(self.players_to_reconnect)
            else self._reconnect_time_limit_ns
        )

    def record_ready_request(self, now_ns: int) -> None:
        """Record that the players are asked at `now_ns` (monotonic ns) to get ready, when their time to do so begins."""
        self._ready_request_time_ns = now_ns

    def mark_ready(self, player: Player) -> bool:
        """Mark a player as ready. Return False if the player was ready already, or was not asked yet to get ready."""
        if self._ready_request_time_ns is None or player not in self._unready_players:
            return False
        self._unready_players -= {player}
        return True

    def mark_unready(self, player: Player) -> None:
        """Mark a player as not ready, because its new process does not know the match."""
        self._unready_players |= {player}

    def expect_reconnections(self, now_ns: int) -> None:
        """Expect both players to reconnect after a restart of the server.

        The time to get ready begins again at `now_ns` (monotonic ns).
        """
        self.players_to_reconnect = ALL_PLAYERS
        self._restart_ready_period(now_ns)

    def record_reconnection(self, player: Player, now_ns: int) -> None:
        """Record a reconnection at `now_ns` (monotonic ns). Both players' time to get ready then begins again.

        Nothing changes if `player` has reconnected since the restart of the server already, or if there was no restart.
        """
        if player in self.players_to_reconnect:
            self.players_to_reconnect -= {player}
            self._restart_ready_period(now_ns)

    def _restart_ready_period(self, now_ns: int) -> None:
        if self._ready_request_time_ns is not None:
            self._ready_request_time_ns = now_ns
