"""server.arena.membership: a server takes over from one that has ended, gives its office up, and says what is amiss."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import anyio.abc
import pytest

from arena.server.arena.membership import Membership
from arena.server.host import Host
from arena.server.store import arena as store
from arena.server.store.database import Engine, open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.writer import open_writer
from arena.server.store.lease import LeaseLost
from tests.server.store.test_arena import MATCH, begun, run_out, taken, write


class Member:
    """A server's place in an arena, with what it was told to do."""

    def __init__(self, engine: Engine, journal: Journal, host: Host) -> None:
        self.adopted: list[list[str]] = []
        self.refuses = False
        self.taken_over = 0
        self.takes = True
        self.place = Membership(
            engine,
            journal,
            host.arena,
            adopt=self._adopt,
            takes=lambda: self.takes,
            taken_over=self._count,
        )

    async def _adopt(self, matches: list[str]) -> None:
        if self.refuses:
            raise TimeoutError
        self.adopted.append(matches)

    def _count(self) -> None:
        self.taken_over += 1


@asynccontextmanager
async def member(database: str, name: str, host: Host) -> AsyncIterator[Member]:
    """A server with a lease of its own, and with the parts of another one, which is in no arena."""
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine, server=name, arena=True)
        await tasks.start(journal.run)
        yield Member(engine, journal, host)
        tasks.cancel_scope.cancel()


async def ended(database: str) -> None:
    """Let there have been a server that ended with a match in progress."""
    async with open_store(database) as engine, open_writer(engine) as writer:
        await write(writer, await taken(writer, "gone"), begun())
        await run_out(engine, "gone")


async def until_it_is_lost(
    journal: Journal, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Run a journal until another server has what was its."""
    with suppress(LeaseLost):
        await journal.run(task_status=task_status)


async def take_for_dead(database: str, journal: Journal) -> None:
    """Take over from a server that lives, as one does that does not see its process."""
    async with open_store(database) as engine, open_writer(engine) as writer:
        held = journal.lease
        await run_out(engine, held.name)
        other = await taken(writer, "other")
        take = partial(store.take_over, lease=other, dead=held.name, number=held.number)
        assert await writer.write(take) == []


async def test_what_could_not_be_gone_on_with_is_gone_on_with_at_the_next_look_and_once(
    database: str, host: Host
) -> None:
    await ended(database)
    async with member(database, "north", host) as north:
        north.refuses = True
        with pytest.raises(TimeoutError):
            await north.place.join()
        assert (north.adopted, north.taken_over) == ([], 1)
        north.refuses = False
        await north.place.join()
        await north.place.join()
        assert (north.adopted, north.taken_over) == ([[MATCH]], 1)


async def test_of_two_that_see_a_server_end_one_goes_on_with_its_matches(database: str, host: Host) -> None:
    await ended(database)
    async with member(database, "north", host) as north, member(database, "south", host) as south:
        async with anyio.create_task_group() as tasks:
            for each in (north, south):
                tasks.start_soon(each.place.join)
        assert sorted([north.adopted, south.adopted]) == [[], [[MATCH]]]
        assert north.taken_over + south.taken_over == 1


async def test_who_steps_down_leaves_the_office_to_whoever_comes_next(database: str, host: Host) -> None:
    async with member(database, "north", host) as north, member(database, "south", host) as south:
        await north.place.join()
        assert host.arena.office.holder == "north"
        north.takes = False
        await north.place.step_down()
        assert host.arena.office.holder == ""
        await south.place.join()
        await north.place.join()
        assert host.arena.office.holder == "south"


async def test_who_was_taken_for_dead_learns_it_at_its_next_look_and_steps_down_without_a_word(
    database: str, host: Host
) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine, server="north", arena=True)
        await tasks.start(until_it_is_lost, journal)
        north = Member(engine, journal, host)
        await north.place.join()
        await take_for_dead(database, journal)
        with pytest.raises(LeaseLost):
            await north.place.join()
        await north.place.step_down()
        tasks.cancel_scope.cancel()


async def test_what_is_amiss_is_said_in_a_line(database: str, host: Host) -> None:
    async with member(database, "north", host) as north:
        assert north.place.trouble() == "the other servers of the arena are not known yet"
        await north.place.join()
        assert north.place.trouble() == "the bus is away: matches between servers stand still"
        assert north.place.reaches_store
