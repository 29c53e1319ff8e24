"""Cluster on one machine, for the setting `server.processes`: a core process, and several edge processes behind one port."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Never

import anyio
import anyio.abc
import typer

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.console import CommandError, err
from arena.processes.private_nats import NatsNotStarted, open_private_nats
from arena.processes.supervisor import make_supervised_command
from arena.processes.tasks import open_background_tasks
from arena.server.cluster.address import BUS_PASSWORD_FILE_ENV_VARIABLE
from arena.server.commands.lifecycle import STOP_SIGNALS
from arena.server.edge.addresses import choose_reachable_host, describe_listen_error, make_websocket_url
from arena.server.host import open_store
from arena.server.settings import ArenaSettings, ProcessRole, ServerSettings
from arena.server.store.errors import StoreError

log = logging.getLogger("arena.processes")

FIRST_RESTART_PAUSE_SECONDS = 0.5
"""Pause before restarting a server process that ran longer than `MIN_STABLE_UPTIME_SECONDS`, in seconds.

After each shorter run, the pause is doubled.
"""
MAX_RESTART_PAUSE_SECONDS = 15.0
"""Maximum pause before the restart of a server process, in seconds."""
MIN_STABLE_UPTIME_SECONDS = 10.0
"""Uptime of a server process, in seconds, after which its restart waits only `FIRST_RESTART_PAUSE_SECONDS`."""
CLUSTER_START_TIMEOUT_SECONDS = 60.0
"""Maximum time to wait until an edge (process that holds the clients' connections) accepts connections, in seconds."""
START_POLL_INTERVAL_SECONDS = 0.05
"""Interval between two attempts to connect to the port of the edge processes while they start, in seconds."""


@dataclass
class ServerProcess:
    """Child process of a cluster: an edge process (connections of clients) or the core process (matches)."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    process: anyio.abc.Process | None = None

    async def start(self) -> None:
        """Start the process. A supervisor process kills it if this parent process ends, even by a crash."""
        command = make_supervised_command(*self.command, niceness=0)
        self.process = await anyio.open_process(
            command, stdin=subprocess.PIPE, stdout=None, stderr=None, env=self.environment
        )

    @property
    def exit_code(self) -> int | None:
        """Exit code of the process; None while it runs, and before its start."""
        return None if self.process is None else self.process.returncode

    def send_signal(self, signal_number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.process is not None and self.exit_code is None:
            self.process.send_signal(signal.Signals(signal_number))

    async def wait(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        if self.process is None:
            raise RuntimeError(f"the process {self.name} was never started: call start() first")
        return await self.process.wait()

    async def close(self) -> None:
        """Kill the process by closing its supervisor's pipe, and wait for its end. Cancellation does not interrupt this."""
        if self.process is not None:
            with anyio.CancelScope(shield=True):
                await self.process.aclose()


def serve_local_cluster(settings: ArenaSettings, *, forward_sighup: bool) -> Never:
    """Run the core process and the edge processes of a cluster as child processes until stopped.

    forward_sighup: True to forward SIGHUP to the child processes, which then reload their settings; False to let SIGHUP
    end this process

    Raises typer.Exit when all processes have ended, and CommandError if the cluster cannot start.
    """
    server_settings = settings.server
    try:
        with closing(_reserve_port(server_settings.host, server_settings.port)) as reserved:
            anyio.run(_create_or_migrate_store, settings)
            exit_code = anyio.run(_run_server_processes, settings, reserved.getsockname()[1], forward_sighup)
    except (NatsNotStarted, StoreError) as error:
        raise CommandError(str(error)) from None
    raise typer.Exit(exit_code)


async def _create_or_migrate_store(settings: ArenaSettings) -> None:
    """Create or migrate the store before the processes start, so that an error of the store is reported only once."""
    async with open_store(settings):
        pass


def _reserve_port(host: str, port: int) -> socket.socket:
    """Bind the port that the edge processes will share. Return its socket, which keeps the port reserved while it is open.

    The socket does not listen, so it gets no connections.

    Raises CommandError if the port is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CommandError(describe_listen_error(host, port, error)) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise CommandError(describe_listen_error(host, port, error)) from None
    return listener


async def _run_server_processes(settings: ArenaSettings, port: int, forward_sighup: bool) -> int:  # noqa: FBT001  anyio.run takes no keywords
    server_settings, secure = settings.server, bool(settings.tls.cert)
    host, count = server_settings.host, server_settings.processes
    async with _open_bus_or_private_nats(settings.bus.url) as (address, environment):
        core = ServerProcess("the core", _make_child_command(ProcessRole.CORE, port, 0, address), environment)
        edges = [
            ServerProcess(
                f"edge {number + 1}",
                _make_child_command(
                    ProcessRole.EDGE, port, _choose_metrics_port(server_settings, number), address
                ),
                environment,
            )
            for number in range(count)
        ]
        children = [core, *edges]
        try:
            with anyio.open_signal_receiver(
                *STOP_SIGNALS, *([signal.SIGHUP] if forward_sighup else ())
            ) as signals:
                exit_code = await _start_all_processes(children, host, port)
                if exit_code is not None:
                    return exit_code
                scheme = make_websocket_url(host, port)
                err.print(f"{count} edges listen on {scheme.replace('ws:', 'wss:', 1) if secure else scheme}")
                async with open_background_tasks() as tasks:
                    for child in children:
                        tasks.start_soon(_restart_on_exit, child)
                    async for signal_number in signals:
                        if signal_number in STOP_SIGNALS:
                            break
                        for child in children:
                            child.send_signal(signal_number)
                async with open_background_tasks() as tasks:

                    async def forward_signals() -> None:
                        async for further_signal in signals:
                            for child in children:
                                child.send_signal(further_signal)

                    tasks.start_soon(forward_signals)
                    for child in children:
                        child.send_signal(signal_number)
                    exit_codes = [await child.wait() for child in children]
                # The signal ends a process that has no handler for it yet. This is no error.
                return max(0 if exit_code == 128 + signal_number else exit_code for exit_code in exit_codes)
        finally:
            for child in children:
                await child.close()


def _choose_metrics_port(settings: ServerSettings, process_number: int) -> int:
    return settings.metrics_port + process_number if settings.metrics_port else 0


def _make_child_command(role: ProcessRole, port: int, metrics_port: int, bus_url: str) -> list[str]:
    """Return this process's own command line, with options added for the role, ports and NATS URL of a child process."""
    role_settings = {
        "server.role": role.value,
        "server.processes": 1,
        "server.port": port,
        "server.reuse_port": "true",
        "server.metrics_port": metrics_port,
        "bus.url": bus_url,
    }
    options = (word for key, value in role_settings.items() for word in ("--set", f"{key}={value}"))
    return [sys.executable, "-P", "-m", "arena", *sys.argv[1:], *options]


@asynccontextmanager
async def _open_bus_or_private_nats(bus_url: str) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Yield the URL of the NATS server, and the environment variables for its clients.

    bus_url: URL of an existing NATS server; if it is empty, run a private one during the `async with` block
    """
    if bus_url:
        yield bus_url, dict(os.environ)
        return
    async with open_private_nats() as nats:
        # The password is in a file, because other users of this machine can read command lines.
        yield nats.url, {**os.environ, BUS_PASSWORD_FILE_ENV_VARIABLE: str(nats.password_file)}


async def _start_all_processes(children: Sequence[ServerProcess], host: str, port: int) -> int | None:
    """Start all processes, and wait until an edge process accepts connections or `CLUSTER_START_TIMEOUT_SECONDS` have passed.

    Return the exit code of a process that ends during the wait; None if none does.
    """
    for child in children:
        await child.start()
    with anyio.move_on_after(CLUSTER_START_TIMEOUT_SECONDS):
        while True:
            exit_codes = [child.exit_code for child in children if child.exit_code is not None]
            if exit_codes:
                return exit_codes[0]
            try:
                async with await anyio.connect_tcp(choose_reachable_host(host), port):
                    break
            except OSError:
                await MONOTONIC_CLOCK.sleep(START_POLL_INTERVAL_SECONDS)
    return None


async def _restart_on_exit(child: ServerProcess, clock: TimeSource = MONOTONIC_CLOCK) -> None:
    pause_seconds = FIRST_RESTART_PAUSE_SECONDS
    while True:
        start_time = clock.now()
        exit_code = await child.wait()
        pause_seconds = (
            FIRST_RESTART_PAUSE_SECONDS
            if clock.now() - start_time > MIN_STABLE_UPTIME_SECONDS
            else min(2 * pause_seconds, MAX_RESTART_PAUSE_SECONDS)
        )
        log.warning("%s ended with exit code %d; restarting it in %g s", child.name, exit_code, pause_seconds)
        await clock.sleep(pause_seconds)
        await child.close()
        await child.start()
