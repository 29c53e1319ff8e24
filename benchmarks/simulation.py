"""Simulation of a whole arena: real edges, cores and clients in virtual time, with injected faults.

    python -m benchmarks.simulation --seeds 20 --hours 0.1
    python -m benchmarks.simulation --seed today --minutes 10
    python -m benchmarks.simulation planted                     finds bugs planted on purpose

With --write, each command writes its figures to SIMULATION.md. If a seed fails, the program looks for a run with fewer
faults that fails too, and prints this run with the command that repeats it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from itertools import count

from benchmarks.kit.measure import format_markdown_table
from benchmarks.kit.results import SIMULATION_PAGE, format_verdict, start_recording_conditions
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.defects import DEFECTS, find_failing_seed, plant_defect
from testkit.simulation.shrink import reduce_failed_run

MAX_DEFECT_SEARCH_SECONDS = 60
"""Promised upper bound, in seconds, of the CPU time to find a bug that was planted in the code on purpose."""


def main() -> int:
    """Run simulations, or check that they find the defects planted on purpose, and print the results.

    Return the exit code: 1 if a simulation without a planted defect fails, otherwise 0.
    """
    arguments = _parse_arguments()
    logging.disable(logging.CRITICAL)
    results: list[SimulationResult] = []
    get_conditions, start_time = start_recording_conditions(), time.process_time()
    if arguments.part == "planted":
        figures = _measure_search_for_planted_defects()
    else:
        results = _run_simulations(arguments)
        figures = _format_figures(results, time.process_time() - start_time, arguments.bots)
    SIMULATION_PAGE.publish(arguments.part, figures, get_conditions, should_write=arguments.write)
    return 1 if any(result.failure for result in results) else 0


def _run_simulations(arguments: argparse.Namespace) -> list[SimulationResult]:
    results, until = [], time.perf_counter() + 60 * (arguments.minutes or 0)
    only = None if arguments.only is None else tuple(map(int, filter(None, arguments.only.split(","))))
    for seed in (
        count(arguments.seed)
        if arguments.minutes
        else range(arguments.seed, arguments.seed + arguments.seeds)
    ):
        with plant_defect(arguments.fault):
            result = simulate(
                SimulationPlan(seed, 3600 * arguments.hours, arguments.bots, included_fault_numbers=only)
            )
        results.append(result)
        if result.failure:
            print(f"seed {seed} fails at {result.elapsed_seconds:.3f} s: {result.failure}", flush=True)
            if only is None:
                with plant_defect(arguments.fault):
                    _print_failure(reduce_failed_run(result), arguments)
        elif not arguments.minutes and arguments.seeds == 1:
            print(f"seed {seed}: digest {result.digest}")
        if arguments.minutes and time.perf_counter() >= until:
            break
    return results


def _print_failure(result: SimulationResult, arguments: argparse.Namespace) -> None:
    numbers = ",".join(str(fault.number) for fault in result.injected_faults)
    fault = f" --fault {arguments.fault}" if arguments.fault else ""
    print(
        f"  python -m benchmarks.simulation --seed {result.plan.seed} --hours {arguments.hours!r} --bots {arguments.bots}"
        f" --only '{numbers}'{fault}"
    )
    for line in result.event_log:
        print(f"  at {line}")
    print(f"  at {result.elapsed_seconds:.3f} s: {result.failure}", flush=True)


def _format_figures(results: list[SimulationResult], cpu_seconds: float, bot_count: int) -> dict[str, str]:
    faults: Counter[str] = sum((result.fault_counts for result in results), Counter())
    reasons: Counter[str] = sum((result.end_reasons for result in results), Counter())
    hours = sum(result.elapsed_seconds for result in results) / 3600
    return {
        "runs.counts": (
            f"once with each of {len(results)} seeds. Together, the runs simulated an arena with {bot_count} bots for {hours:.2f} hours, "
            f"in {cpu_seconds:.0f} s of CPU time. The bots played {sum(result.match_count for result in results):,} matches with "
            f"{sum(result.acknowledged_move_count for result in results):,} acknowledged moves, and {faults.total():,} faults were injected. "
            f"The number of seeds with which a run failed is {sum(bool(result.failure) for result in results)}"
        ),
        "runs.faults": _format_counts(faults),
        "runs.reasons": _format_counts(reasons),
    }


def _format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def _measure_search_for_planted_defects() -> dict[str, str]:
    rows, slowest = [], 0.0
    for name in DEFECTS:
        start_time = time.process_time()
        result = find_failing_seed(name)
        cpu = time.process_time() - start_time
        slowest = max(slowest, cpu if result.failure else float("inf"))
        failure = (result.failure or "not found").partition("\n")[0]
        rows.append([name, result.plan.seed, f"{cpu:.1f}", f"{result.elapsed_seconds:.0f}", failure])
    headings = ["defect", "seed", "CPU s", "fails after, simulated s", "failure"]
    return {
        "planted.table": format_markdown_table(headings, rows),
        "planted.cpu": format_verdict(
            f"at most {slowest:.0f} s", is_bound_kept=slowest <= MAX_DEFECT_SEARCH_SECONDS
        ),
    }


def _parse_seed_option(text: str) -> int:
    return datetime.now(UTC).toordinal() * 1000 if text == "today" else int(text)


def _parse_arguments() -> argparse.Namespace:
    parser = SIMULATION_PAGE.make_parser(__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        default="runs",
        choices=("runs", "planted"),
        help="runs: run simulations; planted: check that simulations find defects planted on purpose; default: %(default)s",
    )
    parser.add_argument(
        "--seeds", type=int, default=1, help="number of runs, each with its own seed (default 1)"
    )
    parser.add_argument(
        "--seed",
        type=_parse_seed_option,
        default=1,
        help="seed of the first run, or `today` for the date (default 1); each further run adds 1",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        help="start further runs until this many minutes have passed, instead of --seeds",
    )
    parser.add_argument("--hours", type=float, default=0.1, help="simulated hours per seed (default 0.1)")
    parser.add_argument("--bots", type=int, default=24, help="number of bots (default 24)")
    parser.add_argument(
        "--only",
        help="numbers of the faults to inject, as listed by a run with this seed, e.g. 3,7; default: all",
    )
    parser.add_argument(
        "--fault",
        default="",
        choices=("", *DEFECTS),
        help="defect to plant in the servers, to check that the simulation finds it; default: none",
    )
    # --write needs no default values here, because the figures name the numbers of seeds, hours and bots.
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
