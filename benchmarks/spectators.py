"""Cost of spectators for the players of a match: the server's time for each move.

Two bots that think for 10 ms play matches of 400 plies, alternately without and with spectators, who connect at the
start and read everything. The bots' process measures the time from the sending of each move to the opponent's turn. The
results are the 99th percentile of each match, and the median of the ratios of all rounds. The server and the spectators
run in separate processes, as on a real network; on two cores, the spectators still compete with the others for CPU
time.

A run takes about a minute and a half.

Example: python -m benchmarks.spectators --spectators 200 --rounds 7
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from time import perf_counter

import anyio
import uvloop
from websockets.asyncio.client import ClientConnection

from arena.protocol.codec import decode_server, encode
from arena.protocol.messages import Browse, End, Hello, Listing, Move, Ready, Start, Turn, Watch
from benchmarks.kit.load import open_connection
from benchmarks.kit.measure import Ratio
from benchmarks.kit.results import SERVER, describe_measurement, format_claim
from benchmarks.kit.script import make_longest_match
from benchmarks.kit.served import run_arena_server

PAUSE = 0.01
"""Thinking time of a bot in seconds, so that the machine is not fully loaded."""


async def play_and_measure(url: str, name: str, sent_at: dict[int, float], times: list[float]) -> None:
    """Play one match, and record the time from each of the opponent's moves to the turn received here, in ms."""
    async with open_connection(url) as connection:
        await connection.send(encode(Hello(name, pool=True)))
        async for frame in connection:
            match decode_server(frame):
                case Start(match=match):
                    await connection.send(encode(Ready(match)))
                case Turn(match=match, ply=ply):
                    if ply:
                        times.append(1000 * (perf_counter() - sent_at[ply - 1]))
                    await asyncio.sleep(PAUSE)
                    move = encode(Move(match, ply, make_longest_match()[ply]))
                    sent_at[ply] = perf_counter()
                    await connection.send(move)
                case End():
                    return


async def play_one_match(url: str) -> list[float]:
    """Return the times of all moves of one match, in ms."""
    times: list[float] = []
    sent: dict[int, float] = {}
    async with anyio.create_task_group() as tasks:
        for name in ("a", "b"):
            tasks.start_soon(play_and_measure, url, name, sent, times)
    return times


async def measure_rounds(spectators: int, rounds: int) -> SpectatorFigures:
    """Play the rounds: matches without and with spectators, alternately."""
    # All spectators come from one address.
    limits = (
        f"--set=limits.connections_per_address={spectators + 10}",
        "--set=limits.work_ms_per_second=1000000",
    )
    with run_arena_server(1, *limits) as server:
        await play_one_match(server.url)
        alone, watched = [], []
        for _ in range(rounds):
            alone.append(_percentile_99(await play_one_match(server.url)))
            command = [sys.executable, "-m", "benchmarks.spectators", "--watch", server.url]
            crowd = await asyncio.create_subprocess_exec(
                *command,
                "--spectators",
                str(spectators),
                stdout=subprocess.PIPE,
            )
            if crowd.stdout is not None:
                await crowd.stdout.readline()
            watched.append(_percentile_99(await play_one_match(server.url)))
            crowd.kill()
            await crowd.wait()
    return SpectatorFigures(alone, watched)


@dataclass(frozen=True)
class SpectatorFigures:
    """99th percentile of each match without and with spectators, in ms."""

    alone: list[float]
    watched: list[float]

    def __str__(self) -> str:
        ratio = Ratio([with_them / alone for alone, with_them in zip(self.alone, self.watched, strict=True)])
        medians = [statistics.median(each) for each in (self.alone, self.watched)]
        return f"{medians[0]:.2f} ms without, {medians[1]:.2f} ms with them: {ratio} ×"


def _percentile_99(times: list[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))]


async def run_spectators(url: str, spectators: int) -> None:
    """Watch every match with all spectators until killed. Print a line once all are connected."""
    async with AsyncExitStack() as stack:
        connections = []
        for number in range(spectators):
            connection = await stack.enter_async_context(open_connection(url))
            await connection.send(encode(Hello(f"s{number}", role="spectator")))
            await connection.recv()
            connections.append(connection)
        browser = connections[0]
        print("here", flush=True)
        async with anyio.create_task_group() as tasks:
            for connection in connections[1:]:
                tasks.start_soon(_read_all, connection)
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


async def _read_all(connection: ClientConnection) -> None:
    async for _ in connection:
        pass


def main() -> None:
    """Measure, print and write; with `--watch`, run the spectators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spectators", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--watch", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.watch:
        uvloop.run(run_spectators(arguments.watch, arguments.spectators))
        return
    with describe_measurement("python -m benchmarks.spectators") as note:
        watching = uvloop.run(measure_rounds(arguments.spectators, arguments.rounds))
    text = "\n\n".join(
        (
            "## Spectators",
            (
                f"This section shows whether spectators delay the players. Two bots that think for {1000 * PAUSE:.0f} ms play matches of "
                f"{len(make_longest_match())} plies, alternately without and with {arguments.spectators} spectators. The spectators connect at the start "
                "and read everything that the server sends them. They use the same two cores as the server and the bots. p99 is the 99th "
                "percentile of the time from sending a move to the opponent's turn, as the bots see it."
            ),
            format_claim(
                f"p99 of a move with {arguments.spectators} spectators",
                "at most 1.2 × the p99 without spectators",
                f"{watching}",
            ),
            note(),
        )
    )
    print(text)
    SERVER.replace_section("spectators", text)


if __name__ == "__main__":
    main()
