"""Maps by name for learning and measuring: any map with another cap or goal, and random planar maps.

    world                   a map as `maps.loader` finds it
    world:cap=20            with another cap; the goal stays the same share of the map's capacity
    world:cap=20,goal=150   with another goal too
    planar:24:7             the 7th random planar map of 24 territories; numbers can be added in the same way

`arena tune` learns from TRAINING by default. No fit has seen HELD_OUT, which shows the value of
weights elsewhere: half of the built-in maps, and rings, grids and planar maps of other sizes with three caps.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from arena.games.board import BadMap, RisklessMap
from arena.lab.balance import Balance
from arena.maps.generators import GRID_CAP, TERRITORIES_PER_START, assemble
from arena.maps.loader import MapError, load_map

FORM = "NAME[:cap=N][,goal=N], as in ring:12:cap=40 or planar:24:7:cap=20,goal=90"
PLANAR = "planar:"

TRAINING = (
    "m2",
    "usa",
    "poland",
    "ring:8:cap=30",
    "ring:12",
    "grid:4x4:cap=10",
    "grid:5x5:cap=200",
    "grid:7x6",
    "planar:12:1:cap=20",
    "planar:20:2:cap=100",
    "planar:30:3:cap=14",
    "planar:44:4:cap=60,goal=880",
)
HELD_OUT = (
    "m1",
    "italy",
    "world",
    *(
        f"{graph}:cap={cap}"
        for graph in ("ring:10", "ring:18", "grid:5x4", "grid:8x5", "planar:16:101", "planar:36:102")
        for cap in (12, 40, 120)
    ),
)


def variant(name: str) -> RisklessMap:
    """Return the map called `name`, which also becomes the map's name. Raises MapError."""
    base, colon, numbers = name.rpartition(":")
    if "=" not in numbers or numbers.endswith(".toml"):
        return _base(name)
    if not colon:
        raise MapError(f"{name:.60}", "", f"no such map: it must be {FORM}")
    changes = {}
    for part in numbers.split(","):
        key, _, number = part.partition("=")
        if key not in ("cap", "goal") or key in changes or not (number.isascii() and number.isdecimal()):
            raise MapError(f"{name:.60}", "", f"{part:.20} is not a valid number of a map: it must be {FORM}")
        changes[key] = int(number)
    try:
        return replace(_with_numbers(_base(base), changes.get("cap"), changes.get("goal")), name=name)
    except BadMap as error:
        raise MapError(f"{name:.60}", error.key, error.why) from None


def _with_numbers(map: RisklessMap, cap: int | None, goal: int | None) -> RisklessMap:
    """Return the map with another cap or goal; with only another cap the goal stays the same share. Raises BadMap."""
    if cap is None and goal is None:
        return map
    cap = map.territory_cap if cap is None else cap
    # Rounded up, so that the goal is never below its share and no start has won already.
    share = -(-map.armies_to_win * cap // map.territory_cap)
    return replace(map, territory_cap=cap, armies_to_win=share if goal is None else goal)


def _base(name: str) -> RisklessMap:
    if not name.startswith(PLANAR):
        return load_map(name)
    size, _, number = name.removeprefix(PLANAR).partition(":")
    if not all(each.isascii() and each.isdecimal() and len(each) <= 6 for each in (size, number)):
        raise MapError(
            f"{name:.60}", "", "no such map: a random planar map is planar:SIZE:NUMBER, as in planar:24:7"
        )
    try:
        return planar(int(size), int(number))
    except ValueError as error:
        raise MapError(f"{name:.60}", "", str(error)) from None


SIZES = range(5, 65)
WIDTH, HEIGHT = 100, 60
STARTS = 100
"""Number of starts tried for a random planar map; the fairest is used."""


def planar(size: int, number: int) -> RisklessMap:
    """Return the `number`-th random planar map of `size` territories (5 to 64): a Gabriel graph of random points.

    Two points are joined if the disc with their distance as diameter contains no third one (Gabriel and Sokal 1969). Such a
    graph is planar and connected, with some 3.5 roads per territory, straits and dead ends. A host generates none for
    clients, since it costs O(size³). Raises ValueError for another size.
    """
    if size not in SIZES:
        raise ValueError(f"a random planar map must have {SIZES[0]} to {SIZES[-1]} territories, not {size}")
    rng = random.Random(f"planar {size} {number}")
    places = [(round(rng.uniform(0, WIDTH), 2), round(rng.uniform(0, HEIGHT), 2)) for _ in range(size)]
    near = tuple(
        tuple(w for w in range(size) if w != v and _is_gabriel_edge(places, v, w)) for v in range(size)
    )
    maxie, minnie = _fair_start(near, max(1, round(size / TERRITORIES_PER_START)), rng)
    return assemble(
        f"planar:{size}:{number}",
        territories=tuple(map(str, range(size))),
        neighbours=near,
        cap=GRID_CAP,
        minnie=minnie,
        maxie=maxie,
        places=tuple(places),
    )


def _is_gabriel_edge(places: Sequence[tuple[float, float]], v: int, w: int) -> bool:
    """Return True if the disc with the distance of two points as diameter contains no other point."""
    (x, y), (a, b) = places[v], places[w]
    return all(
        (p - x) * (p - a) + (q - y) * (q - b) >= 0 for u, (p, q) in enumerate(places) if u not in (v, w)
    )


def _fair_start(
    near: Sequence[Sequence[int]], each: int, rng: random.Random
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the fairest of some starts, Maxie's and Minnie's territories.

    Each side has up to `each` territories, and no two of all are adjacent.
    """
    balance = Balance(near)
    starts = []
    for _ in range(STARTS):
        places: list[int] = []
        for v in rng.sample(range(len(near)), len(near)):
            if len(places) < 2 * each and not set(near[v]) & set(places):
                places.append(v)
        half = len(places) // 2
        sides = sorted(places[:half]), sorted(places[half : 2 * half])
        starts.append((-half, balance.imbalance(*sides), sides))
    return min(starts)[2]
