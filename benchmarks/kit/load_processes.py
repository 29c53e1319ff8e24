"""Load from several processes, since a single one could not keep the server busy.

python -m benchmarks.kit.load_processes URL KIND NAMES PAUSE COUNTS SLOT NUMBER BOTS

The program is one of NUMBER processes, and runs its share of the BOTS bots. KIND is `arena` to play on a server, `idle`
only to connect to it, `watch` to watch all of its matches, or `relay` to play through a relay. The bots' names are NAMES
with a number. Before a move they pause for PAUSE seconds on average, and longer until all bots have connected. The
process writes its counters to slot SLOT, a number from 0 to NUMBER - 1, of the file COUNTS.
"""

from __future__ import annotations

import asyncio
import mmap
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks.kit.load import Load, run_arena_bot, run_relay_bot, run_spectator
from benchmarks.kit.running_server import ROOT, load_cores, pin_to_cores, process_cpu_seconds

ARENA, IDLE, RELAY, WATCH = "arena", "idle", "relay", "watch"
"""Kinds of load, as the module's docstring describes them for KIND."""
UPDATE_SECONDS = 0.01
"""Seconds between two updates of a process's counters."""
COUNTERS_PER_PROCESS = 3
"""Number of counters of each process: connections, moves and errors, in this order, 8 bytes each."""
CONNECT_SECONDS = 120.0
"""Seconds within which all bots together must connect."""


@dataclass
class LoadProcesses:
    """Running load processes, and the sums of their counters."""

    counts: memoryview
    """Counters of all processes, one process after another, in memory that the processes share."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def connected(self) -> int:
        """Number of bots that have connected, including those whose connections were lost later."""
        return sum(self.counts[0::COUNTERS_PER_PROCESS])

    @property
    def moves(self) -> int:
        """Number of moves that the bots have played. The moves of the last few milliseconds may be missing."""
        return sum(self.counts[1::COUNTERS_PER_PROCESS])

    @property
    def errors(self) -> int:
        """Number of `error` messages that the bots have received, plus number of their lost connections."""
        return sum(self.counts[2::COUNTERS_PER_PROCESS])

    def cpu_seconds(self) -> list[float]:
        """Return the CPU time that each load process has used so far, in seconds."""
        return [process_cpu_seconds(process.pid) for process in self.processes]

    def wait_until_all_connected(self, bots: int) -> None:
        """Wait until `bots` bots have connected. Raises RuntimeError after CONNECT_SECONDS."""
        end = time.monotonic() + CONNECT_SECONDS
        while self.connected < bots:
            if time.monotonic() > end:
                raise RuntimeError(
                    f"only {self.connected} of {bots} bots connected, with {self.errors} errors"
                )
            time.sleep(UPDATE_SECONDS)


@contextmanager
def run_loads(
    url: str, bots: int, *, kind: str, names: str = "bot", pause: float = 0.0
) -> Iterator[LoadProcesses]:
    """Run `bots` bots until the end of the block, in as many processes as there are cores for them.

    kind: ARENA, IDLE, RELAY or WATCH; names: prefix of the bots' names; pause: average before a move, in seconds
    """
    cores = load_cores()
    number = max(1, min(len(cores), bots // 2))
    with tempfile.TemporaryDirectory(prefix="arena-load-") as folder, ExitStack() as stack:
        file = Path(folder) / "counts"
        file.write_bytes(bytes(8 * COUNTERS_PER_PROCESS * number))
        running = LoadProcesses(stack.enter_context(_map_counters(file)))
        try:
            with pin_to_cores(cores):
                for slot in range(number):
                    arguments = (url, kind, names, str(pause), str(file), str(slot), str(number), str(bots))
                    command = [sys.executable, "-m", "benchmarks.kit.load_processes", *arguments]
                    running.processes.append(subprocess.Popen(command, cwd=ROOT))
            yield running
        finally:
            for process in running.processes:
                process.kill()
            for process in running.processes:
                process.wait()


@contextmanager
def _map_counters(file: Path) -> Iterator[memoryview]:
    """Map the counters in a file into memory, which all processes that map the file share."""
    with (
        file.open("r+b") as counter_file,
        mmap.mmap(counter_file.fileno(), 0) as mapped,
        memoryview(mapped) as raw,
        raw.cast("q") as numbers,
    ):
        yield numbers


async def _run_bots(
    url: str, kind: str, names: str, pause: float, file: Path, slot: int, number: int, bots: int
) -> None:
    load = Load(joining=True)
    first = COUNTERS_PER_PROCESS * slot
    with _map_counters(file) as counts:
        async with asyncio.TaskGroup() as tasks:
            for bot in range(slot, bots, number):
                name = f"{names} {bot}"
                tasks.create_task(
                    run_relay_bot(url, load, pause)
                    if kind == RELAY
                    else run_spectator(url, name, load)
                    if kind == WATCH
                    else run_arena_bot(url, name, load, pause, pool=kind == ARENA)
                )
            while True:
                for place, count in enumerate((load.connected, load.moves, len(load.errors))):
                    counts[first + place] = count
                load.seconds.clear()
                load.joining = sum(counts[0::COUNTERS_PER_PROCESS]) < bots
                await asyncio.sleep(UPDATE_SECONDS)


def main() -> None:
    """Run this process's share of the bots until killed."""
    url, kind, names, pause, file, slot, number, bots = sys.argv[1:]
    uvloop.run(_run_bots(url, kind, names, float(pause), Path(file), int(slot), int(number), int(bots)))


if __name__ == "__main__":
    main()
