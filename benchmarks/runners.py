"""What a match runner costs beside fastchess, CPU a move and matches a second; writes its section of SERVER.md.

    python -m benchmarks.runners --fastchess PATH

fastchess is built from its sources first, by `make` with g++. The engines of both answer at once: its are `instant_uci.c`, ours are Python programs of a few lines (benchmarks/ladder.py).
The CPU time is the runner's own, without its engines'.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kit.results import claim, measured_on, write_server
from benchmarks.kit.served import cpu_of_machine

CORES = os.cpu_count() or 1
TICKS = 100
"""Of a second, as /proc counts CPU time."""

LOOK_SECONDS = 0.02

LONGER = {"tictactoe": 5}
"""By how many times more matches of a game are played: a hundred short ones take half a second, and are all beginning."""

FASTCHESS, EQUAL = "fastchess, chess", "riskless, a draw after as many plies"
"""What plays games of equal length."""
MOST_MS = {"riskless": 0.15, "tictactoe": 0.3}
"""What a move may cost the runner, by the game."""
LEAST_RATIO = 0.5
"""Matches a second, to those of fastchess."""


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    matches: float
    """A second."""
    plies: float
    """A match."""
    ms: float
    """CPU of the runner, a move."""
    busy: float
    """The share of the time of all cores that anything took: runner, programs, the kernel."""

    @property
    def runner(self) -> float:
        """The share of the time of all cores that the runner took."""
        return self.ms / 1000 * self.plies * self.matches / CORES


def chess(program: Path, rounds: int, concurrency: int, folder: Path) -> Cost:
    """Play `rounds` pairs of the instant engine against itself, by fastchess."""
    engine, games = folder / "instant", folder / "games.pgn"
    subprocess.run(["cc", "-O2", "-o", engine, Path(__file__).with_name("instant_uci.c")], check=True)
    games.unlink(missing_ok=True)
    words = [
        *(str(program), "-engine", f"cmd={engine}", "name=a", "-engine", f"cmd={engine}", "name=b"),
        *("-each", "tc=10+0.1", "-rounds", str(rounds), "-games", "2"),
        *("-concurrency", str(concurrency), "-ratinginterval", "0"),
        *("-pgnout", f"file={games}"),
    ]
    began, ticks, (busy, had) = time.perf_counter(), 0, cpu_of_machine()
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        stat = Path(f"/proc/{process.pid}/stat")
        while process.poll() is None:
            # Its own time, without that of the engines that it has waited for; gone once it has been waited for.
            fields = stat.read_text().rsplit(")", 1)[1].split()
            ticks = max(ticks, int(fields[11]) + int(fields[12]))
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - began
    busy_then, had_then = cpu_of_machine()
    if process.returncode:
        raise SystemExit(f"{program.name} ended with {process.returncode}")
    plies = [int(each) for each in re.findall(r'\[PlyCount "(\d+)"\]', games.read_text())]
    spent = 1000 * ticks / TICKS / sum(plies)
    return Cost(
        len(plies) / seconds, statistics.mean(plies), spent, (busy_then - busy) / max(0.01, had_then - had)
    )


def arena(game: str, rounds: int, concurrency: int, limit: int | None = None) -> Cost:
    """Play `rounds` pairs of this project's instant bots; `limit`: matches are draws after so many plies."""
    words = ["--game", game, "--map", "m2", "--rounds", str(rounds), "--concurrency", str(concurrency)]
    if limit is not None:
        words += ["--limit", str(limit)]
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.ladder", *words], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(
        r"([\d.]+) matches a second.*\n([\d.]+) ms of CPU a move.* in (\d+) moves\n.* busy for ([\d.]+)%",
        told,
    )
    if found is None:
        raise SystemExit(f"benchmarks.ladder says something else: {told}")
    matches, ms, moves, busy = map(float, found.groups())
    return Cost(matches, moves / (2 * rounds - 1), ms, busy / 100)


def report(costs: Mapping[str, Sequence[Cost]], concurrency: int, note: str) -> str:
    """Write the section."""
    lines = [
        "## The runner of ladders, beside fastchess",
        "",
        (
            "Matches of programs that answer at once, 10+0.1, in a store that is thrown away; medians, with the least and "
            f"the greatest. {concurrency} matches at a time. CPU is the runner's own, in milliseconds a move, without "
            "that of the programs: those that play chess are compiled C, and ours Python, which bounds the matches a "
            "second. Runners of chess hand a line through a pipe; here a move is two messages over a websocket, and is "
            "refereed. *Cores* is the share of the time of all cores that anything took, and of that the runner's own."
        ),
        "",
        "| runner | plies a match | matches a second | moves a second | CPU of a move, ms | cores |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, each in costs.items():
        plies, matches = (
            statistics.median(getattr(cost, what) for cost in each) for what in ("plies", "matches")
        )
        spent = _spread([cost.ms for cost in each], 3)
        matches_shown = _spread([cost.matches for cost in each], 1)
        busy, own = (statistics.median(getattr(cost, what) for cost in each) for what in ("busy", "runner"))
        shown = f"| {name} | {plies:.0f} | {matches_shown} | {matches * plies:,.0f} | {spent} | "
        lines.append(f"{shown}{busy:.0%}, {own:.0%} |")
    lines.append("")
    for name, most in MOST_MS.items():
        what = f"CPU of the runner a move, {name}"
        taken = [cost.ms for cost in costs[name]]
        lines += [claim(what, f"at most {most:g} ms", f"{_spread(taken, 2)} ms"), ""]
    ratios = [own.matches / other.matches for own, other in zip(costs[EQUAL], costs[FASTCHESS], strict=True)]
    what = "matches a second against fastchess, games of equal length"
    found = f"{_spread(ratios, 2)} ×"
    if statistics.median(ratios) < LEAST_RATIO:
        busy, own = (
            statistics.median(getattr(cost, what) for cost in costs[EQUAL]) for what in ("busy", "runner")
        )
        found += (
            f"; of the time of all cores the runner takes {own:.0%}, its bots and the kernel {max(0.0, busy - own):.0%}, "
            f"and for {1 - busy:.0%} each waits until another has woken up"
        )
    return "\n".join([*lines, claim(what, f"at least {LEAST_RATIO:g} ×", found), "", note])


def _spread(values: Sequence[float], digits: int) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main() -> int:
    """Play by turns, print, and write the section: 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fastchess", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    rounds, concurrency = arguments.rounds, arguments.concurrency
    costs: dict[str, list[Cost]] = {}
    with (
        measured_on("python -m benchmarks.runners --fastchess PATH") as note,
        tempfile.TemporaryDirectory(prefix="arena-benchmark-") as folder,
    ):
        for _ in range(arguments.times):
            played = chess(arguments.fastchess.resolve(), rounds, concurrency, Path(folder))
            costs.setdefault(FASTCHESS, []).append(played)
            plies = round(costs[FASTCHESS][-1].plies)
            costs.setdefault(EQUAL, []).append(arena("riskless", rounds, concurrency, plies))
            for game in ("riskless", "tictactoe"):
                costs.setdefault(game, []).append(arena(game, rounds * LONGER.get(game, 1), concurrency))
    text = report(costs, concurrency, note())
    print(text)
    write_server("runner", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
