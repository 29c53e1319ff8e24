"""`arena serve --processes N`: so many servers of this machine that are one arena behind one port."""

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
from typing import Annotated

import anyio
import typer

from arena.console import Failure, err
from arena.server.bus.address import PASSWORD_FILE
from arena.server.net.addresses import listen_problem, url
from arena.server.processes.private_nats import NoNats, private_nats
from arena.server.processes.supervisor import supervised
from arena.server.processes.tasks import cancelled_at_exit

log = logging.getLogger("arena.processes")

ProcessesOption = Annotated[
    int,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        max=256,
        help="So many servers on this machine that are one arena behind one port; they share a PostgreSQL.",
    ),
]
ReusePortOption = Annotated[
    bool, typer.Option("--reuse-port", help="Other servers of this user listen on the same port.")
]

OwnPortOption = Annotated[
    int,
    typer.Option(
        "--own-port",
        metavar="PORT",
        min=0,
        max=65535,
        help="A port of the server's own on 127.0.0.1 beside the one that others share, as for Prometheus; with "
        "--processes that of the first, and the next ones for the others.",
    ),
]

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


def option_of_many(processes: int, bus: str) -> str:
    """The option that asks for an arena of several servers; empty for a server by itself."""
    if processes > 1:
        return "--processes"
    return "--bus" if bus else ""


def leave_to_processes(
    count: int, *, host: str, port: int, own_port: int, name: str, bus: str, secure: bool
) -> None:
    """Be the parent of so many servers, each called as this command was, until told to stop; for one, do nothing.

    own_port  the first one's own port, where they have some
    secure    whether they speak TLS

    Raises Failure, and typer.Exit when they have ended.
    """
    if count == 1:
        return
    try:
        with closing(_reserve(host, port)) as reserved:
            bound = reserved.getsockname()[1]
            name = name or socket.gethostname()
            code = anyio.run(_serve, count, host, bound, own_port, name, bus, secure)
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


async def _serve(count: int, host: str, port: int, own_port: int, name: str, bus: str, secure: bool) -> int:  # noqa: FBT001
    async with _carried(bus) as (address, environment):
        children = [
            Child(each, _command(each, port, own_port + number if own_port else 0, address), environment)
            for number in range(count)
            for each in [f"{name}-{number + 1}"]
        ]
        try:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
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
                    number = await anext(aiter(signals))
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


def _command(name: str, port: int, own_port: int, bus: str) -> list[str]:
    """The command that this process was given, for one of its servers: of an option that is given twice the last one counts."""
    shared = ("--processes", "1", "--name", name, "--port", str(port), "--bus", bus, "--reuse-port")
    own = (*shared, "--own-port", str(own_port))
    return [sys.executable, "-P", "-m", "arena", *sys.argv[1:], *own]


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
