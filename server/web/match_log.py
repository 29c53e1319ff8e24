"""A match's log from the store: the host may read the log of every match, and a bot over the net that of its own."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import anyio.to_thread
import msgspec
from msgspec import Struct

from arena.games.core import GameError
from arena.match.events import Finish
from arena.match.referee import SEATS
from arena.match.timeline import TimelineEntry, timeline
from arena.protocol.codes import Code
from arena.protocol.engines import Engines
from arena.protocol.values import Seat
from arena.server.lobby.accounts import Refused
from arena.server.lobby.lobby import Lobby
from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.net.request import Request
from arena.server.rooms.member import Member, is_secret
from arena.server.store.database import Engine
from arena.server.store.journal.reader import begin_with, begun, events_in, events_of

SHORTEST, MOST_BEGIN = 4, 10_000
"""A player may name a match by fewer characters than `SHORTEST` where fewer matches than `MOST_BEGIN` begin with them."""


class NoLog(Exception):
    """No match, or more than one, has the id that was asked for; one line that says so."""


class Log(Struct, frozen=True):
    """A match as its log tells it."""

    match: str
    game: str
    maxie: str
    minnie: str
    time_control: str
    margin_ms: int
    winner: Seat | None
    reason: str | None
    """None while the match is in progress."""
    detail: str
    steps: list[TimelineEntry]
    engines: Engines = Engines()
    """What chose the moves of both, with the threads that each searched with, as far as they said."""

    def seats_of(self, bot: str) -> set[Seat]:
        """The seats that a bot had."""
        names: dict[Seat, str] = {"maxie": self.maxie, "minnie": self.minnie}
        return {seat for seat, name in names.items() if name == bot}

    def only(self, bot: str) -> Log:
        """The log without what the other bot did. Raises NoLog for a bot that did not play."""
        seats = self.seats_of(bot)
        if not seats:
            raise NoLog(f"{bot!r:.70} did not play that match; {self.maxie} and {self.minnie} did")
        kept = [step for step in self.steps if step.player is None or step.player in seats]
        return msgspec.structs.replace(self, steps=kept)


async def match_log(
    engine: Engine, match: str, player: str = "", threads: anyio.CapacityLimiter | None = None
) -> Log:
    """The log of the one match whose id begins with `match`, among those of `player` where one is named.

    threads: how many such matches are told at once; None for as many as anyio has threads. Raises NoLog.
    """
    if player and len(match) < SHORTEST and await begin_with(engine, match, MOST_BEGIN) == MOST_BEGIN:
        raise NoLog(f"very many matches begin with {match!r:.70}: give more of the id")
    try:
        found = await begun(engine, match, player)
    except GameError as error:
        raise NoLog(f"the match cannot be told: {error}") from None
    if not found:
        whose = f" of {player!r:.70}" if player else ""
        raise NoLog(f"no match{whose} begins with {match!r:.70}: the line of a finished match has its id")
    if len(found) > 1:
        raise NoLog(f"several matches begin with {match!r:.70}: give more of the id")
    ((terms, packed),) = found
    happened = await events_of(engine, terms.match) if packed is None else []

    def told() -> tuple[list[TimelineEntry], Finish | None]:
        return timeline(terms, happened if packed is None else events_in(packed))

    # A match is played through a referee again, which takes as long as some hundred moves in play.
    entries, result = await anyio.to_thread.run_sync(told, limiter=threads)
    return Log(
        match=terms.match,
        game=terms.game.name,
        maxie=terms.players.maxie,
        minnie=terms.players.minnie,
        time_control=terms.time_odds.beside(str(terms.time_control)),
        margin_ms=terms.margin_ms,
        winner=None if result is None or result.winner is None else SEATS[result.winner],
        reason=None if result is None else result.reason.value,
        detail="" if result is None else result.detail,
        steps=entries,
        engines=terms.engines,
    )


class MatchLogs:
    """Answers `GET /api/log/MATCH` with HTTP Basic: the bot's name and its token.

    A guest, whose name is anybody's, gives its session's secret for a token, and may read of the matches of that
    session as long as it is connected or in one of them.
    """

    def __init__(
        self, engine: Engine, lobby: Lobby, recall: Callable[[str], Awaitable[bytes]] | None = None
    ) -> None:
        """`recall` gives the hash of a session's secret of a bot that is connected to another server of the arena."""
        self._recall = recall
        self._engine = engine
        self._lobby = lobby
        # Threads that play matches again at once would only take the interpreter from each other.
        self._threads = anyio.CapacityLimiter(1)

    async def answer(self, match: str, request: Request, address: str) -> Answer:
        """The log as JSON, for a player of the match or an admin."""
        try:
            name, token = _credentials(request)
            if self._lobby.accounts.lets_in_as_guest(name, ""):
                log = await self._of_guest(match, name, token, address)
            else:
                role = await self._lobby.accounts.check(name, token, address)
                log = await match_log(self._engine, match, "" if role == "admin" else name, self._threads)
        except Refused as refused:
            if refused.code is Code.SERVER_FULL:
                return answers.text(refused.detail, HTTPStatus.SERVICE_UNAVAILABLE)
            return answers.unauthorized(refused.detail)
        except NoLog as none:
            return answers.not_found(str(none))
        return answers.json(log)

    async def _of_guest(self, match: str, name: str, secret: str, address: str) -> Log:
        """The log for a guest, or for a bot with a guest's name and a token. Raises NoLog and Refused."""
        member = self._lobby.find(name)
        if member is None or not member.guest or not await self._is_session_of(member, secret):
            if not secret:
                raise Refused(
                    Code.BAD_TOKEN, "a guest reads its logs with its session's secret (`welcome.session`)"
                )
            await self._lobby.accounts.check(name, secret, address)
            return await match_log(self._engine, match, name, self._threads)
        log = await match_log(self._engine, match, name, self._threads)
        if log.match not in member.played:
            raise NoLog(f"no match of this session begins with {match!r:.70}")
        return log

    async def _is_session_of(self, member: Member, secret: str) -> bool:
        if member.distant is None or self._recall is None:
            return member.knows(secret)
        return is_secret(secret, await self._recall(member.name))


def _credentials(request: Request) -> tuple[str, str]:
    """The name and the token of a request, both empty where it has none that can be read."""
    given = request.headers.get_all("Authorization")
    scheme, _, coded = (given[0] if given else "").partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        text = base64.b64decode(coded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return "", ""
    # A token has no colon; a name may.
    name, _, token = text.rpartition(":")
    return name, token
