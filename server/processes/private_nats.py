"""A NATS for the servers of one machine alone: started, kept running, and never outliving whoever started it."""

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
from anyio import to_thread

from arena.server.processes.supervisor import supervised
from arena.server.processes.tasks import cancelled_at_exit

log = logging.getLogger("arena.processes")

MORE_PLACES = ("/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
"""Where packages put it, which an ordinary user's PATH may not name."""
START_SECONDS = 10.0
POLL_SECONDS = 0.02
AGAIN_SECONDS = 0.5
"""From its end to its new beginning."""
USER = "arena"
MAX_PAYLOAD = 1 << 20


class NoNats(Exception):
    """There is none: one line that says what to do."""


class PrivateNats:
    """A nats-server on a loopback port that only those know who can read its password."""

    def __init__(self, program: str, folder: Path) -> None:
        """program: its path; folder: one that nobody else may enter."""
        self.password_file = folder / "password"
        self._program = program
        self._folder = folder
        self._port = -1  # a free one, the first time
        self._process: subprocess.Popen[bytes] | None = None
        self.password_file.write_text(secrets.token_urlsafe(24), encoding="ascii")

    @property
    def url(self) -> str:
        """Where it is; the password is in its file."""
        return f"nats://{USER}@127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start it, and wait until it listens. Raises NoNats."""
        self.close()
        config = self._folder / "nats.conf"
        user = {"user": USER, "password": self.password_file.read_text(encoding="ascii")}
        # its configuration may be JSON
        settings = {
            "host": "127.0.0.1",
            "port": self._port,
            "authorization": user,
            "max_payload": MAX_PAYLOAD,
        }
        config.write_text(json.dumps(settings), encoding="utf-8")
        for old in self._folder.glob("*.ports"):
            old.unlink()
        log = self._folder / "log"
        words = ("--config", str(config), "--ports_file_dir", str(self._folder), "--log", str(log))
        self._process = await to_thread.run_sync(self._popen, words)
        with anyio.move_on_after(START_SECONDS):
            while self._process.poll() is None:
                for file in self._folder.glob("*.ports"):
                    if port := _port_in(file):
                        self._port = port
                        return
                await anyio.sleep(POLL_SECONDS)
        last = (log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []) or [
            "it says nothing"
        ]
        raise NoNats(f"{self._program} does not come up: {last[-1]}")

    async def keep(self) -> None:
        """Start it again whenever it ends, until cancelled."""
        while True:
            await anyio.sleep(AGAIN_SECONDS)
            if self._process is None or self._process.poll() is None:
                continue
            log.warning("the private NATS has ended, and is started again")
            try:
                await self.start()
            except NoNats as error:
                log.warning("%s", error)

    def close(self) -> None:
        """End it."""
        if self._process is not None and self._process.stdin is not None:
            # Its supervisor ends it when this pipe closes.
            self._process.stdin.close()
            self._process.wait()

    def _popen(self, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  the program was found on this machine's own paths
            supervised(self._program, *words), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )


@asynccontextmanager
async def private_nats() -> AsyncIterator[PrivateNats]:
    """One that runs as long as the block. Raises NoNats."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *MORE_PLACES])
    program = shutil.which("nats-server", path=path)
    if program is None:
        raise NoNats(
            "server.processes needs a NATS between the servers: install the package nats-server, or set bus.url"
        )
    with TemporaryDirectory(prefix="arena-nats-", ignore_cleanup_errors=True) as folder:
        nats = PrivateNats(program, Path(folder))
        try:
            await nats.start()
            async with cancelled_at_exit() as tasks:
                tasks.start_soon(nats.keep)
                yield nats
        finally:
            nats.close()


def _port_in(file: Path) -> int | None:
    """The port for clients in what it tells of its ports; None where that is not written yet."""
    try:
        (told,) = json.loads(file.read_text(encoding="utf-8"))["nats"]
        return int(told.rpartition(":")[2])
    except (OSError, ValueError, KeyError):
        return None
