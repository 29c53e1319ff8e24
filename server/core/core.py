"""The core of an arena: `handle_input(input, now) -> effects`, and `next_deadline_ns`.

The core passes each input to the part that handles such inputs:

    lobby          connected clients and the sessions of bots
    room           one match: its referee, its deadline, its public view
    matchmaker     bots that wait for a match (the pool), and the pairing of these bots
    challenges     challenges between bots
    house_*        the server's own engines, and the queue of challenges to them
    events         tournaments: entries, rounds, and bots that do not appear
    lobby_listing  current matches, bots, challenges and events, for all clients that browse
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import UNSET

from arena.match.referee_events import (
    PlayerReady,
    PlayerReconnected,
    PlayerResigned,
    RefereeEvent,
    SessionLost,
)
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    Decline,
    EnterEvent,
    Error,
    Hello,
    LeaveEvent,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Status,
    Unwatch,
    Watch,
    Withdraw,
)
from arena.server.core.bot import LobbyBot
from arena.server.core.challenges import ChallengeHandler
from arena.server.core.effects import (
    LOBBY_LISTING_TOPIC,
    CloseClient,
    Effect,
    SendMissedResult,
    SendToClient,
)
from arena.server.core.event_state import EventState
from arena.server.core.events import HostedEvents
from arena.server.core.hello_names import require_known_hello_names
from arena.server.core.house_engines import HouseEngines
from arena.server.core.ids import IdGenerator
from arena.server.core.inputs import (
    ApplySettings,
    BotCrashed,
    BotOwnerFound,
    ClientAdmitted,
    ClientDisconnected,
    EdgeDisconnected,
    EdgeResynced,
    HouseEngineFailed,
    Input,
    MatchPlayedElsewhere,
    MatchRequested,
    MatchRequestWithdrawn,
    MessageReceived,
    NumberedStoredRequest,
    RatingChanged,
    RestoredState,
    SeasonClosed,
    StartDraining,
    StoreRecovered,
    Tick,
    TurnSent,
    get_edge_number,
)
from arena.server.core.lobby import Lobby, LobbyClient, RequestRefused, make_unknown_match_refusal
from arena.server.core.lobby_listing import LobbyListingPublisher
from arena.server.core.matches import CurrentMatches
from arena.server.core.matchmaker import PAIRING_DELAY_AFTER_CHANGE_NS, Matchmaker
from arena.server.core.matchmaking_status import send_matchmaking_status
from arena.server.core.open_challenges import OpenChallenges
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import CoreSettings, GameAtTimeControl
from arena.server.core.suspensions import BotSuspensions


class Core:
    """State machine of a game server. A single task calls `handle_input`, with the inputs in the order of their arrival."""

    def __init__(self, settings: CoreSettings, seed: bytes, now_ns: int) -> None:
        """Create a server's core, without clients or matches, at `now_ns` (monotonic ns). `seed`: random bytes, for this core."""
        ids = IdGenerator(seed)
        self._lobby = lobby = Lobby(settings, now_ns)
        self._suspensions = suspensions = BotSuspensions()
        history = PairingHistory(ids.make_hex_id())
        self._open_challenges = open_challenges = OpenChallenges(ids.make_hex_id(8))
        self._house = house = HouseEngines(lobby, open_challenges)
        self._matches = matches = CurrentMatches(lobby, house, open_challenges, history, suspensions)
        self._events = events = HostedEvents(lobby, matches, house)
        self._challenges = ChallengeHandler(lobby, open_challenges, house, history, ids, matches.begin_match)
        self._matchmaker = Matchmaker(
            lobby, open_challenges, suspensions, history, ids, events.is_bot_reserved_for_event
        )
        self._lobby_listing_publisher = LobbyListingPublisher(
            lobby, matches.rooms, house, open_challenges, suspensions, events.make_lobby_listing_entries
        )
        self.next_deadline_ns: int | None = None
        """Time (monotonic ns) at which the caller must pass a `Tick` if no other input comes first; None if no time is set."""
        self._handled_change_count = 0
        """Value of `lobby.change_count` at the last call of `_handle_lobby_changes`.

        If `lobby.change_count` has another value now, the lobby has changed since, and the call must be repeated.
        """
        self._input_handlers: dict[type, Callable[[Any], None]] = {
            MessageReceived: self._handle_message,
            TurnSent: self._handle_turn_sent,
            Tick: self._handle_tick,
            ClientAdmitted: self._handle_admission,
            ClientDisconnected: self._handle_disconnection,
            MatchRequested: lambda request: matches.request_match(request.terms),
            MatchRequestWithdrawn: lambda withdrawal: matches.withdraw_match_request(withdrawal.match_id),
            MatchPlayedElsewhere: lambda match: matches.record_match_played_elsewhere(
                match.terms, match.record
            ),
            BotCrashed: self._handle_bot_crash,
            HouseEngineFailed: self._handle_house_engine_failure,
            StartDraining: lambda _: lobby.stop_beginning_matches(),
            ApplySettings: lambda change: lobby.apply_settings(change.settings),
            RestoredState: self._handle_restored_state,
            NumberedStoredRequest: events.handle_stored_request,
            StoreRecovered: lambda _: matches.restart_turns_in_matches(list(matches.rooms)),
            EdgeDisconnected: self._handle_edge_disconnection,
            EdgeResynced: self._handle_edge_resync,
            RatingChanged: self._handle_rating_change,
            SeasonClosed: self._handle_season_end,
            BotOwnerFound: self._handle_bot_owner_found,
        }
        self._client_handlers: dict[type, Callable[[LobbyClient, Any], None]] = {
            Watch: self._handle_watch,
            Unwatch: lambda client, unwatch: client.unfollow_topic(unwatch.match),
            Browse: lambda client, _: self._lobby_listing_publisher.send_and_follow_lobby_listing(client),
            Ping: lambda client, _: lobby.effects.append(SendToClient(client.client_number, Pong())),
            Hello: self._refuse_second_hello,
        }
        self._bot_handlers: dict[type, Callable[[LobbyBot, Any], None]] = {
            Status: self._handle_status_request,
            Challenge: self._challenges.open_challenge,
            Accept: self._challenges.accept_challenge,
            Decline: self._challenges.decline_challenge,
            Withdraw: self._challenges.withdraw_challenge,
            EnterEvent: lambda bot, message: events.enter_bot(bot, message.event),
            LeaveEvent: lambda bot, message: events.withdraw_bot(bot, message.event),
        }
        """Handler of each message that only bots may send, by the message's class. `Move`, `Ready`, `Resign`: elsewhere."""

    def handle_input(self, input: Input, now_ns: int) -> list[Effect]:
        """Handle an input at time `now_ns` (monotonic ns).

        Return its effects: messages to send and data to store, for example.
        """
        lobby = self._lobby
        effects = lobby.start_collecting_effects(now_ns)
        self._input_handlers[type(input)](input)
        if lobby.change_count != self._handled_change_count:
            self._handle_lobby_changes()
        self.next_deadline_ns = lobby.deadlines.next_check_time_ns
        return effects

    # for the shell, read-only

    @property
    def match_count(self) -> int:
        """Number of matches in progress."""
        return len(self._matches.rooms)

    def count_suspended_bots(self, now_ns: int) -> int:
        return self._suspensions.count_suspended_bots(now_ns)

    def is_match_in_progress(self, match_id: str) -> bool:
        return match_id in self._matches.rooms

    @property
    def event_states(self) -> list[EventState]:
        """State of each event (tournament) that is open or in progress."""
        return self._events.event_states

    @property
    def connected_bots(self) -> list[LobbyBot]:
        """Connected bots, in the order in which their names were first seen."""
        return self._lobby.list_connected_bots()

    def find_bot(self, bot_name: str) -> LobbyBot | None:
        """Return the bot of that name; None unless the bot is connected, plays a match, or may still resume its session."""
        return self._lobby.bots.get(bot_name)

    # consequences of changes

    def _handle_lobby_changes(self) -> None:
        """Begin requested matches (`MatchRequested`) whose bots are free now.

        Also schedule checks of the events and the matchmaker, and a new listing, because a bot or a challenge has changed.
        """
        lobby = self._lobby
        self._matches.begin_requested_matches()
        self._events.schedule_next_check()
        self._handled_change_count = lobby.change_count
        if lobby.changed_bots or len(self._open_challenges):
            lobby.deadlines.schedule_check(("matchmaker", ""), lobby.now_ns + PAIRING_DELAY_AFTER_CHANGE_NS)
        self._lobby_listing_publisher.schedule_publication()

    def _handle_tick(self, tick: Tick) -> None:
        lobby = self._lobby
        self._matches.record_server_stall(tick.stalled_ns)
        for kind, name in lobby.deadlines.pop_due_keys(lobby.now_ns):
            match kind:
                case "match":
                    self._matches.handle_passed_deadlines(name)
                case "challenge":
                    self._challenges.expire_challenge_if_due(name)
                case "bot":
                    self._recheck_bot_for_matchmaking(name)
                case "matchmaker":
                    self._run_matchmaker()
                case "listing":
                    self._lobby_listing_publisher.publish_lobby_listing()
                case "event":
                    self._events.advance_events()

    def _recheck_bot_for_matchmaking(self, bot_name: str) -> None:
        """Let the matchmaker check a bot again, for example after its suspension. Forget the bot if its session has expired."""
        bot = self._lobby.bots.get(bot_name)
        if bot is not None:
            self._lobby.record_lobby_change(bot)
            self._lobby.forget_bot_if_session_expired(bot)

    def _run_matchmaker(self) -> None:
        """Offer waiting challenges to the server's own engines, and begin matches between waiting bots."""
        self._house.offer_next_challenges()
        for terms in self._matchmaker.pair_waiting_bots(self._matches.total_load):
            self._matches.begin_match(terms)

    # connections

    def _handle_admission(self, admission: ClientAdmitted) -> None:
        if admission.client_number in self._lobby.clients:
            return  # the edge repeated the hello before it received the answer
        try:
            resumes_session = self._lobby.check_admission_and_detect_resumption(admission)
            if (
                admission.hello.role == "bot"
                and not resumes_session
                and not self._lobby.settings.external_event_name
            ):
                require_known_hello_names(admission.hello, self._list_offered_games)
        except RequestRefused as refused:
            self._lobby.effects.append(CloseClient(admission.client_number, refused.code, refused.detail))
            return
        if admission.hello.role != "bot":
            self._lobby.add_spectator(admission)
            self._lobby.send_welcome(self._lobby.clients[admission.client_number], "")
            return
        bot = self._lobby.add_bot(admission, resumes_session=resumes_session)
        session = admission.hello.session if resumes_session else admission.session_secret
        self._lobby.send_welcome(self._lobby.clients[admission.client_number], session)
        if not resumes_session:
            self._suspensions.lift_suspension(bot.name)
        # A bot that starts a new session keeps its matches if a token proves its name: each `turn` message repeats all
        # moves of the match. A name without a token may by now be used by somebody else, so its matches are lost.
        is_authenticated = bool(admission.hello.token) or bot.name in self._house
        self._matches.apply_event_to_matches_of_bot(
            bot,
            PlayerReconnected if resumes_session else partial(SessionLost, is_authenticated=is_authenticated),
        )
        self._challenges.send_open_challenges_to_bot(bot)
        pool = self._lobby.settings.pool
        wants_pool = pool is not None and bot.preferences.accepts_pool_matches
        if bot.ratings_by_game or (
            wants_pool and not any(map(bot.preferences.accepts_pool_game, self._list_offered_games()))
        ):
            self._send_matchmaking_status(bot)

    def _list_offered_games(self) -> list[GameAtTimeControl]:
        pool = self._lobby.settings.pool
        return [
            *(pool.games if pool else ()),
            *(start for event in self.event_states for start in event.plan.games),
        ]

    def _handle_disconnection(self, disconnection: ClientDisconnected) -> None:
        client = self._lobby.drop_client(disconnection.client_number)
        bot = None if client is None else client.bot
        if bot is None:
            return
        self._lobby.handle_bot_disconnection(bot)
        self._challenges.close_challenges_of_departed_bot(bot)
        self._matches.handle_bot_disconnection(bot, disconnection.fault)

    def _handle_edge_disconnection(self, disconnection: EdgeDisconnected) -> None:
        """Disconnect the clients of a lost edge (process that holds connections).

        In each of their matches, the clock of the current move restarts once the player to move has reconnected.
        """
        clients = [
            client
            for id, client in self._lobby.clients.items()
            if get_edge_number(id) == disconnection.edge_number
        ]
        matches = [
            match for client in clients if client.bot is not None for match in client.bot.seats_by_match_id
        ]
        for client in clients:
            self._handle_disconnection(ClientDisconnected(client.client_number))
        self._matches.restart_turns_in_matches(matches)

    def _handle_edge_resync(self, resync: EdgeResynced) -> None:
        """Admit the clients that an edge (holder of connections) lists, and resend the messages that the bots may lack."""
        connected_ids = {admission.client_number for admission in resync.clients}
        for id in [
            id
            for id in self._lobby.clients
            if get_edge_number(id) == resync.edge_number and id not in connected_ids
        ]:
            self._handle_disconnection(ClientDisconnected(id))
        for admission in resync.clients:
            client = self._lobby.clients.get(admission.client_number)
            if client is None:
                self._admit_resynced_client(admission)
            elif client.bot is not None:
                self._resend_matches_and_results(client.bot)

    def _admit_resynced_client(self, admission: ClientAdmitted) -> None:
        """Admit a client that the previous core had admitted, before this core took over.

        Close the connection of a bot if its session is unknown, or if it has another connection.
        """
        if admission.hello.role != "bot":
            self._lobby.add_spectator(admission)
            return
        bot = self._lobby.bots.get(admission.hello.name) or LobbyBot(admission.hello.name)
        if not bot.verify_session_secret(admission.hello.session, admission.stored_session_hash):
            why = "this server no longer knows the session: reconnect"
            self._lobby.effects.append(CloseClient(admission.client_number, ErrorCode.SHUTTING_DOWN, why))
            return
        if bot.client_number is not None:
            # The bot has since connected through another edge, or this edge missed that the connection was replaced.
            why = "the bot has another connection: reconnect"
            self._lobby.effects.append(CloseClient(admission.client_number, ErrorCode.SHUTTING_DOWN, why))
            return
        self._resend_matches_and_results(self._lobby.add_bot(admission, resumes_session=True))

    def _resend_matches_and_results(self, bot: LobbyBot) -> None:
        """Resend to a bot its matches in progress, the results that it may have missed, and the open challenges to it."""
        self._matches.apply_event_to_matches_of_bot(bot, PlayerReconnected)
        if bot.client_number is not None:
            for match in bot.list_recent_match_ids(self._lobby.now_ns):
                self._lobby.effects.append(SendMissedResult(bot.client_number, bot.name, match))
        self._challenges.send_open_challenges_to_bot(bot)

    # messages of clients

    def _handle_message(self, message_input: MessageReceived) -> None:
        client = self._lobby.clients.get(message_input.client_number)
        if client is None:
            return  # the client was replaced or removed
        message = message_input.message
        message_type = type(message)
        try:
            if message_type in self._client_handlers:
                self._client_handlers[message_type](client, message)
                return
            bot = client.bot
            if bot is None:
                raise _make_non_player_refusal()
            if type(message) is Move:
                player = bot.seats_by_match_id.get(message.match)
                if player is None:
                    if message_input.elapsed_ns is not None:
                        return  # the match ended while the answer to the turn was in transit
                    raise make_unknown_match_refusal(message.match)
                room = self._matches.rooms[message.match]
                room.handle_move(player, message, message_input.arrived_ns, message_input.elapsed_ns)
                if room.referee.result is not None:
                    self._matches.close_match_or_schedule_check(room)
            elif type(message) in (Ready, Resign):
                self._handle_ready_or_resign(bot, message, message_input.arrived_ns)  # type: ignore[arg-type]
            else:
                self._bot_handlers[message_type](bot, message)
        except RequestRefused as refused:
            match_and_ply = getattr(message, "match", None), getattr(message, "ply", None)
            self._lobby.effects.append(
                SendToClient(client.client_number, Error(refused.code, refused.detail, *match_and_ply))
            )

    def _handle_ready_or_resign(self, bot: LobbyBot, message: Ready | Resign, arrival_time_ns: int) -> None:
        player = bot.seats_by_match_id.get(message.match)
        if player is None:
            # The bot has missed the end of its match, or names a match that it never played.
            if message.match in self._matches.rooms:
                raise make_unknown_match_refusal(message.match)
            if bot.has_match_ended_since(message.match, arrival_time_ns):
                return  # the `end` was in transit when the bot sent this message
            if bot.client_number is not None:
                self._lobby.effects.append(SendMissedResult(bot.client_number, bot.name, message.match))
            return
        bot.keep_session_after_disconnect()
        event: RefereeEvent = PlayerReady(player)
        if isinstance(message, Resign):
            event = PlayerResigned(player, message.reason, message.detail)
        self._matches.apply_referee_event(self._matches.rooms[message.match], event, arrival_time_ns)

    def _handle_status_request(self, bot: LobbyBot, status: Status) -> None:
        if status.quota is not UNSET:
            bot.set_match_quota(status.quota)
            self._lobby.record_lobby_change(bot)
            if status.quota == 0:
                self._challenges.close_challenges_involving(bot.name, f"{bot.name} takes no more matches")
        self._send_matchmaking_status(bot)

    def _send_matchmaking_status(self, bot: LobbyBot) -> None:
        send_matchmaking_status(
            bot,
            self._lobby,
            self._suspensions.find_suspension_reason(bot.name, self._lobby.now_ns),
            self._events.describe_event_entry_of_bot(bot.name),
        )

    def _handle_watch(self, client: LobbyClient, watch: Watch) -> None:
        room = self._matches.rooms.get(watch.match)
        if room is None:
            raise RequestRefused(
                ErrorCode.NO_SUCH_MATCH, f"the match {watch.match!r:.70} is over or does not exist"
            )
        if watch.match not in client.followed_topics:
            watched_matches = client.followed_topics.keys() & self._matches.rooms.keys()
            for finished_match in client.followed_topics.keys() - watched_matches - {LOBBY_LISTING_TOPIC}:
                del client.followed_topics[finished_match]
            max_matches = self._lobby.settings.limits.watched
            if len(watched_matches) >= max_matches:
                raise RequestRefused(
                    ErrorCode.RATE_LIMITED,
                    f"you already watch {max_matches} matches, the maximum; unwatch one first",
                )
            client.follow_topic(watch.match, room.followers)
        self._lobby.effects.append(
            SendToClient(client.client_number, room.public_view.make_view_message(self._lobby.now_ns))
        )

    def _refuse_second_hello(self, _client: LobbyClient, _hello: Hello) -> None:
        raise RequestRefused(ErrorCode.HELLO_TWICE, ErrorCode.HELLO_TWICE.meaning)

    def _handle_turn_sent(self, turn_sent: TurnSent) -> None:
        client, room = (
            self._lobby.clients.get(turn_sent.client_number),
            self._matches.rooms.get(turn_sent.match_id),
        )
        if client is not None and room is not None and room.bots[room.referee.mover] is client.bot:
            room.start_turn_clock(
                turn_sent.ply, turn_sent.min_round_trip_ns, min(turn_sent.sent_ns, self._lobby.now_ns)
            )

    # commands of the server's operator

    def _handle_bot_crash(self, crash: BotCrashed) -> None:
        bot = self._lobby.bots.get(crash.bot_name)
        if bot is not None and bot.name not in self._house:
            self._matches.apply_event_to_matches_of_bot(
                bot, lambda player: PlayerResigned(player, "crash", crash.crash_description)
            )

    def _handle_house_engine_failure(self, failure: HouseEngineFailed) -> None:
        if self._house.remove_engine(failure.engine_name):
            self._challenges.close_challenges_involving(
                failure.engine_name, f"{failure.engine_name} cannot be started"
            )
            self._lobby.record_lobby_change()

    def _handle_restored_state(self, restore: RestoredState) -> None:
        self._events.restore_events(restore.unfinished_events)
        self._matches.restore_matches(restore)
        self._events.assign_restored_matches_to_events()
        self._lobby.record_lobby_change()

    def _handle_rating_change(self, change: RatingChanged) -> None:
        bot = self._lobby.bots.get(change.bot_name)
        if bot is not None and bot.ratings_by_game.get(change.game) != change.rating:
            bot.ratings_by_game[change.game] = change.rating
            self._send_matchmaking_status(bot)

    def _handle_season_end(self, season: SeasonClosed) -> None:
        for bot in self._lobby.bots.values():
            if bot.ratings_by_game.pop(season.game, None) is not None:
                self._send_matchmaking_status(bot)

    def _handle_bot_owner_found(self, resolution: BotOwnerFound) -> None:
        bot = self._lobby.bots.get(resolution.bot_name)
        if bot is not None:
            bot.set_owner(resolution.owner_name)


def _make_non_player_refusal() -> RequestRefused:
    return RequestRefused(ErrorCode.NOT_A_PLAYER, ErrorCode.NOT_A_PLAYER.meaning)
