"""`arena serve` as a process that tests stop, kill and start again.

The cores of a cluster play the matches, and its edges hold the connections to the clients.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Literal

from testkit.forked import ForkedCommand
from testkit.forwarder import ForwarderProcess

PROJECT_FOLDER = Path(__file__).parents[1]
SERVER_START_TIMEOUT_SECONDS = 200
"""Maximum time for a process to become ready, in seconds."""
MAX_DRAIN_SECONDS = 200
"""Maximum time for which a stopped server waits for its matches in progress to end, in seconds."""
STOP_TIMEOUT_SECONDS = MAX_DRAIN_SECONDS + 30
"""Maximum time from the signal to stop to the end of the process, in seconds."""
POLL_INTERVAL_SECONDS = 0.02
"""Seconds between two checks whether a process is ready."""
SHARD_NAME = "shard"
"""Server name (setting `server.name`) that all processes of a test cluster share."""
Role = Literal["all", "edge", "core"]


class ServerProcess:
    """Single server, or one process of a cluster: an edge (holds connections) or a core (runs matches).

    The process may reach NATS and PostgreSQL through forwarders, whose connections a test can cut. Its port and its
    forwarders stay the same over restarts.
    """

    def __init__(
        self,
        role: Role,
        name: str,
        log_file: Path,
        options: tuple[str, ...],
        forwarders: tuple[ForwarderProcess, ForwarderProcess] | None = None,
    ) -> None:
        """Prepare a process without starting it.

        role: `edge` (holds connections), `core` (plays matches), or `all` for both
        name: name of the process in error messages
        log_file: file to which the log (standard error) of each run is appended
        options: further options of `arena serve`, besides those that every test server gets
        forwarders: forwarder to NATS and forwarder to PostgreSQL; None if the options lead to them directly
        """
        self.role = role
        self.name = name
        self.log_file = log_file
        self._forwarders = forwarders
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.process: ForkedCommand | None = None
        self._log_size_at_start = 0
        """Size of the process's log before its last start, in bytes."""
        name_options = () if role == "all" else (f"--set=server.name={SHARD_NAME}",)
        listens = f"--set=server.metrics_port={self.port}" if role == "core" else f"--port={self.port}"
        self._arguments = (
            *("serve", "--role", role, *name_options, listens, "--anyone"),
            *("--set=house.engines=none", "--set=limits.connections_per_address=4096", *options),
        )

    @property
    def bus_forwarder(self) -> ForwarderProcess:
        """Forwarder through which the process reaches NATS. Raises ValueError if there is none."""
        return self._get_forwarder(0)

    @property
    def database_forwarder(self) -> ForwarderProcess:
        """Forwarder through which the process reaches PostgreSQL. Raises ValueError if there is none."""
        return self._get_forwarder(1)

    def _get_forwarder(self, index: int) -> ForwarderProcess:
        if self._forwarders is None:
            raise ValueError(
                f"{self.name} reaches NATS and PostgreSQL directly, so its connections cannot be disturbed: pass `forwarders`"
            )
        return self._forwarders[index]

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
        """Start the process, and return without waiting until it is ready (`wait_until_ready`)."""
        self.log_file.touch()
        self._log_size_at_start = self.log_file.stat().st_size
        self.process = ForkedCommand(*self._arguments, cwd=PROJECT_FOLDER, stderr=self.log_file)

    def kill(self) -> None:
        """Kill the process, even if it is suspended, and wait for its end. The kernel closes its connections."""
        if self.process is not None and self.is_running:
            os.kill(self.pid, signal.SIGKILL)  # also ends a suspended process
            self.process.wait(SERVER_START_TIMEOUT_SECONDS)

    def suspend(self) -> None:
        """Suspend the process with SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process with SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def partition_network(self) -> None:
        """Cut the connections to NATS and PostgreSQL without closing them. Bots still reach the process."""
        self.bus_forwarder.send_command("cut")
        self.database_forwarder.send_command("cut")

    def heal_network(self) -> None:
        """Undo `partition_network`: the connections to NATS and PostgreSQL pass data again."""
        self.bus_forwarder.send_command("mend")
        self.database_forwarder.send_command("mend")

    def heal_network_and_start(self) -> None:
        """Undo `partition_network`, and start the process, which must have ended."""
        self.heal_network()
        self.start()

    def http_get(self, path: str) -> tuple[int, str]:
        """Return the status and body of the answer to a GET; status 0 and the error if there is no answer in 20 s."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def is_ready(self) -> bool:
        """Return True if this process is ready.

        An edge (which holds connections) is ready if it is connected to a core. A core (which runs the matches) is ready if it
        leads, or waits to take over.
        """
        if self.role != "core":
            return self.http_get("/readyz")[0] == 200
        response = self.log_file.read_bytes()[self._log_size_at_start :]
        return b" leads, " in response or b"waiting to take over" in response

    async def wait_until_ready(self, timeout_seconds: float = SERVER_START_TIMEOUT_SECONDS) -> None:
        """Wait until the process is ready. Raises RuntimeError if it has ended, or after `timeout_seconds`."""
        end_time = time.monotonic() + timeout_seconds
        while not await asyncio.to_thread(self.is_ready):
            if not self.is_running or time.monotonic() > end_time:
                raise RuntimeError(
                    f"{self.name} did not become ready; end of its log:\n{self.log_file.read_text()[-3000:]}"
                )
            await asyncio.sleep(POLL_INTERVAL_SECONDS)

    async def stop(self, signal_number: signal.Signals = signal.SIGTERM) -> int:
        """Send the process a signal, wait for its end, and return its exit code; -N if signal N ended it."""
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        self.process.send_signal(signal_number)
        return await asyncio.to_thread(self.process.wait, STOP_TIMEOUT_SECONDS)

    def close(self) -> None:
        """Kill the process, and close its forwarders."""
        self.kill()
        for forwarder in self._forwarders or ():
            forwarder.close()
