"""What each device of a search that plays costs: its nodes per second, as a share of the bare loop's."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.compiled.plain import FRAMES, frame_words, make_plain
from arena.bots.compiled.riskless_kernel import planes_of
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.riskless import Armies, Riskless
from benchmarks.kit.measure import Ratio, Section, game, positions, short

CASES = (("m2", 7, 10), ("world", 5, 8))
"""A map, the depth of the exact searches, and that of the selective one."""
COUNT = 7
TURNS = 3
NOTHING: Mapping[str, Any] = {
    "exact": True,
    "table": False,
    "hints": False,
    "promise": False,
    "null_windows": False,
    "foresee": False,
}
STEPS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("the search, nothing switched on, estimate `plain`", "plain", {}),
    ("+ the game's promise", "plain", {"promise": True}),
    ("+ windows", "plain", {"null_windows": True}),
    ("+ the table", "plain", {"table": True, "hints": True}),
    ("+ estimate `features`", "features", {}),
    ("+ leaves told from above: exact, as it is", "features", {"foresee": True}),
    ("+ selection: as it plays", "features", {"exact": False}),
)


def bare(board: Riskless, chosen: list[Armies], depth: int) -> list[float]:
    """Nodes per second of the bare loop on each position, the best of TURNS."""
    compiled = compile_game(board, weights_for(board, "plain"))
    if compiled is None:
        raise ValueError("the map does not fit the kernels")
    planes = planes_of(board)
    search, memory = make_plain(planes), np.zeros(FRAMES * frame_words(planes), np.int64)
    found = []
    for position in chosen:
        words = compiled.pack(position)
        speeds = []
        for _ in range(TURNS + 1):
            memory[: len(words)] = words
            start = time.thread_time()
            nodes = search(memory, compiled.rules, compiled.plies_left(position), depth)
            speeds.append(nodes / (time.thread_time() - start))
        found.append(max(speeds))
    return found


def searched(
    board: Riskless, chosen: list[Armies], depth: int, evaluator: str, settings: Mapping[str, Any]
) -> list[tuple[float, float]]:
    """For each position nodes per second, the best of TURNS, and seconds to the depth, all shallower ones included."""
    searcher: Searcher[Any, Any] = Searcher(board, weights_for(board, evaluator), Settings(**settings))
    searcher.warm_up()
    found = []
    for position in chosen:
        seconds = []
        for _ in range(TURNS):
            searcher.clear()
            start = time.thread_time()
            nodes = list(searcher.deepen(position, max_depth=depth))[-1].nodes
            seconds.append(time.thread_time() - start)
        found.append((nodes / min(seconds), min(seconds)))
    searcher.close()
    return found


def run() -> Section:
    """On the same positions, by each set of devices."""
    rows = []
    for map, depth, deeper in CASES:
        board = game(map)
        chosen = positions(board, COUNT)
        loop = bare(board, chosen, depth)
        rows.append([map, "the bare loop", short(Ratio(loop).median / 1e6), "1", ""])
        settings = dict(NOTHING)
        for name, evaluator, more in STEPS:
            settings |= more
            found = searched(board, chosen, depth if settings["exact"] else deeper, evaluator, settings)
            share = Ratio([speed / most for (speed, _), most in zip(found, loop, strict=True)])
            speed, seconds = (Ratio(each).median for each in zip(*found, strict=True))
            how = f"{1000 * seconds:.3g} to depth {depth if settings['exact'] else f'{deeper}, selective'}"
            rows.append([map, name, short(speed / 1e6), str(share), how])
            print(*rows[-1], flush=True)
    return Section(
        "What the devices cost: nodes per second as a share of the bare loop's",
        f"{COUNT} middle-game positions a map, one thread, a table of {Settings().table_mb} MB, empty at the start, seconds of "
        f"the processor, the best of {TURNS}. Each line adds devices to those above. A node is a position entered or estimated.",
        ["map", "search", "M nodes/s", "of the bare loop's", "ms, median"],
        rows,
        "Fewer nodes per second are what fewer nodes cost: the last column has what both come to.",
    )
