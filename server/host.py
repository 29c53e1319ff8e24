"""The host: a websocket server, its lobby, its store and its rooms, opened and closed as one.

async with open_host() as host:
    token = host.issue_token("greedy")
    ...
    record = await host.play(terms)
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from ssl import SSLContext

import anyio
import anyio.abc
from anyio.abc import TaskStatus

from arena.protocol.codes import Code
from arena.server.arena.membership import CutOff
from arena.server.bus.bus import Bus
from arena.server.lobby.dispatch import Dispatch
from arena.server.lobby.house import NO_HOUSE, HousePlan, open_house
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.lobby.session import Session
from arena.server.net.addresses import LOOPBACK, inside_url, url
from arena.server.net.admission import Admission
from arena.server.net.connection import Connection
from arena.server.net.delivery import Receiver
from arena.server.net.limits import HostLimits
from arena.server.net.server import CannotListen, Server
from arena.server.processes.identity import PROGRAM
from arena.server.processes.tasks import cancelled_at_exit
from arena.server.running import Host, MakeAdmission, Told
from arena.server.settings import ServerSettings, Settings, StoreSettings, private
from arena.server.store.database import Engine, make_engine
from arena.server.store.database import close as close_engine
from arena.server.store.journal.journal import JournalFailed
from arena.server.store.lease import LeaseLost
from arena.server.store.upgrade import make_ready
from arena.server.web.progress import Progress, nobody_plays

__all__ = ["CannotListen", "Host", "open_host"]

log = logging.getLogger("arena.host")

MakeReceiver = Callable[[Connection, Dispatch, HostLimits], Receiver]
"""Makes the receiver of a connection's messages."""


@asynccontextmanager
async def open_host(
    settings: Settings | None = None,
    *,
    offer: Offer | None = None,
    house: HousePlan = NO_HOUSE,
    tls: SSLContext | None = None,
    bus: Bus | None = None,
    going_on: str | None = None,
    lasting: bool = True,
    on_record: Told | None = None,
    progress: Progress = nobody_plays,
    receiver: MakeReceiver = Session,
    admission: MakeAdmission = Admission,
) -> AsyncIterator[Host]:
    """Listen, play matches and keep them in the store, as the settings say; without any, as `settings.private` does.

    offer      what the matchmaker gives to whoever waits; None where bots play only by challenge
    house      the bots that the server runs itself; they have an address of their own, `Host.inside_url`
    tls        the certificate; None to speak in clear
    bus        what carries to the other servers of an arena, on the same store; None for a server by itself
    going_on   the event whose matches the server goes on with, from before it went away
    lasting    whether the server will be back once it has stopped. If not, whoever is connected is told that the
               event is over, unless it is cancelled: then it may be gone on with
    on_record  told of each match that the server arranged itself, when it is over
    progress   tells the page how an event goes that is played here
    receiver   makes the receiver of each connection's messages
    admission  makes what decides who may connect

    Raises CannotListen, BadHouse and StoreError: lease.NameHeld where another process has the name, and
    lease.LeaseLost, with which the block is cancelled, where another has taken it. On leaving, connections are
    told and closed; matches in progress stay in the journal.
    """
    lost: LeaseLost | CutOff | None = None
    settings = settings or private()
    limits, place = settings.limits, settings.server
    async with AsyncExitStack() as stack:
        engine = await _open_store(stack, settings.store, arena=bus is not None)
        tasks = await stack.enter_async_context(cancelled_at_exit())
        running = Host(
            settings,
            engine,
            tasks,
            bus=bus,
            going_on=going_on,
            house=house,
            offer=offer,
            on_record=on_record,
            progress=progress,
            admission=admission,
        )
        writing = anyio.CancelScope()
        stack.callback(writing.cancel)

        async def write(*, task_status: TaskStatus[None]) -> None:
            nonlocal lost
            with writing:
                try:
                    await running.journal.run(task_status=task_status)
                except LeaseLost as error:
                    lost = error
                    tasks.cancel_scope.cancel()

        # Before anything is read: nobody else changes the matches of this name from now on.
        await tasks.start(write)
        # Whoever cancels this host must not cancel its journal before what it was given is written.
        writing.shield = True
        for job in (
            running.watch.run,
            running.rating_counter.run,
            running.maintenance.run,
            running.tell_browsers,
        ):
            tasks.start_soon(job)

        def end(error: LeaseLost | CutOff) -> None:
            nonlocal lost
            lost = error
            tasks.cancel_scope.cancel()

        await _join(running, tasks, end)
        if going_on is not None:
            # Before anybody can come in: a bot that returns must find its session and its matches.
            await running.resume(going_on)
        server = await stack.enter_async_context(
            Server(
                running.admission,
                running.pages,
                lambda connection: receiver(connection, running.dispatch, limits),
                tasks,
                program=PROGRAM,
                # Where no token is needed, a page has no more than whoever sends it.
                any_origin=place.anyone,
            )
        )
        running.listens_at(*await _listen(server, place, tls, house=bool(house.bots)))
        log.info("listening on %s", running.url)
        goodbye = Code.SHUTTING_DOWN if lasting else Code.EVENT_OVER
        try:
            async with (
                open_house(house, running.lobby, running.arranger, running.inside_url)
                if house.bots
                else nullcontext()
            ):
                # Only now: no match is begun on a server whose house turns out to be named wrongly.
                tasks.start_soon(running.arranger.run)
                yield running
        except anyio.get_cancelled_exc_class():
            goodbye = Code.SHUTTING_DOWN
            raise
        finally:
            with anyio.CancelScope(shield=True):
                server.admission.close()
                await _leave(running, goodbye, lost)
                if running.membership is not None:
                    writing.cancel()  # others may have the matches before the last of the connections has ended
    if lost is not None:
        raise lost


async def _listen(
    server: Server, place: ServerSettings, tls: SSLContext | None, *, house: bool
) -> tuple[str, str]:
    """Accept connections; where bots come in, and where the server's own do, if it has a house of them. Raises CannotListen."""
    bound = await server.listen(place.host, place.port, tls, reuse_port=place.reuse_port)
    # On a port that others listen on too, the server's own bots would come in there.
    inside = None if place.reuse_port else inside_url(bound, tls)
    if place.metrics_port or (house and inside is None):
        inside = url(LOOPBACK, (await server.listen(LOOPBACK, place.metrics_port, None))[1])
    return url(place.host, bound[1], tls), (inside or "") if house else ""


async def _join(running: Host, tasks: anyio.abc.TaskGroup, end: Callable[[LeaseLost | CutOff], None]) -> None:
    """Take a place among the servers of an arena, where there are others; `end` is told when it is lost."""

    async def belong(job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except (LeaseLost, CutOff) as error:
            end(error)

    membership = running.membership
    if membership is None:
        return
    tasks.start_soon(running.arena.links.run)
    tasks.start_soon(running.arena.tell_news)
    await membership.join()
    tasks.start_soon(belong, membership.run)
    tasks.start_soon(belong, membership.watch)


async def _leave(running: Host, goodbye: Code, lost: LeaseLost | CutOff | None) -> None:
    """Tell whoever is connected, and write what is to be written; not where the server has lost its name."""
    if running.membership is not None:
        running.close_rooms()
    for member in running.lobby.connected():
        if member.connection is not None:
            member.connection.dismiss(goodbye)
    if lost is None:
        try:
            await running.journal.drain()
        except JournalFailed as failed:
            # Of what is missing nobody was told: the next start goes on before it.
            log.warning("the server stops without its store: %s", failed)


async def _open_store(stack: AsyncExitStack, store: StoreSettings, *, arena: bool) -> Engine:
    """The store, which the stack closes; without an address it is a file that goes with it."""
    if not store.url:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True))
        engine = make_engine(f"sqlite:///{Path(folder) / 'arena.db'}", lasting=False)
    else:
        engine = make_engine(store.url, arena=arena)
    stack.push_async_callback(close_engine, engine)
    await make_ready(engine, back_up=store.backup)
    return engine
