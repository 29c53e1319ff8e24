"""Bots that play as fast as they can, on the server and on a bare relay."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from benchmarks.kit.halves import load_cores, server_cores
from benchmarks.kit.loads import ARENA, RELAY, loads
from benchmarks.kit.results import claim
from benchmarks.kit.script import frame_sizes
from benchmarks.kit.served import Running, arena, serving

LIMITS = (
    *(
        "--set=limits.connections=10000",
        "--set=limits.connections_per_address=10000",
        "--set=limits.hello_seconds=60",
    ),
    "--set=limits.moves_per_second=1000000",  # all bots come from one address
)
SIZES = (10, 100, 1000)
"""With how many bots each kind is measured."""
WARM_SECONDS = 1.5
"""From the time that all bots are in to the beginning of a measurement."""
MOST_RATIO = {10: 4.0, 100: 2.2, 1000: 2.2}
"""What a move may cost the server, over what it costs a relay, by the number of bots."""
LOAD_IS_THE_BOUND = 0.8
"""The share of its core from which on a process of the load may be what bounds a run."""


@dataclass
class Flat:
    """A run as fast as it goes."""

    rate: float
    """Moves a second."""
    server: float
    """Microseconds of CPU a move, the kernel's for it included."""
    load: float
    """The share of a core that the busiest of the load's processes took."""


Serve = Callable[[int], AbstractContextManager[Running]]


def serve_arena(bots: int) -> AbstractContextManager[Running]:
    """The server, for so many bots."""
    return arena(bots // 2, *LIMITS, cores=server_cores())


def serve_relay(_bots: int) -> AbstractContextManager[Running]:
    """Serve a relay, whose frames are as large as the server's."""
    sizes = [str(size) for size in frame_sizes()]
    return serving("benchmarks.relay", "PORT", *sizes, cores=server_cores())


def flat_out(serve: Serve, bots: int, seconds: float, pause: float = 0.0) -> Flat:
    """What so many bots reach that play as fast as they can, or take `pause` seconds for a move."""
    with (
        serve(bots) as running,
        loads(running.url, bots, kind=ARENA if serve is serve_arena else RELAY, pause=pause) as load,
    ):
        load.wait_all_in(bots)
        time.sleep(WARM_SECONDS)
        moves, server, own, began = load.moves, running.cpu, load.cpu(), time.perf_counter()
        time.sleep(seconds)
        passed = time.perf_counter() - began
        moves = max(1, load.moves - moves)
        shares = [(after - before) / passed for before, after in zip(own, load.cpu(), strict=True)]
        found = Flat(moves / passed, 1e6 * (running.cpu - server) / moves, max(shares))
        if load.errors:
            print(f"  {load.errors} errors")
    return found


def flat_lines(seconds: float, rounds: int) -> tuple[list[str], dict[int, list[float]]]:
    """The section: CPU a move and moves a second, and the ratio to the relay; and the ratios of each round, by the bots."""
    apart = server_cores() != load_cores()
    lines = [
        f"## Flat out, against a bare relay (medians of {rounds} rounds)",
        (
            "The relay knows no game, and keeps nothing: for each move it writes what the server writes, an answer to "
            "the mover and a turn to the other. It stands on the server's own connections. CPU is that of the process, in microseconds a move; its ratio is what "
            f"the game, the lobby and the journal cost. The load runs in {len(load_cores())} processes, "
            + ("on cores of its own" if apart else "on the cores that the server has too")
            + ". *Load* is the share of a core that the busiest of them took, against the server and the relay: "
            f"where it is over {LOAD_IS_THE_BOUND:.0%} it is marked, and may be what bounded the moves "
            "a second. With few bots each waits for the commit of its move. A relay that is flat out finds tens of "
            "frames whenever it looks, and one that has time between them is woken for each: *as often* is what "
            "a move costs the relay at the arena's moves a second, once each round."
        ),
        "",
        "| bots | CPU, arena | relay | ratio | as often | moves/s, arena | relay | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = {}
    for bots in SIZES:
        runs, often = [], []
        for _ in range(rounds):
            runs.append([flat_out(serve, bots, seconds) for serve in (serve_arena, serve_relay)])
            # One bot of two is to move.
            often.append(flat_out(serve_relay, bots, seconds, bots / 2 / runs[-1][0].rate).server)
        cpu = [statistics.median(run[kind].server for run in runs) for kind in range(2)]
        rates = [statistics.median(run[kind].rate for run in runs) for kind in range(2)]
        found[bots] = [arena.server / relay.server for arena, relay in runs]
        load = " / ".join(_share([run[kind].load for run in runs]) for kind in range(2))
        lines.append(
            f"| {bots} | {cpu[0]:.0f} | {cpu[1]:.0f} | {_spread(found[bots])} | {statistics.median(often):.0f} "
            f"| {rates[0]:,.0f} | {rates[1]:,.0f} | {load} |"
        )
        print(lines[-1], flush=True)
    return lines, found


def goals(ratios: Mapping[int, Sequence[float]]) -> list[str]:
    """Return promised and found ratios of CPU a move, server to relay, by the number of bots."""
    lines = []
    for bots, each in ratios.items():
        what = f"CPU a move of the server, over that of a relay on the same connections, with {bots:,} bots"
        lines += [claim(what, f"at most {MOST_RATIO[bots]:g} ×", f"{_spread(each)} ×"), ""]
    return lines[:-1]


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _share(shares: list[float]) -> str:
    share = statistics.median(shares)
    return f"**{share:.0%}**" if share > LOAD_IS_THE_BOUND else f"{share:.0%}"
