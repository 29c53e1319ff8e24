"""Several servers of this machine that are one arena behind one port: `server.processes`."""

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
from time import monotonic
from typing import Never

import anyio
import typer

from arena.console import Failure, err
from arena.server.bus.address import PASSWORD_FILE
from arena.server.net.addresses import listen_problem, url
from arena.server.processes.private_nats import NoNats, private_nats
from arena.server.processes.supervisor import supervised
from arena.server.processes.tasks import cancelled_at_exit
from arena.server.settings import ServerSettings, Settings

log = logging.getLogger("arena.processes")

BACKOFF_SECONDS = 0.5
"""The pause before a server that has ended is started again; it doubles for each in a row that did not last."""
BACKOFF_LIMIT = 15.0
LASTING_SECONDS = 10.0
"""How long a server runs that counts as one that lasted."""
FIRST_SECONDS = 60.0
"""How long the first one may take to listen: it makes the tables of an empty store."""
POLL_SECONDS = 0.05


@dataclass
class Child:
    """One of the servers."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it under a supervisor, so that it never outlives this process."""
        command = supervised(*self.command, niceness=0)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, env=self.environment)  # noqa: S603  this command itself

    @property
    def code(self) -> int | None:
        """With what it ended; None while it runs."""
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.process.poll()

    def tell(self, number: int) -> None:
        """Hand a signal on."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, once it has one."""
        while (code := self.code) is None:  # noqa: ASYNC110  a process's end sets no event
            await anyio.sleep(POLL_SECONDS)
        return code

    def close(self) -> None:
        """Leave nothing behind: its supervisor kills it when this pipe closes."""
        if self.process is not None:
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process.wait()


def serve_processes(settings: Settings, *, reloads: bool) -> Never:
    """Be the parent of the servers, each called as this command was, until told to stop.

    reloads: hand SIGHUP on, so that the servers read their settings again; else it ends this process

    Raises Failure, and typer.Exit when they have ended.
    """
    place = settings.server
    try:
        with closing(_reserve(place.host, place.port)) as reserved:
            code = anyio.run(_serve, settings, reserved.getsockname()[1], reloads)
    except NoNats as error:
        raise Failure(str(error)) from None
    raise typer.Exit(code)


def _reserve(host: str, port: int) -> socket.socket:
    """The port, for the servers to share. Nobody is served by this socket, which does not listen. Raises Failure."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Failure(listen_problem(host, port, error)) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind(address)
    except OSError as error:
        made.close()
        raise Failure(listen_problem(host, port, error)) from None
    return made


async def _serve(settings: Settings, port: int, reloads: bool) -> int:  # noqa: FBT001  anyio.run takes no keywords
    place, secure = settings.server, bool(settings.tls.cert)
    host, count = place.host, place.processes
    name = place.name or socket.gethostname()
    stops = {signal.SIGINT, signal.SIGTERM}
    async with _carried(settings.bus.url) as (address, environment):
        children = [
            Child(each, _command(each, port, _metrics_port(place, number), address), environment)
            for number in range(count)
            for each in [f"{name}-{number + 1}"]
        ]
        try:
            with anyio.open_signal_receiver(*stops, *([signal.SIGHUP] if reloads else ())) as signals:
                code = await _come_up(children, host, port)
                if code is not None:
                    return code
                scheme = url(host, port)
                err.print(
                    f"{count} servers listen on {scheme.replace('ws:', 'wss:', 1) if secure else scheme}",
                    markup=False,
                    soft_wrap=True,
                )
                async with cancelled_at_exit() as tasks:
                    for each in children:
                        tasks.start_soon(_keep, each)
                    async for number in signals:
                        if number in stops:
                            break
                        for each in children:
                            each.tell(number)
                async with cancelled_at_exit() as tasks:

                    async def hand_on() -> None:
                        async for again in signals:
                            for each in children:
                                each.tell(again)

                    tasks.start_soon(hand_on)
                    for each in children:
                        each.tell(number)
                    codes = [await each.ended() for each in children]
                # One that was told before it could listen to signals ended by the signal itself.
                return max(0 if code == 128 + number else code for code in codes)
        finally:
            for each in children:
                each.close()


def _metrics_port(place: ServerSettings, number: int) -> int:
    return place.metrics_port + number if place.metrics_port else 0


def _command(name: str, port: int, metrics_port: int, bus: str) -> list[str]:
    """Return the command of one server: this process's own, with the settings that are the server's."""
    own = {
        "server.processes": 1,
        "server.name": name,
        "server.port": port,
        "server.reuse_port": "true",
        "server.metrics_port": metrics_port,
        "bus.url": bus,
    }
    options = (word for key, value in own.items() for word in ("--set", f"{key}={value}"))
    return [sys.executable, "-P", "-m", "arena", *sys.argv[1:], *options]


@asynccontextmanager
async def _carried(bus: str) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """The address of the bus, and the environment of who uses it."""
    if bus:
        yield bus, dict(os.environ)
        return
    async with private_nats() as nats:
        # The password is in a file, as other users of this machine can read command lines.
        yield nats.url, {**os.environ, PASSWORD_FILE: str(nats.password_file)}


async def _come_up(children: Sequence[Child], host: str, port: int) -> int | None:
    """Start the first, and the others once it listens; the exit code where it ended instead, as it then has said why."""
    first, *others = children
    first.start()
    with anyio.move_on_after(FIRST_SECONDS):
        while first.code is None:
            try:
                async with await anyio.connect_tcp(_near(host), port):
                    break
            except OSError:
                await anyio.sleep(POLL_SECONDS)
    if first.code is not None:
        return first.code
    for each in others:
        each.start()
    return None


def _near(host: str) -> str:
    """Where this machine reaches what listens on that address."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104


async def _keep(child: Child) -> None:
    """Start a server again whenever it ends, until cancelled."""
    pause = BACKOFF_SECONDS
    while True:
        began = monotonic()
        code = await child.ended()
        pause = BACKOFF_SECONDS if monotonic() - began > LASTING_SECONDS else min(2 * pause, BACKOFF_LIMIT)
        log.warning("the server %s ended with %d; it is started again in %g s", child.name, code, pause)
        await anyio.sleep(pause)
        child.close()
        child.start()
