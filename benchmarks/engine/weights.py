"""What the default evaluator wins against the plain army difference at equal time, on maps that no fit has seen.

Every map gets the same number of pairs first. One whose interval then still holds what no map may be below gets twice as
many, and so on, so that of each map it is told on which side it is; the average is that of the pairs that all maps have.
"""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from arena.lab.variants import HELD_OUT, variant
from benchmarks.engine.contest import (
    SAMPLES,
    STARTS,
    TABLE_MB,
    TURNS,
    Contest,
    Engine,
    Score,
    openings_of,
    play_all,
    together,
)
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Section
from benchmarks.kit.results import claim

SCALES = ((2_000, 1.0), (16_000, 0.25))
"""Nodes of a move of the plain engine, and the part of the pairs that are played with so many."""
PAIRS = 100
LEAST_AVERAGE, LEAST_ANYWHERE = 100, -10
DOUBLINGS = 4
"""How often a map's pairs are doubled at the most."""


def run(
    pairs: int = PAIRS, processes: int | None = None, raw: Path | None = None, seconds: float | None = None
) -> Section:
    """On every held-out map, with so many pairs each."""
    rows: list[list[str]] = []
    claims: list[str] = []
    kept = Kept(raw, seconds)
    with ProcessPoolExecutor(processes) as pool:
        for nodes, part in SCALES:
            some = max(round(pairs * part), 2)
            contests = [Contest(Engine(), Engine("plain"), map, nodes, some) for map in HELD_OUT]
            whole = together(play_all(contests, pool, lambda *_: None, kept))
            scores = [told_apart(contest, pool, kept) for contest in contests]
            rows += [row(contest, score) for contest, score in zip(contests, scores, strict=True)]
            worst = min(range(len(scores)), key=lambda i: scores[i].difference.elo)
            rows.append(["**all**", "", f"{nodes}", *whole.cells[:-1], f"**{whole.elo}**"])
            claims += [
                claim(
                    f"default evaluator against plain on held-out maps, {nodes:,} nodes a move, Elo",
                    f"at least +{LEAST_AVERAGE}",
                    whole.elo,
                ),
                claim(
                    f"the same on the map where it does worst, {HELD_OUT[worst]}",
                    f"at least {LEAST_ANYWHERE}",
                    scores[worst].elo,
                ),
            ]
    return Section(
        "The default evaluator against the plain army difference, on held-out maps",
        f"No fit and no climb has seen these maps, `HELD_OUT` in lab/variants.py. {pairs} pairs with seats swapped on each, and "
        f"a quarter of them with the more nodes; on a map whose interval then holds {LEAST_ANYWHERE}, twice as many and again, "
        f"{DOUBLINGS} times at the most, as long as the map has other openings. They are played {STARTS}, tables of {TABLE_MB} MB, empty at the start "
        "of each match. A move of `plain` has a fixed number of nodes, and one of `features` as many as cost the same time, "
        f"measured on {SAMPLES} other positions in the thread's own time, the best of {TURNS} by turns; so the load of the machine has no say. A position "
        "that comes up for the third time is a draw. The Elo of all is that of the pairs that all maps have had.",
        ["map", "territories, cap, goal", "nodes a move", "pairs", "points", "drawn", "Elo (95 %)"],
        rows,
        "On small maps the opening decides, whoever plays: then both win a match of each pair. `--pairs N` narrows the error."
        f"{kept.told}",
        claims,
    )


def told_apart(contest: Contest, pool: Executor, kept: Kept) -> Score:
    """The score of a contest with as many pairs as tell on which side of LEAST_ANYWHERE it is, if so many are played.

    A map that brings openings with it has no more pairs than those: from the same start the same match would be played.
    """
    most = len(openings_of(contest.map)) or contest.pairs << DOUBLINGS
    while True:
        (score,) = play_all([contest], pool, lambda *_: None, kept)
        told = abs(score.difference.elo - LEAST_ANYWHERE) > score.difference.error
        if told or contest.pairs >= most:
            return score
        contest = replace(contest, pairs=min(2 * contest.pairs, most))


def row(contest: Contest, score: Score) -> list[str]:
    """Of the table; also printed, since the next ones take a while."""
    map = variant(contest.map)
    numbers = f"{map.size}, {map.territory_cap}, {map.armies_to_win}"
    made = [contest.map, numbers, f"{score.nodes} : {contest.nodes}", *score.cells]
    print(*made, flush=True)
    return made
