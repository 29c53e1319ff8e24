"""The room: it alone touches the referee of a match, one event at a time, and keeps its deadline.

    take -> inbox -> referee -> journal -> players

Every event takes this one way: those of players, which their sessions hand over as they arrive, and the room's own
(its beginning, a deadline that fell). An event leaves the inbox as soon as the one before it is in the journal, often
in the call that brought it; its effects go out, in one turn of the event loop, once it is in the journal itself. The
referee is entered besides only where nothing is decided: to bring it to where a journal ends (`_begin`), to tell it
when a turn has left (`_let_out`), and to end a match that a fault of the server has made void (`_void`).

The room's own task waits for deadlines, and no event waits for it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from time import monotonic_ns

import anyio

from arena.games.core import Player
from arena.match.clock import MS
from arena.match.events import (
    DeadlineFell,
    Effect,
    Event,
    Moved,
    Opened,
    Returned,
    ServerBack,
    ServerFailed,
    Tell,
    TurnLeft,
)
from arena.match.referee import Referee
from arena.match.terms import Terms
from arena.match.thinking import ThinkingLimit
from arena.protocol.messages import Accepted, End, LiveMatch, Start, Turn, View
from arena.protocol.record import Record
from arena.server.net.limits import INBOX
from arena.server.net.loop_watch import LoopWatch
from arena.server.rooms.deadline_timer import DeadlineTimer
from arena.server.rooms.disclosure import Disclosure
from arena.server.rooms.member import BotConnection, Member
from arena.server.rooms.reach import LOOK_NS, Reach, Verdict
from arena.server.rooms.shown import Shown
from arena.server.store.journal.journal import Journal, JournalFailed
from arena.server.store.journal.recovery import Unfinished

log = logging.getLogger("arena.room")

KEEP_AGAIN_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
"""From one try to put a record into the store to the next."""


class Room:
    """One match, from `run` to its record."""

    def __init__(
        self,
        terms: Terms,
        players: Mapping[Player, Member],
        journal: Journal,
        watch: LoopWatch,
        *,
        unfinished: Unfinished | None = None,
        moved: Callable[[float], None] = lambda _seconds: None,
        keep_again: Sequence[float] = KEEP_AGAIN_SECONDS,
        cut: Callable[[int], None] = lambda _moves: None,
        inbox: int = INBOX,
        disclosure: Disclosure = Disclosure.REPLY,
        ended: Callable[[str], None] = lambda _match: None,
        whole: Callable[[], bool] = lambda: True,
        handed_on: bool = False,
    ) -> None:
        """Play a match of these terms.

        moved       told how long each move took to be announced, in seconds
        keep_again  the seconds after which a record that could not be kept is given to the store again
        cut         told how many moves of a player's line were not kept
        inbox       how many events may wait for the referee
        disclosure  when spectators are told what the players said of their moves
        ended       told of the match when it is over
        whole       says whether everybody who is connected somewhere can be known
        handed_on   whether another server goes on with the match when this one stops
        """
        self.terms = terms
        self.referee = Referee(terms)
        self.started = unfinished.started if unfinished else datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._shown = Shown(terms, self.referee, self.started, disclosure)
        self.spectators = self._shown.spectators
        self.players = players
        self._journal = journal
        self._watch = watch
        self._unfinished = unfinished
        self._moved = moved
        self._keep_again = keep_again
        self._cut = cut
        self._most_waiting = inbox
        self._ended = ended
        self._handed_on = handed_on
        self._reach = Reach(players, whole)
        self._thinking = ThinkingLimit(terms.game)
        self._seq = 0
        self._turn: tuple[int, TurnLeft] | None = None
        """The turn that has left and is not in the journal yet: after a crash it begins anew."""
        self._waiting_since = monotonic_ns()
        self._told_by: dict[Player, BotConnection | None] = dict.fromkeys(players)  # of the match's start
        self._inbox: deque[tuple[Event, int, bool]] = deque()
        """Events, each with when it happened (monotonic ns) and whether it is a player's."""
        self._writing = unfinished is not None
        """Whether an event is on its way into the journal, or those of before are not judged yet: the next one waits."""
        self._closed = False
        self._space_made: anyio.Event | None = None
        """What those wait for who wait for space in the inbox; None where nobody does."""
        self._over = anyio.Event()
        """Set with the end of the match, for the room's task."""
        self._timer = DeadlineTimer()

    @property
    def full(self) -> bool:
        """Whether so many events wait already that whoever has another is to wait until there is space."""
        return len(self._inbox) >= self._most_waiting and not self._closed

    async def has_space(self) -> None:
        """Wait until it is not full."""
        while self.full:
            if self._space_made is None:
                self._space_made = anyio.Event()
            await self._space_made.wait()

    def take(self, event: Event, at: int) -> bool:
        """Hand over an event of a player's that arrived at `at` (monotonic ns). False when the match is over.

        Whoever may have many of them looks first whether the room is full.
        """
        if self._closed:
            return False
        if type(event) is Moved and event.thinking is not None:
            event = self._limited(event)
        self._inbox.append((event, at, True))
        self._work()
        return True

    def introduced(self, player: Player) -> bool:
        """Whether the player has been told, by the connection that it has now, that the match begins."""
        return self._told_by[player] is self.players[player].connection

    def _limited(self, moved: Moved) -> Moved:
        """A move with as much of its thinking as is kept, before anybody but the player has seen it."""
        before = self._thinking.cut
        limited = self._thinking.event(moved)
        if self._thinking.cut > before:
            self._cut(self._thinking.cut - before)
        return limited

    async def run(self) -> Record:
        """Play the match to its end. Never raises for a fault of ours: the match is then void."""
        try:
            self._begin()
            await self._over.wait()
        except Exception as error:  # noqa: BLE001  a fault in one room must not end the others
            self._void(error)
        finally:
            self._closed = True
            self._timer.stop()
            self._tell_of_space()
            if self.referee.over or not self._handed_on:
                self._shown.last()
                # Whoever has been told of the end may take its next match before this record is written.
                for member in self.players.values():
                    member.finish(self.terms.match)
                self._ended(self.terms.match)
        record = self.record()
        await self._keep(record)
        return record

    async def _keep(self, record: Record) -> None:
        """Put the record into the store, and again for a while where the store is away.

        Until then the match counts as one in progress: so the matchmaker begins few that would be void as
        well, and what the next start of the server finds is what everybody was told.
        """
        for pause in (*self._keep_again, None):
            try:
                await self._journal.durable(self._journal.close_match(record))
            except JournalFailed as why:
                then = "the next start goes on with it" if pause is None else f"again in {pause:g} s"
                about = {"match": record.match}
                log.warning("its record is not in the store: %s; %s", why, then, extra=about)
            else:
                return
            if pause is not None:
                await anyio.sleep(pause)

    def _begin(self) -> None:
        """Open a new match, or go on with one that was in progress when the server went away."""
        if self._unfinished is None:
            self._journal.open_match(self.terms, self.started)
            self._take_own(Opened(), monotonic_ns())
            return
        for at, event in self._unfinished.events:
            self.referee.handle(self._limited(event) if type(event) is Moved else event, at)
        self._seq = len(self._unfinished.events)
        self._writing = False
        if self.referee.over:
            # It ended as the server did, and whoever stayed connected to another one may not have been told.
            for member in self.players.values():
                member.tell(self._shown.end())
        # What players have said by now comes after the server's return.
        waiting, self._inbox = self._inbox, deque()
        self.go_on()
        self._inbox.extend(waiting)
        self._work()

    def go_on(self) -> None:
        """Go on after a time in which players could not be reached: who is connected gets its turn anew."""
        now = monotonic_ns()
        self._take_own(ServerBack(), now)
        for player, member in self.players.items():
            if member.connection is not None:
                self._take_own(Returned(player), now)

    # deadlines

    def _follow(self) -> None:
        """End the room where the match is over; else see to it that the next deadline is not missed."""
        if self._closed:
            self._over.set()
        elif not self._writing:  # what follows from an event on its way into the journal is not known yet
            deadline = self.referee.next_deadline
            if deadline is not None:
                self._timer.follow(deadline, self._judge_deadline)

    def _judge_deadline(self) -> None:
        if self._closed:
            return
        now = monotonic_ns()
        # Most deadlines have moved on with the play by the time that they are looked at.
        deadline = self.referee.next_deadline
        if not self._writing and deadline is not None and deadline <= now:
            match self._reach.look(self.referee, deadline):
                case Verdict.WAIT:
                    self._timer.follow(now + LOOK_NS, self._judge_deadline)
                    return
                case Verdict.GO_ON:
                    self.go_on()
                    return
            self._take_own(DeadlineFell(self._watch.late_since(self._waiting_since, now)), now)
        else:
            self._follow()

    def stand_still(self) -> None:
        """Judge nothing more: the match goes on elsewhere."""
        self._closed = True
        self._timer.stop()

    def look(self) -> None:
        """Look at the deadline, of which another server has said something."""
        self._judge_deadline()

    # the way of an event

    def _take_own(self, event: Event, at: int) -> None:
        """Take an event of the room's own, which no player sent."""
        self._inbox.append((event, at, False))
        self._work()

    def _work(self) -> None:
        """Judge what is in the inbox, as far as the journal has kept up."""
        while self._inbox and not self._writing and not self._closed:
            try:
                self._judge(*self._inbox.popleft())
            except Exception as error:  # noqa: BLE001  a fault in one room must not end its caller
                self._void(error)
        if self._space_made is not None and len(self._inbox) < self._most_waiting:
            self._tell_of_space()

    def _tell_of_space(self) -> None:
        """Let those look again who wait for space in the inbox."""
        if self._space_made is not None:
            self._space_made.set()
            self._space_made = None

    def _judge(self, event: Event, arrived: int, of_player: bool) -> None:  # noqa: FBT001  as the inbox keeps it
        """Give an event to the referee, and where it changes the match to the journal."""
        deadline = self.referee.next_deadline
        # What a player sent and what comes before its deadline was judged counts as in time: had the server
        # not been busy, the deadline would have been judged already.
        at = arrived if deadline is None or not of_player else min(arrived, deadline)
        before = self.referee.revision
        effects = self.referee.handle(event, at)
        if self.referee.revision == before:
            self._let_out(effects)
            self._closed = self.referee.over  # as of a match whose end is all that was kept of it
            self._follow()
            return
        self._writing = True
        turn, self._turn = self._turn, None
        self._seq += 1 if turn is None else 2
        told = partial(self._written, event, effects, arrived)
        self._journal.append(self.terms.match, self._seq, at, event, turn, told)

    def _written(self, event: Event, effects: list[Effect], at: int, error: Exception | None) -> None:
        """An event is in the journal, or could not be put there."""
        self._writing = False
        if self._closed:
            return  # the server stops: what is in the journal is told when it is back
        try:
            if (
                error is None
                and type(event) is Opened
                and monotonic_ns() - at > self.terms.ready_ms * MS // 2
            ):
                # The time to get ready has begun, and nobody could be told.
                self._void(TimeoutError("the store was away while the match began"))
            elif error is None:
                self._let_out(effects)
            else:
                self._void(JournalFailed.of(error))
        except Exception as fault:  # noqa: BLE001  a fault in one room must not end the journal
            self._void(fault)
        if type(event) is Moved:
            self._moved((monotonic_ns() - at) / 1e9)
        self._closed = self.referee.over
        self._follow()
        if self._inbox:
            self._work()

    def _let_out(self, effects: list[Effect]) -> None:
        """Tell the players what follows from an event, and then whoever watches."""
        shown: Accepted | None = None
        for effect in effects:
            if not isinstance(effect, Tell):
                continue
            member, message = self.players[effect.player], effect.message
            if type(message) is Start:
                self._told_by[effect.player] = member.connection
            # Who has just come back is told of the match when its return is judged, and nothing before.
            told = type(message) is End or self._told_by[effect.player] is member.connection
            if type(message) is Turn:
                since = self.referee.turn_since
                if told:
                    member.ask(message, 0 if since is None else max(0, monotonic_ns() - since))
            elif told:
                member.tell(message)
            if isinstance(message, Accepted):
                shown = message
            elif isinstance(message, Turn):
                # Nothing waits for it to be durable: it goes with the next event.
                self._waiting_since = at = monotonic_ns()
                left = TurnLeft(message.ply, member.lag)
                before = self.referee.revision
                self.referee.handle(left, at)
                if self.referee.revision != before:
                    self._turn = at, left
        if shown is not None:
            # After both players: what is written to hundreds of spectators delays nobody's turn.
            self._shown.accepted(shown)

    def _void(self, error: Exception) -> None:
        log.error("match %s: void by a fault of the server", self.terms.match, exc_info=error)
        what = f"the server failed: {type(error).__name__}"
        self.referee.result = None  # an end that did not get into the journal has not happened
        for effect in self.referee.handle(ServerFailed(what), monotonic_ns()):
            if isinstance(effect, Tell):
                self.players[effect.player].tell(effect.message)
        self._closed = True
        self._over.set()

    def arrived(self, event: Event, spent: int) -> int:
        """When an event of a player of another server counts as arrived, which took so many ns since its turn left."""
        now, since = monotonic_ns(), self.referee.turn_since
        if type(event) is not Moved or since is None or event.ply != self.referee.ply:
            return now
        return min(now, since + spent)

    def listed(self) -> LiveMatch:
        """The match as a listing shows it."""
        return self._shown.listed()

    def view(self) -> View:
        """The whole match so far, for a spectator."""
        return self._shown.view()

    def end(self) -> End:
        """The end of the match as it is told; of a match that is not over, that the server stopped."""
        return self._shown.end()

    def record(self) -> Record:
        """The match as it stands; its result is a server fault when it is not over."""
        return self._shown.record()
