"""Depth reached in a second on world: the compiled engine against the reference."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.play import Search, Table, alphabeta_search
from benchmarks.kit.measure import Ratio, Section, game, positions
from benchmarks.kit.results import claim

COUNT = 7
SECONDS = 1.0


def _for_a_while() -> Callable[[], bool]:
    """A stop that says yes after SECONDS."""
    end = time.perf_counter() + SECONDS
    return lambda: time.perf_counter() > end


def _finished(reports: Any) -> int:
    return max(int(report.depth) for report in reports if report.finished)


def run() -> Section:
    """All on the same positions, by turns, for a second each."""
    board = game("world")
    weights = weights_for(board, "features")
    exact, playing = Searcher(board, weights, Settings(exact=True)), Searcher(board, weights, Settings())
    rows = []
    more: list[float] = []
    deeper: list[float] = []
    for number, position in enumerate(positions(board, COUNT)):
        search: Search[Any, Any] = alphabeta_search(evaluator_for(board, "features"), table=Table())
        reference = _finished(deepen(board, position, search, stop=_for_a_while()))
        found = []
        for searcher in (exact, playing):
            searcher.warm_up()
            searcher.clear()
            found.append(_finished(searcher.deepen(position, stop=_for_a_while())))
        more.append(found[0] - reference)
        deeper.append(found[1] - found[0])
        rows.append([str(number + 1), *map(str, (reference, *found))])
    exact.close()
    playing.close()
    rows.append(["more", "", f"**{Ratio(more)}** than the reference", f"{Ratio(deeper)} than exact"])
    return Section(
        f"Depth reached in {SECONDS:.0f} s on world",
        f"{COUNT} middle-game positions, evaluator `features`, one thread, empty tables; the reference is `alphabeta` in Python "
        "with its table, and exact as the compiled one is: both find minimax's value and leftmost move of their depth.",
        ["position", "reference, exact", "compiled, exact", "compiled, selective"],
        rows,
        "A selective ply is not the same ply: late moves are left out, so its depth says how far it looks along "
        "some lines, and is to be held against no exact depth. `benchmarks.engine.strength` measures its Elo.",
        claims=[
            claim(
                f"exact depth in {SECONDS:.0f} s on world, against the exact reference in Python",
                "4 plies more",
                f"{Ratio(more)} plies more",
            )
        ],
    )
