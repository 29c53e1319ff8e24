"""Depth reached in a second on world: the compiled engine against the reference."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.kit.measure import Ratio, Section, game, positions
from benchmarks.kit.results import claim
from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from bots.evaluators.catalogue import evaluator_for
from bots.search.deepening import deepen
from bots.search.play import Search, Table, alphabeta_search

COUNT = 7
SECONDS = 1.0


def _for_a_while() -> Callable[[], bool]:
    """A stop that says yes after SECONDS."""
    end = time.perf_counter() + SECONDS
    return lambda: time.perf_counter() > end


def _finished(reports: Any) -> int:
    return max(int(report.depth) for report in reports if report.finished)


def run() -> Section:
    """Both on the same positions, by turns, for a second each."""
    board = game("world")
    exact = Searcher(board, weights_for(board, "features"), Settings(exact=True))
    playing = Searcher(board, weights_for(board, "features"), Settings())
    rows = []
    more: list[list[float]] = [[], []]
    for number, position in enumerate(positions(board, COUNT)):
        search: Search[Any, Any] = alphabeta_search(evaluator_for(board, "features"), table=Table())
        reference = _finished(deepen(board, position, search, stop=_for_a_while()))
        found = []
        for searcher, gains in zip((exact, playing), more, strict=True):
            searcher.warm_up()
            searcher.clear()
            found.append(_finished(searcher.deepen(position, stop=_for_a_while())))
            gains.append(found[-1] - reference)
        rows.append([str(number + 1), str(reference), *(f"{depth}" for depth in found)])
    rows.append(["more plies", "", *(f"**{Ratio(gains)}**" for gains in more)])
    exact.close()
    playing.close()
    return Section(
        f"Depth reached in {SECONDS:.0f} s on world",
        "Evaluator `features`, one thread, empty tables; the reference is `alphabeta` in Python with its table.",
        ["position", "reference", "compiled, exact", "compiled, as it plays"],
        rows,
        claims=[
            claim(
                "depth in 1 s on world, against the reference", "4 plies more", f"{Ratio(more[1])} plies more"
            )
        ],
    )
