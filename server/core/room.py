"""A room: the core's state of one match, and the only place that touches its referee.

Each event goes to the referee; where it changed the match it becomes an `Append`, and what follows is sent to the
players and published to spectators. The state runs ahead of the store: the shell releases the messages once the
appended events are durable.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from msgspec import UNSET

from arena.games.core import Player
from arena.match.events import (
    DeadlineFell,
    Effect,
    Event,
    Moved,
    Returned,
    ServerBack,
    ServerFailed,
    Tell,
    TurnLeft,
)
from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.match.thinking import ThinkingLimit
from arena.protocol.codes import EndReason
from arena.protocol.messages import End, Move, ServerMessage, Turn
from arena.protocol.record import Record, Result
from arena.server.core.bot import Bot
from arena.server.core.deadlines import Key
from arena.server.core.effects import Append, Count, Publish, Report, Send
from arena.server.core.inputs import Unfinished
from arena.server.core.lobby import Followers, Lobby
from arena.server.core.public_view import PublicView


class Room:
    """One match in progress."""

    def __init__(
        self,
        terms: Terms,
        bots: Mapping[Player, Bot],
        started: str,
        lobby: Lobby,
        *,
        weight: int,
        event: bool,
    ) -> None:
        """Set up a match without beginning it. Raises games.core.GameError, and any error of a user's own game.

        weight  places that the match takes on the server's own machine
        event   True where an event asked for the match, False where the pool or a challenge led to it
        """
        self.terms = terms
        self.bots = bots
        self.started = started
        self.weight = weight
        self.event = event
        self.referee = Referee(terms)
        self.public = PublicView(terms, self.referee, lobby.settings.thinking)
        self.followers = Followers()
        self.key: Key = ("match", terms.match)
        self._lobby = lobby
        self._thinking = ThinkingLimit(terms.game)
        self._seq = 0
        self._turn: tuple[int, TurnLeft] | None = None
        """The turn that has left and is not in the journal yet: after a crash it begins anew."""
        self.sending_until: int | None = None
        """Time by which an edge is to report that the turn has left; None where no turn is on its way to one."""
        self._sending_ply = -1

    # events

    def move(self, player: Player, move: Move, arrived: int, spent: int | None) -> None:
        """Take a player's move that reached its edge at `arrived`, after `spent` ns as that one measured them."""
        referee = self.referee
        if spent is not None and move.ply == len(referee.moves) and player is referee.mover:
            if referee.turn_since is None:  # the report that the turn has left is lost
                self.turn_sent(move.ply, 0, arrived - spent)
            if referee.turn_since is not None:
                arrived = referee.turn_since + max(0, spent)
        thinking = None if move.thinking is UNSET else move.thinking
        self.handle(Moved(player, move.ply, move.move, thinking), arrived)

    def handle(self, event: Event, at: int) -> None:
        """Apply `event` at time `at` and append its effects. A bug voids the match."""
        referee = self.referee
        before, ply = referee.revision, len(referee.moves)
        try:
            if type(event) is Moved and event.thinking is not None:
                event = self._limited(event)
            effects = referee.handle(event, at)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything, and ends this match alone
            event, at = self._failed(error), self._lobby.now
            effects = referee.handle(event, at)
        if referee.revision != before:
            turn, self._turn = self._turn, None
            self._seq += 1 if turn is None else 2
            self._lobby.effects.append(Append(self.terms.match, self._seq, at, event, turn))
        self._release(effects)
        if len(referee.moves) > ply and self.followers.edges:  # after both players
            for shown in self.public.moved(self._lobby.now):
                self.publish(shown)

    def turn_sent(self, ply: int, lag: int, at: int) -> None:
        """Start the clock of a turn that left at `at`. The turn is journalled with the event that ends it."""
        before = self.referee.revision
        turn = TurnLeft(ply, lag)
        self.referee.handle(turn, at)
        if self.referee.revision != before:
            self._turn = at, turn
            self.sending_until = None

    def lose(self, player: Player, event: Event) -> None:
        """Apply the loss of a player's connection. A turn that was on its way there counts as sent."""
        self.handle(event, self._lobby.now)
        if self.sending_until is not None and player is self.referee.mover_now:
            self.turn_sent(self.referee.ply, 0, self._lobby.now)

    def resume(self) -> None:
        """Go on after a time in which nobody could be told anything: the turn begins anew."""
        now = self._lobby.now
        self._turn = self.sending_until = None
        self.handle(ServerBack(), now)
        for player, bot in self.bots.items():
            if bot.client is not None:
                self.handle(Returned(player), now)

    def replay(self, unfinished: Unfinished) -> None:
        """Bring a new room to where the journal of its match ends, without effects."""
        for at, event in unfinished.events:
            self.referee.handle(self._thinking.event(event) if type(event) is Moved else event, at)
        self._seq = len(unfinished.events)

    # deadlines

    @property
    def deadline(self) -> int | None:
        """Time at which to call `judge` if nothing happens before; None when over."""
        due = self.referee.next_deadline
        if due is None:
            return self.sending_until
        due += self._lobby.settings.transit_ns
        return due if self.sending_until is None else min(due, self.sending_until)

    def judge(self, held_up: int) -> None:
        """Judge the deadlines that have fallen. `held_up`: longest delay of the server's own in the turn, in ns."""
        settings, now = self._lobby.settings, self._lobby.now
        if self.sending_until is not None and now >= self.sending_until:
            self.turn_sent(self.referee.ply, 0, now)
        due = self.referee.next_deadline
        if due is not None and now >= due + settings.transit_ns:
            self.handle(DeadlineFell(held_up), now)

    # what follows

    def _release(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is not Tell:
                continue
            client = self.bots[effect.player].client
            if type(effect.message) is Turn:
                self._send_turn(client, effect.message)
            elif client is not None:
                self._lobby.effects.append(Send(client, effect.message))

    def _send_turn(self, client: int | None, turn: Turn) -> None:
        now, since = self._lobby.now, self.referee.turn_since
        if client is None:
            # Its clock runs while its player is away.
            self.turn_sent(turn.ply, 0, now)
            return
        self._lobby.effects.append(Send(client, turn, 0 if since is None else max(0, now - since)))
        if since is None and (self.sending_until is None or turn.ply != self._sending_ply):
            self._sending_ply = turn.ply
            self.sending_until = now + self._lobby.settings.turn_report_ns

    def publish(self, message: ServerMessage) -> None:
        """Publish a message to the spectators."""
        self._lobby.effects.append(Publish(self.terms.match, message, self.followers.edges))

    def _limited(self, moved: Moved) -> Moved:
        """Return a move with as much of its thinking as is kept."""
        before = self._thinking.cut
        limited = self._thinking.event(moved)
        if self._thinking.cut > before:
            self._lobby.effects.append(Count("lines_cut", self._thinking.cut - before))
        return limited

    def _failed(self, error: Exception) -> ServerFailed:
        """Report a bug, and return the event that voids the match."""
        trace = "".join(traceback.format_exception(error))
        self._lobby.effects.append(
            Report("error", f"void by a fault of the server\n{trace}", match=self.terms.match)
        )
        return ServerFailed(f"the server failed: {type(error).__name__}")

    # the end

    def end(self) -> End:
        """Return the end of the match, as spectators are told it."""
        record = self.record()
        result = record.result
        return End(
            match=record.match,
            winner=result.winner,
            reason=result.reason,
            detail=result.detail,
            moves=[each.move for each in record.moves],
            clocks=self.referee.clocks(self._lobby.now),
        )

    def record(self) -> Record:
        """Return the record of the match. Void where it is not over."""
        ended = self.referee.result
        result = Result(None, EndReason.SERVER_FAULT, "the server stopped")
        if ended is not None:
            result = Result(SEATS[ended.winner] if ended.winner else None, ended.reason, ended.detail)
        return self.terms.record(self.started, self.referee.moves, result)
