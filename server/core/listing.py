"""Listings of matches, bots, challenges and events, for all clients that browse, at most four per second."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.protocol.messages import ListedEvent, Listing
from arena.server.core.deadlines import DeadlineKey
from arena.server.core.effects import LISTING_TOPIC, PublishToTopic, SendToClient
from arena.server.core.house_engines import HouseEngines
from arena.server.core.lobby import FollowerCounts, Lobby, LobbyClient
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.room import Room
from arena.server.core.suspensions import BotSuspensions

LISTING_INTERVAL_NS = 250_000_000
"""Shortest time between two listings for the same client, in ns."""
MAX_LISTED_CHALLENGES = 1000
"""Maximum number of challenges in a listing, which must fit into a frame even if strangers open many challenges."""
REPLIES_PER_INPUT, REPLY_INTERVAL_NS = 4, 5_000_000
"""Maximum number of delayed answers to `browse` that one batch sends, and the pause after a batch, in ns.

Without the limit, if many clients browse repeatedly, a move would wait until all of them have their listing.
"""
LISTING_DEADLINE: DeadlineKey = ("listing", "")
"""Key of the next call of `Listings.publish` among the core's deadlines."""


class Listings:
    """Listings of one arena and the clients that browse them."""

    def __init__(
        self,
        lobby: Lobby,
        rooms: Mapping[str, Room],
        house: HouseEngines,
        challenges: OpenChallenges,
        suspensions: BotSuspensions,
        list_events: Callable[[], list[ListedEvent]],
    ) -> None:
        self._list_events = list_events
        self._lobby = lobby
        self._rooms = rooms
        self._house = house
        self._challenges = challenges
        self._suspensions = suspensions
        self._followers = FollowerCounts()
        """Number of browsing clients, by edge."""
        self._browsers: dict[int, int] = {}
        """Time of the last listing sent to each browsing client in answer to `browse`, in ns, by client number."""
        self._cached_listing: tuple[int, int, Listing] | None = None
        """Latest listing, preceded by the value of `lobby.changes` and the time in ns when it was built.

        None before the first listing.
        """
        self._waiting_clients: dict[int, None] = {}
        """Numbers of the clients that requested a listing again too soon and will get it later, in order of request."""
        self._published_changes = 0
        """Value of `lobby.changes` at the last publication."""
        self._next_time: int | None = None
        """Time of the next publication, in ns; None if no publication is scheduled."""

    def browse(self, client: LobbyClient) -> None:
        """Send a client the listing, and then a new one after each change.

        If the client's last `browse` was answered less than `LISTING_INTERVAL_NS` ago, this one is answered later.
        """
        last_reply_time = self._browsers.get(client.id)
        if last_reply_time is None:
            self._followers.add(client.id)
        if last_reply_time is None or self._lobby.now >= last_reply_time + LISTING_INTERVAL_NS:
            self._send_listing(client.id)
        else:
            self._waiting_clients[client.id] = None
            self._lobby.deadlines.schedule(LISTING_DEADLINE, last_reply_time + LISTING_INTERVAL_NS)

    def stop_browsing(self, client: LobbyClient) -> None:
        self._waiting_clients.pop(client.id, None)
        if self._browsers.pop(client.id, None) is not None:
            self._followers.remove(client.id)

    def schedule_publication(self) -> None:
        """Schedule the publication of a new listing if something has changed and a client browses."""
        if (
            self._next_time is None
            and self._followers.edges
            and self._published_changes != self._lobby.changes
        ):
            self._next_time = self._lobby.now + LISTING_INTERVAL_NS
            self._lobby.deadlines.schedule(LISTING_DEADLINE, self._next_time)

    def publish(self) -> None:
        """Publish the listing if it has changed, and send it to the clients that wait for an answer to `browse`.

        If it is too early to publish it, or to answer some of these clients, schedule another call.
        """
        lobby, budget = self._lobby, REPLIES_PER_INPUT
        for client in list(self._waiting_clients):
            reply_time = self._browsers[client] + LISTING_INTERVAL_NS
            if lobby.now < reply_time:
                lobby.deadlines.schedule(LISTING_DEADLINE, reply_time)
            elif budget:
                budget -= 1
                del self._waiting_clients[client]
                self._send_listing(client)
            else:
                lobby.deadlines.schedule(LISTING_DEADLINE, lobby.now + REPLY_INTERVAL_NS)
                break
        if self._next_time is not None and lobby.now < self._next_time:
            lobby.deadlines.schedule(LISTING_DEADLINE, self._next_time)
            return
        self._next_time = None
        if self._followers.edges and self._published_changes != lobby.changes:
            self._published_changes = lobby.changes
            self._waiting_clients.clear()
            lobby.effects.append(
                PublishToTopic(LISTING_TOPIC, self._get_latest_listing(), self._followers.edges)
            )

    def _send_listing(self, client: int) -> None:
        self._browsers[client] = self._lobby.now
        self._lobby.effects.append(SendToClient(client, self._get_latest_listing()))

    def _get_latest_listing(self) -> Listing:
        """Return the latest listing, and build it first if it has changed or is older than `LISTING_INTERVAL_NS`."""
        lobby = self._lobby
        if (
            self._cached_listing is None
            or self._cached_listing[0] != lobby.changes
            or lobby.now >= self._cached_listing[1] + LISTING_INTERVAL_NS
        ):
            self._cached_listing = lobby.changes, lobby.now, self.build_listing(lobby.now)
        return self._cached_listing[2]

    def build_listing(self, now: int) -> Listing:
        """Return a new listing of matches, bots, challenges and events at `now`."""
        bots = [
            bot.make_listing_entry(self._suspensions.find_suspension_reason(bot.name, now), house=False)
            for bot in self._lobby.list_connected_bots()
            if bot.name not in self._house
        ]
        challenges = [
            challenge.to_message(now) for challenge in self._challenges.list_oldest(MAX_LISTED_CHALLENGES)
        ]
        matches = [room.public_view.make_listing_entry() for room in self._rooms.values()]
        return Listing(matches, [*self._house.list_entries(), *bots], challenges, self._list_events())
