"""Random planar maps, with starts as fair as a sample of them has."""

from __future__ import annotations

import random
from collections.abc import Sequence

from arena.games.board import RisklessMap
from arena.lab.balance import Balance
from arena.maps.generators import GRID_CAP, HELD, assemble

SIZES = range(5, 65)
WIDTH, HEIGHT = 100, 60
STARTS = 100
"""Starts of a random planar map, of which the fairest is taken."""


def planar(size: int, number: int) -> RisklessMap:
    """The `number`-th random planar map of `size` territories (5 to 64): a Gabriel graph of random points.

    Two points are joined where the disc over their distance holds no third one (Gabriel and Sokal 1969). Such a graph is
    planar and connected, with some 3.5 roads a territory, straits and dead ends. A host makes none for a client, since
    it costs O(size³). Raises ValueError for another size.
    """
    if size not in SIZES:
        raise ValueError(f"a random planar map has {SIZES[0]} to {SIZES[-1]} territories, not {size}")
    rng = random.Random(f"planar {size} {number}")
    places = [(round(rng.uniform(0, WIDTH), 2), round(rng.uniform(0, HEIGHT), 2)) for _ in range(size)]
    near = tuple(tuple(w for w in range(size) if w != v and _neighbourly(places, v, w)) for v in range(size))
    maxie, minnie = _fair_start(near, max(1, round(size / HELD)), rng)
    return assemble(
        f"planar:{size}:{number}",
        territories=tuple(map(str, range(size))),
        neighbours=near,
        cap=GRID_CAP,
        minnie=minnie,
        maxie=maxie,
        places=tuple(places),
    )


def _neighbourly(places: Sequence[tuple[float, float]], v: int, w: int) -> bool:
    """Whether the disc over the line between two points holds no other point."""
    (x, y), (a, b) = places[v], places[w]
    return all(
        (p - x) * (p - a) + (q - y) * (q - b) >= 0 for u, (p, q) in enumerate(places) if u not in (v, w)
    )


def _fair_start(
    near: Sequence[Sequence[int]], each: int, rng: random.Random
) -> tuple[Sequence[int], Sequence[int]]:
    """Of some starts with up to `each` territories a side, no two of them adjacent, the fairest: Maxie's and Minnie's."""
    balance = Balance(near)
    found = []
    for _ in range(STARTS):
        chosen: list[int] = []
        for v in rng.sample(range(len(near)), len(near)):
            if len(chosen) < 2 * each and not set(near[v]) & set(chosen):
                chosen.append(v)
        half = len(chosen) // 2
        sides = sorted(chosen[:half]), sorted(chosen[half : 2 * half])
        found.append((-half, balance.imbalance(*sides), sides))
    return min(found)[2]
