"""A whole arena in a simulation: real edges, cores and clients on virtual time, and injected faults.

    python -m benchmarks.simulation --seeds 20 --hours 0.1
    python -m benchmarks.simulation --seed today --minutes 10
    python -m benchmarks.simulation planted                     finds each planted defect
    python -m benchmarks.simulation cost                        measures what a simulated hour costs

With --write, each command writes its section of SIMULATION.md. A failing seed is reduced to the necessary faults, and
printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count

from arena.server.host import open_host
from arena.server.settings import private
from benchmarks.kit.results import claim, measured_on, write_simulation
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.planted import PLANTED, hunt, planted
from testkit.simulation.shrink import shrink

IDLE_SECONDS = 10.0
"""Time for which a real idle host is observed."""


@dataclass
class Campaign:
    """Sum of many runs."""

    runs: int = 0
    seconds: float = 0.0
    """Simulated time in seconds."""
    cpu: float = 0.0
    matches: int = 0
    moves: int = 0
    befallen: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failed: list[SimulationResult] = field(default_factory=list)

    def add(self, outcome: SimulationResult) -> None:
        """Add a run to the sum."""
        self.runs += 1
        self.seconds += outcome.seconds
        self.matches += outcome.matches
        self.moves += outcome.moves
        self.befallen += outcome.befallen
        self.reasons += outcome.reasons
        if outcome.failure:
            self.failed.append(outcome)


def main() -> int:
    """Run the seeds, and print the results. Return 1 if one fails."""
    arguments = _arguments()
    logging.disable(logging.CRITICAL)
    campaign = Campaign()
    with measured_on(" ".join(["python -m benchmarks.simulation", *sys.argv[1:]])) as measured:
        match arguments.part:
            case "planted":
                title, text = "Planted defects", _planted()
            case "cost":
                title, text = "What an hour costs", _cost()
            case _:
                campaign = _run_seeds(arguments)
                title, text = "Seeds", _told(campaign, arguments.bots)
    print(text)
    if arguments.write:
        write_simulation(arguments.part, f"## {title}\n\n{measured()}\n\n{text}")
    return 1 if campaign.failed else 0


def _run_seeds(arguments: argparse.Namespace) -> Campaign:
    campaign, began, until = (
        Campaign(),
        time.process_time(),
        time.perf_counter() + 60 * (arguments.minutes or 0),
    )
    only = None if arguments.only is None else tuple(map(int, filter(None, arguments.only.split(","))))
    for seed in (
        count(arguments.seed)
        if arguments.minutes
        else range(arguments.seed, arguments.seed + arguments.seeds)
    ):
        with planted(arguments.fault):
            outcome = simulate(SimulationPlan(seed, 3600 * arguments.hours, arguments.bots, only=only))
        campaign.add(outcome)
        campaign.cpu = time.process_time() - began
        if outcome.failure:
            print(f"seed {seed} fails at {outcome.seconds:.3f} s: {outcome.failure}", flush=True)
            if only is None:
                with planted(arguments.fault):
                    _tell(shrink(outcome), arguments)
        elif not arguments.minutes and arguments.seeds == 1:
            print(f"seed {seed}: digest {outcome.digest}")
        if arguments.minutes and time.perf_counter() >= until:
            break
    return campaign


def _tell(outcome: SimulationResult, arguments: argparse.Namespace) -> None:
    numbers = ",".join(str(each.number) for each in outcome.faults)
    fault = f" --fault {arguments.fault}" if arguments.fault else ""
    print(
        f"  python -m benchmarks.simulation --seed {outcome.plan.seed} --hours {arguments.hours!r} --bots {arguments.bots}"
        f" --only '{numbers}'{fault}"
    )
    for line in outcome.story:
        print(f"  at {line}")
    print(f"  at {outcome.seconds:.3f} s: {outcome.failure}", flush=True)


def _told(campaign: Campaign, bots: int) -> str:
    counts = [
        f"{what}: " + ", ".join(f"{name} {number}" for name, number in sorted(counted.items())) + "."
        for what, counted in (
            ("Injected faults", campaign.befallen),
            ("Matches by end reason", campaign.reasons),
        )
    ]
    total = (
        f"{campaign.runs} seeds, {campaign.seconds / 3600:.2f} simulated hours of {bots} bots in {campaign.cpu:.0f} s of CPU:"
        f" {campaign.matches:,} matches, {campaign.moves:,} acknowledged moves, {campaign.befallen.total():,} injected faults;"
        f" {len(campaign.failed)} seeds fail."
    )
    return "\n\n".join([total, *counts])


# the report


def _planted() -> str:
    rows, slowest = [], 0.0
    for name in PLANTED:
        began = time.process_time()
        result = hunt(name)
        cpu = time.process_time() - began
        slowest = max(slowest, cpu if result.failure else float("inf"))
        failure = (result.failure or "not found").partition("\n")[0]
        rows.append(f"| {name} | {result.plan.seed} | {cpu:.1f} | {result.seconds:.0f} | {failure} |")
    return "\n".join(
        [
            "`testkit/simulation/planted.py` describes each defect. Seeds from 1 on are run until one fails; *CPU s* includes all of them.",
            "",
            "| defect | seed | CPU s | fails after, simulated s | failure |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            claim(
                f"{len(PLANTED)} planted defects are found",
                "each within 60 s of CPU",
                f"within {slowest:.0f} s",
            ),
        ]
    )


def _cost() -> str:
    loop = CountedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        idle = runner.run(_idle(loop))
    simulate(SimulationPlan(1, 20, 4, only=()))  # what is imported and compiled once
    rows, per_hour = [], 0.0
    plan: Callable[..., SimulationPlan] = partial(SimulationPlan, 1, 300, control=2, only=())
    for what, seeds in (
        ("one host, nobody connected", plan(0, cluster=False)),
        ("edges and cores, nobody connected", plan(0, cluster=True)),
        ("one host, 100 bots", plan(100, cluster=False)),
        ("edges and cores, 100 bots", plan(100, cluster=True)),
    ):
        began = time.process_time()
        outcome = simulate(seeds)
        cpu = time.process_time() - began
        per_hour = max(per_hour, 3600 * cpu / outcome.seconds)
        rows.append(
            f"| {what} | {outcome.steps / outcome.seconds:.0f} | {3600 * outcome.moves / outcome.seconds:,.0f} |"
            f" {3600 * cpu / outcome.seconds:.1f} | {outcome.seconds / cpu:.0f} |"
            f" {f'{1e6 * cpu / outcome.moves:,.0f}' if outcome.moves else ''} |"
        )
    return "\n".join(
        [
            "Bots think up to 9 s of a minute for a move. No faults are injected.",
            "",
            "| | steps/s | moves/h | CPU s/h | hours in an hour of one core | µs a move |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
            claim(
                "simulated hours of an arena with 100 bots, per hour of CPU time",
                "1,000",
                f"{3600 / per_hour:.0f}",
            ),
            "",
            COST,
            "",
            idle,
        ]
    )


COST = """The target of 1,000 would leave 3.6 s of CPU for an hour of 100 bots: 115 µs for each of 31,000 moves. The last column is
what an acknowledged move takes, with all that happens for it in the servers, in both bots and in the checks. This is real
code, except for time, connections, threads and the bus. Its cost is spread: by cProfile no part takes more than a tenth.
SQLAlchemy, the codec and the websocket library at both ends come first; simulated time and connections, the core, the checks
and SQLite follow. In Python, a thousand hours in an hour would need bots that move less often, or a model of the servers."""


async def _idle(loop: CountedLoop) -> str:
    """Return what a real host does while nobody is connected."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_host(private(database=f"sqlite:///{folder}/arena.db")):
            await asyncio.sleep(IDLE_SECONDS / 5)  # everything has been read once
            before, began = loop.turns, time.process_time()
            await asyncio.sleep(IDLE_SECONDS)
            turns, cpu = loop.turns - before, time.process_time() - began
    return (
        f"A real host on SQLite to which nobody is connected wakes up {turns / IDLE_SECONDS:.0f} times a second and takes"
        f" {1000 * cpu / IDLE_SECONDS:.1f} ms of CPU a second."
    )


class CountedLoop(asyncio.SelectorEventLoop):
    """Event loop that counts its turns."""

    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        super()._run_once()  # type: ignore[misc]


def _seed(text: str) -> int:
    return datetime.now(UTC).toordinal() * 1000 if text == "today" else int(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument(
        "part", nargs="?", default="seeds", choices=("seeds", "planted", "cost"), help="what to run"
    )
    parser.add_argument("--seeds", type=int, default=1, help="seeds to run (default 1)")
    parser.add_argument("--seed", type=_seed, default=1, help="first seed, or `today` (default 1)")
    parser.add_argument("--minutes", type=float, help="begin seeds for so many minutes instead")
    parser.add_argument("--hours", type=float, default=0.1, help="simulated hours of each seed (default 0.1)")
    parser.add_argument("--bots", type=int, default=24, help="number of bots")
    parser.add_argument("--only", help="numbers of the faults that happen, as 3,7")
    parser.add_argument("--fault", default="", choices=("", *PLANTED), help="defect to plant")
    parser.add_argument("--write", action="store_true", help="write the section of SIMULATION.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
