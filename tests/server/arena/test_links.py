"""server.arena.links: whatever is told arrives, in packets that are taken."""

from __future__ import annotations

import anyio
import pytest

from arena.protocol.codes import Code
from arena.protocol.messages import Error
from arena.server.arena import messages
from arena.server.arena.links import subject_of
from arena.server.arena.messages import ArenaMessage, Ended, Snapshot, Told
from arena.server.bus.local import Exchange
from tests.server.arena.arenas import until
from tests.server.arena.ends import End


async def test_many_small_messages_and_a_large_one_arrive_in_order() -> None:
    exchange = Exchange()
    north, south = End(exchange, "north"), End(exchange, "south")
    told: list[ArenaMessage] = [Ended(f"m{number}") for number in range(messages.MOST_MESSAGES + 500)]
    told.append(Told("anna", 1, Error(Code.BAD_MESSAGE, "x" * 1_500_000), 0))
    told.append(Ended("last"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(north.links.run)
        tasks.start_soon(south.links.run)
        north.links.follow({"south": 1})
        south.links.follow({"north": 1})
        await until(lambda: all(link.up for end in (north, south) for link in end.links.all))
        (link,) = north.links.all
        for message in told:
            north.links.send(link, message)
        await until(lambda: len(south.heard) == len(told) + 1)
        await until(lambda: len(link.outgoing) == 0)
        assert north.links.hears
        tasks.cancel_scope.cancel()
    assert south.heard == [Snapshot(), *told]
    assert (south.fresh, north.renewed) == (1, 0)


async def test_a_server_that_has_forgotten_is_told_all_anew_and_then_what_it_had_not_acknowledged() -> None:
    exchange = Exchange()
    north, south = End(exchange, "north"), End(exchange, "south")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(north.links.run)
        tasks.start_soon(south.links.run)
        north.links.follow({"south": 1})
        south.links.follow({"north": 1})
        (link,) = north.links.all
        north.links.send(link, Ended("one"))
        await until(lambda: south.heard == [Snapshot(), Ended("one")] and len(link.outgoing) == 0)
        south.links.follow({})
        south.links.follow({"north": 1})
        north.links.send(link, Ended("two"))
        await until(lambda: south.heard[2:] == [Snapshot(), Ended("two")])
        tasks.cancel_scope.cancel()
    assert (south.fresh, north.renewed) == (2, 1)


@pytest.mark.parametrize("name", ["north", "a server with blanks.and dots>*", "ß" * 64])
async def test_every_name_has_a_subject(name: str) -> None:
    bus = Exchange().join()
    assert bus.publish(subject_of(name), b"")


async def test_what_is_no_packet_and_what_is_for_another_run_is_passed_over() -> None:
    exchange = Exchange()
    north, south = End(exchange, "north"), End(exchange, "south")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(south.links.run)
        await anyio.sleep(0.01)
        south.links.follow({"north": 1})
        told = [messages.encode(Ended("m"))]
        for data in (
            b"\xff",
            messages.packet("north", 1, 2, 5, 1, told),  # to a run of before
            messages.packet("north", 2, 1, 5, 1, told),  # of another run
            messages.packet("stranger", 1, 1, 5, 1, told),
        ):
            north.bus.publish(subject_of("south"), data)
        north.bus.publish(subject_of("south"), messages.packet("north", 1, 1, 5, 1, told))
        await until(lambda: bool(south.heard))
        tasks.cancel_scope.cancel()
    assert south.heard == [Ended("m")]
