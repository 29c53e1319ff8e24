"""State of a named bot: its session, its preferences and its matches. The state outlives the bot's connection."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import sha256

from msgspec import UNSET

from arena.games.core import AnyGame, Player
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import ListedBot
from arena.protocol.timecontrol import TimeControl
from arena.rating.glicko import GlickoRating
from arena.server.core.inputs import ClientAdmitted
from arena.server.core.settings import GameAtTimeControl

MAX_RECENT_MATCHES_PER_BOT = 32
"""Maximum number of recently finished matches remembered for each bot, to resend their results."""
MAX_RESENT_RESULT_AGE_NS = 15_000_000_000
"""Age up to which the result of a finished match is resent to its two bots after a server process failed, in ns.

The bots may not have received the results of the last seconds before the failure.
"""
CHALLENGE_ANSWER_PERIOD_NS = 2_000_000_000
"""Time in which a challenged bot can answer the challenge, before the matchmaker may give the bot a match, in ns."""
MIN_NS_BETWEEN_CHALLENGE_ANSWER_PERIODS = 20_000_000_000
"""Minimum time between the starts of two periods of `CHALLENGE_ANSWER_PERIOD_NS` for the same bot, in ns.

During such a period, the matchmaker starts no match of the bot. Without this minimum, repeated challenges could keep a
bot from ever getting a match from the matchmaker.
"""

RATING_OF_UNRATED_BOT = GlickoRating().rating
"""Rating, in Glicko-2 points, that the server assumes for a bot in a game in which it has no rating yet."""


@dataclass(frozen=True, slots=True)
class MatchPreferences:
    """Games, maps and time controls that a bot accepts, by name. An empty set accepts all."""

    game_names: frozenset[str] = frozenset()
    map_names: frozenset[str] = frozenset()
    time_controls: frozenset[str] = frozenset()
    """Time controls that the bot accepts, in their shortest form, such as `10+0.1`; empty for all."""
    accepts_pool_matches: bool = True
    """True if the matchmaker may pair the bot; False if the bot plays only by challenge."""

    def accepts_pool_game(self, pool_game: GameAtTimeControl) -> bool:
        """Return True if the bot accepts the game of `pool_game`, on its map and at its time control."""
        return self.find_decline_reason(pool_game.game, pool_game.time_control) is None

    def find_decline_reason(self, game: AnyGame, time_control: TimeControl) -> str | None:
        """Return the reason why the bot does not accept this game at this time control, such as `it plays chess only`.

        Return None if the bot accepts both.
        """
        if self.game_names and game.name not in self.game_names:
            return f"it plays {', '.join(sorted(self.game_names))} only"
        if self.map_names and isinstance(name := game.setup().get("map"), str) and name not in self.map_names:
            return f"it plays on {', '.join(sorted(self.map_names))} only"
        if self.time_controls and str(time_control) not in self.time_controls:
            return f"it plays at {', '.join(sorted(self.time_controls))} only"
        return None


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 hash of a session's secret. Only the hash is stored, never the secret."""
    return sha256(secret.encode()).digest()


def verify_secret(secret: str, expected_hash: bytes) -> bool:
    """Return True if `secret` has this hash; always False if `secret` or `expected_hash` is empty."""
    return bool(secret) and hmac.compare_digest(expected_hash, hash_secret(secret))


@dataclass(eq=False, slots=True)
class LobbyBot:
    """Bot that is connected, plays a match, or may still resume its session."""

    name: str
    session_secret_hash: bytes = b""
    """Hash of the secret of the bot's session; empty if the bot never had a session."""
    client_number: int | None = None
    """Number of the bot's connection; None while the bot is disconnected."""
    address: str = ""
    owner: str = ""
    """Owner of the bot's token; if no owner is known, the bot's IP address (the /64 network for IPv6)."""
    is_owner_an_address: bool = False
    """True if `owner` is an address, not the name of an owner."""
    program: str = ""
    engine: EngineInfo | None = None
    match_capacity: int = 1
    """Maximum number of matches that the bot plays in parallel."""
    match_quota: int | None = None
    """Number of further matches that the bot accepts; None for no limit."""
    preferences: MatchPreferences = field(default_factory=MatchPreferences)
    is_guest: bool = False
    """True for a guest, a client without a token, which plays only the server's own engines."""
    runs_on_server_machine: bool = False
    """True for a bot that runs on the server's own machine."""
    ratings_by_game: dict[str, GlickoRating] = field(default_factory=dict)
    """Rating of the bot in each game that it has been rated in."""
    keeps_session_after_disconnect: bool = False
    """True if the session outlives the connection: the bot has sent `ready` or `resign`, or the session was restored.

    If False, the session ends with the connection, so that names which strangers make up are not kept in memory.
    """
    seats_by_match_id: dict[str, Player] = field(default_factory=dict)
    """Seat of the bot in each of its matches in progress, by match id."""
    recent_match_ends: list[tuple[int, str]] = field(default_factory=list)
    """Recently finished matches, oldest first: the end time (monotonic ns) and the id of each."""
    disconnect_time_ns: int = 0
    """Time (monotonic ns) at which the bot last disconnected, or at which its session was restored."""
    challenge_answer_period_start_ns: int | None = None
    """Time (monotonic ns) at which the bot's latest answer period began; None if none has begun on this connection.

    In an answer period (`CHALLENGE_ANSWER_PERIOD_NS`), the matchmaker gives the bot no match, so that it can answer
    challenges.
    """

    def get_rating(self, game_name: str) -> float:
        """Return the bot's rating in a game; `RATING_OF_UNRATED_BOT` if the bot has none."""
        return (
            self.ratings_by_game[game_name].rating
            if game_name in self.ratings_by_game
            else RATING_OF_UNRATED_BOT
        )

    @property
    def has_capacity_for_match(self) -> bool:
        """True while the bot plays fewer matches than its capacity."""
        return len(self.seats_by_match_id) < self.match_capacity

    @property
    def can_accept_match(self) -> bool:
        """True while the bot is connected, plays fewer matches than its capacity, and accepts further matches (its quota)."""
        return self.client_number is not None and self.has_capacity_for_match and self.match_quota != 0

    def verify_session_secret(self, session_secret: str, stored_hash: bytes) -> bool:
        """Return True if `session_secret` is the secret of the bot's session.

        stored_hash  hash of the secret in the store, which is used only if the core has no session of this bot
        """
        return verify_secret(session_secret, self.session_secret_hash or stored_hash)

    def apply_admission(self, admission: ClientAdmitted, max_matches: int) -> None:
        """Set the bot's connection, owner, ratings and preferences from its admission, which includes its `hello` message.

        A guest (client without a token) plays one match at a time, and only by challenge.

        max_matches  server's limit on the parallel matches of one bot
        """
        hello = admission.hello
        self.client_number = admission.client_number
        self.address, self.owner, self.is_owner_an_address = (
            admission.address,
            admission.owner,
            admission.is_owner_an_address,
        )
        self.program = hello.program
        self.engine = None if hello.engine is UNSET else hello.engine
        self.match_quota = None if hello.quota is UNSET else hello.quota
        self.is_guest, self.runs_on_server_machine = admission.is_guest, admission.runs_on_server_machine
        self.match_capacity = 1 if admission.is_guest else min(hello.matches, max_matches)
        self.preferences = MatchPreferences(
            frozenset(hello.games),
            frozenset(hello.maps),
            frozenset(hello.time_controls),
            accepts_pool_matches=hello.pool and not admission.is_guest,
        )
        self.ratings_by_game = dict(admission.ratings)

    def set_owner(self, owner_name: str) -> None:
        """Record the owner of the bot's token, if the owner was looked up only after the bot was admitted.

        Until this call, the bot's address stands for the owner.
        """
        self.owner, self.is_owner_an_address = owner_name, False

    def has_same_owner_as(self, other: LobbyBot) -> bool:
        """Return True if both bots have the same known owner. Such bots play no rated matches with each other.

        The result is False for bots without an owner that share only an address.
        """
        return self.owner == other.owner and not (self.is_owner_an_address or other.is_owner_an_address)

    def begin_session(self, session_secret: str) -> None:
        """Start a new session with this secret, and forget the recent matches of an earlier session."""
        self.session_secret_hash = hash_secret(session_secret)
        self.recent_match_ends, self.keeps_session_after_disconnect = [], False

    def restore_session(self, session_hash: bytes, now_ns: int) -> None:
        """Restore the session whose secret has the hash `session_hash`. The bot counts as disconnected since `now_ns`."""
        self.session_secret_hash, self.disconnect_time_ns = session_hash, now_ns

    def keep_session_after_disconnect(self) -> None:
        """From now on, keep the session after a disconnect, for `CoreSettings.reconnect_grace_ms`."""
        self.keeps_session_after_disconnect = True

    def mark_disconnected(self, now_ns: int) -> None:
        """Mark the bot as disconnected since `now_ns`."""
        self.client_number = self.challenge_answer_period_start_ns = None
        self.disconnect_time_ns = now_ns

    def set_match_quota(self, remaining_matches: int) -> None:
        self.match_quota = remaining_matches

    def count_match_against_quota(self) -> None:
        """Subtract a new match from the number of further matches that the bot accepts (its quota), if it has a limit."""
        if self.match_quota:
            self.match_quota -= 1

    def add_match_in_progress(self, match_id: str, player: Player) -> None:
        self.seats_by_match_id[match_id] = player

    def move_match_to_recent(self, match_id: str, now_ns: int) -> None:
        """Remove a match that ended at `now_ns` from the matches in progress, and remember it as recently finished."""
        self.seats_by_match_id.pop(match_id, None)
        self.recent_match_ends = [
            *self.recent_match_ends[1 - MAX_RECENT_MATCHES_PER_BOT :],
            (now_ns, match_id),
        ]

    def list_recent_match_ids(self, now_ns: int) -> list[str]:
        """Return the ids of matches whose results the bot may have missed: ended at most `MAX_RESENT_RESULT_AGE_NS` ago."""
        return [
            match
            for end_time, match in self.recent_match_ends
            if now_ns - end_time <= MAX_RESENT_RESULT_AGE_NS
        ]

    def has_match_ended_since(self, match_id: str, time_ns: int) -> bool:
        """Return True if `match_id` is one of the bot's `recent_match_ends`, and ended after `time_ns` (monotonic ns)."""
        return any(
            match_id == recent_id and time_ns < end_time for end_time, recent_id in self.recent_match_ends
        )

    def begin_challenge_answer_period(self, now_ns: int) -> None:
        """Keep the matchmaker from pairing the bot for `CHALLENGE_ANSWER_PERIOD_NS`, so that the bot can answer challenges.

        Do nothing if the last such period started less than `MIN_NS_BETWEEN_CHALLENGE_ANSWER_PERIODS` ago.
        """
        if (
            self.challenge_answer_period_start_ns is None
            or now_ns >= self.challenge_answer_period_start_ns + MIN_NS_BETWEEN_CHALLENGE_ANSWER_PERIODS
        ):
            self.challenge_answer_period_start_ns = now_ns

    def make_lobby_listing_entry(self, suspension_reason: str, *, is_house_engine: bool) -> ListedBot:
        """Return the bot's entry in the `listing` message, the overview of the arena for clients that browse.

        suspension_reason  reason why the matchmaker has suspended the bot; empty if it has not
        is_house_engine    True for one of the server's own engines
        """
        return ListedBot(
            self.name,
            self.program,
            len(self.seats_by_match_id),
            self.match_capacity,
            suspension_reason,
            house=is_house_engine,
        )
