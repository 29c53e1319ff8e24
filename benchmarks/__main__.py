"""Benchmarks of the compiled engine: `python -m benchmarks [NAME …]`. Without names, all benchmarks are run.

The raw results of each benchmark are saved as soon as the benchmark has run (`benchmarks/engine/saved_results.py`), and its
figures are written to RESULTS.md. `--page` only writes the figures of all saved results. A separate program measures the Elo
difference of two engines: `python -m benchmarks.engine.strength --help`.
"""

from __future__ import annotations

from benchmarks.engine import saved_results
from benchmarks.kit.results import RESULTS_PAGE, make_argument_parser


def main() -> None:
    """Run the benchmarks that the command line names, one after another, and write RESULTS.md."""
    parser = make_argument_parser(__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="NAME",
        help=f"benchmarks to run, of {', '.join(saved_results.BENCHMARK_NAMES)}; default: all",
    )
    parser.add_argument("--page", action="store_true", help="only write RESULTS.md from the saved results")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(saved_results.BENCHMARK_NAMES)
    if unknown:
        names = ", ".join(saved_results.BENCHMARK_NAMES)
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {names}")
    for name in () if arguments.page else arguments.parts or saved_results.BENCHMARK_NAMES:
        saved_results.run_and_save_benchmark(name)
        print(*saved_results.format_figures_by_name(name).values(), sep="\n", flush=True)
        RESULTS_PAGE.path.write_text(saved_results.render_results_page(), encoding="utf-8")
    RESULTS_PAGE.path.write_text(saved_results.render_results_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
