"""A running server: its lobby, its store and its matches, put together. `server.host.open_host` opens one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic, monotonic_ns

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from arena.match.events import Resigned
from arena.match.terms import Terms
from arena.protocol.adjudication import Adjudication
from arena.protocol.messages import Listing, LiveMatch
from arena.protocol.record import Record
from arena.server.arena.arena import Arena
from arena.server.arena.membership import Membership
from arena.server.arena.names import ArenaNames
from arena.server.arena.sharing import Sharing
from arena.server.bus.bus import Bus
from arena.server.bus.local import Exchange
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.dispatch import LISTING_SECONDS, Dispatch
from arena.server.lobby.ends import Ends
from arena.server.lobby.house import NO_HOUSE, HousePlan
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matches import Matches
from arena.server.lobby.matchmaking.answer_window import ANSWER_NS
from arena.server.lobby.matchmaking.arranger import Arranger
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.lobby.names import Names, OwnNames
from arena.server.lobby.roster import HouseRoster
from arena.server.net.admission import Admission
from arena.server.net.by_address.failed_logins import FailedLogins, pause_within
from arena.server.net.by_address.misdeeds import Misdeeds
from arena.server.net.by_address.work import WorkBudget
from arena.server.net.limits import HostLimits
from arena.server.net.loop_watch import LoopWatch
from arena.server.net.metrics import Metrics
from arena.server.processes.identity import PROGRAM
from arena.server.rooms.disclosure import Disclosure
from arena.server.rooms.room import INBOX, Room
from arena.server.rooms.spectators import MAX_BACKLOG_BYTES, SPECTATORS_A_TURN, Spectators
from arena.server.store.aggregates.rating_counter import RatingCounter
from arena.server.store.database import Engine
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.recovery import kept_sessions, unfinished
from arena.server.store.maintenance import Maintenance
from arena.server.store.queries import Queries
from arena.server.store.retention import Retention
from arena.server.web.match_log import MatchLogs
from arena.server.web.pages import Pages
from arena.server.web.progress import Progress, nobody_plays
from arena.server.web.static import own_files

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
        bus: Bus | None = None,
        going_on: str | None = None,
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
        alone = bus is None
        self.journal = Journal(
            engine,
            self.metrics.journal_seconds.observe,
            server=name,
            arena=not alone,
            patience=grace_ms / 1000,
        )
        self.watch = LoopWatch(self.metrics.loop_seconds.observe)
        misdeeds = self.misdeeds = Misdeeds(shared=not alone)
        accounts = Accounts(
            anyone=anyone,
            guests=house.lets_guests_in,
            engine=engine,
            failed_logins=FailedLogins(pause=pause_within(grace_ms / 1000)),
            misdeeds=misdeeds,
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
            opened=self._opened,
            ended=self._ended,
            whole=self._whole,
            handed_on=not alone,
        )
        self.rating_counter = RatingCounter(engine, self.journal.write)
        self._by_threads = by_threads
        self.maintenance = Maintenance(engine, self.journal, retention)
        self._arranged = 0
        """What the matches in progress weigh that the server arranged itself."""
        self.arranger = Arranger(
            self.lobby,
            limits,
            self._place,
            lambda: self._arranged + self.arena.elsewhere.weight,
            rating=self.rating_counter.rating,
            offer=offer,
            concurrency=concurrency,
            by_threads=by_threads,
            adjudication=adjudication,
            answer_ns=answer_ns,
            in_office=lambda: self.arena.office.here,
            places=lambda: self.arena.places - concurrency,
        )
        work = WorkBudget(limits.work_ms_per_second, misdeeds.worked)
        self._admission: Admission | None = None
        queries = Queries(engine)
        names: Names = OwnNames(self.journal) if alone else ArenaNames(engine, self.journal, tasks)
        ends = Ends(self.lobby, queries, self._is_in_progress, self.metrics, tasks)
        self.arena = Arena(
            Exchange().join() if bus is None else bus,
            self.lobby,
            self.matches,
            self.arranger,
            names,
            name=name,
            alone=alone,
            number=lambda: self.journal.lease.number,
            most_matches=limits.matches_per_bot,
            places=lambda: concurrency,
            play=self._start,
            weigh=lambda terms: terms.needed_threads if by_threads else 1,
            takes=lambda: not self.arranger.draining,
            store=lambda: self.membership is not None and self.membership.reaches_store,
            outcome=self._ended_elsewhere,
            tell_end=ends.tell,
            sharing=Sharing(misdeeds, work, accounts, lambda: self._admission),
            start_soon=tasks.start_soon,
        )
        self.membership = (
            None
            if alone
            else Membership(
                engine,
                self.journal,
                self.arena,
                adopt=self._adopt,
                takes=lambda: not self.arranger.draining,
                taken_over=self.metrics.taken_over.inc,
            )
        )
        self._going_on = going_on
        self._in_play: set[anyio.CancelScope] = set()
        """What ends the tasks of the matches in progress."""
        self.dispatch = Dispatch(
            self.lobby,
            names,
            self.arena.office,
            self,
            self.metrics,
            limits,
            work,
            program=PROGRAM,
            grace_ms=grace_ms,
            tell_end=ends.tell,
        )
        self.pages = Pages(
            self.metrics,
            queries,
            own_files(),
            MatchLogs(engine, self.lobby, names.recall),
            work,
            program=PROGRAM,
            anyone=anyone,
            guests=house.lets_guests_in,
            draining=lambda: self.arranger.draining,
            trouble=self._trouble,
            live=self.arena.view,
            listed=self.arena.listed,
            progress=progress,
            secure=lambda: self.url.startswith("wss:"),
        )
        self.resumed = 0
        """How many matches from before the server went away it went on with."""
        self._on_record = on_record
        self._tasks = tasks
        self.metrics.bots.set_function(lambda: sum(each.here for each in self.lobby.connected()))
        self.metrics.matches.set_function(lambda: len(self.rooms))
        self.arena.measured_by(self.metrics)

    @property
    def rooms(self) -> dict[str, Room]:
        """The rooms of the matches in progress, by the id of the match."""
        return self.matches.rooms

    def admits_by(self, admission: Admission) -> None:
        """Take down who lets connections in, once the server listens."""
        self._admission = admission

    def _opened(self, room: Room, anew: bool) -> None:  # noqa: FBT001  as rooms tell it
        self.arena.opened(room, anew)

    def _ended(self, match: str) -> None:
        self.arena.ended(match)

    def _whole(self) -> bool:
        return self.arena.whole()

    def _place(self, terms: Terms) -> None:
        self.arena.office.start(terms)

    def _is_in_progress(self, match: str) -> bool:
        return match in self.rooms or match in self.arena.elsewhere

    def _trouble(self) -> str:
        return self.journal.trouble() or ("" if self.membership is None else self.membership.trouble())

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
            # Of what was taken over from others meanwhile there is a room already.
            if each.terms.match not in self.rooms:
                self._begin(self.matches.reopen(each))
                self.arranger.resumed(each.terms)
                self.resumed += 1

    async def _adopt(self, wanted: list[str]) -> None:
        """Go on with matches that another server of the arena had."""
        if self._going_on is None:
            return
        for each in await unfinished(self.engine, self._going_on, self.name):
            match = each.terms.match
            if match not in wanted or match in self.rooms:
                continue
            before = self.arena.elsewhere.take(match)
            room = self.matches.reopen(each)
            if before is not None and before.watched is not None:
                before.watched.spectators.move_to(room.spectators)
            self._begin(room)
            self.arranger.resumed(each.terms)
            for player, seat in {} if before is None else before.seats.items():
                if room.players[player].here:
                    for event in seat.unanswered:
                        room.take(event, monotonic_ns())

    def _ended_elsewhere(self, outcome: Outcome, live: LiveMatch) -> None:
        self.rating_counter.note_elsewhere(live)
        self.arranger.ended(outcome)
        self.lobby.house.finished(outcome)

    async def drain(self, seconds: float) -> int:
        """Begin no new match and wait for those in progress, `seconds` at the most; how many are left."""
        self.arranger.drain()
        with anyio.move_on_after(seconds):
            while self.rooms:
                await self.lobby.wait_change()
        return len(self.rooms)

    async def hand_on(self) -> None:
        """Take no new match, and no office, so that nobody counts on this server any more."""
        self.arranger.drain()
        if self.membership is not None:
            await self.membership.step_down()

    def close_rooms(self) -> None:
        """Let the matches in progress stand as they are: in an arena others go on with them, elsewhere the next start."""
        self.arranger.drain()
        for room in self.rooms.values():
            room.stand_still()
        for scope in self._in_play:
            scope.cancel()
        self.arena.leave()

    def spectators(self, match: str) -> Spectators | None:
        """Who watches a match in progress; None for a match that is over or does not exist."""
        return self.arena.spectators(match)

    def listing(self) -> Listing:
        """What goes on: the matches in progress, the bots, and the open challenges."""
        challenges = self.arena.office.listed()[:LISTED_CHALLENGES]
        return Listing(self.arena.listed(), self.lobby.present(), challenges)

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
        with anyio.CancelScope() as scope:
            self._in_play.add(scope)
            try:
                await self._play_to_the_end(room)
            finally:
                self._in_play.discard(scope)

    async def _play_to_the_end(self, room: Room) -> None:
        try:
            record = await self.matches.run(room)
        finally:
            self._arranged -= self._weight(room)
        self.arena.kept(record)
        self.rating_counter.note(record, rated=room.terms.rated)
        outcome = Outcome.of(record)
        self.arranger.ended(outcome)
        self.lobby.house.finished(outcome)
        self.lobby.stir()
        if self._on_record is not None:
            await self._on_record(record)
