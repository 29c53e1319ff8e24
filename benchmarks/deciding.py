"""How many pairs tell 4,000 nodes a move from 500 on the large maps as they are, and as they were before they were measured.

`python -m benchmarks.deciding` writes the table into maps/README.md. No clock is read: the same code gives the same
figures on every machine.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.progress import Progress

from bots.commands.maps import filled, pairs_to_tell, percent
from bots.compiled.measure import Measured, matches_of, measure
from console import err, write_text
from games.board import RisklessMap
from maps.loader import load_map

PAGE = Path(__file__).parents[1] / "maps" / "README.md"
BEGIN, END = "<!-- before and after -->", "<!-- /before and after -->"
EVALUATORS = ("features", "plain")
"""By which both searchers judge: the bots' default, and the estimate that is the game's own."""
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


def table(found: Sequence[tuple[str, Measured]]) -> str:
    """The rows, each under the word that says which edition of a map it is."""
    lines = [
        "| map | | evaluator | cap | goal | drawn | 4,000 against 500 nodes scores | pairs to tell |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for edition, each in found:
        map, signal = each.map, each.signal
        numbers = f"{map.name} | {edition} | {each.evaluator} | {map.territory_cap} | {map.armies_to_win}"
        lines.append(
            f"| {numbers} | {percent(signal.drawn)} | {percent(signal.score)} | {pairs_to_tell(signal)} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both editions of both maps with both evaluators, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=int, default=200, help="of each edition of each map with each evaluator"
    )
    parser.add_argument("--processes", type=int, default=0, help="matches at once; 0: one for each core")
    parser.add_argument("--page", type=Path, default=PAGE, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    filled(given.page, "", BEGIN, END)
    maps = [map for name in START for map in (before(name), load_map(name))]
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("matches", total=matches_of(len(EVALUATORS) * len(maps), 2 * given.pairs, 0))
        rows: list[tuple[str, Measured]] = []
        for evaluator in EVALUATORS:
            found = measure(
                maps,
                evaluator,
                matches=2 * given.pairs,
                seed=1,
                processes=given.processes or len(os.sched_getaffinity(0)),
                strengths=(),
                progress=lambda count: bar.advance(task, count),
            )
            rows += zip(("before", "now") * len(START), found, strict=True)
    write_text(filled(given.page, table(rows), BEGIN, END), given.page)


if __name__ == "__main__":
    main()
