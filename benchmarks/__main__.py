"""Benchmarks of the compiled engine: `python -m benchmarks [NAME …]`. Without names, all benchmarks are run.

The figures of each benchmark are written to RESULTS.md as soon as the benchmark has run. A separate program measures the Elo
difference of two engines: `python -m benchmarks.engine.strength --help`.
"""

from __future__ import annotations

import importlib

from benchmarks.kit.results import RESULTS_PAGE, make_argument_parser, start_recording_conditions

BENCHMARK_NAMES = ("threads", "delay")
"""Names of the benchmarks, in the order of RESULTS.md. Each is a module of `benchmarks.engine` with a function `run_benchmark`."""


def main() -> None:
    """Run the benchmarks that the command line names, one after another, and write their figures to RESULTS.md."""
    parser = make_argument_parser(__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="NAME",
        help=f"benchmarks to run, of {', '.join(BENCHMARK_NAMES)}; default: all",
    )
    arguments = parser.parse_args()
    unknown_names = set(arguments.parts) - set(BENCHMARK_NAMES)
    if unknown_names:
        names = ", ".join(BENCHMARK_NAMES)
        parser.error(f"no benchmark is called {', '.join(sorted(unknown_names))}: there are {names}")
    for name in arguments.parts or BENCHMARK_NAMES:
        get_conditions = start_recording_conditions()
        figures = importlib.import_module(f"benchmarks.engine.{name}").run_benchmark()
        RESULTS_PAGE.publish(name, figures, get_conditions, should_write=True)


if __name__ == "__main__":
    main()
