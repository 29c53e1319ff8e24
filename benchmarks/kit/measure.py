"""Helpers of the benchmarks: ratios with their spread, percentiles, Markdown tables, test positions, and a description of the
machine.
"""

from __future__ import annotations

import platform
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.lab.variants import load_map_variant


@dataclass(frozen=True)
class MeasuredRatio:
    """Ratio measured several times, with the results `values`. Its text shows their median, smallest, greatest and number."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        return f"{format_up_to_two_decimals(self.median)} ({format_up_to_two_decimals(low)} to {format_up_to_two_decimals(high)}, n = {len(self.values)})"

    def format_with_range(self, unit: str) -> str:
        """Return the ratio as text, such as `1.50 × (the median of 3 measurements, from 1.40 to 1.60)` for the unit "×"."""
        low, high = format_up_to_two_decimals(min(self.values)), format_up_to_two_decimals(max(self.values))
        return f"{format_up_to_two_decimals(self.median)} {unit} (the median of {len(self.values)} measurements, from {low} to {high})"


def format_up_to_two_decimals(number: float) -> str:
    """Format a number with two decimals if it is below 20, one if it is below 100, and otherwise none."""
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 20 else f"{number:.2f}"


def format_spread(values: Sequence[float], decimal_places: int = 0) -> str:
    """Format the median of the values, with the smallest and the greatest in brackets. `decimal_places`: number of decimals."""
    median, low, high = (
        f"{value:.{decimal_places}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return f"{median} ({low} to {high})"


def compute_quantile(values: Sequence[float], quantile: float) -> float:
    """Return the quantile `quantile` of the values, such as 0.99 for the 99th percentile; nan if there are no values."""
    return sorted(values)[int(quantile * (len(values) - 1))] if values else float("nan")


def format_markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown, with an empty line before and after it. `headings`: column headings."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (headings, ["---"] * len(headings), *rows)]
    return "\n\n" + "\n".join(lines) + "\n\n"


def make_riskless_game(map: str) -> Riskless:
    """Return the game Riskless on the map of this name."""
    return Riskless(load_map_variant(map))


def make_midgame_position(game: Game[Any, Any], plies: int, seed: int) -> Any:
    """Return an unfinished position after `plies` moves. Each move leads to the position whose estimate, plus random noise,
    is best.

    seed: seed of the noise, a random number from 0 to 3 armies for each estimate; other seeds give other positions
    """
    rng = random.Random(seed)
    while True:
        position = game.start()
        for _ in range(plies):
            moves = game.moves(position)
            if not moves:
                break
            sign = game.player(position).sign
            successors = [game.successor(position, move) for move in moves]
            position = max(
                successors, key=lambda candidate: sign * game.estimate(candidate) + 3 * rng.random()
            )
        if game.outcome(position) is None:
            return position


def make_midgame_positions(game: Game[Any, Any], position_count: int) -> list[Any]:
    """Return middle-game positions: the first after 20 plies, each further one after 4 more."""
    return [make_midgame_position(game, 20 + 4 * i, i) for i in range(position_count)]


def describe_machine() -> str:
    """Return a line with the processors, the operating system, and the versions of Python, numba, llvmlite and numpy.

    These three packages compile the engines. A package that is not installed is left out.
    """
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy") if find_spec(name)
    )
    return (
        f"{len(names)} × {names[0] if names else platform.machine()}, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}, {packages}"
    )
