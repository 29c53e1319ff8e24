"""A host whose PostgreSQL hangs or is killed during matches, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from urllib.error import HTTPError
from urllib.request import urlopen

import anyio
import pytest

from arena.games.core import AnyGame
from arena.match.referee_events import MoveReceived
from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.messages import End, Move, Ready, Start, Turn
from arena.protocol.record import Record
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store.database import open_store
from arena.server.store.journal.restart_state import load_restart_state
from testkit.stored_records import load_event_records
from tests.server.databases import Postgresql
from tests.server.matches import game_of, spec
from tests.server.peer import Peer, enter

PLY = 10
"""Ply before whose move the store becomes unavailable."""


@asynccontextmanager
async def store_away(server: Postgresql, how: str) -> AsyncIterator[None]:
    """Make the database unavailable during the block: frozen, or killed and then restarted."""
    if how == "stands still":
        with server.frozen():
            yield
        return
    await asyncio.to_thread(server.kill)
    yield
    await asyncio.to_thread(server.start)


async def get_readiness(host: ArenaServer) -> tuple[int, str]:
    """Return the status and the text of the answer of `/readyz`."""

    def ask() -> tuple[int, str]:
        try:
            with urlopen(host.url.replace("ws:", "http:") + "/readyz", timeout=500) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(ask)


async def play(peer: Peer, game: AnyGame, reached: anyio.Event, go: anyio.Event) -> End:
    """Play a match with the first legal moves. At ply `PLY`, set `reached` and wait for `go`."""
    while True:
        match await peer.next():
            case Start(match=match):
                await peer.say(Ready(match))
            case Turn(match=match, ply=ply, moves=moves):
                if ply == PLY:
                    reached.set()
                    await go.wait()
                position = game.start()
                for move in moves:
                    position = game.play(position, game.move_from_data(move))
                await peer.say(Move(match, ply, game.move_to_data(game.moves(position)[0])))
            case End() as end:
                return end


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("stands still", "not ready: the store has not answered for "),
        ("is killed", "not ready: the store fails: "),
    ],
)
async def test_no_match_is_void_and_no_clock_runs_during_an_outage_of_the_store(
    own_postgresql: Postgresql, how: str, why: str
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    game, go = game_of("riskless"), anyio.Event()
    pairs = [("anna", "bert"), ("cleo", "dora")]
    reached = [anyio.Event() for _ in pairs]
    records: list[Record] = []

    async def match(host: ArenaServer, pair: tuple[str, str]) -> None:
        records.append(await host.shell.play_match(spec(*pair, "600+1", game="riskless")))

    async with (
        AsyncExitStack() as stack,
        open_arena_server(make_private_server_settings(database_url=url, grace_seconds=300.0)) as host,
        anyio.create_task_group() as tasks,
    ):
        for pair, here in zip(pairs, reached, strict=True):
            for name in pair:
                peer = await stack.enter_async_context(enter(host, name))
                tasks.start_soon(play, peer, game, here, go)
            tasks.start_soon(match, host, pair)
        for here in reached:
            await here.wait()
        assert await get_readiness(host) == (200, "ready\n")
        async with store_away(own_postgresql, how):
            began = monotonic()
            go.set()
            with anyio.fail_after(500):
                while (await get_readiness(host))[0] == 200:
                    await anyio.sleep(0.05)
            status, text = await get_readiness(host)
            assert (status, text.startswith(why)) == (503, True), text
            assert not records
        outage_s = monotonic() - began
        with anyio.fail_after(500):
            while len(records) < len(pairs):
                await anyio.sleep(0.02)
        assert await get_readiness(host) == (200, "ready\n")
        stored = await load_event_records(host.db_engine, "test")
        assert {each.match: each for each in stored} == {each.match: each for each in records}
    for record in records:
        assert record.result.reason not in FORFEIT_REASONS | {EndReason.SERVER_FAULT}
        assert len(record.moves) > PLY + 1
        # The player whose turn was delayed by the outage is not charged for it.
        assert record.moves[PLY + 1].ms < 1000 * outage_s


async def test_a_server_stopped_during_an_outage_of_the_store_continues_its_matches_later(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    game, reached, go = game_of("riskless"), anyio.Event(), anyio.Event()
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            open_arena_server(make_private_server_settings(database_url=url, grace_seconds=600.0))
        )
        anna, bert = [await stack.enter_async_context(enter(host, name)) for name in ("anna", "bert")]
        async with anyio.create_task_group() as tasks:
            for peer in (anna, bert):
                tasks.start_soon(play, peer, game, reached, go)
            tasks.start_soon(host.shell.play_match, spec("anna", "bert", "600+1", game="riskless"))
            await reached.wait()
            await asyncio.to_thread(own_postgresql.kill)
            go.set()
            with anyio.fail_after(500):
                while (await get_readiness(host))[0] == 200:
                    await anyio.sleep(0.05)
            tasks.cancel_scope.cancel()
        began = monotonic()
        await stack.aclose()
        assert monotonic() - began < 300, "the server stops without waiting for the store"
    await asyncio.to_thread(own_postgresql.start)
    async with open_store(url) as engine:
        (stored,) = (await load_restart_state(engine, "", "test")).unfinished_matches
    assert sum(type(event) is MoveReceived for _, event in stored.match_events) == PLY
