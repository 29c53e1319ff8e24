"""Log of a match from the store. A host may read all logs, and a bot those of its own matches."""

from __future__ import annotations

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from arena.games.core import GameError
from arena.match.referee import SEATS
from arena.match.referee_events import Finish
from arena.match.timeline import TimelineEntry, build_timeline
from arena.protocol.engines import Engines
from arena.protocol.values import Seat
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import tokens
from arena.server.store.database import Engine
from arena.server.store.finished_matches import MIN_PREFIX
from arena.server.store.invitations import load_owner
from arena.server.store.journal.reader import (
    count_with_prefix,
    find_started_matches,
    load_events_of_match,
    unpack_events,
)
from arena.server.web.credentials import is_valid_secret, parse_basic

MAX_PREFIX_MATCHES = 10_000
"""Number of matches from which on a prefix shorter than `MIN_PREFIX` is refused."""


class LogNotFound(Exception):
    """Raised when an id, or a prefix of one, fits no match or several matches; the message is a one-line reason."""


class MatchLog(Struct, frozen=True):
    """Log of a match: its terms, its result, and a timeline of its moves."""

    match: str
    game: str
    maxie: str
    minnie: str
    time_control: str
    margin_ms: int
    winner: Seat | None
    reason: str | None
    """Reason for the end; None while the match is in progress."""
    detail: str
    steps: list[TimelineEntry]
    engines: Engines = Engines()
    """Engines, options and threads that the players reported."""

    def seats_of(self, bot: str) -> set[Seat]:
        """Return the seats of a bot in the match."""
        names: dict[Seat, str] = {"maxie": self.maxie, "minnie": self.minnie}
        return {seat for seat, name in names.items() if name == bot}

    def filter_by_bot(self, bot: str) -> MatchLog:
        """Return the log without the other bot's actions. Raises LogNotFound if `bot` did not play."""
        seats = self.seats_of(bot)
        if not seats:
            raise LogNotFound(f"{bot!r:.70} did not play that match; {self.maxie} and {self.minnie} did")
        steps = [step for step in self.steps if step.player is None or step.player in seats]
        return msgspec.structs.replace(self, steps=steps)


async def load_log(
    engine: Engine, match: str, player: str = "", threads: anyio.CapacityLimiter | None = None
) -> MatchLog:
    """Return the log of the only match whose id begins with `match`.

    player: only matches of this bot; empty for all
    threads: limit on the number of logs made in parallel; None for anyio's default

    Raises LogNotFound.
    """
    if (
        player
        and len(match) < MIN_PREFIX
        and await count_with_prefix(engine, match, MAX_PREFIX_MATCHES) == MAX_PREFIX_MATCHES
    ):
        raise LogNotFound(f"too many matches begin with {match!r:.70}: give more of the id")
    try:
        matches = await find_started_matches(engine, match, player)
    except GameError as error:
        raise LogNotFound(f"the log of the match cannot be shown: {error}") from None
    if not matches:
        whose = f" of {player!r:.70}" if player else ""
        raise LogNotFound(
            f"no match{whose} begins with {match!r:.70}: copy the id from the list of finished matches"
        )
    if len(matches) > 1:
        raise LogNotFound(f"several matches begin with {match!r:.70}: give more of the id")
    ((terms, packed),) = matches
    happened = await load_events_of_match(engine, terms.match) if packed is None else []

    def make_timeline() -> tuple[list[TimelineEntry], Finish | None]:
        return build_timeline(terms, happened if packed is None else unpack_events(packed))

    # A referee replays the match, which takes as long as some hundred moves of a running match.
    entries, result = await anyio.to_thread.run_sync(make_timeline, limiter=threads)
    return MatchLog(
        match=terms.match,
        game=terms.game.name,
        maxie=terms.players.maxie,
        minnie=terms.players.minnie,
        time_control=terms.time_odds.describe(str(terms.time_control)),
        margin_ms=terms.margin_ms,
        winner=None if result is None or result.winner is None else SEATS[result.winner],
        reason=None if result is None else result.reason.value,
        detail="" if result is None else result.detail,
        steps=entries,
        engines=terms.engines,
    )


class MatchLogs:
    """Answers to `GET /api/log/MATCH` with HTTP Basic: a bot's name, and its token or session secret.

    Both are compared with their hashes in the store. An admin may read all logs. A bot's token gives access to the
    logs of all bots of its owner. A session gives access only to matches that began in it, because a guest's name
    may have belonged to another person before.
    """

    def __init__(self, engine: Engine, *, anyone: bool) -> None:
        """Answer from the store. `anyone`: True if names need no token."""
        self._engine = engine
        self._anyone = anyone
        # Several replaying threads would only compete for the interpreter.
        self._threads = anyio.CapacityLimiter(1)

    async def answer_request(self, match: str, authorization: str) -> Response:
        """Return the log as JSON, for a player of the match or an admin."""
        name, secret = parse_basic(authorization)
        token = await tokens.find_token(self._engine, name)
        has_token = token is not None and is_valid_secret(token, secret)
        free = self._anyone and token is None and not secret
        by_session = not (has_token or free)
        if by_session and not await tokens.has_session(self._engine, name, secret):
            line = (
                f"this is neither the token of {name!r:.70} nor the secret of its session (`welcome.session`)"
            )
            return responses.unauthorized(line)
        admin = has_token and token is not None and token.role == "admin"
        try:
            log = await load_log(self._engine, match, "" if admin else name, self._threads)
        except LogNotFound as none:
            answer = (
                await self._load_log_for_owner(match, token.owner)
                if has_token and token is not None
                else None
            )
            if answer is None:
                return responses.not_found(str(none))
            log = answer
        if by_session and not await tokens.has_session(self._engine, name, secret, log.match):
            return responses.unauthorized(
                f"that match began before this session of {name!r:.70}: give its token"
            )
        return responses.json_response(log)

    async def _load_log_for_owner(self, match: str, owner: str) -> MatchLog | None:
        """Return the log of a match that a bot of the owner played; None if there is no such match."""
        names = {each.name for each in (await load_owner(self._engine, owner)).bots}
        try:
            log = await load_log(self._engine, match, "", self._threads)
        except LogNotFound:
            return None
        return log if names & {log.maxie, log.minnie} else None
