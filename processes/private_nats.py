"""Private NATS message server, over which the arena's server processes on one machine communicate.

The NATS server is restarted when it ends unexpectedly, and stops with the process that started it.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.abc

from arena.clock import MONOTONIC_CLOCK
from arena.processes.supervisor import make_supervised_command
from arena.processes.tasks import open_background_tasks

log = logging.getLogger("arena.processes")

EXTRA_PROGRAM_FOLDERS = ("/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
"""Folders in which packages of Linux distributions install nats-server, and which may be missing in PATH."""
NATS_START_TIMEOUT_SECONDS = 60.0
"""Maximum time for the NATS server to start, in seconds."""
LISTEN_POLL_INTERVAL_SECONDS = 0.02
"""Interval between checks whether the NATS server listens, while it starts, in seconds."""
RESTART_PAUSE_SECONDS = 0.5
"""Pause after a failed restart of the NATS server, in seconds."""
NATS_USER = "arena"
"""Name of the NATS server's only user."""


class NatsNotStarted(Exception):
    """Raised when the NATS server cannot be started. The message is one line with the reason."""


class PrivateNats:
    """NATS server on a loopback port. Only processes that can read its password file can connect."""

    def __init__(self, nats_program: str, folder: Path) -> None:
        """Write a new random password into a file. `start` starts the NATS server.

        nats_program  path of the program nats-server
        folder        existing folder that only this user can read, for the password, the configuration and the log
        """
        self.password_file = folder / "password"
        self._program = nats_program
        self._folder = folder
        self._port = -1  # any free port at the first start
        self._process: anyio.abc.Process | None = None
        self.password_file.write_text(secrets.token_urlsafe(24), encoding="ascii")

    @property
    def url(self) -> str:
        """URL of the NATS server with the user's name. The password is in `password_file`."""
        return f"nats://{NATS_USER}@127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start or restart the NATS server, and wait until it accepts connections. A restart keeps the port.

        Raises NatsNotStarted if the NATS server cannot be started, ends, or does not listen within NATS_START_TIMEOUT_SECONDS.
        """
        await self.close()
        log_file = self._folder / "log"
        try:
            self._process = await self._write_config_and_start_process(log_file)
        except OSError as error:
            raise NatsNotStarted(
                f"cannot start {self._program} with its files in {self._folder}: {error.strerror}"
            ) from None
        with anyio.move_on_after(NATS_START_TIMEOUT_SECONDS):
            while self._process.returncode is None:
                for file in self._folder.glob("*.ports"):
                    if port := _read_client_port(file):
                        self._port = port
                        return
                await MONOTONIC_CLOCK.sleep(LISTEN_POLL_INTERVAL_SECONDS)
        last_lines = (
            log_file.read_text(encoding="utf-8", errors="replace").splitlines() if log_file.exists() else []
        ) or ["it printed nothing"]
        raise NatsNotStarted(f"cannot start {self._program}: {last_lines[-1]}")

    async def _write_config_and_start_process(self, log_file: Path) -> anyio.abc.Process:
        """Write the configuration file, and start the NATS server's process, which logs to `log_file`."""
        config = self._folder / "nats.conf"
        user = {"user": NATS_USER, "password": self.password_file.read_text(encoding="ascii")}
        # nats-server accepts JSON as its configuration
        settings = {"host": "127.0.0.1", "port": self._port, "authorization": user}
        config.write_text(json.dumps(settings), encoding="utf-8")
        for stale_file in self._folder.glob("*.ports"):
            stale_file.unlink()
        arguments = ("--config", str(config), "--ports_file_dir", str(self._folder), "--log", str(log_file))
        return await anyio.open_process(
            make_supervised_command(self._program, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
        )

    async def restart_on_exit(self) -> None:
        """Restart the NATS server whenever it ends, until cancelled. A failed restart is logged and retried."""
        while self._process is not None:
            await self._process.wait()
            log.warning("the private NATS server ended; restarting it")
            try:
                await self.start()
            except NatsNotStarted as error:
                log.warning("%s", error)
                await MONOTONIC_CLOCK.sleep(RESTART_PAUSE_SECONDS)

    async def close(self) -> None:
        """Stop the NATS server by closing its supervisor's pipe, and wait for its end. Cancellation does not interrupt this."""
        if self._process is not None:
            with anyio.CancelScope(shield=True):
                await self._process.aclose()


@asynccontextmanager
async def open_private_nats() -> AsyncIterator[PrivateNats]:
    """Run a private NATS server during the `with` block. Raises NatsNotStarted if NATS is not installed or does not start."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_PROGRAM_FOLDERS])
    program = shutil.which("nats-server", path=path)
    if program is None:
        raise NatsNotStarted(
            "server.processes > 1 needs a NATS server: install the package nats-server, or set bus.url"
        )
    with TemporaryDirectory(prefix="arena-nats-", ignore_cleanup_errors=True) as folder:
        nats = PrivateNats(program, Path(folder))
        try:
            await nats.start()
            async with open_background_tasks() as tasks:
                tasks.start_soon(nats.restart_on_exit)
                yield nats
        finally:
            await nats.close()


def _read_client_port(ports_file: Path) -> int | None:
    """Return the port for clients from the JSON file that nats-server writes; None while the file is incomplete."""
    try:
        (address,) = json.loads(ports_file.read_text(encoding="utf-8"))["nats"]
        return int(address.rpartition(":")[2])
    except (OSError, ValueError, KeyError):
        return None
