"""Who is connected where: each server tells all others of its bots, and has the others' bots in its own lobby."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from time import monotonic_ns

from msgspec import UNSET

from arena.match.events import Left, Returned, SessionLost
from arena.protocol.messages import Hello
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import Gone, Here
from arena.server.arena.remote import RemoteConnection
from arena.server.lobby.lobby import Lobby
from arena.server.rooms.member import DistantConnection, Member
from arena.server.rooms.room import Room

log = logging.getLogger("arena.presence")


class Presence:
    """The bots of one server as the others know them, and theirs as this one does."""

    def __init__(
        self,
        links: Links,
        lobby: Lobby,
        *,
        most_matches: int,
        came: Callable[[Member, bool], None],
        left: Callable[[Member], None],
        no_more: Callable[[Member], None],
    ) -> None:
        """Keep a lobby up to date.

        most_matches  how many matches one bot may play at once
        came, left    told of bots that connect to other servers, the former with whether the session is new, and of their going
        no_more       told of a bot of another server that takes no more matches
        """
        self._links = links
        self._lobby = lobby
        self._most_matches = most_matches
        self._came = came
        self._left = left
        self._no_more = no_more
        self._stale: dict[str, set[str]] = {}
        """By server, the bots that it has not told of again since it began anew."""

    # this server's own

    def tell(self, member: Member, *, again: bool) -> None:
        """Tell all servers of a bot that is here; `again`: only that something about it has changed."""
        self._links.send_all(_here(member, again=again))

    def tell_gone(self, member: Member, fault: str | None = None) -> None:
        """Tell all servers of a bot whose connection to this one has ended."""
        self._links.send_all(Gone(member.name, member.entry, fault))

    def snapshot(self) -> Iterator[Here]:
        """All bots that are here."""
        for member in self._lobby.connected():
            if member.here:
                yield _here(member, again=False)

    # the others'

    def begin_anew(self, link: Link) -> None:
        """A server begins to tell of all its bots again."""
        self._stale[link.name] = {each.name for each in self._of(link)}

    def complete(self, link: Link) -> None:
        """A server has told of all its bots: what is known of others there is over."""
        for name in self._stale.pop(link.name, ()):
            member = self._lobby.find(name)
            if member is not None:
                self._leave(link, member)

    def here(self, link: Link, told: Here) -> None:
        """A bot is connected to another server."""
        self._stale.get(link.name, set()).discard(told.name)
        before = self._lobby.find(told.name)
        if before is not None and told.entry < before.entry:
            return  # it has connected elsewhere since
        member = self._lobby.member(told.name)
        known = member.distant
        same = isinstance(known, RemoteConnection) and (known.link, known.entry) == (link, told.entry)
        member.introduce(told.hello, most_matches=self._most_matches, guest=told.guest, address=told.address)
        if same and told.again:
            member.change()
            self._lobby.stir()
            if member.quota == 0:
                self._no_more(member)
            return
        if member.here:
            # Somebody may have heard of the move, and not yet of the connection to here, which is over.
            self.tell_gone(member)
        fresh = member.session not in (0, told.session)
        first = member.entry != told.entry
        member.enter(told.entry, told.session)
        member.connect(RemoteConnection(self._links, link, told.name, told.entry))
        self._lobby.stir()
        # A house bot is a new process then, which learns from its turns what was played.
        lost = fresh and told.name not in self._lobby.house
        for room, player in list(member.matches.values()):
            if isinstance(room, Room):
                room.take(SessionLost(player) if lost else Returned(player), monotonic_ns())
        if first:
            self._came(member, told.entry == told.session)

    def gone(self, link: Link, told: Gone) -> None:
        """A connection of a bot to another server has ended."""
        member = self._lobby.find(told.name)
        if member is not None and member.entry == told.entry:
            self._leave(link, member)

    def lost(self, link: Link) -> None:
        """A server has ended: its bots are nowhere, and the turns that they had begin anew when they are back."""
        self._stale.pop(link.name, None)
        for member in list(self._of(link)):
            rooms = [room for room, _ in member.matches.values() if isinstance(room, Room)]
            self._forget(member)
            for room in rooms:
                room.go_on()

    def _of(self, link: Link) -> list[Member]:
        return [
            each
            for each in self._lobby.connected()
            if isinstance(each.connection, RemoteConnection) and each.connection.link is link
        ]

    def _leave(self, link: Link, member: Member) -> None:
        connection = member.distant
        if not isinstance(connection, RemoteConnection) or connection.link is not link:
            return
        rooms = list(member.matches.values())
        self._forget(member)
        at = monotonic_ns()
        for room, player in rooms:
            if isinstance(room, Room):
                room.take(Left(player), at)

    def _forget(self, member: Member) -> None:
        connection: DistantConnection | None = member.distant
        if connection is not None and self._lobby.leave(member, connection):
            self._left(member)


def _here(member: Member, *, again: bool) -> Here:
    takes = member.takes
    hello = Hello(
        member.name,
        games=sorted(takes.games),
        maps=sorted(takes.maps),
        time_controls=sorted(takes.time_controls),
        pool=takes.pool,
        matches=member.capacity,
        program=member.program,
        quota=UNSET if member.quota is None else member.quota,
        engine=UNSET if member.engine is None else member.engine,
    )
    return Here(member.name, member.entry, member.session, hello, member.guest, member.address, again)
