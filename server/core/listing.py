"""Listings: what goes on, for all who browse, at most four a second."""

from __future__ import annotations

from collections.abc import Mapping

from arena.protocol.messages import Listing
from arena.server.core.deadlines import Key
from arena.server.core.effects import LISTING, Publish, Send
from arena.server.core.house import House
from arena.server.core.lobby import Client, Followers, Lobby
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.room import Room
from arena.server.core.suspensions import Suspensions

LISTING_NS = 250_000_000
"""Shortest time from one listing to the next, for each client."""
LISTED_CHALLENGES = 1000
"""Open challenges in a listing: it must stay within a frame however many strangers open some."""
KEY: Key = ("listing", "")


class Listings:
    """The listings of one arena."""

    def __init__(
        self,
        lobby: Lobby,
        rooms: Mapping[str, Room],
        house: House,
        challenges: OpenChallenges,
        suspensions: Suspensions,
    ) -> None:
        self._lobby = lobby
        self._rooms = rooms
        self._house = house
        self._challenges = challenges
        self._suspensions = suspensions
        self._followers = Followers()
        self._browsers: dict[int, int] = {}
        """Time of the last listing that each client asked for."""
        self._made: tuple[int, int, Listing] | None = None
        """The last listing: the count of changes and the time for which it was made."""
        self._owed: dict[int, None] = {}
        """Clients that asked too soon after their last listing."""
        self._published = 0
        """Count of changes at the last publication."""

    def browse(self, client: Client) -> None:
        """Send a client the listing, as soon as its last one is old enough, and a new one after each change."""
        last = self._browsers.get(client.id)
        if last is None:
            self._followers.add(client.id)
        if last is None or self._lobby.now >= last + LISTING_NS:
            self._send(client.id)
        else:
            self._owed[client.id] = None
            self._lobby.deadlines.follow(KEY, last + LISTING_NS)

    def leave(self, client: Client) -> None:
        """Send a client no more listings."""
        self._owed.pop(client.id, None)
        if self._browsers.pop(client.id, None) is not None:
            self._followers.remove(client.id)

    def follow(self) -> None:
        """See to it that what has changed is published soon."""
        if self._followers.edges and self._published != self._lobby.changes:
            self._lobby.deadlines.follow(KEY, self._lobby.now + LISTING_NS)

    def publish(self) -> None:
        """Publish what has changed, and send the listings that are owed."""
        lobby = self._lobby
        for client in list(self._owed):
            at = self._browsers[client] + LISTING_NS
            if lobby.now >= at:
                del self._owed[client]
                self._send(client)
            else:
                lobby.deadlines.follow(KEY, at)
        if self._followers.edges and self._published != lobby.changes:
            self._published = lobby.changes
            lobby.effects.append(Publish(LISTING, self._latest(), self._followers.edges))

    def _send(self, client: int) -> None:
        self._browsers[client] = self._lobby.now
        self._lobby.effects.append(Send(client, self._latest()))

    def _latest(self) -> Listing:
        """Return the listing, made once for all who ask for it within a moment."""
        lobby = self._lobby
        if self._made is None or self._made[0] != lobby.changes or lobby.now >= self._made[1] + LISTING_NS:
            self._made = lobby.changes, lobby.now, self.make(lobby.now)
        return self._made[2]

    def make(self, now: int) -> Listing:
        """Return what goes on at `now`."""
        bots = [
            bot.present(self._suspensions.why(bot.name, now), house=False)
            for bot in self._lobby.connected()
            if bot.name not in self._house
        ]
        challenges = [each.message(now) for each in self._challenges.first(LISTED_CHALLENGES)]
        matches = [room.public.listed() for room in self._rooms.values()]
        return Listing(matches, [*self._house.present(), *bots], challenges)
