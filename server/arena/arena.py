"""One server of an arena: what it hears of the others, and what it tells them.

A server by itself is an arena of one: it has the same parts, and nobody to tell anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from time import monotonic_ns

import anyio
import msgspec

from arena.games.core import GameError, Player
from arena.match.events import Returned
from arena.match.terms import Terms, from_json
from arena.protocol.messages import LiveMatch, View
from arena.protocol.record import Record
from arena.server.arena.elsewhere import Elsewhere, TellEnd
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import (
    MOST_MESSAGES,
    ArenaMessage,
    Did,
    Ended,
    Given,
    Gone,
    Here,
    Kept,
    Leaving,
    Open,
    Opened,
    Overdue,
    Place,
    Plies,
    Settles,
    Shown,
    Snapshot,
    Spent,
    Told,
    Waited,
    Wants,
    Watching,
)
from arena.server.arena.office import Office
from arena.server.arena.pauses import Pauses
from arena.server.arena.presence import Presence
from arena.server.arena.remote import RemoteConnection
from arena.server.arena.sharing import Sharing
from arena.server.arena.standings import StartSoon
from arena.server.arena.watching import RemoteWatcher
from arena.server.bus.bus import Bus
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matches import Matches
from arena.server.lobby.matchmaking.arranger import Arranger
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.lobby.names import Names
from arena.server.net.metrics import Metrics
from arena.server.rooms.room import Room
from arena.server.rooms.spectators import Spectators
from arena.server.store.arena import Look
from arena.server.store.journal.rows import chunks

log = logging.getLogger("arena.arena")

NEWS_SECONDS = 0.5
"""From one time that the others are told how far the matches are to the next."""


class Arena:
    """The arena as one of its servers sees it."""

    def __init__(
        self,
        bus: Bus,
        lobby: Lobby,
        matches: Matches,
        arranger: Arranger,
        names: Names,
        *,
        name: str,
        alone: bool,
        number: Callable[[], int],
        most_matches: int,
        play: Callable[[Terms], None],
        store: Callable[[], bool],
        outcome: Callable[[Outcome, LiveMatch], None],
        tell_end: TellEnd,
        sharing: Sharing,
        start_soon: StartSoon,
    ) -> None:
        """Take part in an arena.

        name          the server's own
        alone         whether it is an arena by itself
        number        says the number of the server's lease
        most_matches  how many matches one bot may play at once
        play          begins a match here
        store         says whether it reaches the store
        outcome       told how each match of another server ended, and which it was
        tell_end      tells a bot of here the end of a match from the store
        sharing       the limits that are by address
        start_soon    runs a task until the server ends
        """
        self._lobby = lobby
        self._matches = matches
        self._arranger = arranger
        self._alone = alone
        self._name = name
        self._play = play
        self._store = store
        self._sharing = sharing
        self._told_spent: Spent | None = None
        self.links = Links(
            bus,
            name,
            number=number,
            receive=self._receive,
            fresh=self._begin_anew,
            snapshot=self._snapshot,
            renewed=self._renewed,
            state=self._state,
        )
        self.elsewhere = Elsewhere(
            self.links, lobby, matches.rooms, outcome=outcome, tell_end=tell_end, weigh=arranger.weigh
        )
        self.presence = Presence(
            self.links,
            lobby,
            most_matches=most_matches,
            came=lambda member, fresh: arranger.came(member, fresh=fresh),
            left=arranger.left,
            no_more=lambda member: arranger.close_of(member.name, f"{member.name} takes no more matches"),
        )
        self.office = Office(
            self.links,
            lobby,
            arranger,
            self.presence,
            self.elsewhere,
            names,
            name=name,
            alone=alone,
            play=play,
            load=self._load,
            start_soon=start_soon,
        )
        self.pauses = Pauses(lobby, matches.rooms, self.elsewhere, alone=lambda: not self.links.hears)
        self._watchers: dict[tuple[str, str], tuple[Link, RemoteWatcher, Spectators]] = {}
        """By match of this server and server where somebody watches it."""
        self._told_plies: dict[str, int] = {}

    def measured_by(self, metrics: Metrics) -> None:
        """Let these tell how the arena is, whenever they are asked."""
        links = self.links
        metrics.servers.set_function(lambda: 1 + sum(link.up for link in links.all))
        metrics.distant.set_function(lambda: len(self.elsewhere))
        metrics.paused.set_function(lambda: len(self.pauses))
        metrics.matchmaker.set_function(lambda: self.office.here)
        metrics.bus.set_function(lambda: self._alone or links.hears)

    # what this server has

    def opened(self, room: Room, anew: bool) -> None:  # noqa: FBT001  as rooms tell it
        """A room has been made here."""
        self.links.send_all(self._opened(room, anew=anew))

    def _opened(self, room: Room, *, anew: bool) -> Opened:
        return Opened(room.listed(), anew, self._arranger.weigh(room.terms))

    def ended(self, match: str) -> None:
        """A match of here is over."""
        self.links.send_all(Ended(match))

    def kept(self, record: Record) -> None:
        """The record of a match of here is in the store."""
        if self.links.all:
            of = Outcome.of(record)
            self.links.send_all(Kept(of.match, of.players, of.winner, of.reason, of.plies, of.answered))

    def whole(self) -> bool:
        """Whether everybody who is connected somewhere is known: all servers that live are heard."""
        return self._alone or (self.links.hears and all(link.up for link in self.links.all))

    @property
    def takes(self) -> bool:
        """Whether this server takes new matches."""
        return not self._arranger.draining

    def _load(self) -> tuple[int, int, bool]:
        return self._arranger.concurrency, len(self._matches.rooms), self.takes

    def _state(self) -> tuple[int, int, bool, bool]:
        return *self._load(), self._store()

    @property
    def places(self) -> int:
        """How many matches all servers may have in progress."""
        return self._arranger.concurrency + sum(
            link.beat.places
            for link in self.links.all
            if link.up and link.beat is not None and link.beat.takes
        )

    def _snapshot(self) -> Iterator[ArenaMessage]:
        yield from self.presence.snapshot()
        for room in self._matches.rooms.values():
            yield self._opened(room, anew=False)
            if room.spectators.closed:
                yield Ended(room.terms.match)  # its record is not in the store yet
        yield from self.office.snapshot()
        yield self._sharing.connections()
        yield Snapshot()

    # the others

    def follow(self, seen: Look, until: float) -> None:
        """Go by what the store says of the servers; its word on an office holds until this monotonic second."""
        living = {each.name: each.number for each in seen.neighbours if each.name != self._name}
        for link in self.links.follow(living):
            self._lose(link)
        self.office.hold(seen.office, until)

    def forget(self, server: str) -> None:
        """A server has ended, and its matches are taken over."""
        living = {link.name: link.number for link in self.links.all if link.name != server}
        for link in self.links.follow(living):
            self._lose(link)

    def leave(self) -> None:
        """Tell the others that this server stops: what its bots are at begins anew when they have come to another."""
        self.links.send_all(Leaving())

    def _lose(self, link: Link) -> None:
        log.warning("%s has ended", link.name)
        self.elsewhere.lost(link)
        self.presence.lost(link)
        self._sharing.forget(link.name)
        for key in [key for key in self._watchers if key[1] == link.name]:
            _, watcher, spectators = self._watchers.pop(key)
            spectators.leave(watcher)

    def _begin_anew(self, link: Link) -> None:
        self.presence.begin_anew(link)
        self.elsewhere.begin_anew(link)

    def _renewed(self, link: Link) -> None:
        """A server may have missed what it was told: its bots get their turns again, and what was placed there has not been."""
        self.elsewhere.forget_placed(link)
        for room in list(self._matches.rooms.values()):
            for player, member in room.players.items():
                if isinstance(member.connection, RemoteConnection) and member.connection.link is link:
                    room.take(Returned(player), monotonic_ns())

    def _receive(self, link: Link, message: ArenaMessage) -> None:  # noqa: C901  one line for each kind
        match message:
            case Did():
                self._did(link, message)
            case Told():
                self.elsewhere.tell(link, message)
            case Here():
                self.presence.here(link, message)
            case Gone():
                self.presence.gone(link, message)
            case Leaving():
                log.info("%s stops", link.name)
                self.presence.lost(link)
            case Opened():
                self.elsewhere.opened(link, message)
            case Ended():
                self.elsewhere.ended(link, message)
            case Kept():
                self.elsewhere.kept(link, message)
            case Snapshot():
                link.complete()
                self.presence.complete(link)
                self.elsewhere.complete(link)
                self._lobby.stir()
            case Overdue():
                self.elsewhere.overdue(link, message)
            case Waited():
                self._waited(link, message)
            case Place():
                self._place(link, message)
            case Wants():
                self.office.wanted(link, message)
            case Settles():
                self.office.settle(link, message)
            case Given():
                self.office.given(link, message)
            case Open():
                self.office.opened(link, message)
            case Watching():
                self._watch(link, message)
            case Shown(match=match, message=shown):
                self.elsewhere.show(link, match, shown)
            case Plies(plies=plies):
                self.elsewhere.plies(link, plies)
            case Spent():
                self._sharing.asked(link.name, message)

    @staticmethod
    def _connection(link: Link, room: Room, player: Player, entry: int) -> RemoteConnection | None:
        """A player's connection to another server; None where it has another by now."""
        connection = room.players[player].connection
        if isinstance(connection, RemoteConnection) and (connection.link, connection.entry) == (link, entry):
            return connection
        return None

    def _did(self, link: Link, told: Did) -> None:
        """A player that is connected elsewhere did something in a match of here."""
        room = self._matches.rooms.get(told.match)
        if room is None:
            return
        connection = self._connection(link, room, told.event.player, told.entry)
        if connection is not None:
            connection.heard(told.lag)
            room.take(told.event, room.arrived(told.event, told.spent))

    def _waited(self, link: Link, told: Waited) -> None:
        room = self._matches.rooms.get(told.match)
        connection = None if room is None else self._connection(link, room, told.player, told.entry)
        if room is not None and connection is not None:
            connection.waited(told.match, told.ply)
            room.look()

    def _place(self, link: Link, told: Place) -> None:
        try:
            terms = from_json(told.terms)
        except (GameError, msgspec.MsgspecError) as error:
            log.warning("%s places a match that cannot be played here: %s", link.name, error)
            return
        if terms.match in self._matches.rooms or terms.match in self.elsewhere:
            return  # it was told twice
        if not self.office.obeys(told):
            log.warning("match %s is placed here by %s, and is not begun", terms.match, link.name)
            self.links.send_all(Ended(terms.match))
            return
        self._play(terms)

    # watching

    def _watch(self, link: Link, told: Watching) -> None:
        key = told.match, link.name
        before = self._watchers.pop(key, None)
        if before is not None:
            before[2].leave(before[1])
        room = self._matches.rooms.get(told.match)
        if not told.on or room is None or room.spectators.closed:
            return
        watcher = RemoteWatcher(self.links, link, told.match, lambda: self.links.find(link.name) is link)
        self._watchers[key] = link, watcher, room.spectators
        room.spectators.enter(watcher)

    def spectators(self, match: str) -> Spectators | None:
        """Who watches a match in progress, wherever it is played."""
        found = self._matches.spectators(match)
        return self.elsewhere.spectators(match) if found is None else found

    def view(self, match: str) -> View | None:
        """A match in progress as a spectator sees it; None for one of which nothing is known here."""
        return self._matches.view(match) or self.elsewhere.view(match)

    def listed(self) -> list[LiveMatch]:
        """The matches in progress everywhere."""
        return [*self._matches.listed(), *self.elsewhere.listed()]

    async def tell_news(self) -> None:
        """Tell the others how far the matches of here are, until cancelled."""
        while True:
            await anyio.sleep(NEWS_SECONDS)
            self.office.tell_open()
            self.pauses.look()
            self.elsewhere.drop_unwatched()
            for key in [key for key, (_, _, spectators) in self._watchers.items() if spectators.closed]:
                del self._watchers[key]
            plies = {match: room.referee.ply for match, room in self._matches.rooms.items()}
            news = {match: ply for match, ply in plies.items() if self._told_plies.get(match, 0) != ply}
            self._told_plies = plies
            if news and self.links.all:
                for some in chunks(news.items(), MOST_MESSAGES):
                    self.links.send_all(Plies(dict(some)))
            self._tell_spent()

    def _tell_spent(self) -> None:
        spent = self._sharing.spent()
        if spent.work or spent.wrong or spent.cut_off or spent != self._told_spent:
            self.links.send_all(spent)
        self._told_spent = spent
