"""The office of a matchmaker with what it stands on, for its tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic

from arena.match.terms import Terms
from arena.protocol.messages import Accept, Challenge, Hello
from arena.server.arena.elsewhere import Elsewhere
from arena.server.arena.links import Link
from arena.server.arena.office import Office
from arena.server.arena.presence import Presence
from arena.server.arena.remote import RemoteConnection
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.lobby import Lobby
from arena.server.lobby.matchmaking.arranger import Arranger
from arena.server.net.limits import HostLimits
from arena.server.rooms.member import Member
from arena.server.store.arena import Office as Held
from tests.server.arena.ends import Bot, End


class Released:
    """`server.lobby.names.Names` of a test, that keeps what was released."""

    def __init__(self) -> None:
        self.released: list[tuple[str, int]] = []

    async def recall(self, name: str) -> bytes:
        raise NotImplementedError(name)

    async def claim(self, hello: Hello, secret: str | None) -> tuple[int, int]:
        raise NotImplementedError(hello, secret)

    def release(self, name: str, entry: int) -> None:
        self.released.append((name, entry))


class Server:
    """The office of one server, with what it stands on."""

    def __init__(self, end: End, *, alone: bool = False) -> None:
        self.end = end
        self.lobby = Lobby(Accounts(anyone=True))
        self.played: list[Terms] = []
        self.load = (4, 0, True)
        self.names = Released()
        self.jobs: list[Callable[[], Awaitable[None]]] = []
        """What was to run until the server ends."""
        self.arranger = Arranger(self.lobby, HostLimits(), self._start, lambda: 0)
        self.elsewhere = Elsewhere(
            end.links,
            self.lobby,
            {},
            outcome=lambda outcome, _live: self.arranger.ended(outcome),
            tell_end=lambda _connection, _name, _match: None,
            weigh=lambda _terms: 1,
        )
        self.presence = Presence(
            end.links,
            self.lobby,
            most_matches=5,
            came=lambda member, fresh: self.arranger.came(member, fresh=fresh),
            left=self.arranger.left,
            no_more=lambda _member: None,
        )
        self.office = Office(
            end.links,
            self.lobby,
            self.arranger,
            self.presence,
            self.elsewhere,
            self.names,
            name=end.name,
            alone=alone,
            play=self.played.append,
            load=lambda: self.load,
            start_soon=self.jobs.append,
        )

    def _start(self, terms: Terms) -> None:
        self.office.start(terms)

    def bot(self, name: str) -> Bot:
        """A bot that is connected to this server."""
        bot = Bot()
        self.lobby.enter(Hello(name), bot, "secret").enter(1, 1)
        return bot

    def guest_of(self, link: Link, name: str, entry: int = 1) -> Member:
        """A bot that is connected to another server."""
        member = self.lobby.member(name)
        member.enter(entry, 1)
        member.connect(RemoteConnection(self.end.links, link, name, entry))
        return member

    def hold(self, term: int, server: str, number: int = 1) -> None:
        """What the store says of the office holds for a minute."""
        self.office.hold(Held(term, server, number), monotonic() + 60)

    def say(self, name: str, message: Challenge | Accept) -> None:
        self.office.handle(self.lobby.member(name), message)
