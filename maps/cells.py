"""Land of the built-in maps: an area around each territory's place, so that pictures show areas with borders.

The areas, and the roads that cross the sea between them, are files generated once by `make cells`. A server reads
them in less than a millisecond, without another library.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TypedDict

from arena.maps.loader import MAPS_FOLDER, list_map_names

CELLS_FOLDER = MAPS_FOLDER / "cells"

Ring = list[tuple[float, float]]
"""Corners of an area, in the units of the places of the map. The last corner is joined to the first."""


class _Land(TypedDict):
    cells: list[list[Ring]]
    ferries: list[tuple[int, int]]
    marks: list[tuple[float, float]]


@cache
def _load_land(name: str) -> _Land:
    land: _Land = json.loads((CELLS_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return land


def load_shipped_cells(name: str) -> list[list[Ring]] | None:
    """Return the areas of each territory of a built-in map; None for other maps.

    A territory has at least one area. Its largest area comes first.
    """
    return _load_land(name)["cells"] if name in list_map_names() else None


def load_shipped_ferries(name: str) -> list[tuple[int, int]]:
    """Return the roads of a built-in map that cross the sea; empty for other maps.

    A road is a pair of territory numbers, the lower first.
    """
    return (
        [(source, target) for source, target in _load_land(name)["ferries"]]
        if name in list_map_names()
        else []
    )


def load_shipped_marks(name: str) -> list[tuple[float, float]] | None:
    """Return the centre of the mark of each territory of a built-in map, centred in its land; None for other maps."""
    return [(x, y) for x, y in _load_land(name)["marks"]] if name in list_map_names() else None
