"""server.lobby.ends: who asks after a match is told its end once there is one, and of a match in play nothing wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import anyio
import pytest

from arena.games.core import Player
from arena.protocol.codes import Code
from arena.protocol.messages import End, Error, Hello
from arena.protocol.values import Players
from arena.server.lobby import ends
from arena.server.lobby.accounts import Accounts
from arena.server.lobby.ends import Ends
from arena.server.lobby.lobby import Lobby
from arena.server.net.metrics import Metrics
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.queries import Queries
from tests.server.arena.arenas import until
from tests.server.arena.ends import Bot, Inbox
from tests.server.matches import record, terms


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "AGAIN_SECONDS", 0.1)


class Counted(Queries):
    """Queries that count how often they are asked who plays a match."""

    asked = 0

    async def playing(self, match: str) -> Players | None:
        self.asked += 1
        return await super().playing(match)


class Asking:
    """A server that knows of no match, on a store that another one uses too."""

    def __init__(self, lobby: Lobby, told: Ends, queries: Counted, journal: Journal) -> None:
        self.lobby = lobby
        self.ends = told
        self.queries = queries
        self.journal = journal

    def ask(self, name: str) -> Bot:
        """A bot comes in, and asks after the match."""
        bot = Bot()
        self.lobby.enter(Hello(name), bot, "secret").enter(1, 1)
        self.ends.tell(bot, name, terms().match)
        return bot

    async def several_looks(self) -> None:
        await anyio.sleep(3 * ends.AGAIN_SECONDS)


@asynccontextmanager
async def asking(database: str) -> AsyncIterator[Asking]:
    """With a match of anna and bert in the store that is not over."""
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        lobby = Lobby(Accounts(anyone=True))
        queries = Counted(engine)
        yield Asking(lobby, Ends(lobby, queries, lambda _: False, Metrics(), tasks), queries, journal)
        tasks.cancel_scope.cancel()


async def test_a_stranger_is_told_at_once_that_a_match_is_none_of_its_own(database: str) -> None:
    async with asking(database) as server:
        carl = server.ask("carl")
        await until(lambda: carl.heard)
    (error,) = carl.heard
    assert isinstance(error, Error)
    assert error.code is Code.NO_SUCH_MATCH


async def test_a_player_is_told_nothing_of_a_match_in_play_that_is_not_known_here_yet(database: str) -> None:
    async with asking(database) as server:
        anna = server.ask("anna")
        await server.several_looks()
        inbox = Inbox()
        server.lobby.member("anna").begin(terms().match, inbox, Player.MAXIE)
        await server.several_looks()
        inbox.told = True  # whoever has the room has told it, and will tell it of the end
        await server.several_looks()
        await server.journal.durable(server.journal.close_match(record(terms().match)))
        await server.several_looks()
    assert anna.heard == []


async def test_who_asks_again_and_again_waits_once(database: str) -> None:
    async with asking(database) as server:
        anna = server.ask("anna")
        for _ in range(20):
            server.ends.tell(anna, "anna", terms().match)
        # Each question looks once; then the newest alone goes on.
        await until(lambda: server.queries.asked >= 21 + 3)
        before, since = server.queries.asked, monotonic()
        await server.several_looks()
        looks = (monotonic() - since) / ends.AGAIN_SECONDS + 1
        assert server.queries.asked - before <= looks, "more than one look for the end by turns"
        await server.journal.durable(server.journal.close_match(record(terms().match)))
        await until(lambda: anna.heard)
        await server.several_looks()
    assert [type(each) for each in anna.heard] == [End]


async def test_a_player_is_told_the_end_of_a_match_that_was_played_to_it_elsewhere(database: str) -> None:
    async with asking(database) as server:
        anna = server.ask("anna")
        await server.several_looks()
        assert anna.heard == []
        await server.journal.durable(server.journal.close_match(record(terms().match)))
        await until(lambda: anna.heard)
    (end,) = anna.heard
    assert isinstance(end, End)
    assert end.winner == "minnie"
