"""A running server: its lobby, its store and its matches, put together. `server.host.open_host` opens one."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Collection
from time import monotonic, monotonic_ns
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from arena.match.events import Resigned
from arena.match.terms import Terms
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
from arena.server.rooms.room import Room
from arena.server.rooms.spectators import MAX_BACKLOG_BYTES, SPECTATORS_A_TURN, Spectators
from arena.server.settings import Settings, concurrency_of
from arena.server.store.aggregates.rating_counter import RatingCounter
from arena.server.store.database import Engine
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.recovery import kept_sessions, unfinished
from arena.server.store.maintenance import Maintenance
from arena.server.store.queries import Queries
from arena.server.web.match_log import MatchLogs
from arena.server.web.pages import Pages
from arena.server.web.progress import Progress, nobody_plays
from arena.server.web.static import own_files

LISTED_CHALLENGES = 1000
"""Open challenges that a listing shows: it must stay within a frame however many strangers open some."""

Told = Callable[[Record], Awaitable[None]]
"""Is told of the record of a match that is over."""


class MakeAdmission(Protocol):
    """Makes what decides who may connect."""

    def __call__(
        self, limits: HostLimits, trusted_proxies: Collection[str], *, misdeeds: Misdeeds | None = None
    ) -> Admission: ...


class Host:
    """A running server. Made by `open_host`; `play` may be called from many tasks at once."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        tasks: anyio.abc.TaskGroup,
        *,
        bus: Bus | None = None,
        going_on: str | None = None,
        house: HousePlan = NO_HOUSE,
        offer: Offer | None = None,
        on_record: Told | None = None,
        progress: Progress = nobody_plays,
        admission: MakeAdmission = Admission,
    ) -> None:
        """Put the parts together; `server.host.open_host` says what the arguments are."""
        self.settings = settings
        self.url = ""
        """Where bots connect, once the server listens."""
        self.inside_url = ""
        """Where house bots connect, in clear and by a loopback address; empty on a server without house bots."""
        alone = bus is None
        self.name = settings.server.name or ("" if alone else f"server-{uuid.uuid4().hex[:12]}")
        self.engine = engine
        self.metrics = Metrics()
        limits, anyone = settings.limits, settings.server.anyone
        grace_seconds = settings.matches.grace_seconds
        grace_ms = round(1000 * grace_seconds)
        concurrency, by_threads = concurrency_of(settings.pool)
        self.journal = Journal(
            engine,
            self.metrics.journal_seconds.observe,
            server=self.name,
            arena=not alone,
            patience=grace_seconds,
        )
        self.watch = LoopWatch(self.metrics.loop_seconds.observe)
        misdeeds = self.misdeeds = Misdeeds(shared=not alone)
        self.admission = admission(limits, settings.server.proxies, misdeeds=misdeeds)
        accounts = Accounts(
            anyone=anyone,
            guests=house.lets_guests_in,
            engine=engine,
            failed_logins=FailedLogins(pause=pause_within(grace_seconds)),
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
            inbox=limits.inbox,
            disclosure=settings.matches.thinking,
            opened=self._opened,
            ended=self._ended,
            whole=self._whole,
            handed_on=not alone,
        )
        self.rating_counter = RatingCounter(engine, self.journal.write)
        self.maintenance = Maintenance(engine, self.journal, settings.store.retention)
        self._arranged = 0
        """What the matches in progress weigh that the server arranged itself."""
        self.arranger = Arranger(
            self.lobby,
            limits,
            self._place,
            self._load,
            rating=self.rating_counter.rating,
            offer=offer,
            concurrency=concurrency,
            by_threads=by_threads,
            adjudication=settings.matches.adjudication,
            answer_ns=round(settings.matches.answer_seconds * 1e9),
            in_office=self._in_office,
            places=self._places_elsewhere,
        )
        work = WorkBudget(limits.work_ms_per_second, misdeeds.worked)
        queries = Queries(engine)
        names: Names = OwnNames(self.journal) if alone else ArenaNames(engine, self.journal, tasks)
        ends = Ends(self.lobby, queries, self._is_in_progress, self.metrics, tasks)
        self.arena = Arena(
            Exchange().join() if bus is None else bus,
            self.lobby,
            self.matches,
            self.arranger,
            names,
            name=self.name,
            alone=alone,
            number=self._fencing_number,
            most_matches=limits.matches_per_bot,
            play=self._start,
            store=self._reaches_store,
            outcome=self._ended_elsewhere,
            tell_end=ends.tell,
            sharing=Sharing(misdeeds, work, accounts, self.admission),
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
                takes=self._takes,
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
            draining=self._draining,
            trouble=self._trouble,
            live=self.arena.view,
            listed=self.arena.listed,
            progress=progress,
            secure=self._is_secure,
        )
        self.resumed = 0
        """How many matches from before the server went away it went on with."""
        self._on_record = on_record
        self._tasks = tasks
        self.metrics.bots.set_function(self._count_here)
        self.metrics.matches.set_function(self.rooms.__len__)
        self.arena.measured_by(self.metrics)

    def reconfigure(self, offer: Offer | None) -> None:
        """Follow the settings that have changed, as far as `settings.RELOADED` goes. Limits are read at use.

        offer: what the matchmaker gives from now on; None for nothing

        Raises BadAdjudication and BadRetention.
        """
        matches = self.settings.matches
        self.maintenance.retention = self.settings.store.retention
        self.arranger.adjudication = matches.adjudication
        self.matches.disclosure = matches.thinking
        concurrency, by_threads = concurrency_of(self.settings.pool)
        self.arranger.change_offer(offer, concurrency=concurrency, by_threads=by_threads)

    @property
    def rooms(self) -> dict[str, Room]:
        """The rooms of the matches in progress, by the id of the match."""
        return self.matches.rooms

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

    def _load(self) -> int:
        return self._arranged + self.arena.elsewhere.weight

    def _in_office(self) -> bool:
        return self.arena.office.here

    def _places_elsewhere(self) -> int:
        return self.arena.places - self.arranger.concurrency

    def _fencing_number(self) -> int:
        return self.journal.lease.number

    def _reaches_store(self) -> bool:
        return self.membership is not None and self.membership.reaches_store

    def _takes(self) -> bool:
        return self.arena.takes

    def _draining(self) -> bool:
        return self.arranger.draining

    def _is_secure(self) -> bool:
        return self.url.startswith("wss:")

    def _count_here(self) -> int:
        return sum(each.here for each in self.lobby.connected())

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
        weight = self.arranger.weigh(room.terms)
        self._arranged += weight
        self._tasks.start_soon(self._play_arranged, room, weight)

    async def _play_arranged(self, room: Room, weight: int) -> None:
        with anyio.CancelScope() as scope:
            self._in_play.add(scope)
            try:
                await self._play_to_the_end(room, weight)
            finally:
                self._in_play.discard(scope)

    async def _play_to_the_end(self, room: Room, weight: int) -> None:
        try:
            record = await self.matches.run(room)
        finally:
            self._arranged -= weight
        self.arena.kept(record)
        self.rating_counter.note(record, rated=room.terms.rated)
        outcome = Outcome.of(record)
        self.arranger.ended(outcome)
        self.lobby.house.finished(outcome)
        self.lobby.stir()
        if self._on_record is not None:
            await self._on_record(record)
