"""Simulation of a whole arena: real edges, cores and clients in virtual time, with injected faults.

    python -m benchmarks.simulation --seeds 20 --hours 0.1
    python -m benchmarks.simulation --seed today --minutes 10
    python -m benchmarks.simulation planted                     finds each planted defect

With --write, each command writes its section of SIMULATION.md. If a seed fails, the run is reduced to the necessary
faults, and printed with the command that repeats it.
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

from benchmarks.kit.results import SIMULATION, describe_measurement, format_claim
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.planted import PLANTED, find_failing_seed, plant_defect
from testkit.simulation.shrink import reduce_failure


@dataclass
class CampaignTotals:
    """Totals of many runs."""

    runs: int = 0
    seconds: float = 0.0
    """Simulated time in seconds."""
    cpu: float = 0.0
    matches: int = 0
    moves: int = 0
    fault_counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failed: list[SimulationResult] = field(default_factory=list)

    def add(self, results: SimulationResult) -> None:
        """Add a run to the sum."""
        self.runs += 1
        self.seconds += results.seconds
        self.matches += results.matches
        self.moves += results.moves
        self.fault_counts += results.fault_counts
        self.reasons += results.reasons
        if results.failure:
            self.failed.append(results)


def main() -> int:
    """Run the seeds, and print the results. Return 1 if one fails."""
    arguments = _parse_arguments()
    logging.disable(logging.CRITICAL)
    campaign = CampaignTotals()
    with describe_measurement(" ".join(["python -m benchmarks.simulation", *sys.argv[1:]])) as measured:
        match arguments.part:
            case "planted":
                title, text = "Planted defects", _find_planted_defects()
            case _:
                campaign = _run_seeds(arguments)
                title, text = "Seeds", _make_seeds_section(campaign, arguments.bots)
    print(text)
    if arguments.write:
        SIMULATION.replace_section(arguments.part, f"## {title}\n\n{measured()}\n\n{text}")
    return 1 if campaign.failed else 0


def _run_seeds(arguments: argparse.Namespace) -> CampaignTotals:
    campaign, began, until = (
        CampaignTotals(),
        time.process_time(),
        time.perf_counter() + 60 * (arguments.minutes or 0),
    )
    only = None if arguments.only is None else tuple(map(int, filter(None, arguments.only.split(","))))
    for seed in (
        count(arguments.seed)
        if arguments.minutes
        else range(arguments.seed, arguments.seed + arguments.seeds)
    ):
        with plant_defect(arguments.fault):
            outcome = simulate(SimulationPlan(seed, 3600 * arguments.hours, arguments.bots, only=only))
        campaign.add(outcome)
        campaign.cpu = time.process_time() - began
        if outcome.failure:
            print(f"seed {seed} fails at {outcome.seconds:.3f} s: {outcome.failure}", flush=True)
            if only is None:
                with plant_defect(arguments.fault):
                    _print_failure(reduce_failure(outcome), arguments)
        elif not arguments.minutes and arguments.seeds == 1:
            print(f"seed {seed}: digest {outcome.digest}")
        if arguments.minutes and time.perf_counter() >= until:
            break
    return campaign


def _print_failure(results: SimulationResult, arguments: argparse.Namespace) -> None:
    numbers = ",".join(str(each.number) for each in results.faults)
    fault = f" --fault {arguments.fault}" if arguments.fault else ""
    print(
        f"  python -m benchmarks.simulation --seed {results.plan.seed} --hours {arguments.hours!r} --bots {arguments.bots}"
        f" --only '{numbers}'{fault}"
    )
    for line in results.story:
        print(f"  at {line}")
    print(f"  at {results.seconds:.3f} s: {results.failure}", flush=True)


def _make_seeds_section(campaign: CampaignTotals, bots: int) -> str:
    counts = [
        f"{what}: " + ", ".join(f"{name} {number}" for name, number in sorted(counted.items())) + "."
        for what, counted in (
            ("Injected faults by kind", campaign.fault_counts),
            ("Number of matches by end reason", campaign.reasons),
        )
    ]
    total = (
        f"The simulation ran with {campaign.runs} seeds, for {campaign.seconds / 3600:.2f} simulated hours of {bots} bots in"
        f" {campaign.cpu:.0f} s of CPU time: {campaign.matches:,} matches, {campaign.moves:,} acknowledged moves and"
        f" {campaign.fault_counts.total():,} injected faults. {len(campaign.failed)} of the seeds failed."
    )
    return "\n\n".join([total, *counts])


def _find_planted_defects() -> str:
    rows, slowest = [], 0.0
    for name in PLANTED:
        began = time.process_time()
        result = find_failing_seed(name)
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
            format_claim(
                f"CPU time to find each of {len(PLANTED)} planted defects",
                "at most 60 s",
                f"at most {slowest:.0f} s",
            ),
        ]
    )


def _parse_seed(text: str) -> int:
    return datetime.now(UTC).toordinal() * 1000 if text == "today" else int(text)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument(
        "part",
        nargs="?",
        default="seeds",
        choices=("seeds", "planted"),
        help="seeds: run simulations; planted: find the planted defects",
    )
    parser.add_argument("--seeds", type=int, default=1, help="seeds to run (default 1)")
    parser.add_argument("--seed", type=_parse_seed, default=1, help="first seed, or `today` (default 1)")
    parser.add_argument("--minutes", type=float, help="begin new seeds for this number of minutes instead")
    parser.add_argument("--hours", type=float, default=0.1, help="simulated hours of each seed (default 0.1)")
    parser.add_argument("--bots", type=int, default=24, help="number of bots")
    parser.add_argument("--only", help="numbers of the faults to inject, such as 3,7; default: all")
    parser.add_argument("--fault", default="", choices=("", *PLANTED), help="defect to plant")
    parser.add_argument("--write", action="store_true", help="write the section of SIMULATION.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
