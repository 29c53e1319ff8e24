"""The lobby: connected clients, known bots, and the effects of the input that the core is handling.

Effects are the messages to clients and the changes to the store that an input causes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import UNSET

from arena.games.catalogue import CATALOGUE
from arena.match.clock import NS_PER_MS
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import ServerMessage, Welcome
from arena.protocol.values import ClientLimits
from arena.server.core.bot import LobbyBot, hash_secret
from arena.server.core.calendar import format_unix_time_as_utc
from arena.server.core.deadlines import DeadlineSchedule
from arena.server.core.effects import CloseClient, DeleteSession, Effect, SaveSession, SendToClient
from arena.server.core.inputs import ClientAdmitted, get_edge_number
from arena.server.core.settings import CoreSettings

NS_PER_SECOND = 1_000_000_000
DRAINING_REFUSAL_REASON = "the server is stopping and begins no new matches"
"""Reason, sent to clients, for refusing a match while the server is stopping."""


class RequestRefused(Exception):
    """Raised when a client's request is refused. The client is sent `code` (error code) and `detail` (text for people)."""

    def __init__(self, code: ErrorCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def make_unknown_match_refusal(match_id: str) -> RequestRefused:
    """Return the error that answers a bot's message about a match that the bot does not play. `match_id`: id in the message."""
    return RequestRefused(
        ErrorCode.NO_SUCH_MATCH, f"the match {match_id!r:.70} is over, is not yours, or does not exist"
    )


class FollowerCountsByEdge:
    """Number of clients that follow one topic (a match, or the listing), by edge: the process that holds their connections."""

    def __init__(self) -> None:
        self.edges: tuple[int, ...] = ()
        """Numbers of the edges (holders of connections) that have followers. Each edge gets one copy of a published message."""
        self._counts: dict[int, int] = {}

    def add_follower(self, client_number: int) -> None:
        """Count the client of this number as a new follower of the topic (a match, or the listing)."""
        edge = get_edge_number(client_number)
        self._counts[edge] = self._counts.get(edge, 0) + 1
        self.edges = tuple(self._counts)

    def remove_follower(self, client_number: int) -> None:
        """Stop counting the client of this number as a follower of the topic. The client must have been added."""
        edge = get_edge_number(client_number)
        self._counts[edge] -= 1
        if not self._counts[edge]:
            del self._counts[edge]
            self.edges = tuple(self._counts)


@dataclass(eq=False, slots=True)
class LobbyClient:
    """Connected client. `id` is the number of its connection; `bot` is None for a spectator."""

    client_number: int
    name: str
    bot: LobbyBot | None
    followed_topics: dict[str, FollowerCountsByEdge] = field(default_factory=dict)
    """Follower count of each topic that the client follows, by the topic's name: a match id, or `effects.LOBBY_LISTING_TOPIC`."""

    def follow_topic(self, topic_name: str, followers: FollowerCountsByEdge) -> None:
        """Count the client as a follower of a topic (a match, or the listing), unless it follows the topic already."""
        if topic_name not in self.followed_topics:
            self.followed_topics[topic_name] = followers
            followers.add_follower(self.client_number)

    def unfollow_topic(self, topic_name: str) -> None:
        """Stop counting the client as a follower of a topic (a match, or the listing). Do nothing if the client is no follower."""
        followers = self.followed_topics.pop(topic_name, None)
        if followers is not None:
            followers.remove_follower(self.client_number)


class Lobby:
    """Connected clients and known bots, shared by all parts of the core.

    While the core handles an input, `now_ns` is the time of the input, in monotonic ns. `effects` collects the messages to
    clients and the changes to the store that the input causes.
    """

    def __init__(self, settings: CoreSettings, now_ns: int) -> None:
        self.settings = settings
        self.now_ns = now_ns
        self.effects: list[Effect] = []
        self.deadlines = DeadlineSchedule()
        self.clients: dict[int, LobbyClient] = {}
        """Connected clients, by number."""
        self.bots: dict[str, LobbyBot] = {}
        """Known bots, by name: those that are connected, play a match, or may still return to their session."""
        self.is_draining = False
        """True once no more matches begin, because the server is about to stop."""
        self.change_count = 0
        """Number of changes so far that may alter the `listing` message, or the matches that the matchmaker can begin."""
        self.changed_bots: dict[str, LobbyBot] = {}
        """Bots that have changed since the matchmaker last checked them, by name."""

    def now_unix_ns(self) -> int:
        return self.settings.unix_ns_at_clock_zero + self.now_ns

    def now_unix_s(self) -> int:
        return (self.settings.unix_ns_at_clock_zero + self.now_ns) // NS_PER_SECOND

    def format_current_utc(self) -> str:
        """Return the current time in UTC, in ISO 8601, as written in records."""
        return format_unix_time_as_utc(self.now_unix_s())

    def start_collecting_effects(self, now_ns: int) -> list[Effect]:
        """Set the time to `now_ns` for the next input.

        Return a new list, which will collect the effects (results) of that input.
        """
        self.now_ns, self.effects = now_ns, []
        return self.effects

    def find_or_add_bot(self, bot_name: str) -> LobbyBot:
        """Return the bot of that name, and create it if it is unknown."""
        bot = self.bots.get(bot_name)
        if bot is None:
            bot = self.bots[bot_name] = LobbyBot(bot_name)
        return bot

    def list_connected_bots(self) -> list[LobbyBot]:
        """Return the connected bots, in the order in which their names were first seen."""
        return [bot for bot in self.bots.values() if bot.client_number is not None]

    def send_to_bot(self, bot: LobbyBot | None, message: ServerMessage) -> None:
        """Send a message to a bot. Do nothing if the bot is not connected or is unknown (None)."""
        if bot is not None and bot.client_number is not None:
            self.effects.append(SendToClient(bot.client_number, message))

    def record_lobby_change(self, bot: LobbyBot | None = None) -> None:
        """Record a change that may alter the listing (of matches, bots …), or the matches that can begin.

        bot  bot that has changed, which the matchmaker then checks again; None if no bot has changed
        """
        self.change_count += 1
        if bot is not None:
            self.changed_bots[bot.name] = bot

    def pop_changed_bots(self) -> list[LobbyBot]:
        """Return the bots that have changed since the last call."""
        changed_bots, self.changed_bots = self.changed_bots, {}
        return list(changed_bots.values())

    def stop_beginning_matches(self) -> None:
        """Begin no more matches, because the server is about to stop. Matches in progress go on."""
        self.is_draining = True

    def apply_settings(self, settings: CoreSettings) -> None:
        """Apply new settings, and let the matchmaker check all connected bots again."""
        self.settings = settings
        for bot in self.list_connected_bots():
            self.record_lobby_change(bot)

    def compute_match_load(self, *bots: LobbyBot) -> int:
        """Return the load that a match of these bots puts on the server's machine. `CoreSettings.concurrency` limits the total.

        Return 0 if none of the bots runs on that machine; otherwise 1 or, if `CoreSettings.concurrency_counts_threads` is
        True, the largest number of search threads of any bot that runs there, because only one bot thinks at a time.
        """
        local_bots = [bot for bot in bots if bot.runs_on_server_machine]
        if not self.settings.concurrency_counts_threads:
            return min(1, len(local_bots))
        return max(((bot.engine.threads if bot.engine else None) or 1 for bot in local_bots), default=0)

    def has_capacity_for_load(self, new_match_load: int, current_load: int) -> bool:
        """Return True if a match may begin now: the total load of this machine stays within `CoreSettings.concurrency`.

        new_match_load  load of the new match, from `compute_match_load`
        current_load    total load of the matches in progress

        A match with a load of 0 may always begin. While `current_load` is 0, any match may begin, because a match that
        needs more than the maximum could never begin otherwise.
        """
        return (
            new_match_load == 0
            or current_load == 0
            or current_load + new_match_load <= self.settings.concurrency
        )

    # arrival

    def check_admission_and_detect_resumption(self, admission: ClientAdmitted) -> bool:
        """Check whether a client may be admitted, and return True if the client is a bot that resumes its session.

        Raises RequestRefused if the client may not be admitted.
        """
        hello, role = admission.hello, admission.role
        if role != hello.role:
            if hello.role == "bot":
                raise RequestRefused(
                    ErrorCode.NOT_A_PLAYER,
                    f"on this server, {hello.name!r} has the role {role}, which does not play: ask the host for a token with the role bot",
                )
            raise RequestRefused(
                ErrorCode.BAD_TOKEN,
                f"{hello.name!r} has the role {role} on this server: connect in that role, or ask the host for a token with the role {hello.role}",
            )
        if role != "bot":
            return False
        rules_difference = (
            CATALOGUE.explain_digest_mismatch(hello.rules) if hello.rules is not UNSET else None
        )
        if rules_difference is not None:
            raise RequestRefused(ErrorCode.OTHER_RULES, rules_difference)
        bot = self.bots.get(hello.name)
        if (bot or LobbyBot(hello.name)).verify_session_secret(hello.session, admission.stored_session_hash):
            return True
        if bot is not None and bot.client_number is not None:
            raise RequestRefused(
                ErrorCode.NAME_TAKEN, f"a bot called {hello.name!r} is already connected: choose another name"
            )
        return False

    def add_spectator(self, admission: ClientAdmitted) -> None:
        """Admit a client that only watches."""
        self.clients[admission.client_number] = LobbyClient(
            admission.client_number, admission.hello.name, None
        )

    def add_bot(self, admission: ClientAdmitted, *, resumes_session: bool) -> LobbyBot:
        """Admit a bot that has passed `check_admission_and_detect_resumption`, and close its earlier connection, if any.

        resumes_session  True if the bot returns to its earlier session and the matches in it
        """
        bot = self.find_or_add_bot(admission.hello.name)
        if bot.client_number is not None:
            self.effects.append(
                CloseClient(bot.client_number, ErrorCode.REPLACED, ErrorCode.REPLACED.meaning)
            )
            self.drop_client(bot.client_number)
        if resumes_session:
            bot.restore_session(hash_secret(admission.hello.session), self.now_ns)
        else:
            bot.begin_session(admission.session_secret)
            self.effects.append(SaveSession(bot.name, bot.session_secret_hash))
        bot.apply_admission(admission, self.settings.limits.matches_per_bot)
        self.clients[admission.client_number] = LobbyClient(admission.client_number, bot.name, bot)
        self.record_lobby_change(bot)
        return bot

    def send_welcome(self, client: LobbyClient, session_secret: str) -> None:
        """Send a client the `welcome` message. `session_secret`: secret of its session; empty for a spectator."""
        matches = 0 if client.bot is None else client.bot.match_capacity
        limits = ClientLimits(self.settings.limits.message_bytes, matches, self.settings.reconnect_grace_ms)
        self.effects.append(
            SendToClient(
                client.client_number,
                Welcome(self.settings.server_program, client.name, session_secret, limits),
            )
        )

    # departure

    def drop_client(self, client_number: int) -> LobbyClient | None:
        """Forget an ended connection, and return its client; None if the connection was already forgotten or replaced."""
        client_entry = self.clients.pop(client_number, None)
        if client_entry is not None:
            for topic in list(client_entry.followed_topics):
                client_entry.unfollow_topic(topic)
        return client_entry

    def handle_bot_disconnection(self, bot: LobbyBot) -> None:
        """Record that a bot has disconnected. The bot may return within `CoreSettings.reconnect_grace_ms`."""
        bot.mark_disconnected(self.now_ns)
        self.record_lobby_change(bot)
        self.forget_bot_if_session_expired(bot)

    def forget_bot_if_session_expired(self, bot: LobbyBot) -> None:
        """Forget a disconnected bot without matches if the bot may no longer return; otherwise schedule the next check.

        A bot may return within `CoreSettings.reconnect_grace_ms`, if it keeps its session
        (`LobbyBot.keeps_session_after_disconnect`).
        """
        if bot.client_number is not None or bot.seats_by_match_id or self.bots.get(bot.name) is not bot:
            return
        expiry_time = (
            bot.disconnect_time_ns + self.settings.reconnect_grace_ms * NS_PER_MS
            if bot.session_secret_hash and bot.keeps_session_after_disconnect
            else self.now_ns
        )
        if self.now_ns < expiry_time:
            self.deadlines.schedule_check(("bot", bot.name), expiry_time)
            return
        del self.bots[bot.name]
        self.deadlines.cancel_check(("bot", bot.name))
        if bot.session_secret_hash:
            self.effects.append(DeleteSession(bot.name))
