"""Cluster of `arena serve` processes, edges and cores, on one PostgreSQL and one NATS.

Each process reaches PostgreSQL and NATS over lines (`testkit.line`), which can be cut.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import asyncpg

from testkit.forked import ForkedCommand
from testkit.line import ForwarderProcess
from testkit.nats_server import NatsServer

ROOT = Path(__file__).parents[1]
START_TIMEOUT_SECONDS = 200
STOP_SECONDS = 200
POLL_SECONDS = 0.02
SOCKET = ".s.PGSQL.5432"
"""Name of PostgreSQL's Unix socket in its folder."""
SHARD = "shard"
Role = Literal["all", "edge", "core"]
LEADER_QUERY = "SELECT pid FROM servers WHERE name = $1 AND until > extract(epoch FROM clock_timestamp())"


class ClusterMember:
    """Edge, core or single server of a cluster. Its port and its lines stay the same over restarts of its process."""

    def __init__(
        self,
        role: Role,
        name: str,
        log: Path,
        options: tuple[str, ...],
        lines: tuple[ForwarderProcess, ForwarderProcess] | None = None,
    ) -> None:
        """Prepare a process without starting it.

        options: options of `arena serve`, besides its role, its port and `--anyone`
        lines: line to NATS and line to PostgreSQL; None if the options lead to them directly
        """
        self.role = role
        self.name = name
        self.log = log
        self._forwarders = lines
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.process: ForkedCommand | None = None
        self._last_exit_report = 0
        """Size of the process's log before its last start, in bytes."""
        listens = (
            ("--port", str(self.port)) if role == "edge" else (f"--set=server.metrics_port={self.port}",)
        )
        self._arguments = (
            *("serve", "--role", role, f"--set=server.name={SHARD}", *listens, "--anyone"),
            *("--set=house.engines=none", "--set=limits.connections_per_address=4096", *options),
        )

    @property
    def bus_line(self) -> ForwarderProcess:
        """Line to NATS. Raises ValueError if there is none."""
        if self._forwarders is None:
            raise ValueError(
                f"{self.name} was made without forwarders, so its connections cannot be disturbed"
            )
        return self._forwarders[0]

    @property
    def store_line(self) -> ForwarderProcess:
        """Line to PostgreSQL. Raises ValueError if there is none."""
        if self._forwarders is None:
            raise ValueError(
                f"{self.name} was made without forwarders, so its connections cannot be disturbed"
            )
        return self._forwarders[1]

    @property
    def url(self) -> str:
        """URL to which bots connect."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Process id. Raises RuntimeError if the process was never started."""
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.process.pid

    @property
    def is_running(self) -> bool:
        """True if the process exists, even if it is suspended."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the process; `wait_ready` waits until it is ready."""
        self.log.touch()
        self._last_exit_report = self.log.stat().st_size
        self.process = ForkedCommand(*self._arguments, cwd=ROOT, stderr=self.log)

    def kill(self) -> None:
        """Kill the process, even if it is suspended, and wait for its end. The kernel closes its connections."""
        if self.process is not None and self.is_running:
            os.kill(self.pid, signal.SIGKILL)  # also ends a suspended process
            self.process.wait(START_TIMEOUT_SECONDS)

    def suspend(self) -> None:
        """Suspend the process with SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process with SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def cut_lines(self) -> None:
        """Cut the connections to NATS and PostgreSQL without closing them. Bots still reach the process."""
        self.bus_line.send_order("cut")
        self.store_line.send_order("cut")

    def restore_lines(self) -> None:
        """Let the connections to NATS and PostgreSQL pass data again, after `cut_lines`."""
        self.bus_line.send_order("mend")
        self.store_line.send_order("mend")

    def restore_and_start(self) -> None:
        """Undo `cut_lines`, and start the process, which must have ended."""
        self.restore_lines()
        self.start()

    def get(self, path: str) -> tuple[int, str]:
        """Return the status and body of the answer to a GET; status 0 and the error if there is no answer in 2 s."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def is_ready(self) -> bool:
        """Return True if this process can serve: an edge is connected to a core, or a core leads or waits to take over."""
        if self.role != "core":
            return self.get("/readyz")[0] == 200
        response = self.log.read_bytes()[self._last_exit_report :]
        return b" leads, " in response or b"waiting to take over" in response

    async def wait_ready(self, seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Wait until the process is ready. Raises RuntimeError if it has ended, or after `seconds`."""
        end_time = time.monotonic() + seconds
        while not await asyncio.to_thread(self.is_ready):
            if not self.is_running or time.monotonic() > end_time:
                raise RuntimeError(
                    f"{self.name} did not become ready; end of its log:\n{self.log.read_text()[-3000:]}"
                )
            await asyncio.sleep(POLL_SECONDS)

    async def stop(self) -> int:
        """Stop the process with SIGTERM, wait for its end, and return its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return await asyncio.to_thread(self.process.wait, STOP_SECONDS)

    def close(self) -> None:
        """Kill the process and close its lines."""
        self.kill()
        for line in self._forwarders or ():
            line.close()


class Cluster:
    """Cluster of edges and cores, started by `run_cluster`. `members`: all its processes."""

    def __init__(
        self, folder: Path, nats: NatsServer, postgresql: Path, database: str, options: tuple[str, ...]
    ) -> None:
        self.members: list[ClusterMember] = []
        self.database = f"postgresql://arena@/{database}?host={postgresql}"
        """URL of the database for a direct connection, which no cut of a line affects."""
        self._folder = folder
        self._nats = nats
        self._postgresql = postgresql
        self._name = database
        self._options = options

    @property
    def edges(self) -> list[ClusterMember]:
        return [member for member in self.members if member.role == "edge"]

    @property
    def cores(self) -> list[ClusterMember]:
        return [member for member in self.members if member.role == "core"]

    async def add_member(self, role: Role) -> ClusterMember:
        """Start another process of the cluster, with lines of its own, and return it without waiting until it is ready."""
        bus = await asyncio.to_thread(ForwarderProcess, self._nats.port)
        store = await asyncio.to_thread(ForwarderProcess, self._postgresql / SOCKET)
        name = f"{role}-{len(self.members) + 1}"
        words = (
            f"--set=bus.url=nats://127.0.0.1:{bus.port}",
            *("--db", f"postgresql://arena@127.0.0.1:{store.port}/{self._name}"),
            *self._options,
        )
        member = ClusterMember(role, name, self._folder / f"{name}.log", words, (bus, store))
        self.members.append(member)
        member.start()
        return member

    async def find_leader(self) -> ClusterMember | None:
        """Return the leader, which is the core that holds the lease in the database; None if no core does."""
        connection = await asyncpg.connect(self.database)
        try:
            pid = await connection.fetchval(LEADER_QUERY, SHARD)
        finally:
            await connection.close()
        return next((core for core in self.cores if core.process is not None and core.pid == pid), None)

    async def wait_for_leader(
        self, other_than: ClusterMember | None = None, seconds: float = START_TIMEOUT_SECONDS
    ) -> ClusterMember:
        """Wait until a core other than `other_than` leads, and return that core. Raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            while (leader := await self.find_leader()) is None or leader is other_than:  # noqa: ASYNC110  the store tells nobody
                await asyncio.sleep(POLL_SECONDS)
        return leader

    def list_logs(self) -> list[Path]:
        return [member.log for member in self.members]


@asynccontextmanager
async def run_cluster(
    edges: int, cores: int, folder: Path, nats: NatsServer, postgresql: Path, database: str, *options: str
) -> AsyncIterator[Cluster]:
    """Run a cluster until the end of the block, which begins once all processes are ready.

    edges, cores: number of processes of each role
    folder: folder of the logs
    postgresql: folder of PostgreSQL's Unix socket
    database: name of an empty database, to which the PostgreSQL role `arena` has access
    options: further options of `arena serve` for all processes
    """
    cluster = Cluster(folder, nats, postgresql, database, options)
    try:
        for _ in range(cores):
            await (await cluster.add_member("core")).wait_ready()  # the first core creates the tables
        for _ in range(edges):
            await cluster.add_member("edge")
        for member in cluster.members:
            await member.wait_ready()
        yield cluster
    finally:
        for member in cluster.members:
            await asyncio.to_thread(member.close)
