"""The two ends of a player whose match is on another server: its connection there, and its place in the match here."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from time import monotonic_ns

from arena.games.core import Player
from arena.match.events import BrokeProtocol, Event, GotReady, Left, Moved, Resigned, Returned, SessionLost
from arena.protocol.codes import Code
from arena.protocol.messages import Accepted, End, Error, ServerMessage, Start, Turn
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import Did, Overdue, Told, Waited
from arena.server.rooms.deadline_timer import ARRIVAL_TURNS
from arena.server.rooms.member import BotConnection, DistantConnection, Member

log = logging.getLogger("arena.remote")


class RemoteConnection(DistantConnection):
    """A bot's connection to another server, as the owner of its match uses it."""

    def __init__(self, links: Links, link: Link, name: str, entry: int) -> None:
        self._links = links
        self.link = link
        self._name = name
        self.entry = entry
        self._lag = 0
        self._waited: tuple[str, int] | None = None
        """The match, and the ply, of which its server has said that no move came in time."""

    @property
    def lag(self) -> int:
        return self._lag

    @property
    def server(self) -> str:
        return self.link.name

    @property
    def reachable(self) -> bool:
        return self.link.up and self._links.find(self.link.name) is self.link

    def heard(self, lag: int) -> None:
        """Take note of the ping time that its server has told last."""
        self._lag = lag

    def tell(self, message: ServerMessage) -> None:
        self.ask(message, 0)

    def ask(self, message: ServerMessage, ran: int) -> None:
        if isinstance(message, (Start, Turn)):
            self._waited = None
        self._links.send(self.link, Told(self._name, self.entry, message, ran))  # type: ignore[arg-type]

    def dismiss(self, code: Code) -> None:
        """Nothing: its own server knows that it was replaced, or that it stops."""

    def has_waited(self, match: str, player: Player, ply: int, allowed: int) -> bool:
        if self._waited == (match, ply):
            return True
        self._links.send(self.link, Overdue(match, player, self.entry, ply, allowed))
        return False

    def waited(self, match: str, ply: int) -> None:
        """Its server has said that no move came in time."""
        self._waited = match, ply


class RemoteSeat:
    """A player's place in a match of another server: `server.rooms.member.MatchInbox`.

    What the player said and was not answered is kept, and said again to whoever has the match next. How long a move took
    is measured here, from the leaving of the turn to the arrival of the move.
    """

    def __init__(self, links: Links, member: Member, player: Player, match: str) -> None:
        self._links = links
        self._member = member
        self._player = player
        self._match = match
        self._owner: Link | None = None
        """Who has the room; None while nobody has it, as from a server's end until another takes its matches over."""
        self._turn: tuple[int, int] | None = None
        """The ply that is asked for, and since when the player's clock runs, in monotonic ns."""
        self._ready: tuple[GotReady, int] | None = None
        """That it is ready, and the session in which it has said so: another one knows nothing of it."""
        self._move: tuple[Moved, int] | None = None
        """A move that is not answered, and how long it took."""
        self._resigned: Resigned | BrokeProtocol | None = None
        self._begun: tuple[BotConnection | None, int] | None = None
        """The connection by which the player was told last that the match begins, and when, in monotonic ns."""
        self.ended = False
        """Whether the player was told the end."""

    @property
    def full(self) -> bool:
        return False

    async def has_space(self) -> None:
        """There always is."""

    def introduced(self, player: Player) -> bool:  # noqa: ARG002  it is one player's
        """Whether the player has been told, by the connection that it has now, that the match begins."""
        return self._begun is not None and self._begun[0] is self._member.connection

    @property
    def unanswered(self) -> list[Event]:
        """What the player said and was not answered."""
        move = None if self._move is None else self._move[0]
        return [each for each in (self._said_ready, move, self._resigned) if each is not None]

    @property
    def _said_ready(self) -> GotReady | None:
        return self._ready[0] if self._ready is not None and self._ready[1] == self._member.session else None

    def is_for(self, member: Member) -> bool:
        """Whether it is this one's place; a bot that was forgotten and comes again is another."""
        return self._member is member

    def is_of(self, entry: int) -> bool:
        """Whether the player has this connection, and to this server."""
        return self._member.here and self._member.entry == entry

    def owned_by(self, owner: Link | None) -> None:
        """The room is there from now on; what was not answered is said again."""
        self._owner = owner
        if owner is None or isinstance(self._member.connection, DistantConnection):
            return
        if (ready := self._said_ready) is not None:
            self._send(ready, 0)
        if self._move is not None:
            self._send(*self._move)
        if self._resigned is not None:
            self._send(self._resigned, 0)

    def take(self, event: Event, at: int) -> bool:
        match event:
            case Moved():
                spent = max(0, at - self._turn[1]) if self._turn and self._turn[0] == event.ply else 0
                asked = self._turn is None or self._turn[0] == event.ply
                if asked and (self._move is None or self._move[0].ply != event.ply):
                    self._move = event, spent
                self._send(event, spent)
            case GotReady():
                self._ready = event, self._member.session
                self._send(event, 0)
            case Resigned() | BrokeProtocol():
                self._resigned = event
                self._send(event, 0)
            case Left() | Returned() | SessionLost():
                pass  # the owner learns it as all servers do, with who is connected where
            case _:
                raise TypeError(f"no event of a player: {event!r:.100}")
        return True

    def _send(self, event: Moved | GotReady | Resigned | BrokeProtocol, spent: int) -> None:
        if self._owner is not None:
            self._links.send(
                self._owner, Did(self._match, self._member.entry, event, spent, self._member.lag)
            )

    def tell(self, message: ServerMessage, ran: int) -> None:
        """Tell the player, who is connected here, what the owner says of the match."""
        match message:
            case Start():
                self._begun = self._member.connection, monotonic_ns()
            case End():
                self.ended = True
            case Turn(ply=ply):
                if self._move is not None and self._move[0].ply == ply:
                    self._send(*self._move)  # it is answered already, and the answer did not arrive
                    return
                self._turn = ply, monotonic_ns() - ran
                self._move = None
            case Accepted(ply=ply) | Error(ply=int(ply)):
                if self._move is not None and self._move[0].ply <= ply:
                    self._move = None
        self._member.tell(message)

    def overdue(self, asked: Overdue, owner: Link) -> None:
        """Say that nothing has come, as soon as its time has run out here too; nothing where something has come."""
        since = self._asked_since(asked.ply)
        if since is None:
            return
        wait = max(0, since + asked.allowed - monotonic_ns())
        loop = asyncio.get_running_loop()
        loop.call_later(wait / 1e9, self._let_arrive, asked, owner, since, ARRIVAL_TURNS)

    def _asked_since(self, ply: int) -> int | None:
        """Since when the player is asked for its move, or to be ready, in ns; None where it was not, or has answered."""
        if self._turn is None:
            return (
                self._begun[1]
                if self._begun and self.introduced(self._player) and not self._said_ready
                else None
            )
        answered = self._move is not None and self._move[0].ply == ply
        return self._turn[1] if self._turn[0] == ply and not answered else None

    def _let_arrive(self, asked: Overdue, owner: Link, since: int, turns: int) -> None:
        if self._asked_since(asked.ply) != since or self._owner is not owner:
            return
        if turns:
            # What has reached this machine is on its way through the event loop, and goes first.
            asyncio.get_running_loop().call_soon(partial(self._let_arrive, asked, owner, since, turns - 1))
            return
        self._links.send(owner, Waited(asked.match, asked.player, asked.entry, asked.ply))
