"""How the players of a match get ready: who is, and until when the others may take. Pure: time is an argument."""

from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import MS
from arena.match.terms import Terms

EVERYBODY = frozenset(Player)
NOBODY: frozenset[Player] = frozenset()


class Readiness:
    """Who is ready, and who is back since the server was away. Only the referee calls it.

    A player who is not back yet cannot be asked to get ready. It has its grace to come back, and all the time to get
    ready from then on.
    """

    __slots__ = ("_awaited", "_away_ns", "_missing", "_ready_ns", "since")

    def __init__(self, terms: Terms) -> None:
        self._ready_ns = terms.ready_ms * MS
        self._away_ns = max(self._ready_ns, terms.grace_ms * MS)
        self.since: int | None = None
        """Since when the players are asked, in ns; None where they are not yet."""
        # A server keeps this for each match in progress, and all of them share these two.
        self._missing, self._awaited = EVERYBODY, NOBODY

    @property
    def asked(self) -> bool:
        """Whether the players have been asked."""
        return self.since is not None

    @property
    def missing(self) -> list[Player]:
        """Who is not ready."""
        return [player for player in Player if player in self._missing]

    @property
    def deadline(self) -> int | None:
        """Until when both may take to be ready, in ns; None where they are not asked."""
        if self.since is None:
            return None
        return self.since + (self._ready_ns if self._missing.isdisjoint(self._awaited) else self._away_ns)

    def awaits(self, player: Player) -> bool:
        """Whether a player is not back since the server was away."""
        return player in self._awaited

    def ask(self, now: int) -> None:
        """Ask the players from now on."""
        self.since = now

    def get_ready(self, player: Player) -> bool:
        """A player says that it is ready; False where that is known, or nobody was asked."""
        if self.since is None or player not in self._missing:
            return False
        self._missing -= {player}
        return True

    def forget(self, player: Player) -> None:
        """A player knows nothing of the match any more."""
        self._missing |= {player}

    def go_on(self, now: int) -> None:
        """The server was away, and nobody is back yet."""
        self._awaited = EVERYBODY
        self._begin_anew(now)

    def come_back(self, player: Player, now: int) -> None:
        """A player is there again."""
        if player in self._awaited:
            self._awaited -= {player}
            self._begin_anew(now)

    def _begin_anew(self, now: int) -> None:
        if self.since is not None:
            self.since = now
