"""Edges (processes that hold connections) and cores (processes that run matches), with the message bus NATS between them.

arena serve --role edge      connections and web page; any number of edge processes, on any machine
arena serve --role core      matches; the first core process leads, all others stand by to replace it
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from ssl import SSLContext

import anyio
from prometheus_client import Gauge

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import ErrorCode
from arena.protocol.record import Record
from arena.server.cluster.bus import Bus
from arena.server.cluster.core_link import CoreSideLink, LeadershipLost
from arena.server.cluster.edge_link import EdgeSideLink
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, Pool
from arena.server.host import (
    LOCAL_EDGE_NUMBER,
    ArenaServer,
    make_edge,
    open_arena_server,
    open_store,
    start_edge_listening,
)
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.settings import ArenaSettings
from arena.server.shell.house_processes import HouseEnginePlan
from arena.server.store.database import EDGE_DATABASE_TIMEOUTS, open_engine
from arena.server.store.stored_requests import send_request_via_store

log = logging.getLogger("arena.roles")

EDGE_NUMBER_UPPER_BOUND = 1 << 22
"""Upper bound (exclusive) of the number that identifies an edge. Each edge process draws its number at random."""
MAX_CORE_SILENCE_BEFORE_CUT_OFF_NS = 5_000_000_000
"""Time without a message from a core, in ns, after which an edge (process that holds connections) disconnects its clients.

The clients can then connect through other edges, which may still reach a core.
"""
CORE_CONTACT_CHECK_INTERVAL_SECONDS = 0.25
"""Interval at which an edge process checks whether it still hears from a core process, in seconds."""


def _open_bus(settings: ArenaSettings) -> AbstractAsyncContextManager[Bus]:
    from arena.server.cluster.nats import open_nats_bus  # noqa: PLC0415 - an extra

    connection_name = f"arena {settings.server.role.value} {settings.server.name}".rstrip()
    return open_nats_bus(
        settings.bus.url,
        connection_name=connection_name,
        ca_file=Path(settings.bus.ca) if settings.bus.ca else None,
    )


def add_core_reachable_metric(metrics: Metrics, link: EdgeSideLink) -> None:
    """Add the metric `arena_core`, which shows whether an edge process reaches a core process, to the metrics of the edge."""
    gauge = Gauge("arena_core", "1 while this edge reaches a core, otherwise 0", registry=metrics.registry)
    gauge.set_function(lambda: link.is_synced)


def add_edge_count_metric(metrics: Metrics, link: CoreSideLink) -> None:
    """Add the metric `arena_edges`, the number of edge processes that a core process reaches, to the metrics of the core."""
    gauge = Gauge("arena_edges", "Edges that this core reaches", registry=metrics.registry)
    gauge.set_function(lambda: len(link.edges))


async def check_bus_and_store_connections(settings: ArenaSettings) -> None:
    """Check that NATS and the store can be reached, and bring the store's tables up to date.

    Raises BusError if NATS cannot be used, and StoreError if the store cannot.
    """
    async with _open_bus(settings), open_store(settings):
        pass


@asynccontextmanager
async def open_edge(
    settings: ArenaSettings,
    *,
    house_engine_plan: HouseEnginePlan,
    tls: SSLContext | None,
    clock: TimeSource = MONOTONIC_CLOCK,
) -> AsyncIterator[tuple[EdgeSideLink, str]]:
    """Run an edge (process that holds connections) during the `async with` block.

    The edge works for the core that leads under the name in the setting `server.name`.

    Yield the link to the core, and the URL for bots.

    house_engine_plan  engines that the core runs, for display on the web pages
    tls                certificate; None for connections without TLS

    Raises CannotListen if an address cannot be used, and BusError or StoreError if NATS or the store is unavailable. On
    exit, clients are notified and disconnected; they can return through another edge.
    """
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(_open_bus(settings))
        tasks = await stack.enter_async_context(open_background_tasks())
        number = LOCAL_EDGE_NUMBER + 1 + secrets.randbelow(EDGE_NUMBER_UPPER_BOUND - LOCAL_EDGE_NUMBER - 1)
        call_soon = asyncio.get_running_loop().call_soon
        link = EdgeSideLink(bus, settings.server.name, number, clock=clock, call_soon=call_soon)
        db_engine = await stack.enter_async_context(
            open_engine(settings.store.url, timeouts=EDGE_DATABASE_TIMEOUTS)
        )
        metrics = Metrics()
        add_core_reachable_metric(metrics, link)
        edge = await make_edge(
            stack,
            number,
            link,
            settings,
            metrics,
            db_engine=db_engine,
            send_request_via_store=partial(send_request_via_store, db_engine),
            house_engine_plan=house_engine_plan,
            uses_tls=tls is not None,
            loop_lag=EventLoopLag(clock, metrics.loop_lag_seconds.observe),
            describe_outage=lambda: "" if link.is_synced else "the server has no contact with its core",
            clock=clock,
        )
        link.edge_port = edge

        async def watch_core() -> None:
            while True:
                edge.set_cut_off_from_core(
                    is_cut_off=link.compute_core_silence_ns() > MAX_CORE_SILENCE_BEFORE_CUT_OFF_NS
                )
                await clock.sleep(CORE_CONTACT_CHECK_INTERVAL_SECONDS)

        tasks.start_soon(link.run)
        tasks.start_soon(watch_core)
        address, _ = await start_edge_listening(edge, settings.server, tls, has_house_engines=False)
        log.info("edge %d listens on %s", number, address)
        try:
            yield link, address
        finally:
            with anyio.CancelScope(shield=True):
                await edge.close(ErrorCode.SHUTTING_DOWN)


@asynccontextmanager
async def open_leader(
    settings: ArenaSettings,
    *,
    pool: Pool | None,
    house_engine_plan: HouseEnginePlan,
    on_record: Callable[[Record], Awaitable[None]] | None = None,
    clock: TimeSource = MONOTONIC_CLOCK,
) -> AsyncIterator[ArenaServer]:
    """Wait until this core process may lead under the name `server.name`, and run it during the `async with` block.

    Of several cores with the same name, the one that holds the lease in the store leads. The others stand by to take over.
    `open_arena_server` describes the arguments. An additional edge on a loopback address serves the server's own engines and
    the metrics.

    Raises HouseEngineError if one of the server's own engines cannot be started, CannotListen if an address cannot be
    used, and BusError or StoreError if NATS or the store is unavailable. Raises LeaseLost or LeadershipLost, after
    cancelling the block, if this core no longer leads. On exit, the lease is released immediately, so that a standby
    takes over.
    """
    leadership_lost: LeadershipLost | None = None
    async with AsyncExitStack() as stack:
        # NATS comes before the lease: a core that cannot reach its edges must not keep others from leading.
        bus = await stack.enter_async_context(_open_bus(settings))
        host = await stack.enter_async_context(
            open_arena_server(
                settings,
                pool=pool,
                house_engine_plan=house_engine_plan,
                resumed_event_name=OPEN_POOL_EVENT_NAME,
                on_record=on_record,
                clock=clock,
            )
        )
        tasks = await stack.enter_async_context(open_background_tasks())
        shell, fencing_token = host.shell, host.journal.lease.fencing_token
        link = CoreSideLink(bus, settings.server.name, fencing_token, shell, clock=clock)
        add_edge_count_metric(host.metrics, link)

        async def serve_link() -> None:
            nonlocal leadership_lost
            try:
                await link.run()
            except LeadershipLost as error:
                leadership_lost = error
                tasks.cancel_scope.cancel()

        tasks.start_soon(serve_link)
        log.warning("core %d leads, with %d matches", fencing_token, shell.resumed_match_count)
        async with host.open_house_engines():
            yield host
    if leadership_lost is not None:
        raise leadership_lost
