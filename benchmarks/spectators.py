"""What spectators cost the players of the match that they watch: the server's time for each move.

One match of two bots that think for 10 ms, again and again: by turns without and with spectators, who
read all that they are sent. For each move, the time from its sending to the opponent's turn is measured,
in the bots' one process; of each round the 99th percentile, and of the rounds the median of the ratios. The spectators are a
process of their own, as they are on a real network; on a machine of two cores they take time from the
bots all the same, and `--idle` tells that apart: they are connected, and watch nothing.

Example: python -m benchmarks.spectators --spectators 200 --rounds 5
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
from contextlib import AsyncExitStack
from time import perf_counter

import anyio
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from games.core import AnyGame
from maps.setup import make_setup
from protocol.codec import decode_server, encode
from protocol.messages import (
    SUBPROTOCOL,
    Browse,
    End,
    Hello,
    Listing,
    Move,
    Ready,
    Start,
    Turn,
    Watch,
)
from protocol.timecontrol import TimeControl
from server.arena_api import MatchSpec
from server.host import Host, open_host

PAUSE = 0.01
"""Seconds that a bot thinks, so that the machine is not simply full."""


async def player(
    connection: ClientConnection, game: AnyGame, sent: dict[int, float], times: list[float]
) -> None:
    """Play one match, and keep how long each move of the opponent took to become a turn here."""
    position = game.start()
    while True:
        match decode_server(await connection.recv()):
            case Start(match=match):
                position = game.start()
                await connection.send(encode(Ready(match)))
            case Turn(match=match, ply=ply, moves=moves):
                if ply:
                    times.append(1000 * (perf_counter() - sent[ply - 1]))
                for move in moves[game.ply(position) :]:
                    position = game.play(position, game.move_from_data(move))
                await asyncio.sleep(PAUSE)
                legal = game.moves(position)
                chosen = game.move_to_data(legal[ply % len(legal)])
                sent[ply] = perf_counter()
                await connection.send(encode(Move(match, ply, chosen)))
            case End():
                return


async def enter(stack: AsyncExitStack, host: Host, name: str) -> ClientConnection:
    """A bot's connection, past its welcome."""
    connection = await stack.enter_async_context(
        connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None)
    )
    await connection.send(encode(Hello(name, host.issue_token(name))))
    await connection.recv()
    return connection


async def one_match(host: Host, number: int) -> list[float]:
    """The ms of every move of one match."""
    game = make_setup("riskless", "m2")
    times: list[float] = []
    sent: dict[int, float] = {}
    async with AsyncExitStack() as stack:
        bots = [await enter(stack, host, f"{side}-{number}") for side in ("a", "b")]
        spec = MatchSpec(
            match=f"bench-{number}",
            event="bench",
            game=game,
            maxie=f"a-{number}",
            minnie=f"b-{number}",
            time_control=TimeControl(60_000),
            margin_ms=1000,
            ready_ms=30_000,
            threads=1,
        )
        async with anyio.create_task_group() as tasks:
            for bot in bots:
                tasks.start_soon(player, bot, game, sent, times)
            await host.play(spec)
    return times


async def measure(spectators: int, rounds: int, *, idle: bool) -> None:
    """Play the rounds, and print what they show."""
    async with open_host() as host:
        await one_match(host, 0)
        ratios, alone, watched, number = [], [], [], 0
        for _ in range(rounds):
            number += 2
            alone.append(_p99(await one_match(host, number - 1)))
            command = [sys.executable, "-m", "benchmarks.spectators", "--watch", host.url]
            crowd = await asyncio.create_subprocess_exec(
                *command,
                "--spectators",
                str(spectators),
                *(["--idle"] if idle else []),
                stdout=subprocess.PIPE,
            )
            if crowd.stdout is not None:
                await crowd.stdout.readline()
            watched.append(_p99(await one_match(host, number)))
            crowd.kill()
            await crowd.wait()
            ratios.append(watched[-1] / alone[-1])
    print(f"p99 of a move, none watch: {statistics.median(alone):.2f} ms")
    print(f"p99 of a move, {spectators} {'idle' if idle else 'watch'}: {statistics.median(watched):.2f} ms")
    print(f"median of the ratios over {rounds} rounds: {statistics.median(ratios):.2f}")


def _p99(times: list[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))]


async def watch(url: str, spectators: int, *, idle: bool) -> None:
    """Be the spectators of every match, until killed; a line on stdout says that all are there."""
    async with AsyncExitStack() as stack:
        connections = []
        for number in range(spectators):
            connection = await stack.enter_async_context(
                connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None)
            )
            await connection.send(encode(Hello(f"s{number}", role="spectator")))
            await connection.recv()
            connections.append(connection)
        browser = connections[0]
        print("here", flush=True)
        async with anyio.create_task_group() as tasks:
            for connection in connections[1:]:
                tasks.start_soon(_drain, connection)
            if idle:
                await anyio.sleep_forever()
            await browser.send(encode(Browse()))
            seen: set[str] = set()
            while True:
                message = decode_server(await browser.recv())
                if isinstance(message, Listing):
                    for live in message.matches:
                        if live.match not in seen:
                            seen.add(live.match)
                            for connection in connections:
                                await connection.send(encode(Watch(live.match)))


async def _drain(connection: ClientConnection) -> None:
    async for _ in connection:
        pass


def main() -> None:
    """Measure, or with --watch be the spectators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--watch", metavar="URL", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.watch:
        uvloop.run(watch(given.watch, given.spectators, idle=given.idle))
    else:
        uvloop.run(measure(given.spectators, given.rounds, idle=given.idle))


if __name__ == "__main__":
    main()
