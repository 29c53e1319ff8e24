"""server.store.presences: where each bot of an arena is connected, and what its session is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import anyio
import pytest
import sqlalchemy as sa

from arena.server.store import presences
from arena.server.store.database import open_store
from arena.server.store.journal.writer import Writer, open_writer
from arena.server.store.lease import Lease, LeaseLost
from arena.server.store.presences import Claim, Presence
from tests.server.store.test_arena import run_out, taken


async def claim(writer: Writer, holder: Lease, claims: Mapping[str, Claim]) -> dict[str, Presence]:
    return await writer.write(partial(presences.claim, lease=holder, claims=claims))


async def test_a_name_has_one_connection_and_its_session_opens_it_everywhere(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south = [await taken(writer, name) for name in ("north", "south")]

        async def comes(holder: Lease, secret: bytes, *, returns: bool) -> Presence | None:
            return (await claim(writer, holder, {"anna": Claim(secret, returns)})).get("anna")

        assert await presences.recall(engine, ["anna"]) == {}
        assert await comes(north, b"one", returns=False) == Presence(b"one", 1, 1, "north")
        assert await comes(south, b"two", returns=False) is None
        assert await comes(south, b"two", returns=True) is None
        assert await comes(south, b"one", returns=True) == Presence(b"one", 2, 1, "south")
        # late word of the connection before
        await writer.write(partial(presences.release, entries={"anna": 1}))
        assert await presences.recall(engine, ["anna"]) == {"anna": (b"one", 2, 1, "south")}
        await writer.write(partial(presences.release, entries={"anna": 2}))
        assert await presences.recall(engine, ["anna"]) == {"anna": (b"one", 2, 1, "")}
        assert await comes(north, b"three", returns=False) == Presence(b"three", 3, 3, "north")
        await run_out(engine, "north")
        came = await comes(south, b"four", returns=False)  # its server has ended
        assert came is not None
        assert came.entry == 4


async def test_each_of_a_crowd_is_let_in_or_not_by_itself(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south = [await taken(writer, name) for name in ("north", "south")]
        await claim(writer, north, {"anna": Claim(b"a", returns=False), "bert": Claim(b"b", returns=False)})
        let_in = await claim(
            writer,
            south,
            {
                "carl": Claim(b"c", returns=False),
                "bert": Claim(b"other", returns=False),
                "anna": Claim(b"a", returns=True),
            },
        )
        assert let_in == {"anna": (b"a", 2, 1, "south"), "carl": (b"c", 1, 1, "south")}
        await writer.write(partial(presences.release, entries={"anna": 1, "bert": 1, "carl": 1}))
        known = await presences.recall(engine, ["carl", "anna", "bert", "dora"])
        assert known == {"anna": (b"a", 2, 1, "south"), "bert": (b"b", 1, 1, ""), "carl": (b"c", 1, 1, "")}


async def test_a_crowd_that_two_servers_claim_is_divided_and_neither_waits_for_ever(database: str) -> None:
    names = [f"{'bZ'[number % 2]}ot {number}" for number in range(1200)]
    let_in: dict[str, dict[str, Presence]] = {}

    async def comes(server: str, crowd: list[str]) -> None:
        async with open_store(database) as engine, open_writer(engine) as writer:
            mine = await taken(writer, server)
            claims = {name: Claim(f"{name} at {server}".encode(), returns=False) for name in crowd}
            let_in[server] = await claim(writer, mine, claims)

    async with open_store(database) as engine:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(comes, "north", names[:800])
                tasks.start_soon(comes, "south", names[:399:-1])
        known = await presences.recall(engine, names)
    north, south = let_in["north"], let_in["south"]
    assert not set(north) & set(south)
    assert north | south == known
    assert set(known) == set(names)


async def test_a_crowd_takes_no_more_statements_than_one_bot(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north = await taken(writer, "north")
        count = 0

        def counted(*_: object) -> None:
            nonlocal count
            count += 1

        sa.event.listen(engine.sync_engine, "before_cursor_execute", counted)
        counts = []
        for crowd in (["anna"], [f"bot {number}" for number in range(300)]):
            count = 0
            let_in = await claim(writer, north, {name: Claim(b"s", returns=False) for name in crowd})
            await writer.write(
                partial(presences.release, entries={name: each.entry for name, each in let_in.items()})
            )
            counts.append(count)
        assert counts[0] == counts[1] < 10


async def test_who_has_lost_its_lease_lets_nobody_in(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        before = await taken(writer, "north")
        await run_out(engine, "north")
        await taken(writer, "north")
        with pytest.raises(LeaseLost):
            await claim(writer, before, {"anna": Claim(b"a", returns=False)})
        assert await presences.recall(engine, ["anna"]) == {}
