"""Load generators: several processes that run bots, since a single process could not keep the server busy."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import SpawnProcess
from typing import Any

import uvloop

from benchmarks.kit.load import LoadCounters, run_arena_bot, run_relay_bot, run_spectator
from benchmarks.kit.running_server import pin_to_cores, read_process_cpu_seconds, split_cores

SPAWN_CONTEXT = multiprocessing.get_context("spawn")
"""Context that starts each process as a fresh program, which shares no threads or memory with this program."""
ARENA_CLIENT, IDLE_CLIENT, RELAY_CLIENT, SPECTATOR_CLIENT = "arena", "idle", "relay", "watch"
"""Kinds of client.

ARENA_CLIENT      bot that plays on a server
IDLE_CLIENT       bot that only connects to a server
RELAY_CLIENT      bot that plays through a relay
SPECTATOR_CLIENT  spectator
"""
COUNTER_UPDATE_INTERVAL_SECONDS = 0.01
"""Interval, in seconds, at which each load process updates its counters in the shared memory."""
COUNTERS_PER_PROCESS = 3
"""Number of counters of each process: connections, moves and errors, in this order, 8 bytes each."""
CONNECT_TIMEOUT_SECONDS = 120.0
"""Seconds within which all bots of a run must have connected."""


@dataclass
class LoadProcesses:
    """Running load processes (each runs many bots), and the sums of their counters."""

    counters: Any
    """Counters of all processes in shared memory: COUNTERS_PER_PROCESS numbers for each process, one process after another."""
    processes: list[SpawnProcess] = field(default_factory=list)

    @property
    def connected_count(self) -> int:
        """Number of bots that have connected, including bots whose connections were lost later."""
        return sum(self.counters[0::COUNTERS_PER_PROCESS])

    @property
    def move_count(self) -> int:
        """Number of moves that the bots have played. The moves of the last few milliseconds may be missing."""
        return sum(self.counters[1::COUNTERS_PER_PROCESS])

    @property
    def error_count(self) -> int:
        """Number of `error` messages that the bots have received, plus number of their lost connections."""
        return sum(self.counters[2::COUNTERS_PER_PROCESS])

    def list_cpu_seconds(self) -> list[float]:
        """Return the CPU time that each load process has used so far, in seconds."""
        return [
            read_process_cpu_seconds(process.pid) for process in self.processes if process.pid is not None
        ]

    def wait_until_all_connected(self, bot_count: int) -> None:
        """Wait until `bot_count` bots have connected. Raises RuntimeError after CONNECT_TIMEOUT_SECONDS."""
        deadline = time.monotonic() + CONNECT_TIMEOUT_SECONDS
        while self.connected_count < bot_count:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"only {self.connected_count} of {bot_count} bots connected, with {self.error_count} errors"
                )
            time.sleep(COUNTER_UPDATE_INTERVAL_SECONDS)


@contextmanager
def run_load_processes(
    url: str, bot_count: int, *, client_kind: str, name_prefix: str = "bot"
) -> Iterator[LoadProcesses]:
    """Run `bot_count` bots until the end of the `with` block, in at most one process for each core reserved for load.

    client_kind: ARENA_CLIENT, IDLE_CLIENT, RELAY_CLIENT or SPECTATOR_CLIENT
    name_prefix: prefix of the bots' names
    """
    _, cores = split_cores()
    number = max(1, min(len(cores), bot_count // 2))
    running = LoadProcesses(SPAWN_CONTEXT.RawArray("q", COUNTERS_PER_PROCESS * number))
    try:
        with pin_to_cores(cores):
            for slot in range(number):
                arguments = (url, client_kind, name_prefix, running.counters, slot, number, bot_count)
                process = SPAWN_CONTEXT.Process(target=_run_load_process, args=arguments, daemon=True)
                process.start()
                running.processes.append(process)
        yield running
    finally:
        for process in running.processes:
            process.kill()
        for process in running.processes:
            process.join()


def _run_load_process(*arguments: Any) -> None:
    uvloop.run(_run_bots_of_process(*arguments))


async def _run_bots_of_process(
    url: str,
    client_kind: str,
    name_prefix: str,
    counters: Any,
    process_index: int,
    process_count: int,
    bot_count: int,
) -> None:
    """Run the bots of load process `process_index`, and update its counters in `counters`, until killed.

    The process runs the bots with the numbers `process_index`, `process_index + process_count` and so on, below `bot_count`.

    client_kind: ARENA_CLIENT, IDLE_CLIENT, RELAY_CLIENT or SPECTATOR_CLIENT
    name_prefix: prefix of the bots' names
    """
    load = LoadCounters(are_bots_connecting=True)
    first = COUNTERS_PER_PROCESS * process_index
    async with asyncio.TaskGroup() as tasks:
        for bot in range(process_index, bot_count, process_count):
            name = f"{name_prefix} {bot}"
            tasks.create_task(
                run_relay_bot(url, load)
                if client_kind == RELAY_CLIENT
                else run_spectator(url, name, load)
                if client_kind == SPECTATOR_CLIENT
                else run_arena_bot(url, name, load, joins_pool=client_kind == ARENA_CLIENT)
            )
        while True:
            counters[first : first + COUNTERS_PER_PROCESS] = (
                load.connected_count,
                load.move_count,
                len(load.errors),
            )
            load.latencies_seconds.clear()
            load.are_bots_connecting = sum(counters[0::COUNTERS_PER_PROCESS]) < bot_count
            await asyncio.sleep(COUNTER_UPDATE_INTERVAL_SECONDS)
