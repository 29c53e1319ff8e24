"""Maps to learn from and to measure on, by name: any map with other numbers, and random planar ones.

    world                   a map as `maps.loader` finds it
    world:cap=20            with another cap, and the goal the same share of what the map holds
    world:cap=20,goal=150   with another goal too
    planar:24:7             the 7th random planar map of 24 territories, to which numbers can be added likewise

TRAINING is what `arena tune` learns from unless it is told otherwise. No fit has seen HELD_OUT, which tells what the
weights are worth elsewhere: half of the maps that ship, and rings, grids and planar maps of other sizes with three caps.
"""

from __future__ import annotations

from dataclasses import replace

from arena.games.board import BadMap, RisklessMap
from arena.lab.planar import planar
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
    """The map of that name, which becomes its own. Raises MapError."""
    base, colon, numbers = name.rpartition(":")
    if "=" not in numbers or numbers.endswith(".toml"):
        return _base(name)
    if not colon:
        raise MapError(f"{name:.60}", "", f"no such map: it must be {FORM}")
    given = {}
    for part in numbers.split(","):
        key, _, number = part.partition("=")
        if key not in ("cap", "goal") or key in given or not (number.isascii() and number.isdecimal()):
            raise MapError(f"{name:.60}", "", f"{part:.20} is no number of a map: it must be {FORM}")
        given[key] = int(number)
    try:
        return replace(_with_numbers(_base(base), given.get("cap"), given.get("goal")), name=name)
    except BadMap as error:
        raise MapError(f"{name:.60}", error.key, error.why) from None


def _with_numbers(map: RisklessMap, cap: int | None, goal: int | None) -> RisklessMap:
    """The map with another cap or goal; with another cap alone the goal stays the same share. Raises BadMap."""
    if cap is None and goal is None:
        return map
    cap = map.territory_cap if cap is None else cap
    # Rounded up, so that the share is never missed, and no start has won.
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
