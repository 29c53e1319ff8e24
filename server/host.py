"""The host: a websocket server, its lobby, its store and its rooms, opened and closed as one.

async with open_host() as host:
    token = host.issue_token("greedy")
    ...
    record = await host.play(spec)
"""

from __future__ import annotations

import logging
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from ssl import SSLContext
from time import monotonic
from typing import Any, cast

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from games.core import Player
from match.terms import Terms
from protocol.codes import Code
from protocol.messages import SUBPROTOCOL, Listing
from protocol.record import Record
from server.lobby.accounts import Accounts
from server.lobby.dispatch import LISTING_SECONDS, Dispatch
from server.lobby.lobby import Lobby
from server.lobby.matchmaking.arranger import Arranger
from server.lobby.session import Session
from server.net.addresses import LOOPBACK, inside_url, listen_problem, url
from server.net.admission import Admission
from server.net.connection import GuardedConnection
from server.net.limits import PRIVATE, HostLimits
from server.net.loop_watch import LoopWatch
from server.net.metrics import Metrics
from server.rooms.room import Room
from server.rooms.spectators import AT_ONCE, MAX_BACKLOG, Spectators
from server.store.database import Engine, make_engine, prepare
from server.store.database import close as close_engine
from server.store.journal.journal import Journal
from server.store.journal.recovery import Unfinished, kept_sessions, tidy, unfinished
from server.store.queries import Queries
from server.store.rating_counter import RatingCounter
from server.web.match_log import MatchLogs
from server.web.pages import Pages
from server.web.static import StaticFiles

log = logging.getLogger("arena.host")

PROGRAM = f"riskless-arena {version('riskless-arena')}"

WRITE_BUFFER = 64 * 1024
"""Bytes that may wait in a connection's socket buffer before its writer waits."""
LISTED_CHALLENGES = 1000
"""Open challenges that a listing shows: it must stay within a frame however many strangers open some."""

Told = Callable[[Record], Awaitable[None]]
Handler = Callable[[GuardedConnection, Dispatch, HostLimits], Awaitable[None]]
KERNEL_BUFFER = 32 * 1024
"""Bytes in the kernel, each way (Linux takes the double): so much of a flood is taken in before it is found out,
and a client that never reads is found out when as much waits for it."""


class CannotListen(Exception):
    """The address cannot be listened on: one line that says which and why."""


class Host:
    """A running server. Made by `open_host`; `play` may be called from many tasks at once."""

    def __init__(
        self,
        engine: Engine,
        tasks: anyio.abc.TaskGroup,
        limits: HostLimits,
        *,
        anyone: bool,
        grace_ms: int,
        name: str = "",
    ) -> None:
        self.url = ""
        self.name = name
        self.inside_url = ""
        """Where bots on this machine connect, in clear and by a loopback address; only with `inside`."""
        self.engine = engine
        self.grace_ms = grace_ms
        self.metrics = Metrics()
        self.journal = Journal(engine, self.metrics.journal_seconds.observe, server=name)
        self.watch = LoopWatch(self.metrics.loop_seconds.observe)
        self.lobby = Lobby(Accounts(anyone=anyone, engine=engine), most_matches=limits.matches_per_bot)
        self.arranger = Arranger(self.lobby, limits, self._start)
        self.lobby.on_leave = self.arranger.left
        self.rating_counter = RatingCounter(engine, self.journal.write)
        self.arranger.rating = self.rating_counter.rating
        self.dispatch = Dispatch(
            self.lobby,
            self.journal,
            self.arranger,
            self,
            self.metrics,
            limits,
            program=PROGRAM,
            grace_ms=grace_ms,
        )
        self.rooms: dict[str, Room] = {}
        self.on_record: Told | None = None
        """Told of each match that the server arranged itself, when it is over."""
        self.resumed = 0
        """How many matches of before it went on with."""
        self._tasks = tasks
        logs = MatchLogs(engine, self.lobby.accounts)
        self.pages = Pages(self.metrics, Queries(engine), StaticFiles(), logs, program=PROGRAM, anyone=anyone)
        self.metrics.bots.set_function(lambda: len(self.lobby.connected()))
        self.metrics.matches.set_function(lambda: len(self.rooms))

    def issue_token(self, name: str) -> str:
        """A token with which a bot of this name, and no other, may connect."""
        return self.lobby.accounts.issue(name)

    async def wait_connected(self, name: str, seconds: float) -> bool:
        """Whether the bot is connected: True as soon as it is, False when `seconds` went by."""
        return await self.lobby.wait_connected(name, seconds)

    async def play(self, terms: Terms) -> Record:
        """Play one match to its end, in this task. Waits first until both bots can take it."""
        await self.lobby.wait_free(msgspec.structs.astuple(terms.players))
        return await self._run(self._open(terms))

    async def keep(self, terms: Terms, record: Record) -> None:
        """Put the record of a match that was never begun into the store. Raises journal.JournalFailed."""
        self.journal.open_match(self._agreed(terms), record.started)
        await self.journal.durable(self.journal.close_match(record))

    async def resume(self, event: str) -> int:
        """Go on with the matches of an event that were in progress when the server went away; how many."""
        unfinished_matches = await unfinished(self.engine, event, self.name)
        names = {name for past in unfinished_matches for name in msgspec.structs.astuple(past.terms.players)}
        self.lobby.restore(await kept_sessions(self.engine, sorted(names)))
        for past in unfinished_matches:
            self._begin(self._admit(past.terms, past))
        return len(unfinished_matches)

    async def drain(self, seconds: float) -> int:
        """Begin no new match and wait for those in progress, `seconds` at the most; how many are left."""
        self.arranger.draining = self.pages.draining = True
        with anyio.move_on_after(seconds):
            while self.rooms:
                await self.lobby.wait_change()
        return len(self.rooms)

    # what the desk and the pages see

    def spectators(self, match: str) -> Spectators | None:
        """The gallery of a match in progress."""
        room = self.rooms.get(match)
        return room.spectators if room and not room.spectators.closed else None

    def listing(self) -> Listing:
        """What goes on now."""
        matches = [room.listed() for room in self.rooms.values()]
        return Listing(matches, self.lobby.present(), self.arranger.listed()[:LISTED_CHALLENGES])

    async def tell_browsers(self) -> None:
        """Send a new listing to whoever browses whenever something changes, until cancelled."""
        while True:
            await self.lobby.wait_change()
            await anyio.sleep(LISTING_SECONDS)
            if self.dispatch.browsing:
                # Encoded once for all. Who has not yet read the one before is told with the next change.
                listing = self.dispatch.listing(monotonic())
                for number, visitor in enumerate(list(self.dispatch.browsing), 1):
                    if visitor.line.backlog <= MAX_BACKLOG:
                        visitor.line.tell_wire(listing)
                    if number % AT_ONCE == 0:
                        await checkpoint()

    # rooms

    def _start(self, terms: Terms) -> None:
        self._begin(self._open(terms))

    def _begin(self, room: Room) -> None:
        # Counted here and not in the task, which runs later: the limit must hold for the next one too.
        self.arranger.playing += 1
        self._tasks.start_soon(self._arranged, room)

    async def _arranged(self, room: Room) -> None:
        try:
            record = await self._run(room)
        finally:
            self.arranger.playing -= 1
        if room.terms.rated:
            self.rating_counter.note(record)
        self.arranger.ended(record)
        self.lobby.stir()
        if self.on_record is not None:
            await self.on_record(record)

    def _open(self, terms: Terms) -> Room:
        """Make the room of a match; from now on its players are taken."""
        return self._admit(self._agreed(terms))

    def _agreed(self, terms: Terms) -> Terms:
        """The terms with what the server has to say of them."""
        return msgspec.structs.replace(terms, grace_ms=self.grace_ms)

    def _admit(self, terms: Terms, unfinished: Unfinished | None = None) -> Room:
        names = {Player.MAXIE: terms.players.maxie, Player.MINNIE: terms.players.minnie}
        room = Room(
            terms,
            {player: self.lobby.member(name) for player, name in names.items()},
            self.journal,
            self.watch,
            unfinished=unfinished,
            moved=self.metrics.moved,
        )
        for player, member in room.players.items():
            member.begin(terms.match, room, player)
        self.rooms[terms.match] = room
        self.lobby.stir()
        return room

    async def _run(self, room: Room) -> Record:
        try:
            record = await room.run()
        finally:
            del self.rooms[room.terms.match]
            for member in room.players.values():
                self.lobby.forget(member)
            self.lobby.stir()
        self.metrics.finished.labels(record.result.reason.value).inc()
        return record


async def run_session(connection: GuardedConnection, dispatch: Dispatch, limits: HostLimits) -> None:
    """Serve a connection as a bot's or a watcher's."""
    await Session(connection, dispatch, limits).run()


@asynccontextmanager
async def open_host(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    database: str | None = None,
    grace_ms: int = 5_000,
    anyone: bool = False,
    tls: SSLContext | None = None,
    limits: HostLimits = PRIVATE,
    trusted_proxies: Collection[str] = (),
    inside: bool = False,
    going_on: str | None = None,
    on_record: Told | None = None,
    name: str = "",
    serve_one: Handler = run_session,
) -> AsyncIterator[Host]:
    """Listen on `host`:`port` (0: any free one) and keep matches in `database` (None: thrown away after).

    anyone           names without a token may connect, for a private network
    grace_ms         how long a dropped bot may take to come back to its matches
    trusted_proxies  networks whose X-Forwarded-For is believed
    inside           bots of this machine's own have an address, `Host.inside_url`
    going_on         the event whose matches go on that were in progress when the server went away
    on_record        told of each match that the server arranged or went on with, when it is over

    name             what tells this server's matches from those of others that share the store
    serve_one        what serves a connection from its handshake to its end

    Raises CannotListen and StoreError. On leaving, connections are told and closed; matches in
    progress stay in the journal.
    """
    async with AsyncExitStack() as stack:
        if database is None:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True)
            )
            engine = make_engine(f"sqlite:///{Path(folder) / 'arena.db'}", lasting=False)
        else:
            engine = make_engine(database)
        stack.push_async_callback(close_engine, engine)
        await prepare(engine)
        await tidy(engine)
        tasks = await stack.enter_async_context(_cancelled_at_exit())
        running = Host(engine, tasks, limits, anyone=anyone, grace_ms=grace_ms, name=name)
        running.on_record = on_record
        # Whoever cancels this host must not cancel its journal before what it was given is written.
        writing = anyio.CancelScope(shield=True)
        stack.callback(writing.cancel)

        async def write() -> None:
            with writing:
                await running.journal.run()

        for job in (
            write,
            running.watch.run,
            running.rating_counter.run,
            running.arranger.run,
            running.tell_browsers,
        ):
            tasks.start_soon(job)
        if going_on is not None:
            # Before anybody can come in: a bot that returns must find its session and its matches.
            running.resumed = await running.resume(going_on)
        admission = Admission(limits, trusted_proxies, running.pages)
        tasks.start_soon(admission.keepalive.run)

        async def answer(connection: ServerConnection) -> None:
            await serve_one(cast("GuardedConnection", connection), running.dispatch, limits)

        async def listen(host: str, port: int, tls: SSLContext | None) -> list[tuple[Any, ...]]:
            only_with_tls: dict[str, Any] = {"ssl_handshake_timeout": limits.hello_seconds} if tls else {}
            # A cancellation between the binding of a socket and its being known here would leave it open.
            with anyio.CancelScope(shield=True):
                listener = await stack.enter_async_context(
                    serve(
                        answer,
                        host,
                        port,
                        create_connection=admission.connection_class(),
                        subprotocols=[Subprotocol(SUBPROTOCOL)],
                        process_request=admission.admit,
                        compression=None,  # moves are tens of bytes: it would cost time and memory for nothing
                        max_size=limits.message_bytes,
                        max_queue=4,
                        write_limit=WRITE_BUFFER,
                        ping_interval=None,  # server.net.keepalive
                        open_timeout=limits.hello_seconds,
                        close_timeout=2,
                        server_header=PROGRAM,
                        ssl=tls,
                        **only_with_tls,
                    )
                )
            for each in listener.sockets:  # and so for every connection that they accept
                each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)
                each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)
            return [each.getsockname() for each in listener.sockets]

        try:
            bound = (await listen(host, port, tls))[0]
            running.url = url(host, bound[1], tls)
            if inside:
                running.inside_url = inside_url(bound, tls) or url(
                    LOOPBACK, (await listen(LOOPBACK, 0, None))[0][1]
                )
        except OSError as error:
            raise CannotListen(listen_problem(host, port, error)) from None
        log.info("listening on %s", running.url)
        try:
            yield running
        finally:
            with anyio.CancelScope(shield=True):
                admission.close()
                for member in running.lobby.connected():
                    if member.outlet is not None:
                        member.outlet.dismiss(Code.SHUTTING_DOWN)
                await running.journal.drain()


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
