"""Clients and the real server: whole matches, several at once, and connections that break in mid-thought."""

import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from queue import SimpleQueue
from typing import Any, ClassVar

import anyio
import pytest
from anyio.abc import SocketStream

from arena.bots.api.bot import Bot, Clock
from arena.bots.client import client as client_module
from arena.bots.client.client import Client
from arena.bots.client.settings import ClientSettings
from arena.bots.client.worker import BotFactory
from arena.bots.engines.registry import make_engine
from arena.games.core import AnyGame
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from tests.server.matches import spec


@asynccontextmanager
async def playing(host: ArenaServer, url: str = "", **bots: BotFactory) -> AsyncIterator[dict[str, Client]]:
    """Yield clients that are connected, each playing up to four matches at once; `url` leads there by a detour."""
    clients = {
        name: Client(make, ClientSettings(url or host.url, name, concurrency=4), on_problem=lambda _: None)
        for name, make in bots.items()
    }
    async with anyio.create_task_group() as tasks:
        for name, client in clients.items():
            tasks.start_soon(client.run)
            assert await host.wait_until_connected(name, 150)
        yield clients
        for client in clients.values():
            client.stop()


async def test_matches_at_once_on_every_kind_of_game() -> None:
    games = [
        make_game_on_map("tictactoe"),
        make_game_on_map("hexapawn"),
        make_game_on_map("riskless", "path4"),
        make_game_on_map(),
    ]
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        playing(host, a=make_engine("greedy").make_bot, b=make_engine("random:seed=3").make_bot) as clients,
    ):
        records = []

        async def play(game: AnyGame) -> None:
            records.append(await host.shell.play_match(spec("a", "b", game=game)))

        async with anyio.create_task_group() as tasks:
            for game in games:
                tasks.start_soon(play, game)
        # The records are there a little before the clients have heard of the last end.
        with anyio.fail_after(500):
            while any(sum(vars(client.result_counts).values()) < len(games) for client in clients.values()):
                await anyio.sleep(0.001)
    assert not {record.result.reason for record in records} & {EndReason.TIMEOUT, EndReason.RESIGNATION}
    winners = Counter(record.result.winner for record in records)
    # Each client tells the same story as the records.
    a, b = clients["a"].result_counts, clients["b"].result_counts
    assert (a.won, a.drawn, a.lost) == (winners["maxie"], winners[None], winners["minnie"])
    assert (b.won, b.drawn, b.lost) == (winners["minnie"], winners[None], winners["maxie"])


class Relay:
    """Passes bytes between a client and the server, until it is told to cut."""

    def __init__(self) -> None:
        self.connections: list[SocketStream] = []

    async def cut(self) -> None:
        for stream in self.connections:
            await anyio.aclose_forcefully(stream)
        self.connections.clear()


@asynccontextmanager
async def relayed(host: ArenaServer) -> AsyncIterator[tuple[str, Relay]]:
    """Yield a relay before a host, and the URL that leads through it."""
    port = int(host.url.rpartition(":")[2])
    relay = Relay()

    async def pump(source: SocketStream, target: SocketStream) -> None:
        try:
            async for data in source:
                await target.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            await anyio.aclose_forcefully(target)

    async def serve(client: SocketStream) -> None:
        async with client, await anyio.connect_tcp("127.0.0.1", port) as server:
            relay.connections += [client, server]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pump, client, server)
                tasks.start_soon(pump, server, client)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        address: Any = listener.extra(anyio.abc.SocketAttribute.local_address)
        yield f"ws://127.0.0.1:{address[1]}", relay
        tasks.cancel_scope.cancel()


class Careful(Bot):
    """Says when it thinks, and at every fourth ply goes on only when it may."""

    begun: ClassVar[SimpleQueue[int]] = SimpleQueue()
    go_on: ClassVar[threading.Semaphore] = threading.Semaphore(0)

    def choose(self, position: Any, clock: Clock) -> Any:
        ply = self.game.ply(position)
        self.begun.put(ply)
        if ply % 4 == 0:
            self.go_on.acquire(timeout=500)
        return self.game.moves(position)[0]


async def test_a_connection_cut_in_mid_thought_costs_no_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks at every fourth ply while the bot thinks, and the bot answers after it has reconnected."""
    monkeypatch.setattr(
        client_module, "compute_max_reconnect_pause_seconds", lambda *_, **__: 0.01
    )  # how long it stays away is no matter here
    plies: list[int] = []
    cuts = 0
    async with (
        open_arena_server(make_private_server_settings(anyone=True)) as host,
        relayed(host) as (url, relay),
        playing(host, b=make_engine("random:seed=1").make_bot),
        playing(host, url, a=Careful) as clients,
        anyio.create_task_group() as tasks,
    ):
        records = []

        async def play() -> None:
            records.append(
                await host.shell.play_match(spec("a", "b", game=make_game_on_map("riskless", "path4")))
            )

        tasks.start_soon(play)
        with anyio.fail_after(500):
            while not records:
                if Careful.begun.empty():
                    await anyio.sleep(0.001)
                    continue
                plies.append(Careful.begun.get())
                if plies[-1] % 4 == 0:
                    cuts += 1
                    await relay.cut()
                    while clients["a"].connection_count == cuts:
                        await anyio.sleep(0.001)
                    Careful.go_on.release()
    assert records[0].result.reason not in {EndReason.TIMEOUT, EndReason.DISCONNECT}
    assert cuts > 1
    # It was asked once for each of its plies, however often the turn came.
    assert plies == list(range(0, len(records[0].moves), 2))
