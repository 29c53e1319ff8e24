"""A whole arena in a simulation: real edges, cores and clients on virtual time, and injected faults.

    python -m benchmarks.simulation --seeds 20 --hours 0.1
    python -m benchmarks.simulation --seed today --minutes 10
    python -m benchmarks.simulation planted                     finds each planted defect

With --write, each command writes its section of SIMULATION.md. A failing seed is reduced to the necessary faults, and
printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from benchmarks.kit.results import SIMULATION, claim, measured_on
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.planted import PLANTED, hunt, planted
from testkit.simulation.shrink import shrink


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
            case _:
                campaign = _run_seeds(arguments)
                title, text = "Seeds", _told(campaign, arguments.bots)
    print(text)
    if arguments.write:
        SIMULATION.write(arguments.part, f"## {title}\n\n{measured()}\n\n{text}")
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
            ("Injected faults by kind", campaign.befallen),
            ("Number of matches by end reason", campaign.reasons),
        )
    ]
    total = (
        f"The simulation ran with {campaign.runs} seeds, for {campaign.seconds / 3600:.2f} simulated hours of {bots} bots in"
        f" {campaign.cpu:.0f} s of CPU time: {campaign.matches:,} matches, {campaign.moves:,} acknowledged moves and"
        f" {campaign.befallen.total():,} injected faults. {len(campaign.failed)} of the seeds failed."
    )
    return "\n\n".join([total, *counts])


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
            "This section tests the simulation itself: a defect is planted into the code, and the simulation must find it. `testkit/simulation/planted.py` describes each defect. The simulation runs with seed 1, 2, 3 … until one fails; *CPU s* is the CPU time of all these runs.",
            "",
            "| defect | seed | CPU s | fails after, simulated s | failure |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            claim(
                f"CPU time to find each of {len(PLANTED)} planted defects",
                "at most 60 s",
                f"at most {slowest:.0f} s",
            ),
        ]
    )


def _seed(text: str) -> int:
    return datetime.now(UTC).toordinal() * 1000 if text == "today" else int(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("part", nargs="?", default="seeds", choices=("seeds", "planted"), help="what to run")
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
