"""Matches of an arena, from the request for a match to the record of the finished match."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from arena.games.core import Player
from arena.match.referee import MAX_IGNORED_SERVER_STALL_NS, SEAT_BY_PLAYER
from arena.match.referee_events import MatchOpened, PlayerDisconnected, ProtocolViolated, RefereeEvent
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.messages import End
from arena.protocol.record import Record, Result
from arena.server.core.bot import LobbyBot
from arena.server.core.effects import LogLine, SaveFinishedMatch, SaveNewMatch
from arena.server.core.house_engines import HouseEngines
from arena.server.core.inputs import RestoredState, UnfinishedMatch
from arena.server.core.lobby import Lobby
from arena.server.core.matchmaking_status import send_matchmaking_status
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.room import MatchRoom
from arena.server.core.suspensions import BotSuspensions

MAX_REMEMBERED_SERVER_STALLS = 1024
"""Maximum number of recent stalls to remember. A stall is a time in which the server process could do no work."""


class CurrentMatches:
    """Matches in progress, and requested matches of events (tournaments) that wait for their bots."""

    def __init__(
        self,
        lobby: Lobby,
        house: HouseEngines,
        challenges: OpenChallenges,
        history: PairingHistory,
        suspensions: BotSuspensions,
    ) -> None:
        self.rooms: dict[str, MatchRoom] = {}
        """State of each match in progress (a `MatchRoom`), by match id."""
        self.total_load = 0
        """Load (matches or search threads) of this machine by the matches in progress, limited by `CoreSettings.concurrency`."""
        self._lobby = lobby
        self._house = house
        self._challenges = challenges
        self._history = history
        self._suspensions = suspensions
        self._handle_event_match_end: Callable[[Record], None] = lambda _record: None
        self._pending_terms: list[MatchTerms] = []
        """Terms of the matches that an event (tournament) has requested and that have not begun."""
        self._stalls: deque[tuple[int, int]] = deque(maxlen=MAX_REMEMBERED_SERVER_STALLS)
        """Recent stalls, in which the server could do no work: end time (monotonic ns) and length in ns of each."""

    # matches of events

    def set_event_match_end_handler(self, handler: Callable[[Record], None]) -> None:
        """From now on, call `handler` with the record of each match of an event (tournament) that ends."""
        self._handle_event_match_end = handler

    def request_match(self, terms: MatchTerms) -> None:
        """Begin a match that an event requested, as soon as both bots have capacity for it (see `begin_requested_matches`)."""
        self._pending_terms.append(terms)
        self.begin_requested_matches()

    def withdraw_match_request(self, match_id: str) -> None:
        """Forget a requested match of an event (tournament) that has not begun."""
        self._pending_terms = [terms for terms in self._pending_terms if terms.match != match_id]

    def begin_requested_matches(self) -> None:
        """Begin the requested matches of events whose bots have capacity for another match. The others wait.

        A match begins even if a bot is disconnected: the bot then has the time of `MatchTerms.ready_ms` to connect. No match
        begins if the server is about to stop.
        """
        if self._lobby.is_draining:
            return
        pending_terms, self._pending_terms = self._pending_terms, []
        for terms in pending_terms:
            names = (terms.players.maxie, terms.players.minnie)
            bots = [bot for name in names if (bot := self._lobby.bots.get(name)) is not None]
            if all(
                bot.can_accept_match or (bot.client_number is None and bot.has_capacity_for_match)
                for bot in bots
            ):
                self.begin_match(terms)
            else:
                self._pending_terms.append(terms)

    # start

    def begin_match(self, terms: MatchTerms) -> None:
        """Begin a match. If the match cannot be set up, for example because its opening is invalid, record it as void.

        The result of a void match does not count.
        """
        lobby = self._lobby
        bots = self._find_bots_of_match(terms)
        terms = msgspec.structs.replace(terms, grace_ms=lobby.settings.reconnect_grace_ms)
        terms = terms.with_engines(*(bot.engine for bot in bots.values()))
        start_time_utc = lobby.format_current_utc()
        lobby.effects.append(SaveNewMatch(terms, start_time_utc))
        try:
            load = lobby.compute_match_load(*bots.values())
            room = MatchRoom(terms, bots, start_time_utc, lobby, load=load)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything
            self._close_match_as_void(terms, bots.values(), start_time_utc, error)
            return
        self._add_room(room)
        for bot in bots.values():
            bot.count_match_against_quota()
        if not room.is_event_match:
            self._history.record_match_start(terms.players.maxie, terms.players.minnie)
        self.apply_referee_event(room, MatchOpened())

    def _find_bots_of_match(self, terms: MatchTerms) -> dict[Player, LobbyBot]:
        players = terms.players
        return {
            Player.MAXIE: self._lobby.find_or_add_bot(players.maxie),
            Player.MINNIE: self._lobby.find_or_add_bot(players.minnie),
        }

    def _add_room(self, room: MatchRoom) -> None:
        self.rooms[room.terms.match] = room
        self.total_load += room.load
        for player, bot in room.bots.items():
            bot.add_match_in_progress(room.terms.match, player)
            self._lobby.record_lobby_change(bot)

    def _close_match_as_void(
        self, terms: MatchTerms, bots: Iterable[LobbyBot], start_time_utc: str, error: Exception
    ) -> None:
        """Close a match as void (without a result that counts), because its set-up raised `error`.

        start_time_utc  start of the match in UTC, in ISO 8601
        """
        why = f"the server failed: {type(error).__name__}: {error}"
        self._lobby.effects.append(LogLine("error", why, match_id=terms.match))
        record = terms.make_record(start_time_utc, [], Result(None, EndReason.SERVER_FAULT, why))
        self._lobby.effects.append(SaveFinishedMatch(record, terms.rated))
        self._house.queue.forget_challenge_or_match(terms.match)
        self._handle_event_match_end(record)
        for bot in bots:
            self._lobby.forget_bot_if_session_expired(bot)

    def record_forfeited_match(self, terms: MatchTerms, result: Result) -> None:
        """Record a match of an event (tournament) as forfeited, because a bot did not appear. The match is not rated."""
        terms = msgspec.structs.replace(terms, rated=False)
        record = terms.make_record(self._lobby.format_current_utc(), [], result)
        self.record_match_played_elsewhere(terms, record)
        self._handle_event_match_end(record)

    def record_match_played_elsewhere(self, terms: MatchTerms, record: Record) -> None:
        """Record a match that was played or decided outside the server's core, so without a `MatchRoom`."""
        terms = msgspec.structs.replace(terms, grace_ms=self._lobby.settings.reconnect_grace_ms)
        self._lobby.effects.extend(
            (SaveNewMatch(terms, record.started), SaveFinishedMatch(record, terms.rated))
        )

    # in progress

    def apply_referee_event(
        self, room: MatchRoom, event: RefereeEvent, event_time_ns: int | None = None
    ) -> None:
        """Let the referee of a match handle an event (occurrence), such as a move. Close the match if the event ends it.

        event_time_ns  time of the event, in ns of the core's clock; None for now
        """
        room.handle_event(event, self._lobby.now_ns if event_time_ns is None else event_time_ns)
        self.close_match_or_schedule_check(room)

    def apply_event_to_matches_of_bot(
        self, bot: LobbyBot, make_event: Callable[[Player], RefereeEvent]
    ) -> None:
        """Let the referee of each match of a bot handle an event (occurrence), such as a lost session.

        `make_event` is called with the bot's seat in the match, and returns the event for this seat.
        """
        for match, player in list(bot.seats_by_match_id.items()):
            self.apply_referee_event(self.rooms[match], make_event(player))

    def handle_bot_disconnection(self, bot: LobbyBot, protocol_violation: str | None) -> None:
        """Record the loss of a bot's connection in each of its matches.

        `protocol_violation`: description of a violation that caused the loss; None if there was none.
        """
        for match, player in list(bot.seats_by_match_id.items()):
            room = self.rooms[match]
            room.handle_player_disconnection(
                player,
                PlayerDisconnected(player)
                if protocol_violation is None
                else ProtocolViolated(player, protocol_violation),
            )
            self.close_match_or_schedule_check(room)

    def record_server_stall(self, stall_ns: int) -> None:
        """Record that the server was stalled (could do no work) for `stall_ns` ns until now.

        If a player's time runs out at a move during which the server stalled longer than the match's margin for network delay,
        the match is void (has no result). A stall of at most `MAX_IGNORED_SERVER_STALL_NS` ns is ignored.
        """
        if stall_ns > MAX_IGNORED_SERVER_STALL_NS:
            self._stalls.append((self._lobby.now_ns, stall_ns))

    def handle_passed_deadlines(self, match_id: str) -> None:
        """Act on the passed deadlines of the match with this id, for example by declaring a loss on time."""
        room = self.rooms.get(match_id)
        if room is not None:
            turn_start = room.referee.turn_sent_ns or 0
            room.handle_passed_deadlines(
                max((stall_ns for stall_end, stall_ns in self._stalls if stall_end >= turn_start), default=0)
            )
            self.close_match_or_schedule_check(room)

    def close_match_or_schedule_check(self, room: MatchRoom) -> None:
        """Close a match if it has ended; otherwise schedule a check at its next deadline."""
        result = room.referee.recorded_result
        if result is not None:
            self._close_match(room, result)
        elif (deadline := room.next_deadline_ns) is not None:
            self._lobby.deadlines.schedule_check(room.deadline_key, deadline)

    # the end

    def _close_match(self, room: MatchRoom, result: Result) -> None:
        """Close a match that has ended: publish and record its result, and free its bots."""
        lobby, match = self._lobby, room.terms.match
        record = room.terms.make_record(room.start_time_utc, room.referee.moves, result)
        if room.followers.edges:
            for thought in room.public_view.reveal_hidden_thoughts():
                room.publish_to_spectators(thought)
            room.publish_to_spectators(End.from_record(record, room.referee.get_clocks(lobby.now_ns)))
        lobby.effects.append(SaveFinishedMatch(record, room.terms.rated))
        del self.rooms[match]
        lobby.deadlines.cancel_check(room.deadline_key)
        self.total_load -= room.load
        self._house.queue.forget_challenge_or_match(match)
        for bot in room.bots.values():
            bot.move_match_to_recent(match, lobby.now_ns)
            lobby.record_lobby_change(bot)
        if room.is_event_match:
            self._handle_event_match_end(record)
        else:
            self._record_match_end(room, record)
        for bot in room.bots.values():
            lobby.forget_bot_if_session_expired(bot)

    def _record_match_end(self, room: MatchRoom, record: Record) -> None:
        """Record the end of a match from the matchmaker or a challenge. Suspend a bot that has forfeited several of them."""
        lobby, players, result = self._lobby, record.players, record.result
        self._history.record_match_end(players.maxie, players.minnie, lobby.now_ns)
        for player, bot in room.bots.items():
            why = self._suspensions.record_match_result_and_suspend(
                bot.name,
                result.reason,
                has_won=result.winner == SEAT_BY_PLAYER[player],
                ply_count=len(record.moves),
                now_ns=lobby.now_ns,
            )
            if self._challenges.list_challenges_to(bot.name):
                bot.begin_challenge_answer_period(lobby.now_ns)
            if why:
                lobby.effects.append(LogLine("warning", f"suspended: {why}", bot.name, room.terms.match))
                send_matchmaking_status(bot, lobby, why)

    # after a restart, and after an outage of the store

    def restore_matches(self, restored_state: RestoredState) -> None:
        """Restore the bots' sessions of an earlier core, and resume the matches that were in progress when that core ended."""
        for name, session_hash in sorted(restored_state.session_secret_hashes.items()):
            bot = self._lobby.find_or_add_bot(name)
            bot.restore_session(session_hash, self._lobby.now_ns)
            bot.keep_session_after_disconnect()
            for match in restored_state.recent_match_ids.get(name, ()):
                bot.move_match_to_recent(match, self._lobby.now_ns)
        for unfinished in restored_state.unfinished_matches:
            self._resume_match(unfinished)
        for bot in list(self._lobby.bots.values()):
            self._lobby.forget_bot_if_session_expired(bot)

    def _resume_match(self, unfinished: UnfinishedMatch) -> None:
        terms = unfinished.terms
        bots = self._find_bots_of_match(terms)
        try:
            load = self._house.compute_resumed_match_load(terms)
            room = MatchRoom(terms, bots, unfinished.start_time_utc, self._lobby, load=load)
            room.replay_stored_events(unfinished)
        except Exception as error:  # noqa: BLE001  a user's own game may raise anything
            self._close_match_as_void(terms, bots.values(), unfinished.start_time_utc, error)
            return
        self._house.take_slot_for_resumed_match(terms)
        self._add_room(room)
        if not unfinished.match_events:
            room.handle_event(MatchOpened(), self._lobby.now_ns)
        room.restart_current_turn()
        self.close_match_or_schedule_check(room)

    def restart_turns_in_matches(self, match_ids: Iterable[str]) -> None:
        """Restart the current moves, with their clocks, of the matches with these ids: their players could not be reached.

        Ids of matches that are not in progress are ignored.
        """
        for match in dict.fromkeys(match_ids):
            room = self.rooms.get(match)
            if room is not None:
                room.restart_current_turn()
                self.close_match_or_schedule_check(room)
