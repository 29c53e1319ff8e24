"""The land of the shipped maps: for each territory the ground around its place, so that a picture shows areas with borders.

The areas are files that were made once, by `lab.coasts`: reading them costs a server less than a millisecond, and needs
no library.
"""

from __future__ import annotations

import json

from arena.maps.loader import SHIPPED, map_names

FOLDER = SHIPPED / "cells"

Ring = list[tuple[float, float]]
"""The corners of an area, in the units of the map's places; the last is joined to the first."""


def shipped_cells(name: str) -> list[list[Ring]] | None:
    """For each territory of a shipped map the areas of its cell, largest first, one at the least; None for other maps."""
    if name not in map_names():
        return None
    cells: list[list[Ring]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return cells
