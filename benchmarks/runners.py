"""What a match runner costs beside fastchess: CPU a move and matches a second, in one run.

    python -m benchmarks.runners --fastchess PATH     build it from its sources first: `make` with g++

The engines of both answer at once: those of fastchess are `instant_uci.c`, ours are Python programs of a
few lines (benchmarks/ladder.py). The CPU time is the runner's own, without its engines'.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = 100
"""Of a second, as /proc counts CPU time."""

LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    matches: float
    """A second."""
    plies: float
    """A match."""
    ms: float
    """CPU of the runner, a move."""


def fastchess(program: Path, rounds: int, concurrency: int, folder: Path) -> Cost:
    """Play `rounds` pairs of the instant engine against itself."""
    engine, games = folder / "instant", folder / "games.pgn"
    subprocess.run(["cc", "-O2", "-o", engine, Path(__file__).with_name("instant_uci.c")], check=True)
    games.unlink(missing_ok=True)
    words = [
        *(str(program), "-engine", f"cmd={engine}", "name=a", "-engine", f"cmd={engine}", "name=b"),
        *("-each", "tc=10+0.1", "-rounds", str(rounds), "-games", "2", "-concurrency", str(concurrency)),
        *("-ratinginterval", "0", "-pgnout", f"file={games}"),
    ]
    began, ticks = time.perf_counter(), 0
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        stat = Path(f"/proc/{process.pid}/stat")
        while process.poll() is None:
            # Its own time, without that of the engines that it has waited for; gone once it has been waited for.
            fields = stat.read_text().rsplit(")", 1)[1].split()
            ticks = max(ticks, int(fields[11]) + int(fields[12]))
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"fastchess ended with {process.returncode}")
    plies = [int(each) for each in re.findall(r'\[PlyCount "(\d+)"\]', games.read_text())]
    return Cost(len(plies) / seconds, statistics.mean(plies), 1000 * ticks / TICKS / sum(plies))


def arena(game: str, rounds: int, concurrency: int) -> Cost:
    """Play `rounds` pairs of this project's instant bots."""
    words = ["--game", game, "--map", "m2", "--rounds", str(rounds), "--concurrency", str(concurrency)]
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.ladder", *words], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"([\d.]+) matches a second.*\n([\d.]+) ms of CPU a move.* in (\d+) moves", told)
    if found is None:
        raise SystemExit(f"benchmarks.ladder says something else: {told}")
    matches, ms, moves = map(float, found.groups())
    return Cost(matches, moves / (2 * rounds - 1), ms)


def main() -> int:
    """Play by turns and tell the medians: 0."""
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
    with tempfile.TemporaryDirectory(prefix="arena-benchmark-") as folder:
        program = arguments.fastchess.resolve()
        for _ in range(arguments.times):
            costs.setdefault("fastchess, chess", []).append(
                fastchess(program, rounds, concurrency, Path(folder))
            )
            for game in ("tictactoe", "riskless"):
                costs.setdefault(f"arena, {game}", []).append(arena(game, rounds, concurrency))
    print("| runner | plies a match | matches a second | moves a second | CPU of the runner a move, ms |")
    print("| --- | --- | --- | --- | --- |")
    for name, each in costs.items():
        matches, plies, ms = (
            statistics.median(getattr(cost, what) for cost in each) for what in ("matches", "plies", "ms")
        )
        print(f"| {name} | {plies:.0f} | {matches:.1f} | {matches * plies:.0f} | {ms:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
