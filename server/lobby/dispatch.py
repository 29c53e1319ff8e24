"""Dispatch: what each message of a connected client leads to.

A client is a bot (it has a member, plays and challenges) or a spectator (it only watches). Every client may browse
and watch.
"""

from __future__ import annotations

import logging
import math
from asyncio import get_running_loop
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, monotonic_ns
from typing import Protocol

from msgspec import UNSET, UnsetType

from arena.games.catalogue import KNOWN
from arena.match.events import BrokeProtocol, Event, GotReady, Left, Moved, Resigned, Returned, SessionLost
from arena.protocol.codec import encode
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    Error,
    Hello,
    Listing,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Status,
    Unwatch,
    Watch,
    Welcome,
    Withdraw,
)
from arena.protocol.values import Limits
from arena.server.lobby.accounts import Refused
from arena.server.lobby.costs import MESSAGE_COSTS, OUT_OF_PLACE_COSTS
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.names import Names
from arena.server.net.by_address.work import WorkBudget
from arena.server.net.limits import HostLimits
from arena.server.net.metrics import Metrics
from arena.server.net.turns import Turns
from arena.server.rooms.member import BotConnection, MatchInbox, Member
from arena.server.rooms.spectators import Spectator, Spectators
from arena.server.store.tokens import is_name

log = logging.getLogger("arena.dispatch")

OF_MATCHES = (Move, Ready, Resign)
"""What a player says of a match; a tuple, for to make a union of the three takes as long as to look for them."""
LISTING_SECONDS = 0.25
"""The shortest time from one listing to the next for whoever browses."""


class ClientConnection(BotConnection, Spectator, Protocol):
    """A client's connection: dispatch and the lobby use it, and the spectators of a match."""


@dataclass(eq=False)
class Client:
    """Somebody who is connected. `member` is None for a spectator."""

    name: str
    connection: ClientConnection
    member: Member | None
    address: str
    watched: dict[str, Spectators] = field(default_factory=dict)
    listed: float = -math.inf
    """When it was last sent a listing because it asked for one, in monotonic seconds."""
    asked: bool = False
    """Whether it has asked again since, too soon, and will be sent another."""


TellEnd = Callable[[ClientConnection, str, str], None]
"""Tells a connection of a bot, by name, how a match of its own ended; or that there is no such match."""


class Watchable(Protocol):
    """Where the matches in progress can be watched."""

    def spectators(self, match: str) -> Spectators | None:
        """The spectators of a match in progress; None where there is no such match."""
        ...

    def listing(self) -> Listing:
        """What goes on now."""
        ...


class Arranging(Protocol):
    """What is told of bots that come and go, and of what they say of challenges."""

    def came(self, member: Member, *, fresh: bool) -> None:
        """A bot has connected to this server; `fresh`: with a new session."""

    def left(self, member: Member) -> None:
        """A bot's connection to this server has ended."""

    def handle(self, member: Member, message: Challenge | Accept | Decline | Withdraw) -> None:
        """Follow a message about a challenge. Raises Refused."""

    def tell_standing(self, member: Member, quota: int | UnsetType = UNSET) -> None:
        """Tell a bot how it stands; with a quota, that is set first, and all that it was given before begins before."""


class Dispatch:
    """Takes every message of every session."""

    def __init__(
        self,
        lobby: Lobby,
        names: Names,
        arranger: Arranging,
        watchable: Watchable,
        metrics: Metrics,
        limits: HostLimits,
        work: WorkBudget,
        *,
        program: str,
        grace_ms: int,
        tell_end: TellEnd,
    ) -> None:
        """Take the messages of a server's clients; `tell_end` is asked for what nobody plays any more."""
        self._tell_end = tell_end
        self._lobby = lobby
        self._names = names
        self._arranger = arranger
        self._watchable = watchable
        self._metrics = metrics
        self._limits = limits
        self._work = work
        self.turns = Turns(1)
        """Turns for messages that cost something."""
        self._program = program
        self._grace_ms = grace_ms
        self.browsing: set[Client] = set()
        """Who is sent a listing when something changes."""
        self._listing = -1, -math.inf, b""
        """The last listing: after how many changes of the lobby it was made, when (monotonic s), and its encoding."""

    async def admit(self, hello: Hello, connection: ClientConnection, address: str) -> Client:
        """Let somebody in. Raises Refused."""
        if hello.role != "bot":
            return await self._admit_spectator(hello, connection, address)
        differ = KNOWN.disagreement(hello.rules) if hello.rules is not UNSET else None
        if differ is not None:
            raise Refused(Code.OTHER_RULES, differ)
        kept = await self._names.recall(hello.name)
        secret = await self._lobby.vet(hello, address, kept)
        try:
            # Durable before it is told, so that a bot that holds a secret can always return with it.
            entry, session = await self._names.claim(hello, secret)
        except BaseException:
            self._lobby.turn_away(hello)
            raise
        capacity = min(hello.matches, self._limits.matches_per_bot)
        self._welcome(connection, hello.name, hello.session if secret is None else secret, capacity)
        member = self._lobby.enter(hello, connection, secret, address)
        member.enter(entry, session)
        what = "here" if secret is not None else "back"
        log.info("%s from %s (%s)", what, address, hello.program, extra={"bot": member.name})
        # Who comes without its session has forgotten its matches, and they are lost. A house bot is a
        # new process then, which learns from its turns what was played: nobody wins by our crash.
        knows = secret is None or member.name in self._lobby.house
        await member.post_to_all(Returned if knows else SessionLost, monotonic_ns())
        self._arranger.came(member, fresh=secret is not None)
        return Client(member.name, connection, member, address)

    async def _admit_spectator(self, hello: Hello, connection: ClientConnection, address: str) -> Client:
        if not is_name(hello.name):
            raise Refused(Code.BAD_NAME, Code.BAD_NAME.meaning)
        if hello.role == "admin" or hello.token:
            role = await self._lobby.accounts.check(hello.name, hello.token, address)
            if role != hello.role:
                detail = f"the token of {hello.name!r} is for a {role}, not for a {hello.role}"
                raise Refused(Code.BAD_TOKEN, detail)
        self._welcome(connection, hello.name, "", 0)
        return Client(hello.name, connection, None, address)

    def _welcome(self, connection: ClientConnection, name: str, session: str, matches: int) -> None:
        limits = Limits(self._limits.message_bytes, matches, self._grace_ms)
        connection.tell(Welcome(self._program, name, session, limits))

    async def depart(self, client: Client, fault: str | None) -> None:
        """Somebody's connection has ended; `fault` is what was wrong with what it sent, if anything."""
        self.browsing.discard(client)
        for spectators in client.watched.values():
            spectators.leave(client.connection)
        member = client.member
        if member is None or not self._lobby.leave(member, client.connection):
            return
        self._arranger.left(member)
        at = monotonic_ns()
        if fault is not None:
            log.warning("protocol error: %s", fault, extra={"bot": member.name})
            await member.post_to_all(lambda player: BrokeProtocol(player, fault), at)
        else:
            log.info("gone", extra={"bot": member.name})
            await member.post_to_all(Left, at)

    def note_rejection(self, code: Code) -> None:
        """Count something that was refused."""
        self._metrics.rejections.labels(code.value).inc()

    def take(self, client: Client, message: ClientMessage, at: int) -> MatchInbox | None:
        """Do what a message asks for that had arrived at monotonic ns `at`, or tell the client why not.

        Where it is for a room that has too much to do, nothing is done, and the room to wait for is returned.
        """
        try:
            match message:
                case Move() | Ready() | Resign():
                    busy = self._play(client, self._player(client), message, at)
                    if busy is not None:
                        return busy
                case Hello():
                    self._refuse(client, Code.HELLO_TWICE, Code.HELLO_TWICE.meaning, message)
                case Browse():
                    self.browsing.add(client)
                    self._list(client)
                case Watch(match=match):
                    self._watch(client, match)
                case Unwatch(match=match):
                    self._unwatch(client, match)
                case Status(quota=quota):
                    self._arranger.tell_standing(self._player(client), quota)
                case Ping():
                    client.connection.tell(Pong())
                case Challenge() | Accept() | Decline() | Withdraw():
                    self._arranger.handle(self._player(client), message)
        except Refused as refused:
            self._refuse(client, refused.code, refused.detail, message)
        self._metrics.message(message)
        return None

    def charge(self, client: Client, message: ClientMessage) -> int | None:
        """Take what a message costs from the budget of its client's address, and return it, in µs: 0 for a move of a match.

        None where that has too little left: the client is told so, and nothing more is to be done.
        """
        cost = MESSAGE_COSTS[type(message)]
        if not cost:
            member = client.member
            if isinstance(message, OF_MATCHES) and member is not None and message.match in member.matches:
                return 0
            cost = OUT_OF_PLACE_COSTS[type(message)]
        wait = self._wait(client, cost)
        if wait <= 0:
            return cost
        detail = f"too much was asked for from your address: try again in {wait:.1f} s"
        self._refuse(client, Code.RATE_LIMITED, detail, message)
        return None

    def affords(self, client: Client, cost: int) -> bool:
        """Whether a client's address may have so many µs of the server's time now; they are counted if so."""
        return self._wait(client, cost) <= 0

    def _wait(self, client: Client, cost: int) -> float:
        if client.name in self._lobby.house:
            return 0.0  # the server's own, whose address others of this machine have too
        return self._work.ask(client.address, cost, monotonic())

    def _list(self, client: Client) -> None:
        """Tell a client what goes on, at once or as soon as its last listing is old enough."""
        now = monotonic()
        wait = client.listed + LISTING_SECONDS - now
        if wait <= 0:
            client.listed = now
            client.connection.tell_encoded([self.listing(now)])
        elif not client.asked:
            client.asked = True
            get_running_loop().call_later(wait, self._list_again, client)

    def listing(self, now: float) -> bytes:
        """What goes on, encoded once for all who ask before something changes; monotonic seconds."""
        changes, made, encoded = self._listing
        if changes != self._lobby.changes or now - made >= LISTING_SECONDS:
            encoded = encode(self._watchable.listing())
            self._listing = self._lobby.changes, now, encoded
        return encoded

    def _list_again(self, client: Client) -> None:
        client.asked = False
        if client in self.browsing:
            self._list(client)

    def _refuse(self, client: Client, code: Code, detail: str, message: ClientMessage) -> None:
        self.note_rejection(code)
        where = getattr(message, "match", None), getattr(message, "ply", None)
        client.connection.tell(Error(code, detail, *where))

    @staticmethod
    def _player(client: Client) -> Member:
        if client.member is None:
            raise Refused(Code.NOT_A_PLAYER, Code.NOT_A_PLAYER.meaning)
        return client.member

    def _play(
        self, client: Client, member: Member, message: Ready | Move | Resign, at: int
    ) -> MatchInbox | None:
        place = member.matches.get(message.match)
        if place is not None:
            room, player = place
            if room.full:
                return room
            match message:
                case Move():
                    thinking = None if message.thinking is UNSET else message.thinking
                    event: Event = Moved(player, message.ply, message.move, thinking)
                case Ready():
                    event = GotReady(player)
                case Resign(reason=reason, detail=detail):
                    event = Resigned(player, reason, detail)
            if room.take(event, at):
                return None
        # A move crosses with an end now and then; who says or asks less often than that has missed one.
        paid = place is None or self.affords(client, OUT_OF_PLACE_COSTS[type(message)])
        if paid and not isinstance(message, Move):
            self._tell_end(client.connection, member.name, message.match)
            return None
        raise Refused(Code.NO_SUCH_MATCH, f"{message.match!r:.70} is over, or not yours, or does not exist")

    def _watch(self, client: Client, match: str) -> None:
        spectators = self._watchable.spectators(match)
        if spectators is None:
            raise Refused(Code.NO_SUCH_MATCH, f"{match!r:.70} is over or does not exist")
        for over in [known for known in client.watched if self._watchable.spectators(known) is None]:
            del client.watched[over]
        if match not in client.watched and len(client.watched) >= self._limits.watched:
            raise Refused(Code.RATE_LIMITED, f"{self._limits.watched} matches are watched; leave one first")
        client.watched[match] = spectators
        spectators.enter(client.connection)

    def _unwatch(self, client: Client, match: str) -> None:
        spectators = client.watched.pop(match, None)
        if spectators is not None:
            spectators.leave(client.connection)
