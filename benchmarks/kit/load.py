"""Load for the server's benchmarks: many minimal bots, and spectators, in one process.

The bots always play the match of `benchmarks.kit.scripted_match`, so they need no time to think.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any

from arena.protocol.codec import encode_message
from arena.protocol.messages import Move
from benchmarks.kit.client import Client, connect, open_client
from benchmarks.kit.scripted_match import SAMPLE_MATCH_ID, make_scripted_moves
from benchmarks.relay import ANSWER_FIRST_BYTE

REGULAR_END_REASONS = ("armies", "elimination", "ply_limit")
"""End reasons of matches that ended by the rules. Any other reason counts as a forfeit."""

MEAN_PAUSE_WHILE_CONNECTING_SECONDS = 0.5
"""Average pause of a bot before a move, in seconds, while other bots connect, so that the new connections do not time out."""

MAX_PARALLEL_CONNECTS = 50
"""Maximum number of bots per process that connect at the same time. With more, some connections would time out."""

RELAY_MOVE_PAYLOAD = encode_message(Move(SAMPLE_MATCH_ID, 50, make_scripted_moves()[50]))
"""Payload of each frame that a bot sends to a relay: a typical `move` message."""


@dataclass
class LoadCounters:
    """Counters that the bots of one run share.

    move_count: number of acknowledged moves
    forfeit_reasons: end reasons of matches that did not end by the rules
    connected_count: number of bots and spectators that have connected
    errors: codes of `error` messages, and texts of connection errors
    """

    move_count: int = 0
    forfeit_reasons: list[str] = field(default_factory=list)
    connected_count: int = 0
    errors: list[str] = field(default_factory=list)
    latencies_seconds: list[float] = field(default_factory=list)
    """Time from sending a move to its acknowledgement, in seconds, for each move."""
    are_bots_connecting: bool = False
    """True while some bots have not connected yet. Meanwhile, the connected bots pause longer before their moves."""
    connect_semaphore: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_CONNECTS)
    )
    """Semaphore that each bot holds while it connects, so that at most MAX_PARALLEL_CONNECTS do so at the same time."""

    def draw_pause_seconds(self, mean_seconds: float) -> float:
        """Return a random pause of `mean_seconds` on average, or longer while bots are connecting (`are_bots_connecting`).

        Equal pauses would let the bots move in step.
        """
        mean = (
            max(mean_seconds, MEAN_PAUSE_WHILE_CONNECTING_SECONDS)
            if self.are_bots_connecting
            else mean_seconds
        )
        return mean and mean * random.uniform(0.2, 1.8)


async def run_arena_bot(
    url: str,
    name: str,
    load: LoadCounters,
    pause_seconds: float = 0.0,
    *,
    token: str = "",
    joins_pool: bool = True,
    source_address: str | None = None,
) -> None:
    """Play one match after another, always with the moves of `benchmarks.kit.scripted_match`, until cancelled.

    Connection errors are added to `load.errors`.

    pause_seconds   average pause before each move, in seconds
    token           token of the name; empty for none
    joins_pool      True if the server's matchmaker may pair the bot
    source_address  local address to connect from; None for the default
    """

    async def play_until_cancelled(client: Client) -> None:
        sent_at = 0.0
        while True:
            message = await client.receive()
            match message.type:
                case "start":
                    await client.send(type="ready", match=message.match)
                case "turn":
                    if wait := load.draw_pause_seconds(pause_seconds):
                        await asyncio.sleep(wait)
                    sent_at, move = time.perf_counter(), make_scripted_moves()[message.ply]
                    await client.send(type="move", match=message.match, ply=message.ply, move=move)
                case "accepted":
                    load.move_count += 1
                    load.latencies_seconds.append(time.perf_counter() - sent_at)
                case "end" if message.reason not in REGULAR_END_REASONS:
                    load.forfeit_reasons.append(message.reason)
                case "error":
                    load.errors.append(message.code)

    await _run_client(
        load,
        lambda: connect(url, source_address, name=name, token=token, pool=joins_pool),
        play_until_cancelled,
    )


async def run_spectator(url: str, name: str, load: LoadCounters) -> None:
    """Watch every match that the server lists, and read all messages about these matches, until cancelled."""

    async def watch_until_cancelled(client: Client) -> None:
        watched_matches: set[str] = set()
        await client.send(type="browse")
        while True:
            for live in (await client.receive()).matches:
                if live["match"] not in watched_matches:
                    watched_matches.add(live["match"])
                    await client.send(type="watch", match=live["match"])

    await _run_client(load, lambda: connect(url, name=name, role="spectator"), watch_until_cancelled)


async def run_relay_bot(url: str, load: LoadCounters, pause_seconds: float = 0.0) -> None:
    """Play through a relay until cancelled: after each turn, pause, and send a frame as large as a move.

    pause_seconds: average pause, in seconds
    """

    async def play_until_cancelled(client: Client) -> None:
        sent_at = 0.0
        while True:
            frame = await client.receive_payload()
            if frame[0] == ANSWER_FIRST_BYTE:
                load.latencies_seconds.append(time.perf_counter() - sent_at)
                continue
            if wait := load.draw_pause_seconds(pause_seconds):
                await asyncio.sleep(wait)
            load.move_count += 1
            sent_at = time.perf_counter()
            await client.send_payload(RELAY_MOVE_PAYLOAD)

    await _run_client(load, lambda: open_client(url), play_until_cancelled)


async def _run_client(
    load: LoadCounters,
    open_connection: Callable[[], Awaitable[Client]],
    use_client: Callable[[Client], Awaitable[None]],
) -> None:
    """Connect by `open_connection()`, await `use_client(client)`, and disconnect. Add a connection error to `load.errors`."""
    try:
        async with load.connect_semaphore:
            client = await open_connection()
        load.connected_count += 1
        with closing(client):
            await use_client(client)
    except (OSError, EOFError) as error:
        load.errors.append(str(error))


async def measure_moves_per_second(load: LoadCounters, seconds: float) -> float:
    """Wait for `seconds`, and return how many moves per second the bots played meanwhile."""
    before, start_time = load.move_count, time.perf_counter()
    await asyncio.sleep(seconds)
    return (load.move_count - before) / (time.perf_counter() - start_time)


@asynccontextmanager
async def run_bots(load: LoadCounters, bots: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run bots that share `load` until the end of the `with` block, which begins when all have connected.

    Raises an ExceptionGroup with a RuntimeError if not all bots connect within 120 s.
    """
    expected = load.connected_count + len(bots)
    async with asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(bot) for bot in bots]
        deadline = time.monotonic() + 120
        while load.connected_count < expected:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"only {load.connected_count} of {expected} bots connected; first errors: {load.errors[:3]}"
                )
            await asyncio.sleep(0.05)
        yield
        for job in jobs:
            job.cancel()
