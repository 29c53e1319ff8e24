"""Every device of the playing search against its absence, at equal time, in matches on maps that decide.

A device that is on plays against a search without it; one that is off by default plays, on, against the search as it
is. `bots/compiled/README.md` says which stand, and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.rating.elo import Z95
from benchmarks.engine.contest import (
    CHUNK,
    SAMPLES,
    STARTS,
    TABLE_MB,
    TURNS,
    Contest,
    Engine,
    Score,
    play_all,
    together,
)
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Section

MAPS = ("world", "usa", "italy", "poland", "ring:18:cap=40", "grid:8x5:cap=40", "planar:36:102:cap=40")
SCALES = ((2_000, 1.0), (20_000, 0.4))
"""Nodes of the other engine's moves, and the part of the pairs that are played with so many."""
PAIRS = 60
LOOKS = 4
"""How often the pairs of a device are counted, at equal distances, to see whether they are enough."""
SURE = 2.58
"""Standard errors that a device must be away from 0 for its pairs to end before all are played: those of 99 %."""


@dataclass(frozen=True)
class Device:
    """What is to be judged: what differs from the default settings with it, and without it."""

    name: str
    without: Mapping[str, Any] = field(default_factory=dict)
    having: Mapping[str, Any] = field(default_factory=dict)


DEVICES = (
    Device("all that is selective", {"exact": True}),
    Device("late moves left out", {"late": 0}),
    Device("settled by estimate", {"settle": False}),
    Device("tempo counted", {"tempo": False}),
    Device("null windows", {"null_windows": False}),
    Device("the game's promise", {"promise": False}),
    Device("the table's values", {"table": False}),
    Device("the table's moves and values", {"table": False, "hints": False}),
)


def run(
    pairs: int = PAIRS,
    processes: int | None = None,
    raw: Path | None = None,
    seconds: float | None = None,
    devices: Sequence[Device] = DEVICES,
) -> Section:
    """Every device on each map at each scale, with so many pairs at the most, of which the dearer scale plays a part."""
    kept = Kept(raw, seconds)
    rows: list[list[str]] = []
    with ProcessPoolExecutor(processes) as pool:
        for device in devices:
            played = [
                decided(device, nodes, max(round(pairs * part), 2), pool, kept) for nodes, part in SCALES
            ]
            for (nodes, _), scores in zip(SCALES, played, strict=True):
                rows.append(row(device.name, f"{nodes:,}", scores))
                print(*rows[-1], flush=True)
            every = [together(each) for each in zip(*played, strict=True)]
            rows.append(row(device.name, "both", every))
    return Section(
        "Every device of the playing search, against its absence",
        f"Pairs with seats swapped on {', '.join(MAPS)}, {STARTS}, evaluator `features`, "
        f"tables of {TABLE_MB} MB, empty at the start of each match. A move of the search without the device has a fixed "
        "number of nodes, and one of the search with it as many as cost the same time on that map, measured on "
        f"{SAMPLES} other positions in the thread's own time, the best of {TURNS}; so the load of the machine has no say. A position that comes up "
        f"for the third time is a draw. At most {pairs} pairs on each map; after each quarter of them a device is done whose "
        "99 % interval has 0 outside. Elo of all maps' pairs together, and on the map where it is least and most.",
        ["device", "nodes a move", "pairs", "points", "drawn", "Elo (95 %)", "least", "most"],
        rows,
        f"`--pairs N` narrows the error.{kept.told}",
    )


def decided(device: Device, nodes: int, pairs: int, pool: ProcessPoolExecutor, kept: Kept) -> list[Score]:
    """The scores of a device on each of MAPS, with so many pairs on each or fewer, if these tell it from nothing."""
    one, other = Engine(settings=device.having), Engine(settings=device.without)
    scores: list[Score] = []
    for some in steps(pairs):
        contests = [Contest(one, other, map, nodes, some) for map in MAPS]
        scores = play_all(contests, pool, lambda _contest, _score: None, kept)
        found = together(scores).difference
        if abs(found.elo) > found.error * SURE / Z95:
            break
    return scores


def steps(pairs: int) -> list[int]:
    """After how many pairs a device is looked at: quarters, in whole tasks."""
    quarter = -(-pairs // (LOOKS * CHUNK)) * CHUNK
    return [*range(quarter, pairs, quarter), pairs]


def row(name: str, nodes: str, scores: Sequence[Score]) -> list[str]:
    """Of the table: the scores are those on MAPS."""
    ranked = sorted(zip(scores, MAPS, strict=True), key=lambda each: each[0].difference.elo)
    extremes = [f"{map} {told(score)}" for score, map in (ranked[0], ranked[-1])]
    *cells, elo = together(scores).cells
    return [name, nodes, *cells, f"**{elo}**", *extremes]


def told(score: Score) -> str:
    """Elo and half of its interval."""
    return f"{score.difference.elo:+.0f} ± {score.difference.error:.0f}"
