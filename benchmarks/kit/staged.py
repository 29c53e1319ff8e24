"""Where a move's time goes: the CPU of a server or a runner by stage, as a profiler outside of it sees its stacks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.kit.flat import SIZES, WARM_SECONDS, serve_arena
from benchmarks.kit.loads import ARENA, loads
from benchmarks.kit.served import Running
from benchmarks.kit.stages import ABOUT, STAGES, by_stage

SAMPLES_A_SECOND = 200
"""How often the server's stacks are looked at; it stands still for each look."""
PROFILER = "py-spy"


def stages_of(bots: int, seconds: float) -> dict[str, float]:
    """Microseconds of the server's CPU a move, by stage, with so many bots that play as fast as they can."""
    with serve_arena(bots) as running, loads(running.url, bots, kind=ARENA) as load:
        load.wait_all_in(bots)
        time.sleep(WARM_SECONDS)
        spent, moves = seconds_of(running, seconds, lambda: load.moves)
        return {stage: 1e6 * each / moves for stage, each in spent.items()}


def seconds_of(
    running: Running, seconds: float, count: Callable[[], int] = lambda: 0
) -> tuple[dict[str, float], int]:
    """Seconds of CPU that a process spends on each stage, over so many seconds; and by how much `count` grew meanwhile.

    What its threads spend is measured first, and then how the time of each is shared out, for the profiler makes all of them
    dearer, those most that only wait. Raises RuntimeError.
    """
    before, counted = running.cpu_of_threads(), count()
    time.sleep(seconds)
    after, counted = running.cpu_of_threads(), count() - counted
    spent = {each: cpu - before.get(each, 0.0) for each, cpu in after.items()}
    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "stacks"
        subprocess.run(
            [
                *(_profiler(), "record", "--pid", str(running.process.pid), "--format", "raw"),
                *("--threads", "--rate", str(SAMPLES_A_SECOND), "--duration", f"{seconds:.0f}"),
                *("--output", str(folded)),
            ],
            check=True,
            capture_output=True,
        )
        return by_stage(folded.read_text(encoding="utf-8"), spent), counted


def staged_lines(seconds: float) -> tuple[list[str], dict[int, dict[str, float]]]:
    """The section, a table of the stages for each number of bots; and what is in it, by the bots."""
    by_bots = {bots: stages_of(bots, seconds) for bots in SIZES}
    found = list(by_bots.values())
    lines = [
        "## Where a move's time goes",
        (
            "Microseconds of the server's CPU a move, flat out as above. The CPU is that of each thread as the kernel counts "
            "it; how it is shared out is what a profiler outside of the server sees right after that, which looks at its "
            f"stacks {SAMPLES_A_SECOND} times a second. A library's time is that of whoever called it. A thread that waits for a core is seen where it waits, mostly in the event loop: "
            "with the load on the same cores that stage is told too large, and the others too small."
        ),
        "",
        "| stage | " + " | ".join(f"{bots:,} bots" for bots in SIZES) + " | what it is |",
        "| --- | " + "--- | " * len(SIZES) + "--- |",
    ]
    for stage in STAGES:
        cells = " | ".join(f"{each[stage]:.1f}" for each in found)
        lines.append(f"| {stage} | {cells} | {ABOUT[stage]} |")
    lines.append("| together | " + " | ".join(f"{sum(each.values()):.0f}" for each in found) + " | |")
    print("\n".join(lines[3:]), flush=True)
    return lines, by_bots


def _profiler() -> str:
    """The profiler's program. Raises RuntimeError where it is not installed."""
    found = shutil.which(PROFILER, path=str(Path(sys.executable).parent)) or shutil.which(PROFILER)
    if found is None:
        raise RuntimeError(f"{PROFILER} is not installed: `make bench-server` installs it")
    return found
