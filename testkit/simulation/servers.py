"""Servers of a simulated arena: edges, cores, or one server (`host`) that is both, assembled as in `arena serve`.

The servers run their real code. During a run, simulated versions replace the machine's clocks, random bytes, threads,
database and bus.
"""

from __future__ import annotations

import asyncio
import email.utils
import random
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import anyio
import anyio.to_thread

from arena.bots.client import client as bot_client
from arena.clock import TimeSource
from arena.games.catalogue import make_game
from arena.processes.identity import ProcessIdentity as Identity
from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.timecontrol import TimeControl
from arena.server import host, roles
from arena.server.cluster.core_link import LeadershipLost
from arena.server.core.limits import ServerLimits
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, GameAtTimeControl, Pool
from arena.server.edge import pings
from arena.server.loop_lag import LAG_MEASUREMENT_INTERVAL_NS, EventLoopLag
from arena.server.settings import (
    ArenaSettings,
    MatchSettings,
    PoolSettings,
    ProcessRole,
    ServerSettings,
    StoreSettings,
)
from arena.server.shell import shell as shell_module
from arena.server.shell.house_processes import EMPTY_HOUSE_ENGINE_PLAN
from arena.server.store import database, errors, lease
from arena.server.store.errors import StoreError
from arena.server.store.journal import sqlite_writer
from arena.server.store.journal.journal import Journal, open_journal
from testkit.simulation.bots import RandomMoveChooser
from testkit.simulation.invariants import MonitoredCore, MonitoredEdge
from testkit.simulation.network import PUBLIC_PORT
from testkit.simulation.world import (
    FAST_CLOCK_DRIFT_PPM,
    NS_PER_SECOND,
    START_UNIX_TIME_NS,
    InvariantViolated,
    SimulatedProcess,
)

if TYPE_CHECKING:
    from testkit.simulation.arena import SimulatedArena

SHARD_NAME = "simulation"
RECONNECT_GRACE_SECONDS = 30.0
MIN_RESTART_PAUSE_NS = 700_000_000
"""Minimum virtual time, in ns, between the end of a server's process and the start of its next process."""


def make_settings(role: str, time_control: str) -> tuple[ArenaSettings, Pool]:
    """Return the settings of the servers of a role, and the settings of the pool from which bots get their matches.

    role: `edge` (holds connections), `core` (plays matches), or `all` for both
    time_control: time control of all matches, such as `15/move`
    """
    settings = ArenaSettings(
        server=ServerSettings(port=PUBLIC_PORT, name=SHARD_NAME, anyone=True, role=ProcessRole(role)),
        pool=PoolSettings(concurrency=64),
        matches=MatchSettings(grace_seconds=RECONNECT_GRACE_SECONDS, adjudicate="none"),
        store=StoreSettings(url="sqlite:///simulation.db"),
        limits=ServerLimits(cut_offs=100_000),
    )
    game = GameAtTimeControl(make_game("tictactoe", {}), TimeControl.parse(time_control))
    return settings, Pool(games=(game,), margin_ms=100, ready_timeout_ms=20_000, rematch_pause_ms=0)


class SimulatedServer:
    """Server whose process is started again whenever it ends, as by an init system."""

    def __init__(self, arena: SimulatedArena, name: str, role: str) -> None:
        """Prepare a server without starting it. `role`: `edge` (holds connections), `core` (plays matches) or `host` (both)."""
        self.arena = arena
        self.name = name
        self.role = role
        self.start_count = 0
        self.process: SimulatedProcess
        self.is_down = False
        """True if a server whose process has ended is not started again by itself, but only by `start` or `restart`."""
        self._rng = arena.world.make_random_generator("server", name)
        self._upgrade_requested: anyio.Event
        self._max_drain_seconds = 0.0

    def start(self) -> None:
        """Start a new process, whose clock runs too fast with the probability `arena.fast_clock_probability`."""
        self.is_down = False
        self.start_count += 1
        clock_drift_ppm = (
            FAST_CLOCK_DRIFT_PPM if self._rng.random() < self.arena.fast_clock_probability else 0
        )
        self.process = SimulatedProcess(
            self.arena.world, f"{self.name}.{self.start_count}", clock_drift_ppm=clock_drift_ppm
        )
        self._upgrade_requested = anyio.Event()
        self.process.start(self._main(self.process))

    def kill(self) -> None:
        """Kill the process, as SIGKILL would, and start the server again soon, unless `is_down` is true."""
        self.process.kill()
        self.arena.forget_process(self.process)
        self._restart_later()

    def stop(self) -> None:
        """Cancel the main task of the process, so that it ends gracefully. Start a new process soon, unless `is_down` is
        true.
        """
        self.process.stop()

    def upgrade(self, max_wait_seconds: float) -> None:
        """Let the server wait up to `max_wait_seconds` for its matches to end, and then stop gracefully, as for an upgrade."""
        self._max_drain_seconds = max_wait_seconds
        self.process.schedule(self._upgrade_requested.set)

    def restart(self) -> None:
        """Start the server unless its process is alive. From now on, start a new process whenever it ends."""
        self.is_down = False
        self._start_if_down()

    def _restart_later(self) -> None:
        process = self.process
        process.kill()
        self.arena.forget_process(process)
        if not self.is_down:
            self.arena.world.call_after(
                MIN_RESTART_PAUSE_NS + self._rng.randrange(NS_PER_SECOND), self._start_if_down
            )

    def _start_if_down(self) -> None:
        if not self.is_down and not self.process.is_alive:
            self.start()

    async def _main(self, process: SimulatedProcess) -> None:
        """Run the server's real code until it ends, and then schedule a restart. Raises InvariantViolated if it ends by a bug."""
        try:
            await self._serve()
        except asyncio.CancelledError:
            pass
        except (StoreError, LeadershipLost) as error:
            self.arena.world.add_to_digest(f"{process.name} ends: {error}")
        except InvariantViolated:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) or errors.describe_database_error(error) is None:
                raise InvariantViolated(f"{process.name} ended by {type(error).__name__}: {error}") from error
        # Restart the server outside of the process, whose own calls are dropped once it has ended.
        self.arena.world.call_after(1, lambda: self._restart_later() if process is self.process else None)

    async def _serve(self) -> None:
        settings, pool, clock = self.arena.settings, self.arena.pool, self.process.clock
        match self.role:
            case "edge":
                async with roles.open_edge(
                    settings["edge"], house_engine_plan=EMPTY_HOUSE_ENGINE_PLAN, tls=None, clock=clock
                ):
                    await self._upgrade_requested.wait()
            case "core":
                async with roles.open_leader(
                    settings["core"], pool=pool, house_engine_plan=EMPTY_HOUSE_ENGINE_PLAN, clock=clock
                ) as core:
                    await self._drain_when_upgraded(core)
            case _:
                async with host.open_arena_server(
                    settings["all"], pool=pool, resumed_event_name=OPEN_POOL_EVENT_NAME, clock=clock
                ) as single_process:
                    await self._drain_when_upgraded(single_process)

    async def _drain_when_upgraded(self, running_host: host.ArenaServer) -> None:
        await self._upgrade_requested.wait()
        await running_host.shell.drain_matches(self._max_drain_seconds)


class SimulatedLoopLag(EventLoopLag):
    """Measurement of the lag of a simulated event loop.

    Only a freeze of its process delays the loop. So the process reports each freeze, and no timer is needed.
    """

    def start_measuring(self) -> None:
        pass

    def record_stall_start(self, start_ns: int) -> None:
        """Record that the process was frozen at time `start_ns`, by its own clock in ns.

        A real server measures its lag with a timer. Therefore the lag counts only from half a timer interval after
        `start_ns`, when such a timer would be due on average.
        """
        self.next_measurement_ns = start_ns + LAG_MEASUREMENT_INTERVAL_NS // 2

    def record_stall_end(self) -> None:
        """Measure the lag that the freeze has caused, now that the process runs again."""
        self._measure_lag()


class PageProcessStub:
    """Replacement for the web pages, which a real server generates in another process. The replacement answers no request."""

    def __init__(self, *_given: object, **_named: object) -> None:
        self.page_process = self.rename_queue = self

    async def __call__(self, _request: object, _address: str) -> None:
        return None

    async def run(self) -> None:
        pass

    def close(self) -> None:
        pass


@contextmanager
def patch_servers_environment(arena: SimulatedArena) -> Iterator[None]:
    """Within the `with` block, replace clocks, random bytes, threads, database and bus of the servers by simulated ones."""
    world, store = arena.world, arena.store

    def get_running_process() -> SimulatedProcess:
        process = world.running_process
        assert process is not None, "no process runs"
        return process

    @asynccontextmanager
    async def open_engine(_url: str, **_options: object) -> AsyncIterator[Any]:
        yield store.engine

    @asynccontextmanager
    async def open_simulated_journal(*args: Any, **kwargs: Any) -> AsyncIterator[Journal]:
        async with open_journal(*args, **kwargs) as journal:
            arena.journal_by_process[get_running_process()] = journal
            yield journal

    async def run_inline(call: Callable[..., Any], *args: Any, **_options: Any) -> Any:
        return call(*args)

    def make_simulated_loop_lag(clock: TimeSource, observe: Callable[[float], None]) -> SimulatedLoopLag:
        stall_lag = SimulatedLoopLag(clock, observe)
        get_running_process().stall_observers.append(stall_lag)
        return stall_lag

    bytes_rng = world.make_random_generator("bytes")

    def make_edge(*args: Any, **kwargs: Any) -> MonitoredEdge:
        return MonitoredEdge(arena.monitor, get_running_process(), *args, **kwargs)

    def make_core(*args: Any) -> MonitoredCore:
        return MonitoredCore(arena.monitor, get_running_process(), *args)

    def decode_and_record(frame: bytes) -> Any:
        message = decode_server_message(frame)
        arena.monitor.check_received_message(get_running_process().name, message)
        return message

    def encode_and_record(message: Any) -> bytes:
        arena.monitor.record_sent_message(get_running_process().name, message)
        return encode_message(message)

    replacements: list[tuple[Any, str, Any]] = [
        (host, "open_engine", open_engine),
        (roles, "open_engine", open_engine),
        (host, "open_journal", open_simulated_journal),
        (host, "Edge", make_edge),
        (host, "EventLoopLag", make_simulated_loop_lag),
        (host, "WebApp", PageProcessStub),
        (host, "time", SimpleNamespace(time_ns=lambda: START_UNIX_TIME_NS + world.now_ns)),
        (roles, "_open_bus", lambda _settings: arena.broker.open_bus(get_running_process())),
        (shell_module, "Core", make_core),
        (pings, "getrandbits", bytes_rng.getrandbits),
        (sqlite_writer, "WriterThread", store.make_writer_thread),
        (database, "make_blocking_engine", store.make_writing_engine),
        (database, "format_current_time", store.format_wall_time),
        (lease, "has_ended", lambda _process: False),
        (lease, "identify_this_process", lambda: Identity(get_running_process().name, 1, "", "")),
        (secrets, "token_bytes", lambda count=32: bytes_rng.randbytes(count)),
        (secrets, "token_urlsafe", lambda count=32: bytes_rng.randbytes(count).hex()),
        (secrets, "randbelow", bytes_rng.randrange),
        (random, "getrandbits", bytes_rng.getrandbits),
        (random, "uniform", bytes_rng.uniform),
        (email.utils, "formatdate", lambda **_given: "Mon, 21 Sep 2026 14:13:20 GMT"),
        (anyio.to_thread, "run_sync", run_inline),
        (
            bot_client,
            "BotWorker",
            lambda _make, match, report, _clock: RandomMoveChooser(arena, match, report),
        ),
        (bot_client, "decode_server_message", decode_and_record),
        (bot_client, "encode_message", encode_and_record),
        (bot_client, "schedule_hang_check", lambda *_given: None),
    ]
    with ExitStack() as stack:
        for owner, name, replacement in replacements:
            stack.enter_context(mock.patch.object(owner, name, replacement))
        yield
