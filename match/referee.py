"""The referee of one match, which decides whether a move is legal and in time, and who wins. Pure: callers pass the time.

`handle_event(event, now)` returns the effects of an event: messages to players, and the result. `next_deadline_ns` is the
time at which to call `handle_event` with `DeadlinePassed` if nothing else happens first. `now` is monotonic nanoseconds and
never decreases. A referee never sleeps, reads a clock or logs; a player's mistake is data, not an exception. The same events
at the same times give the same effects, so the journal of a match (its stored events) describes the match completely.

A match has three phases: getting ready, playing, over. The first two have deadlines, so every match ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import assert_never

from msgspec import UNSET

from arena.games.catalogue import CATALOGUE
from arena.games.core import MAXIE, BadData, GameError, IllegalMove, Player
from arena.match.adjudication import Adjudicator
from arena.match.clock import NS_PER_MS
from arena.match.lag import LagBudget
from arena.match.readiness import PlayerReadiness
from arena.match.referee_events import (
    DeadlinePassed,
    MatchOpened,
    MatchResult,
    MoveReceived,
    NotifyPlayer,
    PlayerDisconnected,
    PlayerReady,
    PlayerReconnected,
    PlayerResigned,
    ProtocolViolated,
    RefereeEffect,
    RefereeEvent,
    ServerFailed,
    ServerRecovered,
    SessionLost,
    TurnStarted,
)
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Accepted, End, Error, ServerMessage, Start, Turn
from arena.protocol.moves import MoveList, MovesSnapshot
from arena.protocol.record import RecordedMove, Result
from arena.protocol.values import Clocks, Seat

MAX_IGNORED_SERVER_STALL_NS = 50 * NS_PER_MS
"""Longest stall (time in which the server did not run) that never makes a match void, in ns.

When a player's time runs out, and the stall since `turn` was sent was longer than this and than the margin for network
delay, the match is void. Otherwise the player loses on time.
"""

MAX_REJECTED_MESSAGES = 16
"""Number of rejected messages, such as moves out of turn, that a player may send in one match. One more loses the match."""

SEAT_BY_PLAYER: dict[Player, Seat] = {Player.MAXIE: "maxie", Player.MINNIE: "minnie"}
"""Seat of each player, as messages and records name it."""


@dataclass
class Referee:
    """Referee of one match: checks its moves, measures both clocks and decides the result.

    Only the owner of the match calls it: in a server, the match's `MatchRoom`.
    """

    terms: MatchTerms
    revision: int = 0
    """Number of events that have changed the state of the match. Only these events need to be stored."""
    moves: list[RecordedMove] = field(default_factory=list)
    """Moves played so far, including the opening."""
    result: MatchResult | None = None
    """Result of the match; None until it is over."""

    def __post_init__(self) -> None:
        self.position = self.terms.game.start()
        self.mover = self.terms.game.player(self.position)
        """Player whose turn it is in `position`, even before the match begins and after it is over."""
        rules = self.terms.adjudication
        self._adjudicator = None if rules is None else Adjudicator(rules, self.terms.game)
        self._clock = self.terms.make_initial_clock()
        self._accepted_messages: list[Accepted] = []
        """The `accepted` message of each move so far, by ply, to send it again if the player sends the move again."""
        self._movers: list[Player] = []
        """Player who made each move so far, by ply."""
        self._move_list = MoveList()
        """Moves so far, in the form that `turn` and `end` messages use."""
        self.readiness = PlayerReadiness(self.terms)
        self._has_begun = False
        """True once both players have been ready, and still true after the end of the match."""
        self._disconnection_times_ns: dict[Player, int] = {}
        self._rejected_counts = dict.fromkeys(Player, 0)
        self._lag_budgets = dict.fromkeys(Player, LagBudget())
        self.turn_sent_ns: int | None = None
        """Time (monotonic ns) at which `turn`, the request for the next move, was sent; None while no clock runs."""
        self._turn_lag_ns = 0
        """Smallest recent ping time of the mover's connection when `turn` was sent, in ns; 0 if unknown."""
        self._flag_time_ns = 0
        """Time (monotonic ns) at which the mover loses on time: after time left, network margin and lag credit."""
        self._apply_opening_moves()

    def _apply_opening_moves(self) -> None:
        """Play the opening moves of the match's terms. Raises games.core.GameError if the opening is invalid."""
        game = self.terms.game
        if self._adjudicator is not None:
            self._adjudicator.count_position_occurrence(self.position)
        for ply, move in enumerate(self.terms.opening):
            position = game.play(self.position, game.move_from_data(move))
            self.moves.append(RecordedMove(move, 0.0, opening=True))
            self._movers.append(self.mover)
            self._move_list.append(move)
            clock_ms = self._clock.get_time_left_ns(self.mover) // NS_PER_MS
            self._accepted_messages.append(Accepted(self.terms.match, ply, 0.0, clock_ms))
            self.position, self.mover = position, game.player(position)
            if self._adjudicator is not None:
                self._adjudicator.count_position_occurrence(position)
        if self.moves and game.outcome(self.position) is not None:
            raise GameError("the opening must not end the match")

    @property
    def is_over(self) -> bool:
        return self.result is not None

    @property
    def recorded_result(self) -> Result | None:
        """Return the result in the form of the record; None until the match is over."""
        result = self.result
        if result is None:
            return None
        return Result(SEAT_BY_PLAYER[result.winner] if result.winner else None, result.reason, result.detail)

    @property
    def ply(self) -> int:
        """Return the ply to be played next, counted from 0: the number of moves so far."""
        return len(self.moves)

    @property
    def last_mover(self) -> Player | None:
        """Return the player who made the last move; None before the first one, and after a move of the opening."""
        return self._movers[-1] if self.moves and not self.moves[-1].opening else None

    @property
    def next_deadline_ns(self) -> int | None:
        """Return the time (monotonic ns) at which `DeadlinePassed` is due; None before the match opens and after its end."""
        # In the usual case no list is needed.
        if self.turn_sent_ns is not None and not self._disconnection_times_ns and self.result is None:
            return self._flag_time_ns
        return min([deadline_ns for deadline_ns, _ in self._list_deadlines()], default=None)

    def handle_event(self, event: RefereeEvent, now_ns: int) -> list[RefereeEffect]:
        """Apply an event at time `now_ns` (monotonic ns) and return its effects; none after the match is over."""
        if self.result is not None:
            return []
        match event:
            case MoveReceived():
                return self._handle_move(event, now_ns)
            case TurnStarted():
                self.start_clock(event, now_ns)
                return []
            case MatchOpened():
                return self._ask_players_to_get_ready(now_ns)
            case PlayerReady(player):
                return self._mark_ready(player)
            case PlayerResigned():
                return self._handle_resignation(event, now_ns)
            case PlayerDisconnected(player):
                return self._handle_disconnection(player, now_ns)
            case PlayerReconnected(player):
                return self._handle_reconnection(player, now_ns)
            case SessionLost(player, is_authenticated):
                return self._handle_lost_session(player, now_ns, is_authenticated=is_authenticated)
            case ProtocolViolated(player, detail):
                violation_text = f"{self._describe_player(player)} broke the protocol: {detail}"
                return self._finish_match(player.opponent, EndReason.PROTOCOL_ERROR, violation_text, now_ns)
            case DeadlinePassed(server_stall_ns):
                return self._handle_deadline(server_stall_ns, now_ns)
            case ServerRecovered():
                return self._handle_recovery(now_ns)
            case ServerFailed(detail):
                return self._finish_match(None, EndReason.SERVER_FAULT, detail, now_ns)
            case _:
                assert_never(event)

    # getting ready

    def _ask_players_to_get_ready(self, now_ns: int) -> list[RefereeEffect]:
        if self.readiness.is_ready_requested:
            return []
        self.readiness.record_ready_request(now_ns)
        self.revision += 1
        return [NotifyPlayer(player, self._make_start_message(player)) for player in Player]

    def _mark_ready(self, player: Player) -> list[RefereeEffect]:
        if self._has_begun or not self.readiness.mark_ready(player):
            return []
        self.revision += 1
        if self.readiness.unready_players:
            return []
        self._has_begun = True
        return [self._make_turn_message(self._clock.make_clocks_message())]

    # playing

    def start_clock(self, turn: TurnStarted, now_ns: int) -> int | None:
        """Start the mover's clock for a `turn` message sent at `now_ns`. Return `next_deadline_ns`, usually the clock's end.

        If the message was sent before (`turn.clock_ran_ns` is not 0), the clock starts with that much time used. The time
        between the two messages costs the mover nothing.

        Return None, and start no clock, if `turn` is not for the next ply, or its player has not reconnected.
        """
        # If the mover is not connected, the turn begins when the mover returns.
        is_connected = self.mover not in self.readiness.players_to_reconnect
        is_next = self.result is None and turn.ply == len(self.moves)
        if is_connected and self._has_begun and is_next:
            now_ns -= turn.clock_ran_ns
            self.turn_sent_ns = now_ns
            self._turn_lag_ns = turn.lag_ns
            lag_credit_ns = min(self._lag_budgets[self.mover].remaining_ns, turn.lag_ns)
            self._flag_time_ns = now_ns + self._clock.get_max_move_time_ns(self.mover) + lag_credit_ns
            self.revision += 1
            return self.next_deadline_ns if self._disconnection_times_ns else self._flag_time_ns
        return None

    def _handle_move(self, event: MoveReceived, now_ns: int) -> list[RefereeEffect]:
        player, ply, next_ply = event.player, event.ply, len(self.moves)
        if not self._has_begun:
            return self._reject_message(
                player, ErrorCode.NOT_STARTED, "the match has not begun: both must be ready", ply, now_ns
            )
        if ply < next_ply:
            return self._acknowledge_resent_move(event, now_ns)
        if ply > next_ply or player is not self.mover:
            detail = f"ply {ply} is not yours to play now: the match is at ply {next_ply}, and it is {self.mover}'s turn"
            return self._reject_message(player, ErrorCode.OUT_OF_TURN, detail, ply, now_ns)
        # A move can arrive before its turn has been sent; then it took no time.
        elapsed_ns = 0
        if self.turn_sent_ns is not None:
            elapsed_ns, late_ns = max(0, now_ns - self.turn_sent_ns), now_ns - self._flag_time_ns
            if late_ns > 0:
                return self._end_by_timeout(
                    player, f"the move came {late_ns / NS_PER_MS:.1f} ms after the flag fell", now_ns
                )
        try:
            move = self.terms.game.move_from_data(event.move)
            position = self.terms.game.play_even_if_over(self.position, move)
        except IllegalMove as error:
            return self._end_by_invalid_move(event, str(error), now_ns)
        except BadData as error:
            return self._end_by_invalid_move(event, f"no move of {self.terms.game.name}: {error}", now_ns)
        credited_ns, self._lag_budgets[player] = self._lag_budgets[player].credit_lag(
            self._turn_lag_ns, elapsed_ns
        )
        return self._accept_move(event, position, elapsed_ns - credited_ns, credited_ns, now_ns)

    def _accept_move(
        self, event: MoveReceived, position: object, elapsed_ns: int, credited_ns: int, now_ns: int
    ) -> list[RefereeEffect]:
        game, player = self.terms.game, event.player
        self.position, self.mover = position, game.player(position)
        self._clock = self._clock.deduct_move_time(player, elapsed_ns)
        self.turn_sent_ns = None
        elapsed_ms = round(elapsed_ns / NS_PER_MS, 3)
        credited_ms = round(credited_ns / NS_PER_MS, 3) if credited_ns else 0.0
        self.moves.append(RecordedMove(event.move, elapsed_ms, event.thinking, credited_ms))
        self._movers.append(player)
        self._move_list.append(event.move)
        clocks = self._clock.make_clocks_message()
        clock_ms = clocks.maxie_ms if player is MAXIE else clocks.minnie_ms
        message = Accepted(self.terms.match, event.ply, elapsed_ms, clock_ms, credited_ms)
        self._accepted_messages.append(message)
        self.revision += 1
        effects: list[RefereeEffect] = [NotifyPlayer(player, message)]
        outcome = game.outcome(position)
        if outcome is not None:
            reason = EndReason(outcome.reason_code)
            return effects + self._finish_match(
                outcome.winner, reason, reason.meaning + outcome.margin_suffix, now_ns
            )
        if game.is_ply_limit_reached(len(self.moves)):
            return effects + self._finish_match(
                None, EndReason.PLY_LIMIT, EndReason.PLY_LIMIT.meaning, now_ns
            )
        if self._adjudicator is not None:
            verdict = self._adjudicator.adjudicate_position(position, self.moves)
            if verdict is not None:
                return effects + self._finish_match(
                    verdict.winner, EndReason.ADJUDICATED, verdict.detail, now_ns
                )
        effects.append(self._make_turn_message(clocks))
        return effects

    def _acknowledge_resent_move(self, event: MoveReceived, now_ns: int) -> list[RefereeEffect]:
        earlier_move = self.moves[event.ply].move
        if self._movers[event.ply] is event.player and earlier_move == event.move:
            return [NotifyPlayer(event.player, self._accepted_messages[event.ply])]
        detail = f"ply {event.ply} was played already, with {earlier_move!r}; the match is at ply {self.ply}"
        return self._reject_message(event.player, ErrorCode.STALE_PLY, detail, event.ply, now_ns)

    def _reject_message(
        self, player: Player, code: ErrorCode, detail: str, ply: int, now_ns: int
    ) -> list[RefereeEffect]:
        self._rejected_counts[player] += 1
        self.revision += 1
        if self._rejected_counts[player] <= MAX_REJECTED_MESSAGES:
            return [NotifyPlayer(player, Error(code, detail, self.terms.match, ply))]
        code = ErrorCode.TOO_MANY_FAULTS
        detail = f"more than {MAX_REJECTED_MESSAGES} rejected messages, the last: {detail}"
        notice = NotifyPlayer(player, Error(code, detail, self.terms.match, ply))
        loss_text = f"{self._describe_player(player)} sent {detail}"
        return [notice, *self._finish_match(player.opponent, EndReason.PROTOCOL_ERROR, loss_text, now_ns)]

    def _end_by_invalid_move(self, event: MoveReceived, reason: str, now_ns: int) -> list[RefereeEffect]:
        position_text = self.terms.game.position_to_text(self.position)
        notice = NotifyPlayer(
            event.player,
            Error(
                ErrorCode.ILLEGAL_MOVE, f"{reason}; position: {position_text}", self.terms.match, event.ply
            ),
        )
        detail = f"{self._describe_player(event.player)}, ply {event.ply}: {reason}"
        return [notice, *self._finish_match(event.player.opponent, EndReason.ILLEGAL_MOVE, detail, now_ns)]

    def _handle_resignation(self, event: PlayerResigned, now_ns: int) -> list[RefereeEffect]:
        has_crashed = event.reason == "crash"
        verb = "crashed" if has_crashed else "resigned"
        detail = f"{self._describe_player(event.player)} {verb}{event.make_detail_suffix()}"
        reason = EndReason.CRASH if has_crashed else EndReason.RESIGNATION
        return self._finish_match(event.player.opponent, reason, detail, now_ns)

    # connections

    def _handle_disconnection(self, player: Player, now_ns: int) -> list[RefereeEffect]:
        if player not in self._disconnection_times_ns:
            self._disconnection_times_ns[player] = now_ns
            self.revision += 1
        return []

    def _handle_reconnection(self, player: Player, now_ns: int) -> list[RefereeEffect]:
        self.readiness.record_reconnection(player, now_ns)
        if self._disconnection_times_ns.pop(player, None) is not None:
            self.revision += 1
        if not self.readiness.is_ready_requested:
            return []
        effects: list[RefereeEffect] = [NotifyPlayer(player, self._make_start_message(player))]
        if self._has_begun and player is self.mover:
            effects.append(self._make_turn_message(self.get_clocks(now_ns)))
        return effects

    def _handle_lost_session(
        self, player: Player, now_ns: int, *, is_authenticated: bool
    ) -> list[RefereeEffect]:
        if self._has_begun and not is_authenticated:
            detail = f"{self._describe_player(player)} reconnected with neither its session nor a token, so it lost the match"
            return self._finish_match(player.opponent, EndReason.DISCONNECT, detail, now_ns)
        if not self._has_begun:
            self.readiness.mark_unready(player)
            self.revision += 1
        return self._handle_reconnection(player, now_ns)

    def _handle_recovery(self, now_ns: int) -> list[RefereeEffect]:
        """Mark both players as disconnected after an outage. The mover gets `turn` (request for a move) after reconnecting."""
        self.readiness.expect_reconnections(now_ns)
        self.turn_sent_ns = None
        self._disconnection_times_ns = dict.fromkeys(Player, now_ns)
        self.revision += 1
        return []

    # deadlines

    def _list_deadlines(self) -> list[tuple[int, Player | None]]:
        """Return the deadlines, each as its time (monotonic ns) and the player who must meet it.

        The player is None for a deadline of all players who are not ready.
        """
        ready_by = self.readiness.ready_deadline_ns
        if self.is_over or ready_by is None:
            return []
        if not self._has_begun:
            return [(ready_by, None)]
        grace_ns = self.terms.grace_ms * NS_PER_MS
        deadlines: list[tuple[int, Player | None]] = [
            (lost_at + grace_ns, player) for player, lost_at in self._disconnection_times_ns.items()
        ]
        if self.turn_sent_ns is not None:
            deadlines.append((self._flag_time_ns, self.mover))
        return deadlines

    def _handle_deadline(self, server_stall_ns: int, now_ns: int) -> list[RefereeEffect]:
        passed_deadlines = sorted(
            ((deadline, player) for deadline, player in self._list_deadlines() if deadline <= now_ns),
            key=itemgetter(0),
        )
        if not passed_deadlines:
            return []
        deadline, player = passed_deadlines[0]
        if player is None:
            return self._handle_no_show(now_ns)
        if (
            {late_player for _, late_player in passed_deadlines}
            == set(Player)
            == set(self._disconnection_times_ns)
        ):
            return self._finish_match(
                None,
                EndReason.DISCONNECT,
                "both players lost their connections and did not return in time",
                now_ns,
            )
        # A player whose flag fell before it lost its connection loses on time, below.
        if player in self._disconnection_times_ns and self._disconnection_times_ns[player] < deadline:
            away_ms = (now_ns - self._disconnection_times_ns[player]) / NS_PER_MS
            detail = f"{self._describe_player(player)} lost its connection and was away for {away_ms:.0f} ms"
            return self._finish_match(player.opponent, EndReason.DISCONNECT, detail, now_ns)
        if server_stall_ns > max(MAX_IGNORED_SERVER_STALL_NS, self._clock.network_margin_ns):
            detail = f"a player's time ran out, but the server stalled for {server_stall_ns / NS_PER_MS:.0f} ms during the turn"
            return self._finish_match(None, EndReason.SERVER_FAULT, detail, now_ns)
        return self._end_by_timeout(player, "no move came", now_ns)

    def _handle_no_show(self, now_ns: int) -> list[RefereeEffect]:
        absent_players = self.readiness.unready_players
        winner = absent_players[0].opponent if len(absent_players) == 1 else None
        names = " and ".join(self._describe_player(player) for player in absent_players)
        detail = f"{names} not ready within {self.terms.ready_ms} ms"
        return self._finish_match(winner, EndReason.NO_SHOW, detail, now_ns)

    def _end_by_timeout(self, player: Player, description: str, now_ns: int) -> list[RefereeEffect]:
        clock_ms, margin = self._clock.get_time_left_ns(player) / NS_PER_MS, self.terms.margin_ms
        detail = f"{self._describe_player(player)}, ply {self.ply}, had {clock_ms:.1f} ms and a margin of {margin} ms: {description}"
        return self._finish_match(player.opponent, EndReason.TIMEOUT, detail, now_ns)

    def _finish_match(
        self, winner: Player | None, reason: EndReason, detail: str, now_ns: int
    ) -> list[RefereeEffect]:
        clocks = self.get_clocks(now_ns)
        self.result = MatchResult(winner, reason, detail)
        self.revision += 1
        seat = SEAT_BY_PLAYER[winner] if winner else None
        end = End(self.terms.match, seat, reason, detail, MovesSnapshot(self._move_list), clocks)
        return [*(NotifyPlayer(player, end) for player in Player), self.result]

    # messages

    def _describe_player(self, player: Player) -> str:
        return f"{player} ({self.terms.players.get_bot_name(player)})"

    def _make_start_message(self, player: Player) -> ServerMessage:
        terms = self.terms
        return Start(
            match=terms.match,
            game=terms.game.name,
            setup=terms.game.setup(),
            seat=SEAT_BY_PLAYER[player],
            players=terms.players,
            time_control=terms.get_time_control(SEAT_BY_PLAYER[player]),
            margin_ms=terms.margin_ms,
            ready_ms=terms.ready_ms,
            threads=terms.get_max_search_threads(SEAT_BY_PLAYER[player]),
            rules=CATALOGUE.get_rules_digest(terms.game) or UNSET,
            rated=terms.rated or UNSET,
        )

    @property
    def disconnection_times_ns(self) -> Mapping[Player, int]:
        """Return the time (monotonic ns) at which each disconnected player lost its connection.

        The mapping is empty before both players were ready.
        """
        return self._disconnection_times_ns if self._has_begun else {}

    @property
    def mover_if_playing(self) -> Player | None:
        """Return the player to move; None before both players are ready, and after the match is over."""
        return self.mover if self._has_begun and not self.is_over else None

    def get_clocks(self, now_ns: int) -> Clocks:
        """Return both clocks at time `now_ns` (monotonic ns)."""
        return self._clock.make_clocks_message(
            self.mover_if_playing, now_ns - self.turn_sent_ns if self.turn_sent_ns is not None else 0
        )

    def _make_turn_message(self, clocks: Clocks) -> NotifyPlayer:
        mover, clock = self.mover, self._clock
        control = clock.maxie_time_control if mover is MAXIE else clock.minnie_time_control
        moves = MovesSnapshot(self._move_list)
        return NotifyPlayer(
            mover, Turn(self.terms.match, len(self.moves), moves, clocks, control.increment_ms)
        )
