"""A room: the core's state of one match, with the referee, which applies the rules. Only the room passes events to the referee.

The referee handles each event of the match, such as a move. An event that changes the match is stored (as an
`AppendMatchEvent`), and the messages that it causes go to the players and the spectators. These messages are sent only after
the event is stored. A room's state may therefore be ahead of the store.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from msgspec import UNSET

from arena.games.core import Player
from arena.match.analysis_limits import AnalysisTrimmer
from arena.match.referee import Referee
from arena.match.referee_events import (
    DeadlinePassed,
    MoveReceived,
    NotifyPlayer,
    PlayerDisconnected,
    PlayerReconnected,
    ProtocolViolated,
    RefereeEffect,
    RefereeEvent,
    ServerFailed,
    ServerRecovered,
    TurnStarted,
)
from arena.match.terms import MatchTerms
from arena.protocol.messages import Move, ServerMessage, Turn
from arena.server.core.bot import LobbyBot
from arena.server.core.deadlines import DeadlineKey
from arena.server.core.effects import (
    AnalysisTrimmed,
    AppendMatchEvent,
    LogLine,
    PublishToTopic,
    SendToClient,
)
from arena.server.core.inputs import UnfinishedMatch
from arena.server.core.lobby import FollowerCountsByEdge, Lobby
from arena.server.core.public_view import PublicMatchView
from arena.server.core.settings import OPEN_POOL_EVENT_NAME

TURN_SENT_REPORT_TIMEOUT_NS = 10_000_000_000
"""Longest wait, in ns, for the report that a `turn` message (request for a move) was sent. Then the clock starts anyway.

The report comes from the edge: the process that holds the player's connection.
"""


class MatchRoom:
    """Match in progress, with its referee and its spectators."""

    def __init__(
        self,
        terms: MatchTerms,
        bots: Mapping[Player, LobbyBot],
        start_time_utc: str,
        lobby: Lobby,
        *,
        load: int,
    ) -> None:
        """Set up a match that has not begun.

        bots            bot in each seat
        start_time_utc  start of the match in UTC, in ISO 8601
        load            load that the match puts on this machine: 1, or a number of search threads;
                        `CoreSettings.concurrency` limits the load of all matches together

        Raises games.core.GameError if the opening is invalid. A game that a user wrote may raise any exception.
        """
        self.terms = terms
        self.bots = bots
        self.start_time_utc = start_time_utc
        self.load = load
        self.is_event_match = terms.event != OPEN_POOL_EVENT_NAME
        """True for a match of an event (a tournament), False for one from the matchmaker or a challenge."""
        self.referee = Referee(terms)
        self.public_view = PublicMatchView(terms, self.referee, lobby.settings.analysis_visibility)
        self.followers = FollowerCountsByEdge()
        self.deadline_key: DeadlineKey = ("match", terms.match)
        self._lobby = lobby
        self._trimmer = AnalysisTrimmer(terms.game)
        self._last_event_number = 0
        """Number of this match's last event (such as a move) in the journal; 0 before the first."""
        self._unsaved_turn_start: tuple[int, TurnStarted] | None = None
        """Start of the current turn, with its time (monotonic ns), until it is stored in the journal; otherwise None.

        If the server crashes before that, the turn restarts.
        """
        self.turn_report_deadline_ns: int | None = None
        """Time (monotonic ns) until which the report that the turn was sent must arrive; None if no report is expected.

        The report comes from the edge: the process that holds the player's connection.
        """
        self._clock_ran_ns = 0
        """Time that the clock had already run when the current turn was last sent, in ns; 0 for a turn that was sent only once.
        """

    # events

    def handle_move(self, player: Player, move: Move, arrival_time_ns: int, elapsed_ns: int | None) -> None:
        """Handle a player's move.

        arrival_time_ns  time at which the move reached the edge (holder of the connection) or, if the edge is another process,
                         the core; on the core's clock
        elapsed_ns       time from sending the `turn` message to the move's arrival, in ns, as the edge measured it; None if
                         unknown
        """
        referee = self.referee
        if elapsed_ns is not None and move.ply == len(referee.moves) and player is referee.mover:
            if referee.turn_sent_ns is None:  # the edge's report of the sent turn is lost
                self.start_turn_clock(move.ply, 0, arrival_time_ns - elapsed_ns)
            if referee.turn_sent_ns is not None:
                arrival_time_ns = referee.turn_sent_ns + max(0, elapsed_ns)
        thinking = None if move.thinking is UNSET else move.thinking
        self.handle_event(MoveReceived(player, move.ply, move.move, thinking), arrival_time_ns)

    def handle_event(self, event: RefereeEvent, event_time_ns: int) -> None:
        """Let the referee handle `event`, such as a move, at `event_time_ns`, and send the resulting messages.

        An event that changes the match is stored. An exception raised by the game makes the match void (without a result).
        """
        referee = self.referee
        revision_before, ply = referee.revision, len(referee.moves)
        disconnected_before = dict(referee.disconnection_times_ns) if self.followers.edges else {}
        try:
            if type(event) is MoveReceived and event.thinking is not None:
                event = self._trim_analysis_of_move(event)
            effects = referee.handle_event(event, event_time_ns)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything, and ends this match alone
            event, event_time_ns = self._report_unexpected_error(error), self._lobby.now_ns
            effects = referee.handle_event(event, event_time_ns)
        if referee.revision != revision_before:
            turn, self._unsaved_turn_start = self._unsaved_turn_start, None
            self._last_event_number += 1 if turn is None else 2
            self._lobby.effects.append(
                AppendMatchEvent(self.terms.match, self._last_event_number, event_time_ns, event, turn)
            )
        if len(referee.moves) > ply:
            # The answer to a turn that was sent again may arrive before the edge's report of the sent turn.
            self.turn_report_deadline_ns = None
        self._send_referee_effects(effects)
        if self.followers.edges:  # after the messages to both players
            if len(referee.moves) > ply:
                for update in self.public_view.make_messages_after_move(self._lobby.now_ns):
                    self.publish_to_spectators(update)
            if referee.disconnection_times_ns != disconnected_before and referee.result is None:
                self.publish_to_spectators(self.public_view.make_connection_status(self._lobby.now_ns))

    def start_turn_clock(self, ply: int, lag_ns: int, sent_time_ns: int) -> None:
        """Start the clock for ply `ply`, whose `turn` message was sent at `sent_time_ns`.

        A message that was sent again after a reconnect continues the clock. The call is ignored for any other turn whose clock
        runs already, and for a turn that is over. The start of the turn is stored together with the next event, so that it
        needs no write of its own.

        lag_ns  shortest recent round-trip time of a ping to the mover, in ns; 0 if unknown
        """
        if self.referee.turn_sent_ns is not None and self.turn_report_deadline_ns is None:
            return  # the turn was reported before
        turn = TurnStarted(ply, lag_ns, self._clock_ran_ns)
        deadline = self.referee.start_clock(turn, sent_time_ns)
        if deadline is not None:
            self._unsaved_turn_start = sent_time_ns, turn
            report_deadline, self.turn_report_deadline_ns = self.turn_report_deadline_ns, None
            deadline += self._lobby.settings.max_edge_transit_ns
            # A check is already scheduled at `report_deadline`, and then schedules the next one.
            if report_deadline is None or deadline < report_deadline:
                self._lobby.deadlines.schedule_check(self.deadline_key, deadline)

    def handle_player_disconnection(
        self, player: Player, disconnection_event: PlayerDisconnected | ProtocolViolated
    ) -> None:
        """Let the referee handle the loss of a player's connection. `disconnection_event`: event that describes the loss.

        If the player is to move, and no edge (process that holds connections) has reported yet that the `turn` message was
        sent, the message counts as sent now: the player's clock starts.
        """
        self.handle_event(disconnection_event, self._lobby.now_ns)
        if self.turn_report_deadline_ns is not None and player is self.referee.mover_if_playing:
            self.start_turn_clock(self.referee.ply, 0, self._lobby.now_ns)

    def restart_current_turn(self) -> None:
        """Ask for the current move again, and restart its clock, because the players could not be reached for a while."""
        now = self._lobby.now_ns
        self._unsaved_turn_start = self.turn_report_deadline_ns = None
        self.handle_event(ServerRecovered(), now)
        for player, bot in self.bots.items():
            if bot.client_number is not None:
                self.handle_event(PlayerReconnected(player), now)

    def replay_stored_events(self, unfinished: UnfinishedMatch) -> None:
        """Bring this new room to the state of an unfinished match, by its stored moves and other events. Send no messages."""
        for event_time, event in unfinished.match_events:
            self.referee.handle_event(
                self._trimmer.trim_move(event.player, event) if type(event) is MoveReceived else event,
                event_time,
            )
        self._last_event_number = len(unfinished.match_events)

    # deadlines

    @property
    def next_deadline_ns(self) -> int | None:
        """Time in ns, on the core's clock, at which `handle_passed_deadlines` must run; None once the match is over.

        Any event of the match, such as a move, may change the time.
        """
        if self.turn_report_deadline_ns is not None:
            return self.turn_report_deadline_ns
        deadline = self.referee.next_deadline_ns
        return None if deadline is None else deadline + self._lobby.settings.max_edge_transit_ns

    def handle_passed_deadlines(self, stall_ns: int) -> None:
        """Act on the deadlines that have passed. `stall_ns`: longest delay of the server itself during the current move, in ns.

        While the match waits for an edge's report that a `turn` message was sent, do nothing before `turn_report_deadline_ns`.
        This also holds for a turn that is sent again, because the edge may already have received the player's move in time.
        """
        settings, now = self._lobby.settings, self._lobby.now_ns
        if self.turn_report_deadline_ns is not None:
            if now < self.turn_report_deadline_ns:
                return
            self.start_turn_clock(self.referee.ply, 0, now)
        deadline = self.referee.next_deadline_ns
        if deadline is not None and now >= deadline + settings.max_edge_transit_ns:
            self.handle_event(DeadlinePassed(stall_ns), now)

    # effects

    def _send_referee_effects(self, effects: list[RefereeEffect]) -> None:
        lobby = self._lobby
        for effect in effects:
            if type(effect) is not NotifyPlayer:
                continue
            client, message = self.bots[effect.player].client_number, effect.message
            clock_ran_ns, turn_start = 0, self.referee.turn_sent_ns
            if type(message) is Turn:
                clock_ran_ns = self._clock_ran_ns = (
                    0 if turn_start is None else max(0, lobby.now_ns - turn_start)
                )
                if client is None:
                    # The clock runs while the player is away.
                    self.start_turn_clock(message.ply, 0, lobby.now_ns)
                elif self.turn_report_deadline_ns is None:
                    self.turn_report_deadline_ns = lobby.now_ns + TURN_SENT_REPORT_TIMEOUT_NS
                    lobby.deadlines.schedule_check(self.deadline_key, self.turn_report_deadline_ns)
            if client is not None:
                lobby.effects.append(SendToClient(client, message, clock_ran_ns))

    def publish_to_spectators(self, message: ServerMessage) -> None:
        """Publish a message to all clients that watch the match."""
        self._lobby.effects.append(PublishToTopic(self.terms.match, message, self.followers.edges))

    def _trim_analysis_of_move(self, event: MoveReceived) -> MoveReceived:
        """Return a move without the parts of its analysis that are invalid or exceed the limits of `match.analysis_limits`."""
        removed_before = self._trimmer.removed_line_move_count
        trimmed_event = self._trimmer.trim_move(event.player, event)
        if self._trimmer.removed_line_move_count > removed_before:
            self._lobby.effects.append(
                AnalysisTrimmed(self._trimmer.removed_line_move_count - removed_before)
            )
        return trimmed_event

    def _report_unexpected_error(self, error: Exception) -> ServerFailed:
        """Log an unexpected error as a bug, and return the event that voids the match."""
        trace = "".join(traceback.format_exception(error))
        self._lobby.effects.append(
            LogLine(
                "error", f"the match is void because of a server error\n{trace}", match_id=self.terms.match
            )
        )
        return ServerFailed(f"the server failed: {type(error).__name__}")
