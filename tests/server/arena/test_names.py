"""server.arena.names: a name has one connection in the whole arena, and its session is known on every server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
import sqlalchemy as sa

from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.server.arena.names import ArenaNames
from arena.server.lobby.accounts import Refused
from arena.server.rooms.member import secret_hash
from arena.server.store import presences
from arena.server.store.database import Engine, open_store
from arena.server.store.journal.journal import Journal
from tests.server.arena.test_membership import take_for_dead, until_it_is_lost


@asynccontextmanager
async def serving(engine: Engine, server: str) -> AsyncIterator[ArenaNames]:
    """The names as one server of an arena has them; at the end it is killed."""
    async with anyio.create_task_group() as tasks:
        journal = Journal(engine, server=server, arena=True)
        await tasks.start(journal.run)
        yield ArenaNames(engine, journal, tasks)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def two(database: str) -> AsyncIterator[tuple[Engine, ArenaNames, ArenaNames]]:
    async with (
        open_store(database) as engine,
        open_store(database) as other,
        serving(engine, "north") as north,
        serving(other, "south") as south,
    ):
        yield engine, north, south


async def test_a_name_is_taken_for_whoever_has_no_session_of_it_on_any_server(database: str) -> None:
    async with two(database) as (_, north, south):
        assert await north.recall("anna") == b""
        assert await north.claim(Hello("anna"), "secret") == (1, 1)
        assert await south.recall("anna") == secret_hash("secret")
        with pytest.raises(Refused) as refused:
            await south.claim(Hello("anna"), "another")
        assert refused.value.code is Code.NAME_TAKEN
        assert await south.recall("anna") == secret_hash("secret")


async def test_a_session_goes_from_server_to_server_and_each_connection_has_a_higher_number(
    database: str,
) -> None:
    async with two(database) as (_, north, south):
        assert await north.claim(Hello("anna"), "secret") == (1, 1)
        returns = Hello("anna", session="secret")
        assert await south.claim(returns, None) == (2, 1)
        assert await north.claim(returns, None) == (3, 1)
        with pytest.raises(Refused):
            await south.claim(Hello("anna", session="guessed"), None)


async def test_a_name_is_free_once_its_last_connection_has_ended_and_only_then(database: str) -> None:
    async with two(database) as (engine, north, south):
        await north.claim(Hello("anna"), "secret")
        await south.claim(Hello("anna", session="secret"), None)
        north.release("anna", 1)  # it has moved on
        north.release("bert", 1)  # nobody
        with pytest.raises(Refused):
            await north.claim(Hello("anna"), "another")
        south.release("anna", 2)
        free = False
        with anyio.fail_after(20):
            while not free:
                known = await presences.recall(engine, ["anna"])
                free = known["anna"].server == ""
        assert await north.claim(Hello("anna"), "another") == (3, 3)
        assert await south.recall("anna") == secret_hash("another")


async def test_a_name_is_free_when_the_server_that_let_it_in_has_ended(database: str) -> None:
    async with open_store(database) as engine, serving(engine, "north") as north:
        async with open_store(database) as other, serving(other, "south") as south:
            await south.claim(Hello("anna"), "secret")
        assert await north.claim(Hello("anna"), "another") == (2, 2)


async def test_a_server_that_has_lost_its_lease_lets_nobody_in_and_only_the_log_says_why(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine, server="north", arena=True)
        await tasks.start(until_it_is_lost, journal)
        names = ArenaNames(engine, journal, tasks)
        await take_for_dead(database, journal)
        with pytest.raises(Refused) as refused:
            await names.claim(Hello("anna"), "secret")
        names.release("anna", 1)  # it goes with the lease
        tasks.cancel_scope.cancel()
    assert refused.value.code is Code.SERVER_FULL
    assert "taken over" not in refused.value.detail
    assert "taken over" in caplog.text


async def test_those_who_come_and_go_together_are_written_together(database: str) -> None:
    names = [f"bot {number}" for number in range(100)]
    async with two(database) as (engine, north, south):
        commits = 0

        def counted(*_: object) -> None:
            nonlocal commits
            commits += 1

        sa.event.listen(engine.sync_engine, "commit", counted)
        entries: dict[str, tuple[int, int]] = {}

        async def comes(name: str) -> None:
            entries[name] = await north.claim(Hello(name), "secret")

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(comes, name)
        assert entries == dict.fromkeys(names, (1, 1))
        with pytest.raises(Refused):
            await south.claim(Hello(names[-1]), "another")
        for name in names:
            north.release(name, 1)
        with anyio.fail_after(20):
            while any(each.server for each in (await presences.recall(engine, names)).values()):
                await anyio.sleep(0.01)
        assert commits < 40  # with those of the lease, and of the questions


async def test_of_two_claims_of_one_name_the_later_is_decided_after_the_earlier(database: str) -> None:
    async with two(database) as (_, north, _south):
        told: list[tuple[int, int]] = []

        async def comes(hello: Hello, secret: str | None) -> None:
            told.append(await north.claim(hello, secret))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(comes, Hello("anna"), "secret")
            tasks.start_soon(comes, Hello("anna"), "another")
            tasks.start_soon(comes, Hello("anna", session="another"), None)
        assert told == [(1, 1), (2, 2), (3, 2)]


async def test_who_waits_to_come_in_when_the_server_ends_is_refused(database: str) -> None:
    refused: list[Refused] = []

    async with open_store(database) as engine, anyio.create_task_group() as bots:

        async def comes(names: ArenaNames, name: str) -> None:
            with pytest.raises(Refused) as caught:
                await names.claim(Hello(name), "secret")
            refused.append(caught.value)

        async with anyio.create_task_group() as server:
            # Nobody writes what this journal is asked for.
            names = ArenaNames(engine, Journal(engine, server="north", arena=True), server)
            bots.start_soon(comes, names, "anna")
            await anyio.wait_all_tasks_blocked()
            bots.start_soon(comes, names, "bert")
            await anyio.wait_all_tasks_blocked()
            server.cancel_scope.cancel()
    assert [each.code for each in refused] == [Code.SERVER_FULL] * 2
