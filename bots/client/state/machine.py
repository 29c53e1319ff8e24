"""State machine of the client: server messages go in, actions come out.

The machine does no I/O and reads no clock: `bots.client.client` passes messages to the machine, and performs the actions. Times
are seconds on the scale of `time.monotonic()`. The machine trusts the server's messages, with one exception: a message about an
unknown match is reported, and changes nothing.

A match goes through these phases. The message `end` may arrive in each of them::

    PREPARING -- prepared --> WAITING -- turn --> CHOOSING -- chose --> WAITING ...
         any -- the bot failed --> RESIGNED

After a lost connection the server sends `start` again, and `turn` (request for a move) if it has received no answer. If the
bot has already chosen a move, the machine sends the move again, in case the first message was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import UNSET, structs

from arena.bots.api.bot import Ending, Match, Thinking
from arena.bots.client.state.actions import (
    CancelMove,
    ChooseMove,
    ClientAction,
    Disconnect,
    EndMatch,
    PrepareBot,
    ReportStatus,
    ScheduleChallenge,
    SendMessage,
    WarnOwner,
)
from arena.bots.client.state.challenger import Challenger
from arena.bots.client.state.match_state import MatchPhase, MatchState
from arena.bots.client.state.moves import InvalidMoveValue, make_move_message
from arena.games.catalogue import explain_rules_mismatch, make_game
from arena.games.core import BadGame, GameError, Player
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Accept,
    Accepted,
    Challenge,
    Challenged,
    ChallengeOver,
    End,
    EnterEvent,
    Error,
    EventStatus,
    Hello,
    Notice,
    Queued,
    Ready,
    Resign,
    ServerMessage,
    Standing,
    Start,
    Status,
    Turn,
    Welcome,
)

CHALLENGE_REFUSAL_CODES = frozenset(
    {ErrorCode.BAD_CHALLENGE, ErrorCode.OPPONENT_UNAVAILABLE, ErrorCode.RATE_LIMITED, ErrorCode.SHUTTING_DOWN}
)
"""Codes of the errors by which the server may refuse a challenge."""
MAX_RESIGNATION_REASON_CHARACTERS = 200
"""Maximum length of a resignation's reason in a message, in characters."""


class ClientStateMachine:
    """State of one client: its session and its matches.

    The caller must perform the actions that a method returns, in order.
    """

    def __init__(
        self,
        hello: Hello,
        challenge: Challenge | None = None,
        previous_match_ids: Iterable[str] = (),
        event_name: str = "",
    ) -> None:
        """Start without a connection.

        hello               first message on each connection, with the bot's name and the matches that it accepts
        challenge           challenge to open whenever the bot can play another match
        previous_match_ids  ids of the matches that an earlier process of this bot may have left in play; `hello.session`
                            is then the secret of that process's session
        event_name          name of the event to enter, also after each reconnection; empty to enter no event
        """
        self._event_name = event_name
        self._hello = hello
        self._challenger = Challenger(challenge)
        self._quota = None if hello.quota is UNSET else hello.quota
        """Number of further matches to accept; None for no limit."""
        self._is_quota_confirmed = True
        """False after a quota of 0 (no further matches) was sent, until the server confirms it. A match may start meanwhile."""
        self._was_welcomed = False
        self._matches: dict[str, MatchState] = {}
        self._previous_match_ids = set(previous_match_ids)
        """Ids of an earlier process's matches for which the server has sent neither `start` nor `end` to this process yet."""
        self._received_challenge_ids: list[str] = []
        """Ids of the open challenges to this bot, which are accepted as soon as the bot can play another match."""
        self._ratings: Mapping[str, float] = {}
        self.pending_rating_count = 0
        """Number of finished rated matches whose new rating has not arrived."""
        self.is_welcomed = False
        """True if the server has answered this client's hello with `welcome` on the current connection."""
        self.reconnect_grace_seconds = 0.0
        """Time that the server waits for a disconnected client to return, in seconds; 0 before the first welcome."""

    @property
    def is_done(self) -> bool:
        """Return True if the client accepts no more matches and has none in play."""
        return self._quota == 0 and self._is_quota_confirmed and not self._matches

    def stop_after_current_matches(self) -> list[ClientAction]:
        """Accept no more matches, and return the action that tells the server so. Matches in play are played to their ends."""
        if self._quota == 0:
            return []
        self._quota, self._is_quota_confirmed = 0, not self._was_welcomed
        self._hello = structs.replace(self._hello, quota=0)
        self._received_challenge_ids.clear()
        return [SendMessage(Status(quota=0))]

    def resign_all(self) -> list[ClientAction]:
        """Return the actions that resign every match in play."""
        actions: list[ClientAction] = []
        for match, state in self._matches.items():
            if state.phase is not MatchPhase.RESIGNED:
                if state.phase is MatchPhase.CHOOSING:
                    actions.append(CancelMove(match))
                state.phase = MatchPhase.RESIGNED
                actions.append(SendMessage(state.resign_message))
        return actions

    @property
    def session_secret(self) -> str:
        """Return the session's secret, which identifies a returning client; empty before the first welcome."""
        return self._hello.session

    @property
    def match_ids(self) -> frozenset[str]:
        """Return the ids of the matches that are not known to be over, including those of an earlier process."""
        return frozenset(self._previous_match_ids.union(self._matches))

    @property
    def match_count(self) -> int:
        """Return the number of matches in play in this process."""
        return len(self._matches)

    def handle_connected(self) -> list[ClientAction]:
        """Handle a new connection, and return the action that sends the hello on it."""
        self.is_welcomed = False
        self._received_challenge_ids.clear()  # the server lists the open challenges again
        self._challenger.forget_challenges()
        return [SendMessage(self._hello)]

    def handle_disconnected(self) -> None:
        """Handle the loss of the connection. The bots keep thinking, because the client may reconnect before time runs out."""
        self.is_welcomed = False
        for state in self._matches.values():
            state.is_confirmed_by_server = False

    def handle_message(self, message: ServerMessage, now: float) -> list[ClientAction]:
        """Handle a `message` that arrived at `now` (seconds of `time.monotonic()`), and return the actions that follow."""
        match message:
            case Welcome():
                return self._handle_welcome(message)
            case Start():
                return self._handle_start(message)
            case Error():
                return self._handle_error(message)
            case Turn() | Accepted() | End():
                return self._handle_match_message(message, now)
            case Standing():
                return self._handle_standing(message)
            case Challenged(challenge=challenge, opponent=opponent):
                if message.challenger == self._hello.name:
                    self._challenger.record_challenge_opened(message)
                    return []
                if opponent == self._hello.name and challenge not in self._received_challenge_ids:
                    self._received_challenge_ids.append(challenge)
                return self._accept_next_challenge()
            case ChallengeOver():
                return self._handle_challenge_over(message)
            case Queued(place=place):
                return [ReportStatus("queued", f"the challenge waits for its turn: place {place}")]
            case EventStatus(event=event, detail=detail, table=table):
                return [
                    ReportStatus(
                        "event", f"{event}: {detail}", final_table_path="" if table is UNSET else table
                    )
                ]
            case Notice(text=text) if text:
                return [WarnOwner(f"the host says: {text}")]
            case _:
                return []  # listings, views and open challenges are not requested here

    def send_challenges(self) -> list[ClientAction]:
        """Return the messages that open challenges, one for each match that the bot has room for.

        The list is empty if the bot challenges nobody, or is not connected.
        """
        if not self.is_welcomed:
            return []
        free_slots = self._hello.matches - len(self._matches)
        free_slots = free_slots if self._quota is None else min(free_slots, self._quota)
        return [SendMessage(challenge) for challenge in self._challenger.list_challenges_to_send(free_slots)]

    def _handle_challenge_over(self, message: ChallengeOver) -> list[ClientAction]:
        if message.challenge in self._received_challenge_ids:
            self._received_challenge_ids.remove(message.challenge)
        if not self._challenger.handle_challenge_over(message):
            return []
        return [
            ScheduleChallenge(
                f"the challenge is {message.outcome}{f': {message.detail}' if message.detail else ''}"
            )
        ]

    def _handle_standing(self, standing: Standing) -> list[ClientAction]:
        if self._quota == 0 and standing.quota == 0:
            self._is_quota_confirmed = True
        # The server has already mentioned all matches in play. Any other match is over; `ready` requests its end.
        ready_messages = [SendMessage(Ready(match)) for match in sorted(self._previous_match_ids)]
        ratings = {} if standing.ratings is UNSET else standing.ratings
        changed_rating_count = sum(rating != self._ratings.get(game) for game, rating in ratings.items())
        self.pending_rating_count, self._ratings = (
            max(0, self.pending_rating_count - changed_rating_count),
            ratings,
        )
        deviations = {} if standing.deviations is UNSET else standing.deviations
        return [*ready_messages, ReportStatus(standing.state, standing.detail, ratings, deviations)]

    def _accept_next_challenge(self) -> list[ClientAction]:
        """Return the action that accepts the oldest open challenge to this bot; none if the bot cannot play another match."""
        if self._quota == 0 or not self._received_challenge_ids or len(self._matches) >= self._hello.matches:
            return []
        return [SendMessage(Accept(self._received_challenge_ids.pop(0)))]

    def _handle_match_message(self, message: Turn | Accepted | End, now: float) -> list[ClientAction]:
        state = self._matches.get(message.match)
        if state is None:
            if isinstance(message, End) and message.match in self._previous_match_ids:
                self._previous_match_ids.discard(message.match)
                result_text = f"{message.winner or 'nobody'} won ({message.reason.value})"
                return [WarnOwner(f"match {message.match} ended while this bot was away: {result_text}")]
            # An `end` or `accepted` of an abandoned match needs no report, but a `turn` means that a clock is running.
            if isinstance(message, Turn):
                return [WarnOwner(f"received a turn of match {message.match}, which is not played here")]
            return []
        state.is_confirmed_by_server = True
        match message:
            case Turn():
                return self._handle_turn(state, message, now)
            case Accepted():
                state.record_lag(message)
                return []
            case End():
                return self._handle_end(state, message)

    def handle_bot_prepared(self, match_id: str) -> list[ClientAction]:
        """Handle the report that the bot of `match_id` is prepared, and return the actions that follow."""
        state = self._matches.get(match_id)
        if state is None or state.phase is not MatchPhase.PREPARING:
            return []
        state.phase = MatchPhase.WAITING
        actions: list[ClientAction] = [SendMessage(Ready(match_id))]
        if state.early_turn_and_arrival_time is not None:
            (turn, arrived), state.early_turn_and_arrival_time = state.early_turn_and_arrival_time, None
            actions += self._handle_turn(state, turn, arrived)
        return actions

    def handle_move_chosen(
        self, match_id: str, ply: int, move: Any, thinking: Thinking | None, now: float
    ) -> list[ClientAction]:
        """Handle the move that a bot chose for `ply` at `now` (`time.monotonic()`), and return the actions that follow.

        A move that is no longer needed is ignored.
        """
        state = self._matches.get(match_id)
        if state is None or state.phase is not MatchPhase.CHOOSING or ply != len(state.moves):
            return []
        try:
            move_message, warnings = make_move_message(state.match, ply, state.position, move, thinking)
        except InvalidMoveValue as bad:
            return self.handle_bot_failed(match_id, str(bad))
        state.phase = MatchPhase.WAITING
        state.move_message = move_message
        state.move_chosen_at = now
        return [
            SendMessage(move_message),
            *(WarnOwner(f"match {match_id}: {warning}") for warning in warnings),
        ]

    def handle_bot_failed(
        self, match_id: str, reason: str, *, has_crashed: bool = True
    ) -> list[ClientAction]:
        """Resign a match because its bot failed or chose to resign. Return the actions that do so.

        reason       one line for the bot's owner and the server
        has_crashed  False if the bot itself chose to resign
        """
        state = self._matches.get(match_id)
        if state is None or state.phase is MatchPhase.RESIGNED:
            return []
        state.phase = MatchPhase.RESIGNED
        state.resign_message = Resign(
            match_id, "crash" if has_crashed else "resignation", reason[:MAX_RESIGNATION_REASON_CHARACTERS]
        )
        loss_text = "lost by a crash" if has_crashed else "resigned"
        return [
            WarnOwner(f"match {match_id}: {reason}; the match is {loss_text}"),
            SendMessage(state.resign_message),
        ]

    def _handle_welcome(self, welcome: Welcome) -> list[ClientAction]:
        self.is_welcomed = self._was_welcomed = True
        self.reconnect_grace_seconds = welcome.limits.grace_ms / 1000
        self._hello = structs.replace(self._hello, session=welcome.session)
        # Matches may have ended while the client was disconnected, even if the server has forgotten the session.
        # A repeated `ready` is harmless, and the server answers it with the end of a match that is over.
        ready_messages: list[ClientAction] = [
            SendMessage(Ready(match))
            for match, state in self._matches.items()
            if state.phase is not MatchPhase.PREPARING
        ]
        # A match assigned before the server received the quota may still be on its way.
        actions = (
            [SendMessage(Status(quota=0))]
            if not self._is_quota_confirmed
            else [SendMessage(Status())]
            if self._previous_match_ids
            else []
        )
        enter_event = [SendMessage(EnterEvent(self._event_name))] if self._event_name else []
        return [*ready_messages, *actions, *enter_event, *self.send_challenges()]

    def _end_match(self, state: MatchState, ending: Ending) -> list[ClientAction]:
        del self._matches[state.match.id]
        cancellation: list[ClientAction] = (
            [CancelMove(state.match.id)] if state.phase is MatchPhase.CHOOSING else []
        )
        return [
            *cancellation,
            EndMatch(state.match, ending),
            *self._accept_next_challenge(),
            *self.send_challenges(),
        ]

    def _handle_start(self, start: Start) -> list[ClientAction]:
        self._challenger.record_match_start(start.match)
        state = self._matches.get(start.match)
        if state is not None:
            state.is_confirmed_by_server = True
            match state.phase:
                case MatchPhase.PREPARING:
                    return []
                case MatchPhase.RESIGNED:
                    return [SendMessage(state.resign_message)]
                case _:
                    return [SendMessage(Ready(start.match))]
        # A match that the server has not mentioned since the reconnection may be over, so it is not counted.
        if sum(match.is_confirmed_by_server for match in self._matches.values()) >= self._hello.matches:
            reason = f"match {start.match} exceeds the agreed {self._hello.matches} simultaneous matches"
            return [WarnOwner(f"{reason}; it is resigned"), SendMessage(Resign(start.match))]
        try:
            game = make_game(start.game, start.setup)
            rules_difference = explain_rules_mismatch(game, start.rules) if start.rules is not UNSET else None
            if rules_difference is not None:
                raise BadGame(rules_difference)
        except GameError as error:
            reason = f"match {start.match} cannot be played here: {error}"
            return [WarnOwner(f"{reason}; it is resigned"), SendMessage(Resign(start.match))]
        match_ = Match(
            game=game,
            seat=Player(start.seat),
            id=start.match,
            maxie=start.players.maxie,
            minnie=start.players.minnie,
            time_control=start.time_control,
            margin_ms=start.margin_ms,
            threads=start.threads,
        )

        self._matches[start.match] = MatchState(
            match_, game.start(), Resign(start.match), is_rated=start.rated is True
        )
        if start.match in self._previous_match_ids:
            self._previous_match_ids.discard(start.match)
            return [PrepareBot(match_)]
        return [PrepareBot(match_), *self._subtract_match_from_quota()]

    def _subtract_match_from_quota(self) -> list[ClientAction]:
        """Subtract a starting match from the quota. Return the action that sends a quota of 0 if it is used up."""
        if not self._quota:
            return []
        self._quota -= 1
        self._hello = structs.replace(self._hello, quota=self._quota)
        if self._quota:
            return []
        self._is_quota_confirmed = False
        return [SendMessage(Status(quota=0))]

    def _handle_turn(self, state: MatchState, turn: Turn, arrival_time: float) -> list[ClientAction]:
        if state.phase is MatchPhase.PREPARING:
            state.early_turn_and_arrival_time = (turn, arrival_time)
            return []
        if state.phase is MatchPhase.RESIGNED:
            return [SendMessage(state.resign_message)]
        if state.move_message is not None and state.move_message.ply == turn.ply:
            return [SendMessage(state.move_message)]
        if turn.ply < len(state.moves) or (
            state.phase is MatchPhase.CHOOSING and turn.ply == len(state.moves)
        ):
            return []
        cancellation: list[ClientAction] = (
            [CancelMove(turn.match)] if state.phase is MatchPhase.CHOOSING else []
        )
        try:
            state.replay_missed_moves(turn.moves)
        except GameError as error:
            reason = (
                f"the server sent moves that break this client's rules of {state.match.game.name}: {error}; "
                "the server may have another version of the game"
            )
            return [*cancellation, *self.handle_bot_failed(turn.match, reason)]
        game, position = state.match.game, state.position
        is_own_turn = game.outcome(position) is None and game.player(position) is state.match.seat
        if turn.ply != len(turn.moves) or not is_own_turn:
            reason = f"the server sent an impossible turn, at ply {turn.ply} after {len(turn.moves)} moves"
            return [*cancellation, *self.handle_bot_failed(turn.match, reason)]
        state.phase = MatchPhase.CHOOSING
        state.clock = state.make_clock(turn, arrival_time)
        return [
            *cancellation,
            ChooseMove(turn.match, turn.ply, state.position, state.clock, state.opponent_move),
        ]

    def _handle_end(self, state: MatchState, end: End) -> list[ClientAction]:
        try:
            state.replay_missed_moves(end.moves)
        except GameError as error:
            warnings: list[ClientAction] = [
                WarnOwner(f"match {end.match}: its last moves break the rules: {error}")
            ]
        else:
            warnings = []
        winner = Player(end.winner) if end.winner else None
        ending = Ending(winner, end.reason, end.detail, len(end.moves), state.position)
        self.pending_rating_count += state.is_rated
        return [*warnings, *self._end_match(state, ending)]

    def _handle_error(self, error: Error) -> list[ClientAction]:
        if error.fatal:
            return [Disconnect(error.code, error.detail)]
        if error.code is ErrorCode.NO_SUCH_MATCH:
            self._previous_match_ids.discard(error.match or "")
            state = self._matches.get(error.match or "")
            if state is None or error.ply is not None:
                # The server had ended the match before it received this client's message. If the error names a ply, the
                # message was a move, and the match ended while the client was away: the answer to `ready` follows, with
                # the result.
                return []
            ending = Ending(None, None, error.detail, len(state.moves), state.position)
            return self._end_match(state, ending)
        if error.code is ErrorCode.UNKNOWN_TYPE:
            # An older server does not know the message `status`, and never confirms a quota.
            self._is_quota_confirmed = True
            return []
        if (
            error.code in CHALLENGE_REFUSAL_CODES
            and error.match is None
            and self._challenger.handle_possible_refusal()
        ):
            if error.code is not ErrorCode.BAD_CHALLENGE:
                return [ScheduleChallenge(f"the challenge is refused: {error.detail}")]
            if not self._matches:
                return [Disconnect(error.code, error.detail)]
            return [
                WarnOwner(f"the challenge is refused, and not repeated: {error.detail}"),
                *self.stop_after_current_matches(),
            ]
        match_text = f"match {error.match}: " if error.match else ""
        ply_text = f" at ply {error.ply}" if error.ply is not None else ""
        return [WarnOwner(f"{match_text}the server says {error.code.value}{ply_text}: {error.detail}")]
