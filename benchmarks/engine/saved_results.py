"""Raw results of the engine's benchmarks, from which the figures of RESULTS.md are generated.

Each benchmark is a module `benchmarks.engine.NAME` with two functions: `run_benchmark()` returns the measurements as
plain data, and `format_figures_by_name(raw_data)` returns the texts to write into RESULTS.md, by the name of their placeholder.
`results/NAME.json` stores the data with the conditions of the measurement.
"""

from __future__ import annotations

import importlib
import json
from typing import Any

from msgspec import convert, to_builtins
from msgspec.structs import asdict

from benchmarks.kit.results import (
    BENCHMARKS_FOLDER,
    RESULTS_PAGE,
    MeasurementConditions,
    start_recording_conditions,
)

BENCHMARK_NAMES = ("threads", "delay")
"""Names of the benchmarks of the compiled engine, in the order of RESULTS.md."""


class SavedResults(MeasurementConditions, frozen=True):
    """Raw results of one benchmark, with the conditions of its measurement (date, machine, load)."""

    data: dict[str, Any]


def run_and_save_benchmark(benchmark_name: str) -> None:
    """Run the benchmark of this name, and save its raw results."""
    get_conditions = start_recording_conditions()
    data = importlib.import_module(f"benchmarks.engine.{benchmark_name}").run_benchmark()
    saved_results = SavedResults(**asdict(get_conditions()), data=data)
    (BENCHMARKS_FOLDER / "results" / f"{benchmark_name}.json").write_text(
        json.dumps(to_builtins(saved_results), indent=1) + "\n", encoding="utf-8"
    )


def load_results(benchmark_name: str) -> SavedResults:
    """Return the raw results of a benchmark from results/NAME.json. Raises FileNotFoundError if there is no such file."""
    text = (BENCHMARKS_FOLDER / "results" / f"{benchmark_name}.json").read_text(encoding="utf-8")
    return convert(json.loads(text), SavedResults)


def format_figures_by_name(benchmark_name: str) -> dict[str, str]:
    """Return the texts to write into RESULTS.md, by the name of their placeholder, from a benchmark's saved raw results."""
    saved_results = load_results(benchmark_name)
    figures: dict[str, str] = importlib.import_module(
        f"benchmarks.engine.{benchmark_name}"
    ).format_figures_by_name(saved_results.data)
    return figures | {
        f"{benchmark_name}.measured": saved_results.describe_in_words(
            f"python -m benchmarks {benchmark_name}"
        )
    }


def render_results_page() -> str:
    """Return the text of RESULTS.md with the figures of all saved results."""
    return RESULTS_PAGE.fill_placeholders(
        {place: figure for name in BENCHMARK_NAMES for place, figure in format_figures_by_name(name).items()}
    )
