"""A running server: its lobby, its store and its matches, put together. `server.host.open_host` opens one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic, monotonic_ns

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from match.events import Resigned
from match.terms import Terms
from protocol.adjudication import Adjudication
from protocol.messages import Listing
from protocol.record import Record
from server.lobby.accounts import Accounts
from server.lobby.dispatch import LISTING_SECONDS, Dispatch
from server.lobby.ends import Ends
from server.lobby.house import NO_HOUSE, HousePlan
from server.lobby.lobby import Lobby
from server.lobby.matches import Matches
from server.lobby.matchmaking.answer_window import ANSWER_NS
from server.lobby.matchmaking.arranger import Arranger
from server.lobby.matchmaking.matchmaker import Offer
from server.lobby.roster import HouseRoster
from server.net.failed_logins import FailedLogins, pause_within
from server.net.limits import HostLimits
from server.net.loop_watch import LoopWatch
from server.net.metrics import Metrics
from server.net.work import WorkBudget
from server.processes.identity import PROGRAM
from server.rooms.disclosure import Disclosure
from server.rooms.room import INBOX, Room
from server.rooms.spectators import MAX_BACKLOG_BYTES, SPECTATORS_A_TURN, Spectators
from server.store.aggregates.rating_counter import RatingCounter
from server.store.database import Engine
from server.store.journal.journal import Journal
from server.store.journal.recovery import kept_sessions, unfinished
from server.store.maintenance import Maintenance
from server.store.queries import Queries
from server.store.retention import Retention
from server.web.match_log import MatchLogs
from server.web.pages import Pages
from server.web.progress import Progress, nobody_plays
from server.web.static import own_files

LISTED_CHALLENGES = 1000
"""Open challenges that a listing shows: it must stay within a frame however many strangers open some."""

Told = Callable[[Record], Awaitable[None]]
"""Is told of the record of a match that is over."""


class Host:
    """A running server. Made by `open_host`; `play` may be called from many tasks at once."""

    def __init__(
        self,
        engine: Engine,
        tasks: anyio.abc.TaskGroup,
        limits: HostLimits,
        *,
        anyone: bool,
        grace_ms: int,
        name: str = "",
        house: HousePlan = NO_HOUSE,
        offer: Offer | None = None,
        concurrency: int = 1,
        by_threads: bool = False,
        adjudication: Adjudication | None = None,
        on_record: Told | None = None,
        retention: Retention | None = None,
        inbox: int = INBOX,
        disclosure: Disclosure = Disclosure.REPLY,
        answer_ns: int = ANSWER_NS,
        progress: Progress = nobody_plays,
    ) -> None:
        """Put the parts together; `server.host.open_host` says what the arguments are."""
        self.url = ""
        """Where bots connect, once the server listens."""
        self.inside_url = ""
        """Where house bots connect, in clear and by a loopback address; empty on a server without house bots."""
        self.name = name
        self.engine = engine
        self.metrics = Metrics()
        self.journal = Journal(
            engine, self.metrics.journal_seconds.observe, server=name, patience=grace_ms / 1000
        )
        self.watch = LoopWatch(self.metrics.loop_seconds.observe)
        accounts = Accounts(
            anyone=anyone,
            guests=house.lets_guests_in,
            engine=engine,
            failed_logins=FailedLogins(pause=pause_within(grace_ms / 1000)),
        )
        for bot in house.bots:
            # Nobody else can come in under the name of a house bot.
            accounts.issue(bot.name)
        self.lobby = Lobby(accounts, house=HouseRoster(house.bots), most_matches=limits.matches_per_bot)
        self.matches = Matches(
            self.lobby,
            self.journal,
            self.watch,
            self.metrics,
            grace_ms=grace_ms,
            inbox=inbox,
            disclosure=disclosure,
        )
        self.rating_counter = RatingCounter(engine, self.journal.write)
        self._by_threads = by_threads
        self.maintenance = Maintenance(engine, self.journal, retention)
        self._arranged = 0
        """What the matches in progress weigh that the server arranged itself."""
        self.arranger = Arranger(
            self.lobby,
            limits,
            self._start,
            lambda: self._arranged,
            rating=self.rating_counter.rating,
            offer=offer,
            concurrency=concurrency,
            by_threads=by_threads,
            adjudication=adjudication,
            answer_ns=answer_ns,
        )
        work = WorkBudget(limits.work_ms_per_second)
        queries = Queries(engine)
        self.dispatch = Dispatch(
            self.lobby,
            self.journal,
            self.arranger,
            self,
            self.metrics,
            limits,
            work,
            program=PROGRAM,
            grace_ms=grace_ms,
            tell_end=Ends(self.lobby, queries, self.matches.rooms, self.metrics, tasks).tell,
        )
        self.pages = Pages(
            self.metrics,
            queries,
            own_files(),
            MatchLogs(engine, self.lobby),
            work,
            program=PROGRAM,
            anyone=anyone,
            guests=house.lets_guests_in,
            draining=lambda: self.arranger.draining,
            trouble=self.journal.trouble,
            live=self.matches.view,
            listed=self.matches.listed,
            progress=progress,
            secure=lambda: self.url.startswith("wss:"),
        )
        self.resumed = 0
        """How many matches from before the server went away it went on with."""
        self._on_record = on_record
        self._tasks = tasks
        self.metrics.bots.set_function(lambda: len(self.lobby.connected()))
        self.metrics.matches.set_function(lambda: len(self.rooms))

    @property
    def rooms(self) -> dict[str, Room]:
        """The rooms of the matches in progress, by the id of the match."""
        return self.matches.rooms

    def listens_at(self, url: str, inside_url: str) -> None:
        """Take down the addresses that the server listens at, once they are known."""
        self.url, self.inside_url = url, inside_url

    def issue_token(self, name: str) -> str:
        """A token with which a bot of this name, and no other, may connect."""
        return self.lobby.accounts.issue(name)

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False when `seconds` went by."""
        return await self.lobby.wait_connected(name, seconds)

    async def died(self, name: str, how: str) -> None:
        """Take note that the process of a bot has ended: it has lost what it was playing, by a crash."""
        member = self.lobby.find(name)
        if member is not None:
            await member.post_to_all(lambda player: Resigned(player, "crash", how), monotonic_ns())

    async def play(self, terms: Terms) -> Record:
        """Play one match to its end, in this task. Waits first until both bots can take it."""
        await self.lobby.wait_free(msgspec.structs.astuple(terms.players))
        record = await self.matches.run(self.matches.open(terms))
        self.rating_counter.note(record, rated=terms.rated)
        return record

    async def keep(self, terms: Terms, record: Record) -> None:
        """Put the record of a match that was never begun into the store. Raises journal.JournalFailed."""
        self.journal.open_match(self.matches.agreed(terms), record.started)
        await self.journal.durable(self.journal.close_match(record))
        self.rating_counter.note(record, rated=terms.rated)

    async def resume(self, event: str) -> None:
        """Go on with the matches of an event that were in progress when the server went away."""
        unfinished_matches = await unfinished(self.engine, event, self.name)
        names = {name for each in unfinished_matches for name in msgspec.structs.astuple(each.terms.players)}
        self.lobby.restore(await kept_sessions(self.engine, sorted(names), self.name))
        for each in unfinished_matches:
            self._begin(self.matches.reopen(each))
            self.arranger.resumed(each.terms)
        self.resumed += len(unfinished_matches)

    async def drain(self, seconds: float) -> int:
        """Begin no new match and wait for those in progress, `seconds` at the most; how many are left."""
        self.arranger.drain()
        with anyio.move_on_after(seconds):
            while self.rooms:
                await self.lobby.wait_change()
        return len(self.rooms)

    def spectators(self, match: str) -> Spectators | None:
        """Who watches a match in progress; None for a match that is over or does not exist."""
        return self.matches.spectators(match)

    def listing(self) -> Listing:
        """What goes on: the matches in progress, the bots, and the open challenges."""
        return Listing(
            self.matches.listed(), self.lobby.present(), self.arranger.listed()[:LISTED_CHALLENGES]
        )

    async def tell_browsers(self) -> None:
        """Send a new listing to whoever browses whenever something changes, until cancelled."""
        while True:
            await self.lobby.wait_change()
            await anyio.sleep(LISTING_SECONDS)
            if self.dispatch.browsing:
                # A listing is encoded once for all. Who has not yet read the last one is told at the next change.
                listing = self.dispatch.listing(monotonic())
                for number, client in enumerate(list(self.dispatch.browsing), 1):
                    if client.connection.backlog <= MAX_BACKLOG_BYTES:
                        client.connection.tell_encoded([listing])
                    if number % SPECTATORS_A_TURN == 0:
                        await checkpoint()

    def _start(self, terms: Terms) -> None:
        self._begin(self.matches.open(terms))

    def _begin(self, room: Room) -> None:
        # The match counts from now on, and not from when its task runs: the next one must find the limit reached.
        self._arranged += self._weight(room)
        self._tasks.start_soon(self._play_arranged, room)

    def _weight(self, room: Room) -> int:
        return room.terms.needed_threads if self._by_threads else 1

    async def _play_arranged(self, room: Room) -> None:
        try:
            record = await self.matches.run(room)
        finally:
            self._arranged -= self._weight(room)
        self.rating_counter.note(record, rated=room.terms.rated)
        self.arranger.ended(record)
        self.lobby.house.finished(record)
        self.lobby.stir()
        if self._on_record is not None:
            await self._on_record(record)
