"""Raw results of the engine's benchmarks, and RESULTS.md, which is generated from them.

Each benchmark is a module `benchmarks.engine.NAME` with two functions: `measure()` returns the measurements as plain
data, and `make_section(data)` formats them as a section. `results/NAME.json` stores the data with the commit, the date,
the machine and its load. RESULTS.md is generated from these files alone.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, to_builtins

from benchmarks.kit.measure import Section, describe_machine
from benchmarks.kit.results import ResultsPage

PARTS = ("devices", "depth", "threads", "delay", "finished")
"""Names of the sections of RESULTS.md in order. `finished`, experiments whose programs were removed, is not measured."""
MEASURED_PARTS = PARTS[:-1]
FOLDER = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[1] / "RESULTS.md"


class RawResults(Struct, frozen=True):
    """Data of one benchmark, with the conditions of its measurement. `seconds`: duration of the measurement."""

    commit: str
    """Abbreviated hash of the commit, with a trailing `+` if files differed from it, apart from results."""
    date: str
    seconds: float
    load: float
    """Load average of the machine over the minute before the benchmark."""
    machine: str
    data: dict[str, Any]


def measure_and_save(name: str) -> RawResults:
    """Run the benchmark of this name, save its raw results, and return them."""
    load, start_time = os.getloadavg()[0], time.perf_counter()
    data = importlib.import_module(f"benchmarks.engine.{name}").measure()
    raw = RawResults(
        commit=_current_commit(),
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        seconds=round(time.perf_counter() - start_time, 1),
        load=round(load, 1),
        machine=describe_machine(),
        data=data,
    )
    (FOLDER / f"{name}.json").write_text(json.dumps(to_builtins(raw), indent=1) + "\n", encoding="utf-8")
    return raw


def load_results(name: str) -> RawResults | None:
    """Return the saved raw results of a benchmark; None if there are none."""
    path = FOLDER / f"{name}.json"
    return convert(json.loads(path.read_text(encoding="utf-8")), RawResults) if path.exists() else None


def render_section(name: str, raw: RawResults) -> str:
    """Return the section of a benchmark, followed by the conditions of its measurement, as Markdown."""
    make: Callable[[dict[str, Any]], Section] = importlib.import_module(
        f"benchmarks.engine.{name}"
    ).make_section
    text = make(raw.data).to_markdown()
    if name not in MEASURED_PARTS:
        return text
    return (
        f"{text}\n\nMeasured at commit {raw.commit} on {raw.date} in {raw.seconds:.0f} s by `python -m benchmarks {name}`; "
        f"load average before the run: {raw.load:.1f}. Machine: {raw.machine}."
    )


def render_page() -> str:
    """Return the text of RESULTS.md, generated from all saved results and the head of the present file."""
    results = {name: load_results(name) for name in PARTS}
    sections = {name: render_section(name, raw) for name, raw in results.items() if raw is not None}
    return ResultsPage(PAGE, PARTS).render(sections)


def _current_commit() -> str:
    def run_git(*arguments: str) -> str:
        folder = Path(__file__).parent
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        ).stdout

    return run_git("rev-parse", "--short=8", "HEAD").strip() + (
        "+" if run_git("status", "--porcelain", "--", ":/", f":!{FOLDER}", f":!{PAGE}").strip() else ""
    )
