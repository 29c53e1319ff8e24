"""How soon a bot is ready: a process that has to compile, and those after it."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.kit.measure import Section
from benchmarks.kit.results import claim

PROGRAM = """
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
board = Riskless(load_map("world"))
searcher = Searcher(board, weights_for(board, "features"), Settings(threads=2))
searcher.warm_up()
searcher.close()
"""
AGAIN = 5


def run() -> Section:
    """Seconds from the start of Python to the end of the warm-up's search, and of the process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        seconds = []
        for _ in range(AGAIN + 1):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
            seconds.append(time.perf_counter() - begin)
    later = seconds[1:]
    rows = [
        ["first start, compiles", f"{seconds[0]:.1f}"],
        [
            "later starts",
            f"**{statistics.median(later):.2f}** ({min(later):.2f} to {max(later):.2f}, n = {AGAIN})",
        ],
    ]
    return Section(
        "Ready to play",
        "A fresh process, with an empty and then a filled cache: Python starts, numba loads, the search of world is "
        "compiled or found, a first search runs, the process ends.",
        ["", "seconds"],
        rows,
        claims=[claim("a second start is ready", "in under 2 s", f"{statistics.median(later):.2f} s")],
    )
