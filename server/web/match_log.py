"""Log of a match, from the store: everything that happened in the match, with times.

An admin may read all logs. The token of a bot gives access to the logs of the matches of all bots of the bot's owner.
"""

from __future__ import annotations

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct, field

from arena.games.core import GameError
from arena.match.referee import SEAT_BY_PLAYER
from arena.match.referee_events import MatchResult
from arena.match.timeline import TimelineEntry, build_timeline
from arena.protocol.engines import EnginesBySeat
from arena.protocol.values import Seat
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import tokens
from arena.server.store.database import Engine
from arena.server.store.finished_matches import MIN_MATCH_ID_PREFIX_LENGTH
from arena.server.store.journal.reader import (
    find_matches_by_id_prefix,
    load_events_of_match,
    unpack_events,
)
from arena.server.store.owners import load_owner_account
from arena.server.web.credentials import find_valid_token, parse_basic_credentials
from arena.server.web.routes import NotFound


class MatchLog(Struct, frozen=True):
    """Log of a match: players, time control, result, and a list of all events with their times."""

    match: str
    game: str
    maxie: str
    minnie: str
    time_control: str
    margin_ms: int
    winner: Seat | None
    """Winner; None for a draw, for a void match (without a result), or while the match is in progress."""
    reason: str | None
    """End reason as a code, such as `timeout`; None while the match is in progress."""
    detail: str
    """Explanation of the result, in words; empty while the match is in progress."""
    timeline_entries: list[TimelineEntry] = field(name="steps")
    """Events of the match, in order."""
    engines: EnginesBySeat = EnginesBySeat()
    """Engines of the players with their options and threads, as the players described them."""

    def filter_by_bot(self, bot_name: str) -> MatchLog:
        """Return the log without the opponent's events, such as moves. Raises NotFound if `bot_name` did not play."""
        seats = {seat for seat, name in (("maxie", self.maxie), ("minnie", self.minnie)) if name == bot_name}
        if not seats:
            raise NotFound(f"{bot_name!r:.70} did not play that match; {self.maxie} and {self.minnie} did")
        entries = [entry for entry in self.timeline_entries if entry.player is None or entry.player in seats]
        return msgspec.structs.replace(self, timeline_entries=entries)


async def load_match_log(
    engine: Engine, match_id: str, bot_name: str = "", limiter: anyio.CapacityLimiter | None = None
) -> MatchLog:
    """Return the log of the one match whose id begins with `match_id`.

    match_id: id of the match, or the beginning of its id
    bot_name: name of a bot, to search only its matches; empty for all matches
    limiter: limit on the number of logs made in parallel; None for anyio's default

    Raises NotFound if no match or more than one is found, or if the game of the match is not known.
    """
    try:
        matches = await find_matches_by_id_prefix(engine, match_id, bot_name)
    except GameError as error:
        raise NotFound(f"the log of the match cannot be shown: {error}") from None
    if not matches:
        player_text = f" of {bot_name!r:.70}" if bot_name else ""
        raise NotFound(
            f"no match{player_text} has an id that begins with {match_id!r:.70}: copy the id from the list of finished matches"
        )
    if len(matches) > 1:
        raise NotFound(f"the ids of several matches begin with {match_id!r:.70}: give more of the id")
    ((terms, packed),) = matches
    journal_events = await load_events_of_match(engine, terms.match) if packed is None else []

    def make_timeline() -> tuple[list[TimelineEntry], MatchResult | None]:
        return build_timeline(terms, journal_events if packed is None else unpack_events(packed))

    # A referee replays the match, which takes as long as some hundred moves of a running match.
    entries, finish = await anyio.to_thread.run_sync(make_timeline, limiter=limiter)
    return MatchLog(
        match=terms.match,
        game=terms.game.name,
        maxie=terms.players.maxie,
        minnie=terms.players.minnie,
        time_control=terms.time_odds.describe_time_controls(str(terms.time_control)),
        margin_ms=terms.margin_ms,
        winner=None if finish is None or finish.winner is None else SEAT_BY_PLAYER[finish.winner],
        reason=None if finish is None else finish.reason.value,
        detail="" if finish is None else finish.detail,
        timeline_entries=entries,
        engines=terms.engines,
    )


class MatchLogHandler:
    """Handler of `GET /api/log/MATCH`, which requires HTTP Basic authentication.

    A client gives a bot's name, and the bot's token or the secret of its session. An admin's token gives access to all
    logs, and a bot's token to the logs of the matches of all bots of the same owner.

    A session secret gives access only to matches that began in the session, because a guest's name may have belonged to
    another person before.
    """

    def __init__(self, engine: Engine, *, admits_anyone: bool) -> None:
        """Set up the handler, which reads matches and tokens from the store of `engine`.

        admits_anyone: True if a client needs no secret for a name that has no token
        """
        self._engine = engine
        self._admits_anyone = admits_anyone
        # Several replaying threads would only compete for the interpreter.
        self._limiter = anyio.CapacityLimiter(1)

    async def handle_request(self, match_id: str, authorization: str) -> Response:
        """Respond with the log of a match as JSON; with status 401 if `authorization` gives no access to the log.

        match_id: id of the match, or the beginning of its id
        authorization: Authorization header

        Raises NotFound if no match or more than one is found, or if the beginning of an id is too short.
        """
        name, secret = parse_basic_credentials(authorization)
        token = await find_valid_token(self._engine, authorization)
        needs_session = token is None and not (
            self._admits_anyone and not secret and await tokens.find_token(self._engine, name) is None
        )
        if needs_session and not await tokens.is_valid_session_secret(self._engine, name, secret):
            line = (
                f"this is neither the token of {name!r:.70} nor the secret of its session (`welcome.session`)"
            )
            return responses.make_unauthorized_response(line)
        is_admin = token is not None and token.role == "admin"
        if not is_admin and len(match_id) < MIN_MATCH_ID_PREFIX_LENGTH:
            # A search for a player's matches examines all matches with this prefix.
            raise NotFound(
                f"the id {match_id!r} is too short: give at least {MIN_MATCH_ID_PREFIX_LENGTH} characters of the id"
            )
        try:
            log = await load_match_log(self._engine, match_id, "" if is_admin else name, self._limiter)
        except NotFound:
            log_for_owner = None if token is None else await self._load_log_for_owner(match_id, token.owner)
            if log_for_owner is None:
                raise
            log = log_for_owner
        if needs_session and not await tokens.is_valid_session_secret(self._engine, name, secret, log.match):
            return responses.make_unauthorized_response(
                f"that match began before this session of {name!r:.70}: give its token"
            )
        return responses.make_json_response(log)

    async def _load_log_for_owner(self, match_id: str, owner_name: str) -> MatchLog | None:
        """Return the log of a match that one of the owner's bots played; None if there is no such match."""
        names = {bot.name for bot in (await load_owner_account(self._engine, owner_name)).bots}
        try:
            log = await load_match_log(self._engine, match_id, "", self._limiter)
        except NotFound:
            return None
        return log if names & {log.maxie, log.minnie} else None
