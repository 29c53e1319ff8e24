"""The room: the one task that owns a match, its referee, its inbox and its deadline.

    inbox -> referee -> journal -> players

Sessions post events from their own tasks; the room alone touches the referee, one event at a time,
and lets the effects out once the event is in the journal.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import monotonic_ns

import anyio
from anyio.lowlevel import checkpoint

from games.core import Player
from protocol.codes import EndReason
from protocol.messages import Accepted, End, LiveMatch, Played, Turn, Update, View
from protocol.record import FORMAT, Record, RecordedMove, Result
from server.events import DeadlineFell, Effect, Event, Moved, Opened, ServerBack, ServerFailed, Tell, TurnLeft
from server.gallery import Gallery
from server.journal import Journal, JournalFailed
from server.loopwatch import LoopWatch
from server.member import Member
from server.past import Past
from server.referee import SEATS, Referee, Terms

log = logging.getLogger("arena.room")

INBOX = 64
"""Events that may wait; a bot that floods its room waits in its own connection."""

LOOK_AGAIN = 4
"""Turns of the event loop from a readable socket to an event in the inbox: poll, frame, task, post."""


class Room:
    """One match, from `run` to its record."""

    def __init__(
        self,
        terms: Terms,
        event: str,
        players: Mapping[Player, Member],
        journal: Journal,
        watch: LoopWatch,
        *,
        rated: bool = False,
        past: Past | None = None,
        moved: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        self.terms = terms
        self.event = event
        self.rated = rated
        self.referee = Referee(terms)
        self.started = past.started if past else datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.gallery = Gallery(self.view)
        self.players = players
        self._journal = journal
        self._watch = watch
        self._past = past
        self._moved = moved
        self._seq = 0
        self._waiting_since = monotonic_ns()
        self._post, self._inbox = anyio.create_memory_object_stream[tuple[Event, int]](INBOX)

    async def post(self, event: Event, at: int) -> bool:
        """Hand over an event that happened at `at` (monotonic ns). False when the match is over."""
        try:
            await self._post.send((event, at))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def run(self) -> Record:
        """Play the match to its end. Never raises for a fault of ours: the match is then void."""
        try:
            await self._begin()
            while not self.referee.over:
                await self._step()
        except Exception as error:  # noqa: BLE001  a fault in one room must not end the others
            self._void(error)
        finally:
            self._inbox.close()
            self._post.close()
            self.gallery.close(self.end())
            # Whoever has been told of the end may take its next match before this record is written.
            for member in self.players.values():
                member.matches.pop(self.terms.match, None)
        record = self.record()
        try:
            await self._journal.durable(self._journal.close_match(record))
        except JournalFailed:
            log.exception("match %s: its record is not in the store", self.terms.match)
        return record

    async def _begin(self) -> None:
        """Open a new match, or go on with one that was in progress when the server went away."""
        if self._past is None:
            self._journal.open_match(self.terms, self.event, self.started, rated=self.rated)
            await self._handle(Opened(), monotonic_ns())
            return
        for at, event in self._past.events:
            self.referee.handle(event, at)
        self._seq = len(self._past.events)
        await self._handle(ServerBack(), monotonic_ns())

    async def _step(self) -> None:
        """Wait for the next event or the deadline, and handle it."""
        deadline = self.referee.next_deadline
        wait = math.inf if deadline is None else max(0, deadline - monotonic_ns()) / 1e9
        arrived = None
        with anyio.move_on_after(wait):
            arrived = await self._inbox.receive()
        if arrived is not None:
            await self._take(*arrived)
            return
        # The deadline fell. What reached this machine before is still on its way through the event
        # loop, and goes first: the server's own delay never flags a bot that was in time.
        for _ in range(LOOK_AGAIN):
            await checkpoint()
            while not self.referee.over and self._inbox.statistics().current_buffer_used:
                await self._take(*self._inbox.receive_nowait())
        now = monotonic_ns()
        await self._handle(DeadlineFell(self._watch.late_since(self._waiting_since, now)), now)

    async def _take(self, event: Event, at: int) -> None:
        # An event that comes before its deadline was judged counts as in time: had the server not been
        # busy, the deadline would have been judged already.
        deadline = self.referee.next_deadline
        await self._handle(event, at if deadline is None else min(at, deadline))
        if isinstance(event, Moved):
            self._moved((monotonic_ns() - at) / 1e9)

    async def _handle(self, event: Event, at: int) -> None:
        before = self.referee.revision
        effects = self.referee.handle(event, at)
        if self.referee.revision != before:
            batch = self._journal.append(self.terms.match, self._next_seq(), at, event)
            await self._journal.durable(batch)
        self._let_out(effects)

    def _let_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            if not isinstance(effect, Tell):
                continue
            member = self.players[effect.player]
            member.tell(effect.message)
            if isinstance(effect.message, Accepted):
                self._show(effect.message)
            elif isinstance(effect.message, Turn):
                # Need not be durable before anything else happens: it goes with the next batch.
                at = monotonic_ns()
                left = TurnLeft(effect.message.ply, member.lag)
                self._waiting_since = at
                before = self.referee.revision
                self.referee.handle(left, at)
                if self.referee.revision != before:
                    self._journal.append(self.terms.match, self._next_seq(), at, left)

    def _show(self, accepted: Accepted) -> None:
        """Show the move to whoever watches; one acknowledged again has been shown."""
        if accepted.ply == self.referee.ply - 1:
            played = _played(self.referee.moves[accepted.ply])
            clocks = self.referee.clocks(monotonic_ns())
            self.gallery.show(Update(self.terms.match, accepted.ply, played, clocks))

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _void(self, error: Exception) -> None:
        log.error("match %s: void by a fault of the server", self.terms.match, exc_info=error)
        what = f"the server failed: {type(error).__name__}"
        self.referee.result = None  # an end that did not get into the journal has not happened
        for effect in self.referee.handle(ServerFailed(what), monotonic_ns()):
            if isinstance(effect, Tell):
                self.players[effect.player].tell(effect.message)

    def listed(self) -> LiveMatch:
        """The match as a listing shows it."""
        terms = self.terms
        return LiveMatch(
            terms.match,
            self.event,
            terms.game.name,
            terms.players,
            terms.control,
            self.referee.ply,
            self.rated,
        )

    def view(self) -> View:
        """All of the match so far, for a watcher."""
        terms, mover = self.terms, self.referee.mover_now
        return View(
            match=terms.match,
            event=self.event,
            game=terms.game.name,
            setup=terms.game.setup(),
            players=terms.players,
            time_control=terms.control,
            moves=[_played(move) for move in self.referee.moves],
            clocks=self.referee.clocks(monotonic_ns()),
            mover=SEATS[mover] if mover else None,
        )

    def end(self) -> End:
        """The end of the match as it is told; of a match that is not over, that the server stopped."""
        record = self.record()
        return End(
            match=record.match,
            winner=record.result.winner,
            reason=record.result.reason,
            detail=record.result.detail,
            moves=[each.move for each in record.moves],
            clocks=self.referee.clocks(monotonic_ns()),
        )

    def record(self) -> Record:
        """The match as it stands; its result is a server fault when it is not over."""
        result = self.referee.result
        return Record(
            format=FORMAT,
            match=self.terms.match,
            event=self.event,
            game=self.terms.game.name,
            setup=self.terms.game.setup(),
            players=self.terms.players,
            time_control=str(self.terms.control),
            started=self.started,
            moves=self.referee.moves,
            result=Result(SEATS[result.winner] if result.winner else None, result.reason, result.detail)
            if result
            else Result(None, EndReason.SERVER_FAULT, "the server stopped"),
        )


def _played(move: RecordedMove) -> Played:
    return Played(move.move, move.ms, move.thinking)
