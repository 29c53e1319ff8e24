"""Matches that stand still because servers do not hear each other: their players are told, and told when they go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from arena.protocol.messages import Standing
from arena.server.arena.elsewhere import Elsewhere
from arena.server.lobby.lobby import Lobby
from arena.server.rooms.room import Room

log = logging.getLogger("arena.pauses")

STANDS_STILL = "a match of it stands still, and no clock runs: its servers do not hear each other"
GOES_ON = "its match goes on"


class Pauses:
    """Which matches of bots of here stand still."""

    def __init__(
        self,
        lobby: Lobby,
        rooms: Mapping[str, Room],
        elsewhere: Elsewhere,
        *,
        alone: Callable[[], bool],
    ) -> None:
        """`alone` says whether no other server can be heard at all."""
        self._lobby = lobby
        self._rooms = rooms
        self._elsewhere = elsewhere
        self._alone = alone
        self._told: set[tuple[str, str]] = set()
        """The matches that stand still, each with a bot that was told."""

    def __len__(self) -> int:
        return len({match for match, _ in self._told})

    def look(self) -> None:
        """Tell the bots of here of what has come to a standstill since, and of what goes on."""
        now = set(self._standing_still())
        for match, name in now - self._told:
            log.warning("match %s stands still", match, extra={"bot": name})
        self._tell((name for _, name in now - self._told), STANDS_STILL)
        self._tell((name for _, name in self._told - now), GOES_ON)
        self._told = now

    def _standing_still(self) -> Iterator[tuple[str, str]]:
        deaf = self._alone()
        for match, room in self._rooms.items():
            distant = [each.distant for each in room.players.values()]
            if any(each is not None and (deaf or not each.reachable) for each in distant):
                yield from ((match, each.name) for each in room.players.values() if each.here)
        for match, players, heard in self._elsewhere.heard():
            if deaf or not heard:
                for name in players:
                    if self._lobby.find_here(name) is not None:
                        yield match, name

    def _tell(self, names: Iterable[str], what: str) -> None:
        for name in names:
            member = self._lobby.find_here(name)
            if member is not None:
                member.tell(Standing("playing" if member.matches else "idle", what, member.quota))
