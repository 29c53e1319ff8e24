"""Load from several processes, so that it is not what bounds a server: bots that play as fast as they can.

python -m benchmarks.kit.loads URL KIND NAMES PAUSE COUNTS SLOT NUMBER BOTS

One of NUMBER processes, with its share of the bots: of an arena, where they play or are idle, or of a relay, as KIND says.
Each is called NAMES and its number, and takes PAUSE seconds for a move, on the average; more until all are in. What it has counted stands in the file COUNTS, at its own place.
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

from benchmarks.kit.halves import load_cores, on_cores
from benchmarks.kit.load import Load, arena_bot, relay_bot
from benchmarks.kit.served import ROOT, cpu_of

ARENA, IDLE, RELAY = "arena", "idle", "relay"
"""What the bots may be of, and do."""
TELL_SECONDS = 0.01
"""From one time that a process tells what it has counted to the next."""
COUNTED = 3
"""Numbers that each process tells, of 8 bytes: connections, moves, errors."""
CONNECT_SECONDS = 120.0
"""How long all bots together may take to come in."""


@dataclass
class Loads:
    """The load's processes."""

    counts: memoryview
    """What each has told, one after the other."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def connected(self) -> int:
        """Bots that have come in."""
        return sum(self.counts[0::COUNTED])

    @property
    def moves(self) -> int:
        """Moves that were played, up to some milliseconds ago."""
        return sum(self.counts[1::COUNTED])

    @property
    def errors(self) -> int:
        """What went wrong."""
        return sum(self.counts[2::COUNTED])

    def cpu(self) -> list[float]:
        """Seconds of CPU time that each of the processes has taken."""
        return [cpu_of(each.pid) for each in self.processes]

    def wait_all_in(self, bots: int) -> None:
        """Wait until so many bots have come in. Raises RuntimeError."""
        end = time.monotonic() + CONNECT_SECONDS
        while self.connected < bots:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.connected} of {bots} bots came in, with {self.errors} errors")
            time.sleep(TELL_SECONDS)


@contextmanager
def loads(url: str, bots: int, *, kind: str, names: str = "bot", pause: float = 0.0) -> Iterator[Loads]:
    """So many bots of an arena, or of a relay, in as many processes as there are cores for them.

    names  what each of them is called, before its number
    pause  how many seconds each of them takes for a move, on the average
    """
    cores = load_cores()
    number = max(1, min(len(cores), bots // 2))
    with tempfile.TemporaryDirectory(prefix="arena-load-") as folder, ExitStack() as stack:
        file = Path(folder) / "counts"
        file.write_bytes(bytes(8 * COUNTED * number))
        running = Loads(stack.enter_context(_counts(file)))
        try:
            with on_cores(cores):
                for slot in range(number):
                    given = (url, kind, names, str(pause), str(file), str(slot), str(number), str(bots))
                    command = [sys.executable, "-m", "benchmarks.kit.loads", *given]
                    running.processes.append(subprocess.Popen(command, cwd=ROOT))
            yield running
        finally:
            for process in running.processes:
                process.kill()
            for process in running.processes:
                process.wait()


@contextmanager
def _counts(file: Path) -> Iterator[memoryview]:
    """The numbers in a file, which several processes have before them at the same time."""
    with (
        file.open("r+b") as opened,
        mmap.mmap(opened.fileno(), 0) as mapped,
        memoryview(mapped) as raw,
        raw.cast("q") as numbers,
    ):
        yield numbers


async def _play(
    url: str, kind: str, names: str, pause: float, file: Path, slot: int, number: int, bots: int
) -> None:
    load = Load(joining=True)
    first = COUNTED * slot
    with _counts(file) as counts:
        async with asyncio.TaskGroup() as tasks:
            for each in range(slot, bots, number):
                tasks.create_task(
                    relay_bot(url, load, pause)
                    if kind == RELAY
                    else arena_bot(url, f"{names} {each}", load, pause, pool=kind == ARENA)
                )
            while True:
                for place, count in enumerate((load.connected, load.moves, len(load.errors))):
                    counts[first + place] = count
                load.seconds.clear()
                load.joining = sum(counts[0::COUNTED]) < bots
                await asyncio.sleep(TELL_SECONDS)


def main() -> None:
    """Play until killed."""
    url, kind, names, pause, file, slot, number, bots = sys.argv[1:]
    uvloop.run(_play(url, kind, names, float(pause), Path(file), int(slot), int(number), int(bots)))


if __name__ == "__main__":
    main()
