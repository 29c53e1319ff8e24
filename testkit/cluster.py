"""Cluster of `arena serve` processes, edges and cores, on one PostgreSQL and one NATS.

Unless `uses_forwarders` is False, each process reaches PostgreSQL and NATS through forwarders (`testkit.forwarder`), whose
connections can be cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from testkit.forwarder import ForwarderProcess
from testkit.nats_server import NatsServer
from testkit.server_process import (
    POLL_INTERVAL_SECONDS,
    SERVER_START_TIMEOUT_SECONDS,
    SHARD_NAME,
    Role,
    ServerProcess,
)

POSTGRESQL_SOCKET_NAME = ".s.PGSQL.5432"
"""Name of PostgreSQL's Unix socket in its folder."""
LEADER_PID_QUERY = "SELECT pid FROM servers WHERE name = $1 AND until > extract(epoch FROM clock_timestamp())"
"""Query for the process id of the leader: the core (process that plays matches) with the lease on the server's name, $1."""


class Cluster:
    """Cluster of server processes: edges, which hold the connections, and cores, which play the matches.

    Started by `run_cluster`. `members` are all processes of the cluster.
    """

    def __init__(
        self,
        folder: Path,
        nats: NatsServer,
        postgresql_socket_folder: Path,
        database_name: str,
        options: tuple[str, ...],
        *,
        uses_forwarders: bool,
    ) -> None:
        self.members: list[ServerProcess] = []
        self.database_url = f"postgresql://arena@/{database_name}?host={postgresql_socket_folder}"
        """URL for a direct connection to the database, not through a forwarder, so that no test cuts it."""
        self._folder = folder
        self._nats = nats
        self._postgresql_socket_folder = postgresql_socket_folder
        self._database_name = database_name
        self._options = options
        self._uses_forwarders = uses_forwarders

    @property
    def edges(self) -> list[ServerProcess]:
        return [member for member in self.members if member.role == "edge"]

    @property
    def cores(self) -> list[ServerProcess]:
        return [member for member in self.members if member.role == "core"]

    async def add_server(self, role: Role) -> ServerProcess:
        """Start another process, and return it without waiting until it is ready. A process with the role `all` does not use
        NATS.
        """
        bus_url, database_url, forwarders = self._nats.url, self.database_url, None
        if self._uses_forwarders:
            bus_forwarder = await asyncio.to_thread(ForwarderProcess, self._nats.port)
            database_forwarder = await asyncio.to_thread(
                ForwarderProcess, self._postgresql_socket_folder / POSTGRESQL_SOCKET_NAME
            )
            bus_url = f"nats://127.0.0.1:{bus_forwarder.port}"
            database_url = f"postgresql://arena@127.0.0.1:{database_forwarder.port}/{self._database_name}"
            forwarders = (bus_forwarder, database_forwarder)
        name = f"{role}-{len(self.members) + 1}"
        bus_options = () if role == "all" else (f"--set=bus.url={bus_url}",)
        options = (*bus_options, "--db", database_url, *self._options)
        member = ServerProcess(role, name, self._folder / f"{name}.log", options, forwarders)
        self.members.append(member)
        member.start()
        return member

    async def find_leader(self) -> ServerProcess | None:
        """Return the leader, which is the core that holds the lease in the database; None if no core holds the lease."""
        connection = await asyncpg.connect(self.database_url)
        try:
            pid = await connection.fetchval(LEADER_PID_QUERY, SHARD_NAME)
        finally:
            await connection.close()
        return next((core for core in self.cores if core.process is not None and core.pid == pid), None)

    async def wait_for_leader(
        self, excluded: ServerProcess | None = None, timeout_seconds: float = SERVER_START_TIMEOUT_SECONDS
    ) -> ServerProcess:
        """Wait until a core other than `excluded` leads, and return that core. Raises TimeoutError after `timeout_seconds`."""
        async with asyncio.timeout(timeout_seconds):
            while (leader := await self.find_leader()) is None or leader is excluded:  # noqa: ASYNC110  the store tells nobody
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
        return leader

    def list_log_files(self) -> list[Path]:
        return [member.log_file for member in self.members]


@asynccontextmanager
async def run_cluster(
    edge_count: int,
    core_count: int,
    folder: Path,
    nats: NatsServer,
    postgresql_socket_folder: Path,
    database_name: str,
    *options: str,
    uses_forwarders: bool = True,
) -> AsyncIterator[Cluster]:
    """Run a cluster until the end of the `with` block, which begins once all processes are ready.

    edge_count, core_count: number of processes of each role
    folder: folder of the logs
    postgresql_socket_folder: folder of PostgreSQL's Unix socket
    database_name: name of an empty database, to which the PostgreSQL role `arena` has access
    options: further options of `arena serve` for all processes
    uses_forwarders: True if each process reaches NATS and PostgreSQL through forwarders of its own, whose connections a test
      can cut
    """
    cluster = Cluster(
        folder, nats, postgresql_socket_folder, database_name, options, uses_forwarders=uses_forwarders
    )
    try:
        for _ in range(core_count):
            await (await cluster.add_server("core")).wait_until_ready()  # the first core creates the tables
        for _ in range(edge_count):
            await cluster.add_server("edge")
        for member in cluster.members:
            await member.wait_until_ready()
        yield cluster
    finally:
        for member in cluster.members:
            await asyncio.to_thread(member.close)
