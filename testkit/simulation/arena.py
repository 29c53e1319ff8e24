"""Simulated arena in virtual time: servers, bots, a store, a message bus, injected faults, and checks of invariants."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random

from arena.server.edge.edge import Edge
from arena.server.store import migrations
from arena.server.store.journal.journal import Journal
from testkit.simulation.bots import SCRIPTED_HABITS, RealClientBot, ScriptedBot, SimulatedBot
from testkit.simulation.bus import SimulatedBroker
from testkit.simulation.faults import SimulatedFault, draw_faults, inject_fault
from testkit.simulation.invariants import InvariantMonitor, MonitoredCore
from testkit.simulation.network import SimulatedNetwork
from testkit.simulation.servers import SimulatedServer, make_settings, patch_servers_environment
from testkit.simulation.store import SimulatedStore
from testkit.simulation.world import NS_PER_SECOND, InvariantViolated, SimulatedProcess, World

INVARIANT_CHECK_INTERVAL_NS = 10 * NS_PER_SECOND
"""Virtual time, in ns, between two checks of the servers' state, for example that they hold no more objects than they need."""
CHECKS_PER_GARBAGE_COLLECTION = 30
"""Number of checks of the servers between two garbage collections.

Python's automatic collection is off during a run: it would run at other moments in each run of the same seed.
"""
MAX_NS_UNTIL_BOTS_HAVE_LEFT = 300 * NS_PER_SECOND
"""Virtual time, in ns, within which all bots must finish their matches and leave once they accept no new matches."""
TIME_CONTROLS_WITH_MOVE_SECONDS = (("15/move", 15.0), ("30/move", 30.0), ("60/move", 60.0))
"""Time controls, as (time control, seconds per move). Each run uses one time control.

The time for a move is longer than any outage that a fault causes, so no well-behaved bot loses on time because of an outage.
"""
MAX_HONEST_THINKING_SHARE = 0.15
"""Maximum share (0 to 1) of the time for a move that a bot thinks, unless it misbehaves."""


@dataclass(frozen=True)
class SimulationPlan:
    """Parameters of one simulation of servers and bots on a virtual clock. Runs with the same parameters are equal in every step.

    duration_seconds: virtual time, in seconds, after which the bots accept no new matches
    bot_count: number of bots
    """

    seed: int
    duration_seconds: float
    bot_count: int = 24
    time_control_index: int | None = None
    """Index of the time control in TIME_CONTROLS_WITH_MOVE_SECONDS; None to draw it from the seed."""
    is_cluster: bool | None = None
    """True for a cluster of edges (hold connections) and cores (run matches), False for one server; None: by the seed."""
    included_fault_numbers: Collection[int] | None = None
    """Numbers (`SimulatedFault.number`) of the drawn faults to inject; None for all."""


@dataclass
class SimulationResult:
    """Results of one simulation run.

    event_log: lines of text about the main events of the run, each with its virtual time
    fault_counts: number of injected faults by kind
    match_count, acknowledged_move_count: number of finished matches, and of acknowledged moves
    end_reasons: number of finished matches by end reason
    elapsed_seconds: virtual time at the end of the run
    digest: hash of everything that happened, equal for equal runs
    executed_call_count: number of scheduled calls that the simulated processes have executed
    """

    plan: SimulationPlan
    failure: str = ""
    """Description of the violated invariant; empty if none was violated."""
    injected_faults: list[SimulatedFault] = field(default_factory=list)
    """Faults that were injected before the run failed or ended."""
    event_log: list[str] = field(default_factory=list)
    fault_counts: Counter[str] = field(default_factory=Counter)
    match_count: int = 0
    end_reasons: Counter[str] = field(default_factory=Counter)
    acknowledged_move_count: int = 0
    elapsed_seconds: float = 0.0
    digest: str = ""
    executed_call_count: int = 0


class SimulatedArena:
    """Simulated arena: its servers, bots, store and message bus, and the checks of its invariants."""

    def __init__(self, plan: SimulationPlan) -> None:
        self.world = world = World(plan.seed)
        world.network = SimulatedNetwork(world)
        rng = world.make_random_generator("arena")
        cluster, place = rng.random() < 0.75, rng.randrange(len(TIME_CONTROLS_WITH_MOVE_SECONDS))
        self.fast_clock_probability = rng.choice((0.0, 0.3))
        """Probability, 0 or 0.3 in a run, that a newly started server process has a clock that runs too fast."""
        self.is_cluster = cluster if plan.is_cluster is None else plan.is_cluster
        control, self.move_seconds = TIME_CONTROLS_WITH_MOVE_SECONDS[
            place if plan.time_control_index is None else plan.time_control_index
        ]
        self.settings, self.pool = {}, make_settings("all", control)[1]
        for role in ("edge", "core", "all"):
            self.settings[role] = make_settings(role, control)[0]
        self.store = SimulatedStore(world)
        self.broker = SimulatedBroker(world)
        self.monitor = InvariantMonitor(self)
        self.store.on_commit, self.store.on_write = (
            self.monitor.record_commit,
            self.monitor.check_other_transaction,
        )
        self.journal_by_process: dict[SimulatedProcess, Journal] = {}
        self.core_by_process: dict[SimulatedProcess, MonitoredCore] = {}
        self.edges_by_process: dict[SimulatedProcess, list[Edge]] = {}
        self.fault_counts: Counter[str] = Counter()
        self.frozen_bot_names: set[str] = set()
        self._check_count = 0
        self.servers = self._make_servers(rng)
        self.bots = self._make_bots(plan.bot_count)

    def _make_servers(self, rng: Random) -> list[SimulatedServer]:
        if not self.is_cluster:
            return [SimulatedServer(self, "host", "host")]
        edges, cores = 1 + rng.randrange(3), 1 + rng.randrange(3)
        return [SimulatedServer(self, f"core{n}", "core") for n in range(1, cores + 1)] + [
            SimulatedServer(self, f"edge{n}", "edge") for n in range(1, edges + 1)
        ]

    def _make_bots(self, bot_count: int) -> list[SimulatedBot]:
        bots: list[SimulatedBot] = []
        for number in range(bot_count):
            if number % 2 == 0:
                bots.append(RealClientBot(self, number))
            else:
                bots.append(ScriptedBot(self, number, SCRIPTED_HABITS[number // 2 % len(SCRIPTED_HABITS)]))
        return bots

    # queries of other modules

    def draw_think_seconds(self, rng: Random) -> float:
        """Return a random thinking time for one move, in seconds, of a bot that does not misbehave."""
        return rng.uniform(0.005, MAX_HONEST_THINKING_SHARE * self.move_seconds)

    def get_habit_from_name(self, bot_name: str) -> str:
        """Return a bot's habit (way of behaving, such as `late`). The name of a bot is HABIT-NUMBER."""
        return bot_name.rpartition("-")[0]

    def find_owner_name(self, bot_name: str) -> str:
        """Return the owner of a bot, for the rule that bots of one owner do not play each other.

        Every simulated bot is its own owner, because it has an IP address of its own and no token.
        """
        return bot_name

    def list_client_ids(self, process: SimulatedProcess) -> set[int]:
        """Return the ids of the clients whose connections the edges in this process hold."""
        return {client for edge in self.edges_by_process.get(process, ()) for client in edge._clients}

    def is_leader(self, server: SimulatedServer) -> bool:
        """Return True if this server plays the matches: its process is alive, and its core holds the lease."""
        return server.process.is_alive and server.process in self.journal_by_process

    def forget_process(self, process: SimulatedProcess) -> None:
        """Forget a server process that has ended: drop its journal, core, edges and subscriptions on the message bus."""
        self.broker.drop_subscriptions(process)
        self.broker.cut_process_names.discard(process.name)
        self.journal_by_process.pop(process, None)
        self.core_by_process.pop(process, None)
        self.edges_by_process.pop(process, None)

    # the run

    def run(self, duration_seconds: float, faults: Sequence[SimulatedFault]) -> None:
        """Run for `duration_seconds` of virtual time while injecting `faults`. Then let the bots finish their matches and leave.

        Raises InvariantViolated if an invariant is violated during the run or in the final state.
        """
        world = self.world
        with self.store.make_writing_engine(self.store.engine).begin() as connection:
            migrations.create_tables(connection)
        for server in self.servers:
            server.start()
        for place, bot in enumerate(self.bots):
            world.call_after(NS_PER_SECOND + place * NS_PER_SECOND // 20, bot.start)
        for fault in faults:
            world.call_at(fault.injection_ns, lambda fault=fault: inject_fault(self, fault))  # type: ignore[misc]
        self._run_until(round(duration_seconds * NS_PER_SECOND))
        world.add_log_line("no more matches are wanted")
        for bot in self.bots:
            bot.leave_arena()
        self._run_until(world.now_ns + MAX_NS_UNTIL_BOTS_HAVE_LEFT, stop_when_bots_left=True)
        remaining = [bot.name for bot in self.bots if not bot.has_left]
        self.monitor.require(not remaining, f"bots that did not leave the arena: {remaining}")
        self._run_until(world.now_ns + 60 * NS_PER_SECOND)
        self.monitor.check_pairing_and_memory()
        self.monitor.check_end_state()

    def _run_until(self, end_ns: int, *, stop_when_bots_left: bool = False) -> None:
        while self.world.now_ns < end_ns and not (
            stop_when_bots_left and all(bot.has_left for bot in self.bots)
        ):
            self.world.run(min(end_ns, self.world.now_ns + INVARIANT_CHECK_INTERVAL_NS))
            self.monitor.check_pairing_and_memory()
            self._check_count += 1
            if self._check_count % CHECKS_PER_GARBAGE_COLLECTION == 0:
                gc.collect()

    def close(self) -> None:
        """End all processes, and delete the store."""
        self.world.close()
        for server in self.servers:
            server.is_down = True
        for process in [server.process for server in self.servers] + [
            bot.process for bot in self.bots if hasattr(bot, "process")
        ]:
            process.kill()
        self.world.close()
        self.store.close()


def simulate(plan: SimulationPlan) -> SimulationResult:
    """Run a simulation, and return its results.

    A violated invariant is not raised: `SimulationResult.failure` describes it.
    """
    result = SimulationResult(plan)
    arena = SimulatedArena(plan)
    drawn = draw_faults(
        arena.world.make_random_generator("faults"), round(plan.duration_seconds * NS_PER_SECOND)
    )
    if not arena.is_cluster:
        drawn = [
            fault
            for fault in drawn
            if not fault.kind.startswith("bus") and fault.kind not in ("server bus cut", "server split")
        ]
    faults = [
        fault
        for fault in drawn
        if plan.included_fault_numbers is None or fault.number in plan.included_fault_numbers
    ]
    hook, sys.unraisablehook = sys.unraisablehook, lambda _given: None
    gc.collect()
    if not gc.get_freeze_count():
        gc.freeze()  # no collection during a run examines the objects from before the first run
    gc.disable()
    try:
        with patch_servers_environment(arena):
            try:
                arena.run(plan.duration_seconds, faults)
            except InvariantViolated as failed:
                result.failure = str(failed)
            finally:
                arena.close()
    finally:
        result.injected_faults = [fault for fault in faults if fault.injection_ns <= arena.world.now_ns]
        result.event_log, result.fault_counts = arena.world.event_log, arena.fault_counts
        result.match_count, result.end_reasons = (
            len(arena.monitor.finished_matches),
            arena.monitor.end_reasons,
        )
        result.acknowledged_move_count, result.elapsed_seconds = (
            arena.monitor.acknowledged_move_count,
            arena.world.elapsed_seconds,
        )
        result.digest, result.executed_call_count = arena.world.digest, arena.world.executed_call_count
        del arena
        gc.collect()
        gc.enable()
        sys.unraisablehook = hook
    return result
