"""Listings: overviews of matches, bots, challenges and events, sent to all clients that browse, at most four times a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.protocol.messages import ListedEvent, Listing
from arena.server.core.deadlines import DeadlineKey
from arena.server.core.effects import LOBBY_LISTING_TOPIC, PublishToTopic, SendToClient
from arena.server.core.house_engines import HouseEngines
from arena.server.core.lobby import FollowerCountsByEdge, Lobby, LobbyClient
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.room import MatchRoom
from arena.server.core.suspensions import BotSuspensions

MIN_LOBBY_LISTING_INTERVAL_NS = 250_000_000
"""Shortest time between two listings (of matches, bots …) sent to clients, in ns. A client's listing is at most that old."""
MAX_LISTED_CHALLENGES = 1000
"""Maximum number of challenges in a `listing` message, which must fit into one websocket frame of limited size."""
LOBBY_LISTING_DEADLINE: DeadlineKey = ("listing", "")
"""Key under which the core's `DeadlineSchedule` holds the time to publish the listing of matches, bots and challenges.

The second part, a name, is empty, because there is only one listing. At the time,
`LobbyListingPublisher.publish_lobby_listing` is called.
"""


class LobbyListingPublisher:
    """Sender of the `listing` messages: overviews of the arena for the clients that browse it."""

    def __init__(
        self,
        lobby: Lobby,
        rooms: Mapping[str, MatchRoom],
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
        self._followers = FollowerCountsByEdge()
        """Number of clients that follow the listing, for each edge (process that holds connections)."""
        self._latest_lobby_listing: tuple[int, Listing] | None = None
        """Latest listing, preceded by the time (monotonic ns) at which it was built; None before the first listing."""
        self._published_change_count = 0
        """Value of `lobby.change_count` at the last publication. Nothing has changed since then if the value is the same."""

    def send_and_follow_lobby_listing(self, client: LobbyClient) -> None:
        """Send a client the listing (matches, bots, challenges, events), and then a new listing after each change.

        The first listing may be `MIN_LOBBY_LISTING_INTERVAL_NS` old, so that clients that browse again and again cost little.
        """
        client.follow_topic(LOBBY_LISTING_TOPIC, self._followers)
        latest = self._latest_lobby_listing
        if latest is None or self._lobby.now_ns >= latest[0] + MIN_LOBBY_LISTING_INTERVAL_NS:
            listing = self._build_and_cache_lobby_listing()
        else:
            listing = latest[1]
            self.schedule_publication()
        self._lobby.effects.append(SendToClient(client.client_number, listing))

    def schedule_publication(self) -> None:
        """Schedule a new listing (matches, bots, challenges, events) if something has changed and a client browses."""
        if self._followers.edges and self._published_change_count != self._lobby.change_count:
            self._lobby.deadlines.schedule_check(
                LOBBY_LISTING_DEADLINE, self._lobby.now_ns + MIN_LOBBY_LISTING_INTERVAL_NS
            )

    def publish_lobby_listing(self) -> None:
        """Send a new listing to the clients that browse, if there are any. Called when the listing is due."""
        if self._followers.edges:
            self._published_change_count = self._lobby.change_count
            self._lobby.effects.append(
                PublishToTopic(
                    LOBBY_LISTING_TOPIC, self._build_and_cache_lobby_listing(), self._followers.edges
                )
            )

    def _build_and_cache_lobby_listing(self) -> Listing:
        listing = self.build_lobby_listing(self._lobby.now_ns)
        self._latest_lobby_listing = self._lobby.now_ns, listing
        return listing

    def build_lobby_listing(self, now_ns: int) -> Listing:
        """Return a new listing of matches, bots, challenges and events at `now_ns`."""
        bots = [
            bot.make_lobby_listing_entry(
                self._suspensions.find_suspension_reason(bot.name, now_ns), is_house_engine=False
            )
            for bot in self._lobby.list_connected_bots()
            if bot.name not in self._house
        ]
        challenges = [
            challenge.make_challenged_message(now_ns)
            for challenge in self._challenges.list_oldest_challenges(MAX_LISTED_CHALLENGES)
        ]
        matches = [room.public_view.make_lobby_listing_entry() for room in self._rooms.values()]
        return Listing(
            matches, [*self._house.make_lobby_listing_entries(), *bots], challenges, self._list_events()
        )
