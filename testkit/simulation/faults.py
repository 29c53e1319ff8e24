"""Faults of a simulation run. They are drawn from the seed before the run begins, so a repeated run can leave out some of
them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testkit.simulation.world import NS_PER_SECOND

if TYPE_CHECKING:
    from testkit.simulation.arena import SimulatedArena
    from testkit.simulation.servers import SimulatedServer

SERVER_FAULT_KINDS = ("kill", "freeze", "bus cut", "store cut", "split", "stop", "down", "upgrade")
"""Faults of a server.

kill       the process is killed, and started again soon
freeze     the process is suspended for a while
bus cut    the process loses its connection to the bus for a while
store cut  the process loses its connection to the store for a while
split      the process loses both connections for a while
stop       the process ends gracefully, and is started again soon
down       the process ends gracefully, and is started again only after a while
upgrade    the process lets its matches end, then ends gracefully, and is started again soon
"""
STORE_FAULT_KINDS = ("away", "full", "stalled", "in doubt")
"""Faults of the store: no process reaches it, writes fail, calls take up to 4 s, or successful commits report an error."""
BUS_FAULT_KINDS = ("away", "lossy", "unordered")
"""Faults of the bus: no process reaches it, it loses messages, or it repeats and delays messages."""
BOT_FAULT_KINDS = ("reset", "held", "frozen")
"""Faults of a bot: its connection is reset, or holds up all data for a while, or its process is frozen."""
FAULT_KINDS = (
    *(f"server {kind}" for kind in SERVER_FAULT_KINDS),
    *(f"store {kind}" for kind in STORE_FAULT_KINDS),
    *(f"bus {kind}" for kind in BUS_FAULT_KINDS),
    *(f"connection {kind}" for kind in BOT_FAULT_KINDS),
)
MESSAGE_FAULT_PROBABILITY = 0.02
"""Probability of a loss of each message on the bus during the fault `lossy`; of a repetition or a delay during `unordered`."""
MIN_AND_MAX_FAULT_PAUSE_SECONDS = (1.0, 20.0)
"""Shortest and longest time between two faults, in seconds. Each time is random; one in five is then divided by 20, so that
faults overlap.
"""


RepairFault = Callable[[], None]
"""Function that repairs a fault, for example resumes a suspended process."""


@dataclass(frozen=True)
class SimulatedFault:
    """Fault to inject into a simulated arena.

    number: place in the list of the run's faults, from 1 on
    injection_ns: virtual time of the injection, in ns
    kind: name in FAULT_KINDS
    """

    number: int
    injection_ns: int
    kind: str
    target_number: int
    """Random number that selects the server or the connections that the fault hits."""
    duration_ns: int
    """Time from the injection to the repair, in virtual ns. Some kinds of fault, such as a stalled store, end earlier."""

    def __str__(self) -> str:
        return f"at {self.injection_ns / NS_PER_SECOND:.3f} s {self.kind} for {self.duration_ns / NS_PER_SECOND:.3f} s"


def draw_faults(
    rng: random.Random, end_ns: int, *, first_fault_ns: int = 10 * NS_PER_SECOND
) -> list[SimulatedFault]:
    """Draw the faults of a run, in order of time, after time `first_fault_ns` and before time `end_ns`, both in virtual ns."""
    faults: list[SimulatedFault] = []
    injection_ns = first_fault_ns
    while True:
        injection_ns += round(
            rng.uniform(*MIN_AND_MAX_FAULT_PAUSE_SECONDS)
            * NS_PER_SECOND
            * (0.05 if rng.random() < 0.2 else 1)
        )
        if injection_ns >= end_ns:
            return faults
        seconds = rng.uniform(0.05, 1.5) if rng.random() < 0.4 else rng.uniform(0.5, 7.0)
        kind = rng.choice(FAULT_KINDS)
        faults.append(
            SimulatedFault(
                len(faults) + 1, injection_ns, kind, rng.randrange(1 << 16), round(seconds * NS_PER_SECOND)
            )
        )


def inject_fault(arena: SimulatedArena, fault: SimulatedFault) -> None:
    """Inject a fault now, and schedule its repair after `fault.duration_ns`.

    Some faults need no repair: a killed server, for example, is started again soon in any case.
    """
    target, _, kind = fault.kind.partition(" ")
    repair: RepairFault | None = None
    if target == "server":
        server = _choose_server(arena, fault)
        arena.world.add_log_line(
            f"{server.process.name}: {kind} for {fault.duration_ns / NS_PER_SECOND:.3f} s [{fault.number}]"
        )
        repair = _fail_server(arena, server, kind, fault.duration_ns)
    else:
        arena.world.add_log_line(
            f"{fault.kind} for {fault.duration_ns / NS_PER_SECOND:.3f} s [{fault.number}]"
        )
        if target == "store":
            repair = _fail_store(arena, kind, fault.duration_ns)
        elif target == "bus":
            repair = _fail_bus(arena, kind)
        else:
            repair = _fail_bot_connection(arena, fault, kind)
    if repair is not None:
        arena.world.call_after(fault.duration_ns, repair)
    arena.fault_counts[fault.kind] += 1


def _choose_server(arena: SimulatedArena, fault: SimulatedFault) -> SimulatedServer:
    """Return the server that a fault hits: in half of the cases the leader, which plays the matches; otherwise any server."""
    leaders = [server for server in arena.servers if arena.is_leader(server)]
    if leaders and fault.target_number % 2:
        return leaders[0]
    return arena.servers[fault.target_number // 2 % len(arena.servers)]


def _fail_server(
    arena: SimulatedArena, server: SimulatedServer, server_fault: str, duration_ns: int
) -> RepairFault | None:
    process, cut = server.process, arena.broker.cut_process_names
    match server_fault:
        case "kill":
            server.kill()
        case "stop":
            server.stop()
        case "freeze":
            process.freeze()
            return process.thaw
        case "bus cut":
            cut.add(process.name)
            return lambda: cut.discard(process.name)
        case "store cut":
            process.is_store_cut = True

            def reconnect_store() -> None:
                process.is_store_cut = False

            return reconnect_store
        case "split":
            cut.add(process.name)
            process.is_store_cut = True

            def reconnect() -> None:
                cut.discard(process.name)
                process.is_store_cut = False

            return reconnect
        case "down":
            server.is_down = True
            server.stop()
            return server.restart
        case "upgrade":
            server.upgrade(duration_ns / NS_PER_SECOND)
    return None


def _fail_store(arena: SimulatedArena, store_fault: str, duration_ns: int) -> RepairFault | None:
    store = arena.store
    if store_fault == "stalled":
        store.stalled_until_ns = arena.world.now_ns + min(duration_ns, 4 * NS_PER_SECOND)
        return None
    name = {"away": "is_unreachable", "full": "is_full", "in doubt": "has_doubtful_commits"}[store_fault]
    setattr(store, name, True)
    return lambda: setattr(store, name, False)


def _fail_bus(arena: SimulatedArena, bus_fault: str) -> RepairFault:
    broker = arena.broker
    if bus_fault == "away":
        broker.is_unreachable = True
        return lambda: setattr(broker, "is_unreachable", False)
    broker.loss_probability = 0.0 if bus_fault == "unordered" else MESSAGE_FAULT_PROBABILITY
    broker.repeat_probability = broker.reorder_probability = (
        MESSAGE_FAULT_PROBABILITY if bus_fault == "unordered" else 0.0
    )

    def restore_bus() -> None:
        broker.loss_probability = broker.repeat_probability = broker.reorder_probability = 0.0

    return restore_bus


def _fail_bot_connection(arena: SimulatedArena, fault: SimulatedFault, bot_fault: str) -> RepairFault | None:
    network = arena.world.network
    if not network.open_connections:
        return None
    numbers = sorted(network.open_connections)
    chosen_numbers = {
        numbers[(fault.target_number + place * 7) % len(numbers)]
        for place in range(1 + fault.target_number % 4)
    }
    for number in sorted(chosen_numbers):
        client, _ = network.open_connections[number]
        if bot_fault == "reset":
            client.reset()
        elif bot_fault == "held":
            max_stall_ns = round(arena.move_seconds * NS_PER_SECOND * 0.2)
            client.stall_until(arena.world.now_ns + min(fault.duration_ns, max_stall_ns))
        elif client.process.name not in arena.frozen_bot_names:
            process = client.process
            process.freeze()
            arena.frozen_bot_names.add(process.name)

            def thaw_process(process=process) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
                arena.frozen_bot_names.discard(process.name)
                process.thaw()

            arena.world.call_after(
                min(fault.duration_ns, round(arena.move_seconds * NS_PER_SECOND * 0.2)), thaw_process
            )
    return None
