"""How many pairs tell 4,000 nodes a move from 500 on the large maps as they are, and as they were before they were measured.

    git worktree add ../earlier COMMIT
    python -m benchmarks.deciding --checkout ../earlier

writes the table into maps/README.md. The maps of before are played by the engine of that commit, as its users met them,
and by today's. No clock is read: the same code gives the same figures on every machine. So what the engine of that commit
made of the maps of before stays in the table as it stands there, unless `--again` has it played again.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from rich.progress import Progress

from arena.bots.compiled.searcher import Searcher
from arena.bots.search.deepening import Report
from arena.console import err, write_text
from arena.games.board import RisklessMap
from arena.games.riskless import Armies, Move, Riskless
from arena.lab.commands.measure import between, filled, pairs_to_tell, percent
from arena.lab.measure import PLIES, STRONG, WEAK, Measured, Signal, matches_of, measure
from arena.lab.selfplay import Budget, opening, pair
from arena.maps.loader import load_map
from benchmarks.engine.earlier import Earlier, Worker

PAGE = Path(__file__).parents[1] / "maps" / "README.md"
BEGIN, END = "<!-- before and after -->", "<!-- /before and after -->"
EVALUATORS = ("features", "plain")
"""By which both searchers judge: the bots' default, and the estimate that is the game's own."""
SEED = 1
CAP = 10
START: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "world": (
        ("Quebec", "Great Britain", "Congo", "Yakutsk", "Indonesia"),
        ("Western United States", "Argentina", "Ukraine", "Japan", "Eastern Australia"),
    ),
    "usa": (
        ("Alabama", "Louisiana", "Maine", "Michigan", "Montana"),
        ("California", "Connecticut", "Kansas", "New Jersey", "South Carolina"),
    ),
}
"""Where Maxie and Minnie started before, Maxie with 2 armies on each territory and Minnie with 3."""


def before(name: str) -> RisklessMap:
    """The map as it was: cap 10, half of all that it holds to win, five territories a side."""
    map = load_map(name)
    maxie, minnie = START[name]
    start = [0] * map.size
    for territory in maxie:
        start[map.find(territory)] = 2
    for territory in minnie:
        start[map.find(territory)] = -3
    return replace(map, territory_cap=CAP, armies_to_win=CAP * map.size // 2, start=tuple(start))


class Away:
    """The search of a worker, in the form in which matches are played here: as far as its nodes go."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def clear(self) -> None:
        """Empty its table."""
        self._worker.clear()

    def deepen(self, position: Armies, *, max_nodes: int, **_limits: object) -> Iterator[Report[Move]]:
        """The last report of a search with so many nodes."""
        answer = self._worker.search(position, nodes=max_nodes)
        move: Any = tuple(answer["move"])
        yield Report(answer["depth"], answer["value"], move, (move,), answer["nodes"], finished=True)


def measure_away(
    checkout: Path,
    map: RisklessMap,
    evaluator: str,
    *,
    pairs: int,
    seed: int,
    progress: Callable[[int], None],
) -> Measured:
    """What `measure` finds of the signal, by the engine of a checkout and from the same openings."""
    game = Riskless(map)
    signal = Signal(STRONG, WEAK)
    with ExitStack() as stack:
        searchers = []
        for _ in range(2):
            worker = Worker(checkout, game, exact=False, evaluator=evaluator)
            stack.callback(worker.close)
            searchers.append(cast("Searcher[Armies, Move]", Away(worker)))
        strong, weak = searchers
        for number in range(pairs):
            rng = random.Random(f"{seed}/{number}")
            start = opening(game, rng, rng.randint(*PLIES))
            found = pair(game, start, strong, weak, Budget(nodes=STRONG), Budget(nodes=WEAK))
            signal.points.append(sum(found))
            signal.draws += found.count(0.5)
            progress(2)
    return Measured(map, evaluator, (), signal)


def named(edition: str, map: RisklessMap, evaluator: str) -> str:
    """What a row begins with: it is of one edition of a map, one engine and one evaluator."""
    return f"| {map.name} | {edition} | {evaluator} | {map.territory_cap} | {map.armies_to_win} |"


def row(edition: str, found: Measured) -> str:
    """What was found, under the words that say which edition of a map it is, and whose engine plays."""
    signal = found.signal
    numbers = f"{percent(signal.drawn)} | {percent(signal.score)} | {pairs_to_tell(signal)}"
    return f"{named(edition, found.map, found.evaluator)} {numbers} |"


def table(rows: Sequence[str]) -> str:
    """The rows under their headings."""
    return "\n".join(
        (
            "| map | | evaluator | cap | goal | drawn | 4,000 against 500 nodes scores | pairs to tell |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *rows,
        )
    )


def standing(page: Path, name: str) -> str | None:
    """The row of the page's table that begins so."""
    rows = between(page, BEGIN, END)[1].splitlines()
    return next((line for line in rows if line.startswith(name)), None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both editions of both maps with both evaluators, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--checkout", type=Path, required=True, help="where the commit of before is checked out"
    )
    parser.add_argument(
        "--pairs", type=int, default=200, help="of each edition of each map with each evaluator"
    )
    parser.add_argument("--processes", type=int, default=0, help="matches at once; 0: one for each core")
    parser.add_argument("--again", action="store_true", help="play the earlier engine's matches again, too")
    parser.add_argument("--page", type=Path, default=PAGE, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    filled(given.page, "", BEGIN, END)
    earlier = Earlier.at(given.checkout)
    editions = ("before, today's engine", "now")
    maps = [map for name in START for map in (before(name), load_map(name))]
    with Progress(console=err, transient=True) as bar:
        count = len(EVALUATORS) * (len(maps) + len(START))
        task = bar.add_task("matches", total=matches_of(count, 2 * given.pairs, 0))
        rows: list[str] = []
        for evaluator in EVALUATORS:
            found = measure(
                maps,
                evaluator,
                matches=2 * given.pairs,
                seed=SEED,
                processes=given.processes or len(os.sched_getaffinity(0)),
                strengths=(),
                progress=lambda count: bar.advance(task, count),
            )
            for edition, each in zip(editions * len(START), found, strict=True):
                if edition == editions[0]:
                    then = f"before, the engine of {earlier.commit}"
                    known = None if given.again else standing(given.page, named(then, each.map, evaluator))
                    rows.append(
                        known
                        or row(
                            then,
                            measure_away(
                                given.checkout,
                                each.map,
                                evaluator,
                                pairs=given.pairs,
                                seed=SEED,
                                progress=lambda count: bar.advance(task, count),
                            ),
                        )
                    )
                rows.append(row(edition, each))
    write_text(filled(given.page, table(rows), BEGIN, END), given.page)


if __name__ == "__main__":
    main()
