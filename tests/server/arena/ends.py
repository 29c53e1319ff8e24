"""The ends of links between servers, for tests of the parts of one server: what is told to it, and what it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from arena.games.core import Player
from arena.match.events import Event
from arena.protocol.codes import Code
from arena.protocol.messages import ServerMessage
from arena.server.arena import messages
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import ArenaMessage, Snapshot
from arena.server.bus.local import Exchange, LocalBus
from tests.server.arena.arenas import until


class End:
    """One end of the links of an arena: a server with nothing in it but what a test gives it."""

    def __init__(self, exchange: Exchange, name: str) -> None:
        self.bus: LocalBus = exchange.join()
        self.name = name
        self.heard: list[ArenaMessage] = []
        self.fresh = 0
        self.renewed = 0
        self.links = Links(
            self.bus,
            name,
            number=lambda: 1,
            receive=self._receive,
            fresh=self._fresh,
            snapshot=lambda: [Snapshot()],
            renewed=self._renewed,
            state=lambda: (1, 0, True, True),
        )

    def _receive(self, link: Link, message: ArenaMessage) -> None:
        if isinstance(message, Snapshot):
            link.complete()
        self.heard.append(message)

    def _fresh(self, _link: Link) -> None:
        self.fresh += 1

    def _renewed(self, _link: Link) -> None:
        self.renewed += 1

    def to(self, server: str, number: int = 1) -> Link:
        """The link to another server, from now on."""
        living = {link.name: link.number for link in self.links.all}
        self.links.follow(living | {server: number})
        found = self.links.find(server)
        assert found is not None
        return found


def alone(name: str = "north") -> End:
    """A server that nobody answers: what it tells waits to be taken by `told`."""
    return End(Exchange(), name)


def told(link: Link) -> list[ArenaMessage]:
    """What a server has been told since this was last asked, in order, without what it is told at first."""
    taken = [messages.decode_message(each) for each in link.outgoing.kept]
    link.outgoing.acknowledge(link.outgoing.stream, link.outgoing.sent)
    return [each for each in taken if not isinstance(each, Snapshot)]


@asynccontextmanager
async def linked(*names: str) -> AsyncIterator[list[End]]:
    """Servers that hear each other."""
    exchange = Exchange()
    ends = [End(exchange, name) for name in names]
    async with anyio.create_task_group() as tasks:
        for end in ends:
            tasks.start_soon(end.links.run)
            end.links.follow({other.name: 1 for other in ends if other is not end})
        await until(lambda: all(link.up for end in ends for link in end.links.all))
        yield ends
        tasks.cancel_scope.cancel()


class Bot:
    """The connection of a bot to this server: `server.rooms.member.BotConnection`."""

    def __init__(self, lag: int = 0) -> None:
        self.lag = lag
        self.heard: list[ServerMessage] = []
        self.dismissed: list[Code] = []

    def tell(self, message: ServerMessage) -> None:
        self.heard.append(message)

    def dismiss(self, code: Code) -> None:
        self.dismissed.append(code)


class Inbox:
    """A match of which its player has been told, or not yet: `server.rooms.member.MatchInbox`."""

    full = False

    def __init__(self, *, told: bool = False) -> None:
        self.told = told

    async def has_space(self) -> None:
        raise NotImplementedError

    def take(self, event: Event, at: int) -> bool:
        raise NotImplementedError(event, at)

    def introduced(self, player: Player) -> bool:
        assert player is Player.MAXIE
        return self.told
