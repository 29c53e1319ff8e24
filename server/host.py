"""The host: a websocket server, its lobby, its store and its rooms, opened and closed as one.

async with open_host() as host:
    token = host.issue_token("greedy")
    ...
    record = await host.play(spec)
"""

from __future__ import annotations

import errno
import logging
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from ssl import SSLContext

import anyio
import anyio.abc
from sqlalchemy.ext.asyncio import AsyncEngine
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from games.core import Player
from protocol.codes import Code
from protocol.messages import MAX_CLIENT_FRAME, SUBPROTOCOL, Players
from protocol.record import Record
from server import store
from server.accounts import Accounts
from server.arena_api import MatchSpec
from server.journal import Journal
from server.lobby import Lobby
from server.referee import Terms
from server.room import Room
from server.session import Session

log = logging.getLogger("arena.host")

PROGRAM = f"riskless-arena {version('riskless-arena')}"

PING_SECONDS = 20
"""How often a silent connection is asked whether it lives, and how long it may take to say so."""
WRITE_BUFFER = 64 * 1024
"""Bytes that may wait in a connection's socket buffer before its writer waits."""
KERNEL_BUFFER = 32 * 1024
"""Bytes in the kernel, each way (Linux takes the double). What has arrived is parsed in one go, so a client
that floods holds up all others by as much as fits in here; and a client that never reads is found out
when as much waits for it."""


class CannotListen(Exception):
    """The address cannot be listened on: one line that says which and why."""


@dataclass
class Host:
    """A running server. Made by `open_host`; `play` may be called from many tasks at once."""

    url: str
    lobby: Lobby
    engine: AsyncEngine
    journal: Journal
    grace_ms: int

    def issue_token(self, name: str) -> str:
        """A token with which a bot of this name, and no other, may connect."""
        return self.lobby.accounts.issue(name)

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False when `seconds` went by."""
        return await self.lobby.wait_connected(name, seconds)

    async def play(self, spec: MatchSpec) -> Record:
        """Play one match to its end, in this task. Waits first until both bots can take it."""
        await self.lobby.wait_free((spec.maxie, spec.minnie))
        terms = Terms(
            match=spec.match,
            game=spec.game,
            players=Players(spec.maxie, spec.minnie),
            control=spec.time_control,
            margin_ms=spec.margin_ms,
            ready_ms=spec.ready_ms,
            grace_ms=self.grace_ms,
            threads=spec.threads,
        )
        players = {Player.MAXIE: self.lobby.member(spec.maxie), Player.MINNIE: self.lobby.member(spec.minnie)}
        room = Room(terms, spec.event, players, self.journal)
        for player, member in players.items():
            member.matches[spec.match] = (room, player)
        try:
            return await room.run()
        finally:
            for member in players.values():
                member.matches.pop(spec.match, None)
                self.lobby.forget(member)
            self.lobby.stir()


@asynccontextmanager
async def open_host(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    database: str | None = None,
    grace_ms: int = 5_000,
    anyone: bool = False,
    tls: SSLContext | None = None,
    frame_limit: int = MAX_CLIENT_FRAME,
) -> AsyncIterator[Host]:
    """Listen on `host`:`port` (0: any free one) and keep matches in `database` (None: thrown away after).

    anyone    names without a token may connect, for a private network
    grace_ms  how long a dropped bot may take to come back to its matches

    Raises CannotListen and store.StoreError. On leaving, connections are told and closed.
    """
    async with AsyncExitStack() as stack:
        if database is None:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True)
            )
            engine = store.make_engine(f"sqlite:///{Path(folder) / 'arena.db'}", lasting=False)
        else:
            engine = store.make_engine(database)
        stack.push_async_callback(engine.dispose)
        await store.prepare(engine)
        lobby, journal = Lobby(Accounts(anyone=anyone, engine=engine)), Journal(engine)
        tasks = await stack.enter_async_context(_cancelled_at_exit())
        # Whoever cancels this host must not cancel its journal before what it was given is written.
        writing = anyio.CancelScope(shield=True)
        stack.callback(writing.cancel)

        async def write() -> None:
            with writing:
                await journal.run()

        tasks.start_soon(write)

        async def answer(connection: ServerConnection) -> None:
            await Session(connection, lobby, PROGRAM, grace_ms, frame_limit).run()

        try:
            listener = await stack.enter_async_context(
                serve(
                    answer,
                    host,
                    port,
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    process_request=_admit,
                    compression=None,  # moves are tens of bytes: it would cost time and memory for nothing
                    max_size=frame_limit,
                    max_queue=4,
                    write_limit=WRITE_BUFFER,
                    ping_interval=PING_SECONDS,
                    ping_timeout=PING_SECONDS,
                    open_timeout=10,
                    close_timeout=2,
                    server_header=PROGRAM,
                    ssl=tls,
                )
            )
        except OSError as error:
            raise CannotListen(_listen_problem(host, port, error)) from None
        for each in listener.sockets:  # and so for every connection that they accept
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)
        bound = next(iter(listener.sockets)).getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        url = f"{'wss' if tls else 'ws'}://{shown}:{bound}"
        log.info("listening on %s", url)
        try:
            yield Host(url, lobby, engine, journal, grace_ms)
        finally:
            with anyio.CancelScope(shield=True):
                for member in lobby.connected():
                    if member.outlet is not None:
                        member.outlet.dismiss(Code.SHUTTING_DOWN)
                await journal.drain()


@asynccontextmanager
async def _cancelled_at_exit() -> AsyncIterator[anyio.abc.TaskGroup]:
    """A task group whose tasks end with the block, and that passes the block's error on as it is."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001  raised again below, out of the group that would wrap it
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


def _admit(connection: ServerConnection, request: Request) -> Response | None:
    """Answer plain requests, refuse other versions of the protocol, and let the rest shake hands."""
    if request.headers.get("Upgrade", "").lower() != "websocket":
        if request.path == "/healthz":
            return connection.respond(HTTPStatus.OK, "ok\n")
        return connection.respond(HTTPStatus.NOT_FOUND, f"bots connect here by websocket, as {SUBPROTOCOL}\n")
    offered = [
        part.strip()
        for value in request.headers.get_all("Sec-WebSocket-Protocol")
        for part in value.split(",")
    ]
    if SUBPROTOCOL not in offered:
        said = ", ".join(offered) or "none"
        return connection.respond(
            HTTPStatus.BAD_REQUEST, f"subprotocol {SUBPROTOCOL} is needed, not {said:.100}\n"
        )
    return None


def _listen_problem(host: str, port: int, error: OSError) -> str:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {where}: the port is in use; choose another, or 0 for any free one"
    return f"cannot listen on {where}: {error.strerror or error}"
