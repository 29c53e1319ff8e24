"""Several `arena serve` on one PostgreSQL and one NATS, each behind lines of its own that can be cut."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from testkit.forked import Forked
from testkit.line import Line
from testkit.nats_server import NatsServer

ROOT = Path(__file__).parents[1]
START_SECONDS = 60
DRAIN_SECONDS = 60
POLL_SECONDS = 0.02
SOCKET = ".s.PGSQL.5432"
"""What PostgreSQL calls its socket in the folder that it was given."""


class ArenaServer:
    """One of them. It keeps its name, its port and its lines when it is started again."""

    def __init__(
        self,
        name: str,
        log: Path,
        words: tuple[str, ...],
        *,
        bus: Line | None = None,
        store: Line | None = None,
    ) -> None:
        """words: what it is told beside its name, its port and whom it lets in

        bus, store: the lines to NATS and PostgreSQL, where it has some that can be cut
        """
        self.name = name
        self.log = log
        self._bus = bus
        self._store = store
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.process: Forked | None = None
        self._words = (
            *(
                "serve",
                f"--set=server.name={name}",
                "--port",
                str(self.port),
                "--anyone",
                "--set=house.engines=none",
            ),
            *(
                "--set=limits.connections_per_address=4096",
                f"--set=server.drain_seconds={DRAIN_SECONDS}",
                *words,
            ),
        )

    @property
    def bus(self) -> Line:
        """Its line to NATS."""
        if self._bus is None:
            raise ValueError(f"{self.name} has no line to NATS")
        return self._bus

    @property
    def store(self) -> Line:
        """Its line to PostgreSQL."""
        if self._store is None:
            raise ValueError(f"{self.name} has no line to PostgreSQL")
        return self._store

    @property
    def url(self) -> str:
        """Where bots come in."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The number of its process."""
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.process.pid

    @property
    def runs(self) -> bool:
        """Whether there is a process, be it frozen."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start it; `wait_ready` tells when it is there."""
        self.log.touch()
        self.process = Forked(*self._words, cwd=ROOT, stderr=self.log)

    def kill(self) -> None:
        """End it without a word; the kernel closes its connections."""
        if self.process is not None and self.runs:
            os.kill(self.pid, signal.SIGKILL)  # also where it is frozen
            self.process.wait(START_SECONDS)

    def lose_power(self) -> None:
        """End it so that neither PostgreSQL nor NATS learns of it before the lines are `mend`ed."""
        self.cut()
        self.kill()

    def freeze(self) -> None:
        """Let it stand still."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def cut(self) -> None:
        """Nothing passes between it and the others any more, and nobody is told; bots still reach it."""
        self.bus.order("cut")
        self.store.order("cut")

    def mend(self) -> None:
        """Everything passes again."""
        self.bus.order("mend")
        self.store.order("mend")

    def ask(self, path: str) -> tuple[int, str]:
        """What it answers to a GET; 0 where it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    async def wait_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until it takes bots. Raises RuntimeError."""
        end = time.monotonic() + seconds
        while True:
            status, told = await asyncio.to_thread(self.ask, "/readyz")
            if status == 200:
                return
            if not self.runs or time.monotonic() > end:
                raise RuntimeError(f"{self.name} is not ready: {told}\n{self.log.read_text()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def stop(self) -> int:
        """End it by SIGTERM, which drains it; its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return await asyncio.to_thread(self.process.wait, DRAIN_SECONDS + 30)

    def close(self) -> None:
        """Leave nothing behind."""
        self.kill()
        for line in (self._bus, self._store):
            if line is not None:
                line.close()


@asynccontextmanager
async def arena_servers(
    count: int, folder: Path, nats: NatsServer, postgresql: Path, database: str, *options: str
) -> AsyncIterator[list[ArenaServer]]:
    """So many of them that run; they end with the block.

    postgresql: the folder of its socket
    database: the name of an empty one there, which is open to `arena`
    """
    made: list[ArenaServer] = []
    async with ended_after(made):
        for number in range(1, count + 1):
            bus = await asyncio.to_thread(Line, nats.port)
            store = await asyncio.to_thread(Line, postgresql / SOCKET)
            name = f"server-{number}"
            words = (
                f"--set=bus.url=nats://127.0.0.1:{bus.port}",
                *("--db", f"postgresql://arena@127.0.0.1:{store.port}/{database}"),
                *options,
            )
            made.append(ArenaServer(name, folder / f"{name}.log", words, bus=bus, store=store))
        await start(made)
        yield made


@asynccontextmanager
async def ended_after(servers: Sequence[ArenaServer]) -> AsyncIterator[None]:
    """Those that there are at the end of the block leave nothing behind."""
    try:
        yield
    finally:
        for each in servers:
            await asyncio.to_thread(each.close)


async def start(servers: Sequence[ArenaServer]) -> None:
    """Start them, one after the other: the first makes the tables."""
    for each in servers:
        each.start()
        await each.wait_ready()
